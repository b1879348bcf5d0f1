//! Waiters: requests that are held until their ask is settled.
//!
//! A wake-up only says "look again": whoever wakes reads the row, and a wake-up that was lost is
//! made good by the node, which looks after everybody who waits every now and then.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_approval::Id;
use tokio::sync::Notify;

/// Everybody who waits on this node.
#[derive(Clone, Debug, Default)]
pub struct Waiters {
    by_ask: Arc<Mutex<HashMap<Id, Waiting>>>,
}

#[derive(Debug, Default)]
struct Waiting {
    bell: Arc<Notify>,
    count: usize,
}

/// One who waits; waits no longer once it is dropped.
#[derive(Debug)]
pub struct Waiter {
    waiters: Waiters,
    ask: Id,
    bell: Arc<Notify>,
}

impl Waiters {
    /// Begins to wait for an ask. Register first, then read the row, then wait.
    #[must_use]
    pub fn register(&self, ask: Id) -> Waiter {
        let mut by_ask = self.by_ask.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = by_ask.entry(ask).or_default();
        waiting.count += 1;
        Waiter { waiters: self.clone(), ask, bell: Arc::clone(&waiting.bell) }
    }

    /// Tells everybody who waits for an ask to look again.
    pub fn wake(&self, ask: Id) {
        let by_ask = self.by_ask.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = by_ask.get(&ask) {
            waiting.bell.notify_waiters();
        }
    }

    /// What somebody waits for.
    #[must_use]
    pub fn asks(&self) -> Vec<Id> {
        self.by_ask.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// Tells everybody.
    pub fn wake_all(&self) {
        let by_ask = self.by_ask.lock().unwrap_or_else(PoisonError::into_inner);
        for waiting in by_ask.values() {
            waiting.bell.notify_waiters();
        }
    }

    /// How many wait for an ask here.
    #[must_use]
    pub fn count(&self, ask: Id) -> usize {
        let by_ask = self.by_ask.lock().unwrap_or_else(PoisonError::into_inner);
        by_ask.get(&ask).map_or(0, |waiting| waiting.count)
    }
}

impl Waiter {
    /// A wake-up that comes after this call is not missed, whenever it is awaited.
    pub fn listen(&self) -> impl Future<Output = ()> + Send + use<> {
        Arc::clone(&self.bell).notified_owned()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut by_ask = self.waiters.by_ask.lock().unwrap_or_else(PoisonError::into_inner);
        let is_last = by_ask.get_mut(&self.ask).is_some_and(|waiting| {
            waiting.count = waiting.count.saturating_sub(1);
            waiting.count == 0
        });
        if is_last {
            by_ask.remove(&self.ask);
        }
    }
}
