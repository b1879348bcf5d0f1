//! Waiting for a person: register, read the row, sleep until the bell, read again.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use portcullis_approval::{Asker, CallText, Id};
use portcullis_engine::Outcome;
use portcullis_store::{AskRecord, StoreError};

use super::binding::still_bound;
use super::{Authority, Fault, record};

/// How often a node looks whether somebody waits for an ask that is settled. What it may have missed
/// it reads again every second; this is for a mistake in that.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// So many asks are looked at in one journey.
const MOST_AT_ONCE: usize = 1000;

/// How soon a waiter looks again when the store did not answer.
const AWAY: Duration = Duration::from_millis(500);

/// How a wait ended.
pub(super) enum Release {
    /// The ask is settled, and an approval was taken for this call.
    Settled(Box<AskRecord>),
    /// Nobody has answered yet.
    Pending(Box<AskRecord>),
    /// There is no approval any more for this call.
    Again(Again),
}

/// Why a call is judged anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// An identical call took the approval, or it is too old.
    Taken,
    /// What the approval was given for is no longer there: it was another call.
    Changed,
}

/// Whether two calls of one digest mean the same: the same shell would read them, with the same
/// home, and the same profile speaks for them.
pub(super) fn is_alike(one: &CallText, other: &CallText) -> bool {
    let meant = |call: &CallText| (call.shell.clone(), call.home.clone(), call.profile.clone());
    meant(one) == meant(other)
}

/// Wakes whoever waits for an ask that is settled, now and then, until the node goes down: one look
/// for everybody, so that ten thousand who wait ask no more of the store than one.
pub async fn look_again(authority: Authority) {
    let mut stopping = authority.stopping();
    while !*stopping.borrow_and_update() {
        if let Err(error) = wake_missed(&authority).await {
            tracing::warn!("whoever waits could not be looked after: {error}");
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_AGAIN) => {}
            _ = stopping.changed() => {}
        }
    }
}

async fn wake_missed(authority: &Authority) -> Result<(), StoreError> {
    for some in authority.waiters().asks().chunks(MOST_AT_ONCE) {
        let pending: HashSet<Id> =
            authority.store().pending_of(some.to_vec()).await?.into_iter().collect();
        for ask in some.iter().filter(|ask| !pending.contains(ask)) {
            authority.waiters().wake(*ask);
        }
    }
    Ok(())
}

impl Authority {
    /// Waits until an ask is settled, at the latest until a moment, and takes the approval for
    /// this call.
    pub(super) async fn wait(
        &self,
        id: Id,
        call: &CallText,
        until: Instant,
    ) -> Result<Release, Fault> {
        let record = self.settled(id, until).await?;
        let Some(decision) = &record.decision else {
            return Ok(Release::Pending(Box::new(record)));
        };
        if decision.outcome != Outcome::Allow {
            return Ok(Release::Settled(Box::new(record)));
        }
        // The same call again is no second execution: it learns what was decided about it.
        let is_same = call.call_id.is_some()
            && call.call_id == record.ask.call.call_id
            && call.session == record.ask.call.session;
        let now = self.now();
        let entry = record::claimed(&record.ask.asker, id, now);
        if !is_alike(call, &record.ask.call) {
            return Ok(Release::Again(Again::Changed));
        }
        let may_run = (is_same && record.claimed_at.is_some())
            || self.store().claim(id, now, vec![entry]).await?;
        // Between the answer and this moment the files may have become others.
        Ok(match (may_run, still_bound(&record.ask)) {
            (true, Ok(())) => Release::Settled(Box::new(record)),
            (_, Err(_)) => Release::Again(Again::Changed),
            (false, Ok(())) => Release::Again(Again::Taken),
        })
    }

    /// Takes the one execution that an approval is good for; false where it is taken, too old, or
    /// was given for other files than lie there now.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn claim(&self, record: &AskRecord) -> Result<bool, Fault> {
        let (id, now) = (record.ask.id, self.now());
        let entry = record::claimed(&record.ask.asker, id, now);
        Ok(self.store().claim(id, now, vec![entry]).await? && still_bound(&record.ask).is_ok())
    }

    /// Takes one use of each of these grants for an agent; false where one is gone.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn use_grants(&self, asker: &Asker, grants: &[Id]) -> Result<bool, Fault> {
        let now = self.now();
        let entries = grants.iter().map(|grant| record::taken(asker, *grant, now)).collect();
        match self.store().record(entries, grants.to_vec(), now).await {
            Ok(()) => {}
            Err(StoreError::GrantGone(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        self.refresh_grants().await?;
        Ok(true)
    }

    /// An ask, as soon as it is settled and at the latest at a moment.
    ///
    /// # Errors
    /// There is none, or the store cannot be read.
    pub async fn settled(&self, id: Id, until: Instant) -> Result<AskRecord, Fault> {
        let waiter = self.waiters().register(id);
        let mut stopping = self.stopping();
        loop {
            let bell = waiter.listen();
            tokio::pin!(bell);
            let found = self.store().ask(id).await;
            let now = Instant::now();
            let is_over = now >= until || *stopping.borrow_and_update();
            let wake_at = match found {
                Ok(found) => {
                    let record = found.ok_or(Fault::NoSuchAsk)?;
                    if record.decision.is_some() || is_over {
                        return Ok(record);
                    }
                    until
                }
                // While the store is away nobody is told anything; whoever waits goes on waiting.
                Err(StoreError::Unavailable(_)) if !is_over => until.min(now + AWAY),
                Err(error) => return Err(error.into()),
            };
            tokio::select! {
                () = &mut bell => {}
                () = tokio::time::sleep_until(wake_at.into()) => {}
                _ = stopping.changed() => {}
            }
        }
    }
}
