//! How often an agent may call and ask: a bucket for each that fills with time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use portcullis_approval::{Asker, Id};

use super::Fault;
use crate::config::Limits;

/// So many agents are counted; beyond that the counting begins anew.
const MOST_AGENTS: usize = 100_000;

/// The buckets.
#[derive(Debug, Default)]
pub(super) struct Rates {
    calls: Mutex<HashMap<(Id, String), Bucket>>,
    asks: Mutex<HashMap<(Id, String), Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    filled: Instant,
}

impl Rates {
    /// Counts a call.
    pub(super) fn call(&self, asker: &Asker, limits: &Limits) -> Result<(), Fault> {
        let rate = limits.calls_per_second_per_agent;
        if rate == 0 || take(&self.calls, asker, f64::from(rate), f64::from(rate)) {
            return Ok(());
        }
        Err(Fault::TooOften(format!("more than {rate} calls a second; slow down")))
    }

    /// Counts a question.
    pub(super) fn ask(&self, asker: &Asker, limits: &Limits) -> Result<(), Fault> {
        let rate = limits.asks_per_minute_per_agent;
        if rate == 0 || take(&self.asks, asker, f64::from(rate), f64::from(rate) / 60.0) {
            return Ok(());
        }
        Err(Fault::TooOften(format!("more than {rate} questions a minute; slow down")))
    }
}

fn take(
    buckets: &Mutex<HashMap<(Id, String), Bucket>>,
    asker: &Asker,
    most: f64,
    per_second: f64,
) -> bool {
    let now = Instant::now();
    let mut buckets = buckets.lock().unwrap_or_else(PoisonError::into_inner);
    if buckets.len() >= MOST_AGENTS {
        buckets.clear();
    }
    let bucket = buckets
        .entry((asker.key, asker.agent.clone()))
        .or_insert(Bucket { left: most, filled: now });
    let filled = now.duration_since(bucket.filled).as_secs_f64() * per_second;
    bucket.left = (bucket.left + filled).min(most);
    bucket.filled = now;
    if bucket.left < 1.0 {
        return false;
    }
    bucket.left -= 1.0;
    true
}
