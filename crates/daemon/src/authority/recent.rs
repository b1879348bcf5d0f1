//! Asks that this node has just opened or settled, as it wrote them: whoever is told of one need
//! not read it back.
//!
//! The row is the truth. What is remembered here was committed, and may have been settled by
//! another node since: the store refuses to settle it twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_approval::{Ask, Decision, Id};
use portcullis_store::{AskRecord, StoreError};

use super::Authority;

/// So many asks are remembered.
const MOST_ASKS: usize = 1024;

/// Longer inputs are not.
const MOST_INPUT: usize = 16 << 10;

/// What is remembered.
#[derive(Debug, Default)]
pub(super) struct Recent {
    asks: Mutex<Asks>,
}

#[derive(Debug, Default)]
struct Asks {
    known: HashMap<Id, Arc<AskRecord>>,
    order: VecDeque<Id>,
}

impl Recent {
    /// Remembers an ask as it was committed.
    pub(super) fn keep(&self, ask: &Ask, decision: Option<&Decision>) {
        if ask.call.input.len() > MOST_INPUT {
            return;
        }
        let record = AskRecord { ask: ask.clone(), decision: decision.cloned(), claimed_at: None };
        let mut asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner);
        if asks.known.insert(ask.id, Arc::new(record)).is_none() {
            asks.order.push_back(ask.id);
        }
        if asks.order.len() > MOST_ASKS
            && let Some(oldest) = asks.order.pop_front()
        {
            asks.known.remove(&oldest);
        }
    }

    fn get(&self, id: Id) -> Option<Arc<AskRecord>> {
        self.asks.lock().unwrap_or_else(PoisonError::into_inner).known.get(&id).cloned()
    }
}

impl Authority {
    /// An ask that may be answered: as it was opened here, or as the store has it.
    pub(super) async fn answerable(&self, id: Id) -> Result<Option<Arc<AskRecord>>, StoreError> {
        match self.inner.recent.get(id) {
            Some(record) => Ok(Some(record)),
            None => Ok(self.store().ask(id).await?.map(Arc::new)),
        }
    }

    /// An ask as it is told: settled, if it is about that.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn told(
        &self,
        id: Id,
        is_settled: bool,
    ) -> Result<Option<Arc<AskRecord>>, StoreError> {
        let fits = |record: &Arc<AskRecord>| record.decision.is_some() || !is_settled;
        let mut known = self.inner.recent.get(id);
        if known.as_ref().is_some_and(|record| !fits(record)) {
            // It was opened here and probably settled here: whoever did that was told just before
            // this task was, and is about to remember it.
            tokio::task::yield_now().await;
            known = self.inner.recent.get(id);
        }
        match known.filter(fits) {
            Some(record) => Ok(Some(record)),
            None => Ok(self.store().ask(id).await?.map(Arc::new)),
        }
    }
}
