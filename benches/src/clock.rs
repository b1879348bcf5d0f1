//! The clock: CPU time of this thread, or of all.

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time this thread has used.
#[must_use]
pub fn now() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// CPU time all threads of this process have used.
#[must_use]
pub fn of_process() -> Duration {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// Nanoseconds one call takes when it is made `times` times in a row.
pub fn per_call<T>(times: u32, mut call: impl FnMut() -> T) -> f64 {
    let start = now();
    for _ in 0..times {
        black_box(call());
    }
    nanoseconds(now().saturating_sub(start)) / f64::from(times)
}

/// How many calls make a batch of about `batch`.
pub fn calls_per_batch<T>(batch: Duration, call: impl FnMut() -> T) -> u32 {
    let once = per_call(2, call).max(1.0);
    let calls = (nanoseconds(batch) / once).ceil().clamp(1.0, 100_000.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
    let calls = calls as u32;
    calls
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

/// The value below which the given share of the values lies; 0.5 is the median.
#[must_use]
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a few hundred values"
    )]
    let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}
