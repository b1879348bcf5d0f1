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
        authority.deadlines().look();
        let ended = end_due(&authority, started).await;
        let next = authority.deadlines().found(ended.as_ref().ok().copied().flatten(), &mut noted);
        let wait = match ended {
            Ok(_) => next.map_or(AT_LEAST, |next| authority.clock().until(next).min(AT_LEAST)),
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
///
/// What was noted before the store is looked at is found there, since an ask is committed before
/// its deadline is noted. What is noted while one looks may be missing from what is found.
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

    /// Forgets what was noted: the store is looked at from now on.
    fn look(&self) {
        self.nearest.send_if_modified(|nearest| {
            *nearest = None;
            false
        });
    }

    /// Takes what the store said, unless a nearer one was noted while it was looked at; the
    /// nearest, of which the watcher knows from now on.
    fn found(
        &self,
        found: Option<Moment>,
        watching: &mut watch::Receiver<Option<Moment>>,
    ) -> Option<Moment> {
        if let Some(found) = found {
            self.note(found);
        }
        *watching.borrow_and_update()
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
        deadlines.look();
        assert_eq!(deadlines.found(Some(at(100)), &mut watching), Some(at(100)));
        deadlines.note(at(200));
        assert!(!watching.has_changed().unwrap(), "a later one");
        deadlines.note(at(50));
        assert!(watching.has_changed().unwrap(), "a nearer one");
        deadlines.look();
        assert_eq!(deadlines.found(Some(at(100)), &mut watching), Some(at(100)), "it was ended");
        assert!(!watching.has_changed().unwrap(), "what was found is known");
    }

    #[test]
    fn what_is_noted_while_the_store_is_looked_at_is_not_lost() {
        let (deadlines, at) = (Deadlines::default(), Moment::from_ms);
        let mut watching = deadlines.subscribe();
        deadlines.note(at(100));
        #[rustfmt::skip]
        let cases = [
            (None,          200, Some(at(200)), "the one that passes just now is nearer, and no more"),
            (Some(at(300)), 250, Some(at(250)), "the store knew of a later one only"),
            (Some(at(300)), 400, Some(at(300)), "the store knew of a nearer one"),
            (None,          0,   Some(at(0)),   "it has passed by now: it is ended at once"),
        ];
        for (found, noted, want, why) in cases {
            deadlines.look();
            deadlines.note(at(noted));
            assert_eq!(deadlines.found(found, &mut watching), want, "{why}");
            assert!(!watching.has_changed().unwrap(), "{why}");
        }
        deadlines.look();
        assert_eq!(deadlines.found(None, &mut watching), None, "nothing waits any more");
    }
}
