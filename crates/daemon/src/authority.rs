//! The authority: where pure code meets the store, the clock and chance.
//!
//! [`Authority::submit`] judges a call and, if a person must be asked, opens an ask and waits;
//! [`Authority::decide`] settles one. Nothing leaves before its audit entry is durable. What is
//! asked of the engine stands in [`judging`], what waits in [`waiting`], what is remembered of
//! grants in [`granted`], and what the audit says in [`record`].

pub mod access;
mod answering;
mod changed;
mod denied;
mod gaps;
mod granted;
mod judging;
mod pause;
mod rates;
mod record;
pub mod runs;
mod twins;
mod waiting;

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_approval::receipt::{Receipt, Signer};
use portcullis_approval::settle::Refusal;
use portcullis_approval::{Asker, CallText, Decision, Grant, Id, Key, Moment, Offer};
use portcullis_engine::policy::{Asks, Hosts};
use portcullis_engine::policy_text::Listed;
use portcullis_engine::verdict::Suggestion;
use portcullis_engine::{Mode, Outcome, PolicyError, Verdict};
use portcullis_layers::LayerError;
use portcullis_layers::world::Answers;
use portcullis_store::{AskRecord, AuditFilter, Opened, SessionRecord, Store, StoreError};
use serde_json::Value;
use tokio::sync::watch;
use tracing::{Instrument, debug_span};

use crate::chance;
use crate::clock::Clock;
use crate::config::Limits;
use crate::metrics::Metrics;
use crate::policies::Policies;
use crate::waiters::Waiters;

pub use answering::Gone;
pub use judging::{Judged, Kept, Overlay, ProfileNote, Profiles, is_exception};
pub use pause::Pause;

use denied::Denied;
use granted::GrantCache;
use pause::Pauses;
use rates::Rates;
use twins::Twins;
use waiting::Release;

/// Why something could not be done; `error.rs` and the doors give each its own words.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no such ask, or this caller may not see it.
    #[error("no such ask")]
    NoSuchAsk,
    /// The answer does not count.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The caller may not use this profile.
    #[error("profile `{0}` is not open to this key")]
    Profile(String),
    /// The caller asks or calls too often.
    #[error("{0}")]
    TooOften(String),
    /// The policy that would be in force is broken.
    #[error(transparent)]
    Policy(#[from] LayerError),
    /// What a session says is no policy.
    #[error("the session's policy is broken: {0}")]
    SessionPolicy(#[from] PolicyError),
    /// The store could not keep its promise.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the caller knows of the file system.
#[derive(Clone, Debug)]
pub enum Seen {
    /// It is this machine's.
    Live,
    /// It looked these paths up.
    Recorded(Answers),
    /// Nothing.
    Nothing,
}

/// A call to judge.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The call, to the byte.
    pub call: CallText,
    /// Its input.
    pub input: Value,
    /// Who calls.
    pub asker: Asker,
    /// The key it showed.
    pub key: Arc<Key>,
    /// The door it came through.
    pub door: &'static str,
    /// A mode; it can only tighten.
    pub mode: Option<Mode>,
    /// A profile of the policy.
    pub profile: Option<String>,
    /// Whether a remembered rejection is asked about again.
    pub overrides: bool,
    /// Whether an immediate allow carries a receipt.
    pub wants_receipt: bool,
    /// What is known of the file system.
    pub seen: Seen,
    /// How long to wait for a person.
    pub wait: Duration,
    /// The access, if the call is one.
    pub access: Option<access::RunAccess>,
}

/// The answer to a call.
#[derive(Debug)]
pub struct Answered {
    /// What the agent acts on.
    pub outcome: Outcome,
    /// The verdict.
    pub verdict: Verdict,
    /// The ask, if there is one.
    pub ask: Option<AskRecord>,
    /// Proof for exactly this call.
    pub receipt: Option<String>,
    /// The grants that allowed it.
    pub used: Vec<Arc<Grant>>,
    /// What the policy says about hosts.
    pub hosts: Hosts,
}

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
            rates: Rates::default(),
            denied: Denied::default(),
            twins: Twins::default(),
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
    pub async fn submit(&self, submission: Submission) -> Result<Answered, Fault> {
        self.submit_through(submission, None).await
    }

    /// The same for an event that came through a slot: events of one call are asked about once.
    ///
    /// # Errors
    /// No verdict was given, and the call must not run.
    pub async fn submit_through(
        &self,
        submission: Submission,
        slot: Option<&str>,
    ) -> Result<Answered, Fault> {
        self.inner.rates.call(&submission.asker, &self.inner.limits)?;
        let until = Instant::now() + submission.wait;
        let asker = &submission.asker;
        let session = self.session(asker, &submission.call).await?;
        // A grant may go while it is used, and an approval may be taken by an identical call:
        // then the call is judged anew, under what is left.
        loop {
            let began = Instant::now();
            let judged =
                debug_span!("judge").in_scope(|| self.judge(&submission, session.as_ref()))?;
            self.inner.metrics.judged(&judged.verdict, began.elapsed());
            if judged.verdict.outcome != Outcome::Ask {
                match self.answer_at_once(&submission, judged).await {
                    Err(Fault::Store(StoreError::GrantGone(_))) => {
                        self.refresh_grants().await?;
                        continue;
                    }
                    answered => return answered,
                }
            }
            if let Some(answered) = self.ask(&submission, judged, until, slot).await? {
                return Ok(answered);
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
        judged: Judged,
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
        self.store().record(entries, used, now).instrument(debug_span!("commit")).await?;
        self.inner.metrics.committed(began.elapsed());
        let is_allowed = judged.verdict.outcome == Outcome::Allow;
        let receipt = (is_allowed && submission.wants_receipt)
            .then(|| self.receipt_for_verdict(&judged, now));
        let Judged { verdict, used, hosts, .. } = judged;
        Ok(Answered { outcome: verdict.outcome, verdict, ask: None, receipt, used, hosts })
    }

    /// Opens an ask, or finds the one there is, and waits; none where the call must be judged anew.
    async fn ask(
        &self,
        submission: &Submission,
        judged: Judged,
        until: Instant,
        slot: Option<&str>,
    ) -> Result<Option<Answered>, Fault> {
        let now = self.now();
        let call_id = submission.call.call_id.as_deref();
        let slot = slot.map(|slot| (slot, twins::key(submission, &judged.verdict)));
        let turn = match &slot {
            Some(_) => Some(self.inner.twins.turn.lock().await),
            None => None,
        };
        if let Some((slot, key)) = &slot
            && let Some(ask) = self.inner.twins.take(key, slot, call_id)
        {
            drop(turn);
            return self.twin(submission, judged, ask, until).await.map(Some);
        }
        if let Some(changed) = self.changed_approval(submission, &judged.digest).await? {
            let entry = record::judged(submission, &judged, now);
            self.store().record(vec![entry], Vec::new(), now).await?;
            return Ok(Some(Answered {
                outcome: Outcome::Deny,
                verdict: judged.verdict,
                ask: Some(changed),
                receipt: None,
                used: Vec::new(),
                hosts: judged.hosts,
            }));
        }
        let ask = Authority::new_ask(submission, &judged, now);
        let judged_entry = || record::judged(submission, &judged, now);
        let opened = vec![judged_entry(), record::opened(&ask, now)];
        // Who asks too often opens nothing new, but still finds what it asked before.
        let too_often = self.inner.rates.ask(&submission.asker, &self.inner.limits);
        let most = if too_often.is_ok() { self.inner.limits.pending_asks_per_agent } else { 0 };
        let opened =
            self.store().open_ask(&ask, most, opened).instrument(debug_span!("commit")).await;
        if let (Err(StoreError::TooManyAsks(_)), Err(_)) = (&opened, &too_often) {
            too_often?;
        }
        let found = match opened? {
            Opened::New => {
                let (tool, tier, agent) = (&ask.call.tool, ask.tier.name(), &ask.asker.agent);
                tracing::info!(ask = %ask.id, tool, tier, agent, door = ask.door, "asked");
                ask.id
            }
            Opened::Found(found) => {
                self.store().record(vec![judged_entry()], Vec::new(), now).await?;
                found.ask.id
            }
            Opened::Claimed(claimed) => {
                let entry = record::claimed(&submission.asker, claimed.ask.id, now);
                self.store().record(vec![judged_entry(), entry], Vec::new(), now).await?;
                if let Some((slot, key)) = &slot {
                    self.inner.twins.open(key, slot, call_id, claimed.ask.id);
                    self.inner.twins.close(claimed.ask.id);
                }
                return Ok(Some(self.released(judged, *claimed, &submission.call)));
            }
        };
        if let Some((slot, key)) = &slot {
            self.inner.twins.open(key, slot, call_id, found);
        }
        drop(turn);
        let release = self.wait(found, &submission.call, until).await;
        self.inner.twins.close(found);
        Ok(match release? {
            Release::Settled(record) => Some(self.released(judged, *record, &submission.call)),
            Release::Pending(record) => Some(pending(judged, *record)),
            Release::Taken => None,
        })
    }

    /// Answers an event with the ask of another one about the same call.
    async fn twin(
        &self,
        submission: &Submission,
        judged: Judged,
        ask: Id,
        until: Instant,
    ) -> Result<Answered, Fault> {
        let now = self.now();
        let entry = record::judged(submission, &judged, now);
        self.store().record(vec![entry], Vec::new(), now).await?;
        let record = self.settled(ask, until).await;
        self.inner.twins.close(ask);
        let record = record?;
        let Some(decision) = &record.decision else { return Ok(pending(judged, record)) };
        if decision.outcome == Outcome::Allow {
            // One execution, and it is this one: whichever event comes first takes it.
            self.claim(&record).await?;
        }
        Ok(self.released(judged, record, &submission.call))
    }

    fn released(&self, judged: Judged, record: AskRecord, call: &CallText) -> Answered {
        let outcome = record.decision.as_ref().map_or(Outcome::Deny, |decision| decision.outcome);
        let receipt = self.receipt_about(&record, call);
        let Judged { verdict, hosts, .. } = judged;
        Answered { outcome, verdict, ask: Some(record), receipt, used: Vec::new(), hosts }
    }

    /// The receipt of a settled ask.
    #[must_use]
    pub fn receipt(&self, record: &AskRecord) -> Option<String> {
        self.receipt_about(record, &record.ask.call)
    }

    /// The receipt of a settled ask about a call that it answers.
    fn receipt_about(&self, record: &AskRecord, call: &CallText) -> Option<String> {
        let decision = record.decision.as_ref()?;
        let digest = match &decision.input {
            Some(input) => call.with_input(input).digest()?,
            None => call.digest()?,
        };
        let receipt = Receipt {
            id: record.ask.id,
            digest,
            outcome: decision.outcome.name().to_owned(),
            ask: Some(record.ask.id),
            by: decision.by.clone(),
            at: decision.at,
            expires_at: decision.at.after_s(record.ask.unused_approval_s),
            bound: record::bound(&record.ask.bound),
        };
        Some(receipt.issue(self.signer()))
    }

    fn receipt_for_verdict(&self, judged: &Judged, now: Moment) -> String {
        let receipt = Receipt {
            id: chance::id(now),
            digest: judged.digest.clone(),
            outcome: judged.verdict.outcome.name().to_owned(),
            ask: None,
            by: "policy".to_owned(),
            at: now,
            expires_at: now.after_s(judged.asks.unused_approval_s),
            bound: record::bound(&judged.bound),
        };
        receipt.issue(self.signer())
    }

    fn new_ask(submission: &Submission, judged: &Judged, now: Moment) -> portcullis_approval::Ask {
        let Asks { deadline_s, deadline_ms, fallback, unused_approval_s } = judged.asks;
        let deadline_ms = deadline_ms.unwrap_or(deadline_s.saturating_mul(1000));
        let verdict = &judged.verdict;
        let offers: Vec<Offer> = if submission.call.profile.is_some() && !verdict.always.is_empty()
        {
            // An entry of a profile's list silences no firm finding, and may be offered beside one.
            verdict.always.iter().map(listed_offer).collect()
        } else if verdict.is_firm {
            Vec::new()
        } else {
            let offer = |suggestion: &Suggestion| Offer {
                rule: suggestion.rule.clone(),
                also_covers: vec![suggestion.covers.clone()],
            };
            verdict.suggestions.iter().map(offer).collect()
        };
        portcullis_approval::Ask {
            id: chance::id(now),
            call: submission.call.clone(),
            asker: submission.asker.clone(),
            door: submission.door.to_owned(),
            digest: judged.digest.clone(),
            bound: judged.bound.clone(),
            verdict: record::verdict(&judged.verdict),
            tier: judged.verdict.tier,
            is_firm: judged.verdict.is_firm,
            offers,
            opened_at: now,
            deadline_at: (deadline_ms > 0).then(|| now.after_ms(deadline_ms)),
            fallback,
            unused_approval_s,
        }
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
        let begun = self
            .store()
            .begin_session(&SessionRecord {
                key: asker.key,
                session: session.clone(),
                owner: asker.owner.clone(),
                root: call.cwd.clone(),
                policy: None,
                began_at: self.now(),
            })
            .await?;
        self.inner.grants.remember(begun.clone());
        Ok(Some(begun))
    }
}

/// An entry of a profile's list, as it is offered.
fn listed_offer(entry: &Listed) -> Offer {
    let covers = if entry.is_exact {
        "this very command and nothing else".to_owned()
    } else {
        let program = entry.pattern.trim_end_matches(" **");
        format!("every command of `{program}`, inside the workspace")
    };
    Offer { rule: entry.rule(), also_covers: vec![covers] }
}

/// The answer while nobody has decided.
fn pending(judged: Judged, record: AskRecord) -> Answered {
    let Judged { verdict, hosts, .. } = judged;
    let outcome = Outcome::Ask;
    Answered { outcome, verdict, ask: Some(record), receipt: None, used: Vec::new(), hosts }
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
