//! The authority: where pure code meets the store, the clock and chance.
//!
//! [`Authority::submit`] judges a call and, if a person must be asked, opens an ask and waits;
//! [`Authority::decide`] settles one. Nothing leaves before its audit entry is durable. The shapes
//! of both stand in [`submission`], what is asked of the engine in [`judging`], of a person in
//! [`asking`], what waits in [`waiting`], what is remembered of grants in [`granted`], what the
//! audit says in [`record`], and what is signed in [`receipts`].

pub mod access;
mod answering;
mod asking;
mod binding;
mod changed;
mod denied;
pub mod explaining;
mod gaps;
mod granted;
mod judging;
mod overlays;
mod pause;
mod rates;
mod receipts;
mod recent;
mod record;
mod repeats;
pub mod runs;
mod submission;
mod twins;
mod waiting;

use std::sync::Arc;
use std::time::Instant;

use portcullis_approval::receipt::Signer;
use portcullis_approval::{Asker, CallText, Decision, Id, Moment};
use portcullis_engine::Outcome;
use portcullis_store::{AskRecord, AuditFilter, SessionRecord, Store, StoreError};
use tokio::sync::watch;
use tracing::{Instrument, debug_span, field};

use crate::clock::Clock;
use crate::config::Limits;
use crate::expiry::Deadlines;
use crate::metrics::Metrics;
use crate::policies::Policies;
use crate::waiters::Waiters;

pub use answering::Gone;
pub use judging::{Judged, is_exception};
pub use overlays::{Kept, Overlay, ProfileNote, Profiles};
pub use pause::Pause;
pub use submission::{Answered, Fault, Seen, Submission};
pub use waiting::look_again;

use denied::Denied;
use granted::GrantCache;
use pause::Pauses;
use rates::Rates;
use recent::Recent;
use repeats::Repeats;
use twins::Twins;
use waiting::Again;

/// The authority of a node; clones are the same.
#[derive(Clone)]
pub struct Authority {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    policies: Policies,
    grants: GrantCache,
    rates: Rates,
    denied: Denied,
    twins: Twins,
    recent: Recent,
    repeats: Repeats,
    deadlines: Deadlines,
    pauses: Pauses,
    waiters: Waiters,
    signer: Signer,
    clock: Clock,
    limits: Limits,
    overlays: Vec<(&'static str, Overlay)>,
    metrics: Arc<Metrics>,
    stopping: watch::Sender<bool>,
}

impl Authority {
    /// An authority over a store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn new(
        store: Arc<dyn Store>,
        policies: Policies,
        signer: Signer,
        limits: Limits,
        overlays: Vec<(&'static str, Overlay)>,
        metrics: Arc<Metrics>,
    ) -> Result<Authority, StoreError> {
        let newest = AuditFilter { before: Some(u64::MAX), ..AuditFilter::after(0, 1) };
        let newest = store.audit(&newest).await?.first().map(|entry| entry.at);
        let clock = match store.clock().await? {
            Some(moment) => Clock::at(moment),
            None => newest.map_or_else(Clock::new, |at| Clock::new().not_before(at)),
        };
        let inner = Inner {
            store,
            policies,
            grants: GrantCache::default(),
            rates: rates::of_a_new_node(clock.now()),
            denied: Denied::default(),
            twins: Twins::default(),
            recent: Recent::default(),
            repeats: Repeats::default(),
            deadlines: Deadlines::default(),
            pauses: Pauses::default(),
            waiters: Waiters::default(),
            signer,
            clock,
            limits,
            overlays,
            metrics,
            stopping: watch::Sender::new(false),
        };
        let authority = Authority { inner: Arc::new(inner) };
        authority.refresh_grants().await?;
        Ok(authority)
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    /// The policies.
    #[must_use]
    pub fn policies(&self) -> &Policies {
        &self.inner.policies
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The present moment.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.inner.clock.now()
    }

    /// What signs receipts and checkpoints.
    #[must_use]
    pub fn signer(&self) -> &Signer {
        &self.inner.signer
    }

    /// Everybody who waits here.
    #[must_use]
    pub fn waiters(&self) -> &Waiters {
        &self.inner.waiters
    }

    /// The deadlines of asks.
    #[must_use]
    pub fn deadlines(&self) -> &Deadlines {
        &self.inner.deadlines
    }

    /// Tells everybody who waits that the node goes down.
    pub fn stop(&self) {
        self.inner.stopping.send_replace(true);
        self.inner.waiters.wake_all();
    }

    /// Becomes true when the node goes down.
    #[must_use]
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.inner.stopping.subscribe()
    }

    /// Comes when the node goes down.
    pub async fn stopped(&self) {
        stopped(&mut self.stopping()).await;
    }

    /// Judges a call; allows or denies it at once, or opens an ask and waits for a person.
    ///
    /// # Errors
    /// No verdict was given, and the call must not run.
    pub async fn submit(&self, submission: &mut Submission) -> Result<Answered, Fault> {
        self.submit_through(submission, None).await
    }

    /// The same for an event that came through a slot: events of one call are asked about once.
    ///
    /// # Errors
    /// No verdict was given, and the call must not run.
    pub async fn submit_through(
        &self,
        submission: &mut Submission,
        slot: Option<&str>,
    ) -> Result<Answered, Fault> {
        self.inner.rates.call(&submission.asker, &self.inner.limits)?;
        let until = Instant::now() + submission.wait;
        let session = self.session(&submission.asker, &submission.call).await?;
        // A grant may go while it is used, and an approval may be taken by an identical call:
        // then the call is judged anew, under what is left.
        loop {
            let began = Instant::now();
            let span = debug_span!("judge", outcome = field::Empty, tier = field::Empty);
            let judged = span.in_scope(|| self.judge(submission, session.as_ref()))?;
            span.record("outcome", judged.verdict.outcome.name());
            span.record("tier", judged.verdict.tier.name());
            drop(span);
            // In a piece of its own: each future on the way would have room for it twice.
            let judged = Box::new(judged);
            self.inner.metrics.judged(&judged.verdict, began.elapsed());
            if judged.verdict.outcome != Outcome::Ask {
                match self.answer_at_once(submission, judged).await {
                    Err(Fault::Store(StoreError::GrantGone(_))) => {
                        self.refresh_grants().await?;
                        continue;
                    }
                    answered => return answered,
                }
            }
            // Most calls never come here: what asking keeps is not carried along with them.
            match Box::pin(self.ask(submission, *judged, until, slot)).await? {
                Ok(answered) => return Ok(answered),
                Err(Again::Taken) => {}
                // It is not the call of this name any more that somebody approved.
                Err(Again::Changed) => submission.call.call_id = None,
            }
        }
    }

    /// Judges a call and leaves nothing behind.
    ///
    /// # Errors
    /// There is no policy to judge it by.
    pub async fn check(&self, submission: &Submission) -> Result<Judged, Fault> {
        let session = match &submission.call.session {
            Some(session) => {
                let sessions = self.store().sessions(session).await?;
                sessions.into_iter().find(|known| known.key == submission.asker.key)
            }
            None => None,
        };
        self.judge(submission, session.as_ref())
    }

    async fn answer_at_once(
        &self,
        submission: &Submission,
        judged: Box<Judged>,
    ) -> Result<Answered, Fault> {
        let now = self.now();
        if judged.verdict.outcome == Outcome::Deny {
            self.inner.denied.keep(&judged.digest, submission);
        }
        let mut entries = vec![record::judged(submission, &judged, now)];
        let used: Vec<Id> = judged.used.iter().map(|grant| grant.id).collect();
        entries.extend(
            used.iter().map(|grant| record::used(&submission.asker, &judged.digest, *grant, now)),
        );
        let began = Instant::now();
        let commit = self.store().record(entries, used, now).instrument(debug_span!("commit"));
        let is_allowed = judged.verdict.outcome == Outcome::Allow;
        // Signed while the disk works; nobody sees it before the entry is durable.
        let sign = async {
            (is_allowed && submission.wants_receipt).then(|| self.receipt_for_verdict(&judged, now))
        };
        let (committed, receipt) = tokio::join!(biased; commit, sign);
        committed?;
        self.inner.metrics.committed(began.elapsed());
        let Judged { verdict, used, hosts, known, .. } = *judged;
        let outcome = verdict.outcome;
        Ok(Answered { outcome, verdict, ask: None, receipt, used, hosts, known })
    }

    /// The session of a call, which begins with its first.
    async fn session(
        &self,
        asker: &Asker,
        call: &CallText,
    ) -> Result<Option<SessionRecord>, StoreError> {
        let Some(session) = &call.session else { return Ok(None) };
        if let Some(known) = self.inner.grants.session(asker.key, session) {
            return Ok(Some(known));
        }
        // Rare: what it keeps is not carried along with every call.
        let begun = Box::pin(async {
            let session = SessionRecord {
                key: asker.key,
                session: session.clone(),
                owner: asker.owner.clone(),
                root: call.cwd.clone(),
                policy: None,
                began_at: self.now(),
            };
            self.store().begin_session(&session).await
        });
        let begun = begun.await?;
        self.inner.grants.remember(begun.clone());
        Ok(Some(begun))
    }
}

/// Comes when the node that a receiver belongs to goes down.
pub async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A sender that is gone is a node that is gone.
    let _ = stopping.wait_for(|is_stopping| *is_stopping).await;
}

/// The decision of a record that has one.
#[must_use]
pub fn decision_of(record: &AskRecord) -> Option<&Decision> {
    record.decision.as_ref()
}
