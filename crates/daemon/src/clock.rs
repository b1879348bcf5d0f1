//! The clock of a node: anchored once on the wall clock, then steady.
//!
//! Deadlines are counted on it, so that a wall clock that jumps revives nothing and extends
//! nothing. After a sleep of the machine it catches up by what the kernel says it slept. Where
//! several nodes share a database, its clock decides and this one follows.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use portcullis_approval::Moment;

/// Differences below this between the two steady clocks are noise.
const NOISE_MS: i64 = 1000;

/// The clock.
#[derive(Debug)]
pub struct Clock {
    started: Instant,
    anchor_ms: i64,
    /// What the machine has slept since the anchor.
    slept_ms: AtomicI64,
    /// How long the machine had been up at the anchor, sleep included.
    up_ms: Option<i64>,
    /// The latest moment that was told: no later one is earlier.
    told_ms: AtomicI64,
}

impl Clock {
    /// A clock anchored on the wall clock of this moment.
    #[must_use]
    pub fn new() -> Clock {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock {
            started: Instant::now(),
            anchor_ms: ms(wall),
            slept_ms: AtomicI64::new(0),
            up_ms: up_ms(),
            told_ms: AtomicI64::new(i64::MIN),
        }
    }

    /// A clock that another one decides for: the database's, where several nodes share it.
    #[must_use]
    pub fn at(moment: Moment) -> Clock {
        Clock { anchor_ms: moment.ms(), ..Clock::new() }
    }

    /// Follows the clock that decides, which said this at `asked` or up to `within` later. It never
    /// goes back, it only waits.
    pub fn follow(&self, moment: Moment, asked: Instant, within: Duration) {
        let ours = self.anchor_ms
            + ms(asked.saturating_duration_since(self.started))
            + self.slept_ms.load(Ordering::Relaxed);
        let ahead = moment.ms() - ours;
        // What lies within the time the question took is no difference.
        if ahead < 0 || ahead > ms(within) {
            let off = if ahead < 0 { ahead } else { ahead - ms(within) };
            self.slept_ms.fetch_add(off, Ordering::Relaxed);
        }
    }

    /// The same, but not before a moment that the store already knows: a wall clock that was set
    /// back while no node was up gives nobody more time.
    #[must_use]
    pub fn not_before(self, known: Moment) -> Clock {
        let behind_ms = known.ms() - self.anchor_ms;
        if behind_ms <= 0 {
            return self;
        }
        if behind_ms > NOISE_MS {
            let seconds = behind_ms / 1000;
            tracing::warn!(
                "the wall clock is {seconds} s behind the audit, which time goes on from"
            );
        }
        Clock { anchor_ms: known.ms(), ..self }
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Moment {
        let slept = self.slept_ms.load(Ordering::Relaxed);
        let now = self.anchor_ms + ms(self.started.elapsed()) + slept;
        Moment::from_ms(self.told_ms.fetch_max(now, Ordering::Relaxed).max(now))
    }

    /// Catches up with a sleep of the machine; somebody calls it every second or so.
    pub fn catch_up(&self) {
        let (Some(before), Some(now)) = (self.up_ms, up_ms()) else { return };
        let slept = now - before - ms(self.started.elapsed());
        if slept > self.slept_ms.load(Ordering::Relaxed) + NOISE_MS {
            self.slept_ms.store(slept, Ordering::Relaxed);
        }
    }

    /// How long it is until a moment; nothing where it has passed.
    #[must_use]
    pub fn until(&self, moment: Moment) -> Duration {
        let left = moment.ms().saturating_sub(self.now().ms());
        Duration::from_millis(u64::try_from(left).unwrap_or(0))
    }
}

impl Default for Clock {
    fn default() -> Clock {
        Clock::new()
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// How long the machine is up, sleep included, where the kernel tells.
fn up_ms() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = text.split(' ').next()?.split_once('.')?;
    Some(seconds.parse::<i64>().ok()? * 1000 + hundredths.parse::<i64>().ok()? * 10)
}
