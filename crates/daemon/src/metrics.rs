//! Numbers for Prometheus: counted where they happen, written when asked for.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portcullis_engine::verdict::Tier;
use portcullis_engine::{Outcome, Verdict};

/// Upper ends of the buckets of times, in microseconds.
const BUCKETS_US: [u64; 12] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000];

/// Upper ends of the buckets of answer times, in seconds.
const BUCKETS_S: [u64; 8] = [1, 5, 15, 60, 300, 900, 1800, 3600];

/// The outcomes, in the order they are counted in.
const OUTCOMES: [Outcome; 3] = [Outcome::Allow, Outcome::Ask, Outcome::Deny];

/// The tiers, in the order they are counted in.
const TIERS: [Tier; 4] = [Tier::Safe, Tier::Review, Tier::Dangerous, Tier::Destructive];

/// All numbers of a node.
#[derive(Debug, Default)]
pub struct Metrics {
    verdicts: [[AtomicU64; 4]; 3],
    judging: Histogram<12>,
    committing: Histogram<12>,
    answering: Histogram<8>,
    settled: AtomicU64,
}

#[derive(Debug)]
struct Histogram<const N: usize> {
    counts: [AtomicU64; N],
    sum_us: AtomicU64,
    count: AtomicU64,
}

impl<const N: usize> Default for Histogram<N> {
    fn default() -> Histogram<N> {
        Histogram {
            counts: std::array::from_fn(|_| AtomicU64::new(0)),
            sum_us: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }
}

impl<const N: usize> Histogram<N> {
    fn add(&self, ends: &[u64; N], value: u64, duration: Duration) {
        let bucket = ends.iter().position(|end| value <= *end);
        if let Some(count) = bucket.and_then(|bucket| self.counts.get(bucket)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(micros(duration), Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn write(&self, out: &mut String, name: &str, about: &str, ends: &[u64; N], unit: f64) {
        let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} histogram");
        let mut below = 0;
        for (end, count) in ends.iter().zip(&self.counts) {
            below += count.load(Ordering::Relaxed);
            #[expect(clippy::cast_precision_loss, reason = "bucket ends are small")]
            let end = *end as f64 / unit;
            let _ = writeln!(out, "{name}_bucket{{le=\"{end}\"}} {below}");
        }
        let count = self.count.load(Ordering::Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "a sum of times needs no last digit")]
        let sum = self.sum_us.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "{name}_sum {sum}\n{name}_count {count}");
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl Metrics {
    /// Counts a verdict and how long it took.
    pub fn judged(&self, verdict: &Verdict, took: Duration) {
        let outcome = OUTCOMES.iter().position(|outcome| *outcome == verdict.outcome);
        let tier = TIERS.iter().position(|tier| *tier == verdict.tier);
        let count = outcome.and_then(|outcome| self.verdicts.get(outcome)?.get(tier?));
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.judging.add(&BUCKETS_US, micros(took), took);
    }

    /// Counts a commit of the store as a caller saw it.
    pub fn committed(&self, took: Duration) {
        self.committing.add(&BUCKETS_US, micros(took), took);
    }

    /// Counts an answer and how long it took.
    pub fn answered(&self, took: Duration) {
        self.settled.fetch_add(1, Ordering::Relaxed);
        self.answering.add(&BUCKETS_S, took.as_secs(), took);
    }

    /// The numbers as text.
    #[must_use]
    pub fn text(&self, pending: u64, queued: usize) -> String {
        let mut out = String::new();
        out.push_str("# HELP portcullis_verdicts_total Verdicts by outcome and tier.\n");
        out.push_str("# TYPE portcullis_verdicts_total counter\n");
        for (outcome, tiers) in OUTCOMES.iter().zip(&self.verdicts) {
            for (tier, count) in TIERS.iter().zip(tiers) {
                let count = count.load(Ordering::Relaxed);
                let (outcome, tier) = (outcome.name(), tier.name());
                let _ = writeln!(
                    out,
                    "portcullis_verdicts_total{{outcome=\"{outcome}\",tier=\"{tier}\"}} {count}"
                );
            }
        }
        out.push_str("# HELP portcullis_asks_pending Asks that wait for an answer.\n");
        out.push_str("# TYPE portcullis_asks_pending gauge\n");
        let _ = writeln!(out, "portcullis_asks_pending {pending}");
        out.push_str("# HELP portcullis_asks_settled_total Asks settled on this node.\n");
        out.push_str("# TYPE portcullis_asks_settled_total counter\n");
        let settled = self.settled.load(Ordering::Relaxed);
        let _ = writeln!(out, "portcullis_asks_settled_total {settled}");
        out.push_str("# HELP portcullis_store_queue_depth Changes that wait for their commit.\n");
        out.push_str("# TYPE portcullis_store_queue_depth gauge\n");
        let _ = writeln!(out, "portcullis_store_queue_depth {queued}");
        let judging = ("portcullis_judge_seconds", "Time to judge a call.");
        self.judging.write(&mut out, judging.0, judging.1, &BUCKETS_US, 1e6);
        let committing = ("portcullis_commit_seconds", "Time until the store was durable.");
        self.committing.write(&mut out, committing.0, committing.1, &BUCKETS_US, 1e6);
        let answering = ("portcullis_answer_seconds", "Time until an ask was settled.");
        self.answering.write(&mut out, answering.0, answering.1, &BUCKETS_S, 1.0);
        out
    }
}
