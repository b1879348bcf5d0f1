//! Asks that this node has just opened or settled, as it wrote them: whoever is told of one need
//! not read it back.
//!
//! The row is the truth. What is remembered here was committed, and may have been settled by
//! another node since: the store refuses to settle it twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_approval::{Ask, Decision, Id};
use portcullis_store::{AskRecord, AuditRecord, StoreError};

use super::Authority;

/// So many asks are remembered.
const MOST_ASKS: usize = 1024;

/// So many are read at once: their inputs may be long.
const MOST_AT_ONCE: usize = 64;

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

    /// The asks that audit entries are about, as they are told: settled, where an entry is about
    /// that. By the positions of the entries; what is not remembered is read in few journeys.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn told(
        &self,
        entries: &[AuditRecord],
    ) -> Result<HashMap<u64, Arc<AskRecord>>, StoreError> {
        let (mut told, mut unknown) = (HashMap::new(), Vec::new());
        for entry in entries.iter().filter(|entry| entry.kind.starts_with("ask.")) {
            let Ok(id) = entry.subject.parse::<Id>() else { continue };
            let is_settled = entry.kind == "ask.settled";
            let fits = |record: &Arc<AskRecord>| record.decision.is_some() || !is_settled;
            let mut known = self.inner.recent.get(id);
            if known.as_ref().is_some_and(|record| !fits(record)) {
                // It was opened here and probably settled here: whoever did that was told just
                // before this task was, and is about to remember it.
                tokio::task::yield_now().await;
                known = self.inner.recent.get(id);
            }
            match known.filter(fits) {
                Some(record) => {
                    told.insert(entry.position, record);
                }
                None => unknown.push((id, entry.position)),
            }
        }
        for some in unknown.chunks(MOST_AT_ONCE) {
            let mut ids: Vec<Id> = some.iter().map(|(id, _)| *id).collect();
            ids.dedup();
            let read = self.store().asks_of(&ids).await?;
            let read: HashMap<Id, Arc<AskRecord>> =
                read.into_iter().map(|record| (record.ask.id, Arc::new(record))).collect();
            for (id, position) in some {
                if let Some(record) = read.get(id) {
                    told.insert(*position, Arc::clone(record));
                }
            }
        }
        Ok(told)
    }
}
