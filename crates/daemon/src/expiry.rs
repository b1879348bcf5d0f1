//! Expiry: asks whose deadline passes are settled with their fallback.

use std::time::Duration;

use portcullis_approval::Moment;
use portcullis_store::StoreError;
use tokio::sync::watch;

use crate::authority::{Authority, Fault};

/// How often deadlines are looked at when none is near.
const AT_LEAST: Duration = Duration::from_secs(30);

/// So many asks are ended in one go.
const MOST_AT_ONCE: usize = 100;

/// Ends asks at their deadlines, until the node goes down.
///
/// Asks that this node opens are noted as they come, those of others a little later than they
/// are due: their own node ends them, if it is still there. What was not heard of is found by
/// looking again after a while.
pub async fn watch(authority: Authority) {
    let started = authority.now();
    let mut noted = authority.deadlines().subscribe();
    let mut stopping = authority.stopping();
    while !*stopping.borrow() {
        noted.borrow_and_update();
        let wait = match end_due(&authority, started).await {
            Ok(next) => authority
                .deadlines()
                .next(next, authority.now())
                .map_or(AT_LEAST, |next| authority.clock().until(next).min(AT_LEAST)),
            Err(error) => {
                tracing::error!("deadlines cannot be kept: {error}");
                Duration::from_secs(1)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = noted.changed() => {}
            _ = stopping.changed() => {}
        }
    }
}

/// The nearest deadline that is known.
#[derive(Debug, Default)]
pub struct Deadlines {
    nearest: watch::Sender<Option<Moment>>,
}

impl Deadlines {
    /// Notes a deadline; whoever watches is told if it is nearer than what was known.
    pub fn note(&self, at: Moment) {
        self.nearest.send_if_modified(|nearest| {
            let is_nearer = nearest.is_none_or(|known| at < known);
            if is_nearer {
                *nearest = Some(at);
            }
            is_nearer
        });
    }

    fn subscribe(&self) -> watch::Receiver<Option<Moment>> {
        self.nearest.subscribe()
    }

    /// Takes what the store said for the nearest, unless a nearer one was noted meanwhile.
    fn next(&self, found: Option<Moment>, now: Moment) -> Option<Moment> {
        self.nearest.send_if_modified(|nearest| {
            let is_nearer = |noted: &Moment| *noted > now && found.is_none_or(|at| *noted < at);
            *nearest = nearest.filter(is_nearer).or(found);
            false
        });
        *self.nearest.borrow()
    }
}

/// Ends what is due; the next deadline there is.
async fn end_due(authority: &Authority, started: Moment) -> Result<Option<Moment>, StoreError> {
    loop {
        let due = authority.store().due_asks(authority.now(), MOST_AT_ONCE).await?;
        if due.is_empty() {
            return authority.store().next_deadline().await;
        }
        for record in due {
            // A deadline that passed while no node was running opens nothing.
            let was_watched = record.ask.deadline_at.is_some_and(|deadline| deadline >= started);
            match authority.expire(&record.ask, was_watched).await {
                Ok(_) | Err(Fault::Store(StoreError::AlreadySettled(_))) => {}
                Err(Fault::Store(error)) => return Err(error),
                Err(error) => {
                    tracing::error!(ask.id = %record.ask.id, "an ask cannot end: {error}");
                    return Ok(Some(authority.now().after_s(5)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_approval::Moment;

    use super::Deadlines;

    #[test]
    fn a_nearer_deadline_is_told_and_a_later_one_is_not() {
        let (deadlines, at) = (Deadlines::default(), Moment::from_ms);
        let mut watching = deadlines.subscribe();
        deadlines.note(at(100));
        assert!(watching.has_changed().unwrap(), "the first one");
        watching.borrow_and_update();
        deadlines.note(at(200));
        assert!(!watching.has_changed().unwrap(), "a later one");
        assert_eq!(deadlines.next(Some(at(100)), at(0)), Some(at(100)));
        deadlines.note(at(50));
        assert!(watching.has_changed().unwrap(), "a nearer one");
        assert_eq!(deadlines.next(Some(at(100)), at(0)), Some(at(50)), "it came meanwhile");
        assert_eq!(deadlines.next(Some(at(100)), at(60)), Some(at(100)), "it has passed");
        assert_eq!(deadlines.next(None, at(100)), None, "nothing waits any more");
    }
}
