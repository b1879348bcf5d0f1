//! Expiry: asks whose deadline passes are settled with their fallback.

use std::time::Duration;

use portcullis_store::StoreError;

use crate::authority::{Authority, Fault};

/// How often deadlines are looked at when none is near.
const AT_LEAST: Duration = Duration::from_secs(30);

/// So many asks are ended in one go.
const MOST_AT_ONCE: usize = 100;

/// Ends asks at their deadlines, until the node goes down.
pub async fn watch(authority: Authority) {
    let started = authority.now();
    let mut bell = authority.store().bell();
    let mut stopping = authority.stopping();
    while !*stopping.borrow() {
        let wait = match end_due(&authority, started).await {
            Ok(Some(next)) => authority.clock().until(next).min(AT_LEAST),
            Ok(None) => AT_LEAST,
            Err(error) => {
                tracing::error!("deadlines cannot be kept: {error}");
                Duration::from_secs(1)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            // A new ask may have a nearer deadline.
            _ = bell.changed() => { bell.borrow_and_update(); }
            _ = stopping.changed() => {}
        }
    }
}

/// Ends what is due; the next deadline there is.
async fn end_due(
    authority: &Authority,
    started: portcullis_approval::Moment,
) -> Result<Option<portcullis_approval::Moment>, StoreError> {
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
