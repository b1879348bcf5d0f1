//! Asking a person: an ask is opened, or the one there is found, and waited for.

use std::time::Instant;

use portcullis_approval::{Ask, CallText, Id, Moment, Offer};
use portcullis_engine::Outcome;
use portcullis_engine::policy::Asks;
use portcullis_engine::policy_text::Listed;
use portcullis_engine::verdict::Suggestion;
use portcullis_hook::hosts;
use portcullis_store::{AskRecord, Opened, Opening, StoreError};
use tracing::{Instrument, debug_span};

use super::binding::still_bound;
use super::waiting::{Again, Release, is_alike};
use super::{Answered, Authority, Fault, Judged, Submission, record, twins};
use crate::chance;

impl Authority {
    /// Opens an ask, or finds the one there is, and waits; or says why the call must be judged anew.
    pub(super) async fn ask(
        &self,
        submission: &Submission,
        judged: Judged,
        until: Instant,
        slot: Option<&str>,
    ) -> Result<Result<Answered, Again>, Fault> {
        let now = self.now();
        let call_id = submission.call.call_id.as_deref();
        // A slot that no entry of the host has would be a way to use one approval again.
        let slot = slot.filter(|slot| hosts::has_slot(submission.call.host.as_deref(), slot));
        let slot = slot.map(|slot| (slot, twins::key(submission, &judged.verdict)));
        let turn = match &slot {
            Some(_) => Some(self.inner.twins.turn.lock().await),
            None => None,
        };
        if let Some((slot, key)) = &slot
            && let Some(ask) = self.inner.twins.take(key, slot, call_id)
        {
            drop(turn);
            return Box::pin(self.twin(submission, judged, ask, until)).await;
        }
        if let Some(changed) = self.changed_approval(submission, &judged.digest).await? {
            let entry = record::judged(submission, &judged, now);
            self.store().record(vec![entry], Vec::new(), now).await?;
            return Ok(Ok(Answered {
                outcome: Outcome::Deny,
                verdict: judged.verdict,
                ask: Some(Box::new(changed)),
                receipt: None,
                used: Vec::new(),
                hosts: judged.hosts,
                known: None,
            }));
        }
        let ask = Authority::new_ask(submission, &judged, now);
        let entries = Opening {
            judged: vec![record::judged(submission, &judged, now)],
            opened: vec![record::opened(&ask, now)],
            claimed: vec![record::claimed(&submission.asker, ask.id, now)],
        };
        // Who asks too often opens nothing new, but still finds what it asked before.
        let too_often = self.inner.rates.ask(&submission.asker, &self.inner.limits);
        let most = if too_often.is_ok() { self.inner.limits.pending_asks_per_agent } else { 0 };
        // Remembered first: the feed may hear of it before this call goes on. An ask that is not
        // opened after all has an id that nobody else knows.
        self.inner.recent.keep(&ask, None);
        self.inner.rates.opens(ask.id);
        let began = Instant::now();
        let opened =
            self.store().open_ask(&ask, most, entries).instrument(debug_span!("commit")).await;
        self.inner.metrics.committed(began.elapsed());
        if !matches!(opened, Ok(Opened::New)) {
            self.inner.rates.opens_not(ask.id);
        }
        if let (Err(StoreError::TooManyAsks(_)), Err(_)) = (&opened, &too_often) {
            too_often?;
        }
        let found = match opened? {
            Opened::New => {
                let (tool, tier, agent) = (&ask.call.tool, ask.tier.name(), &ask.asker.agent);
                tracing::info!(ask = %ask.id, tool, tier, agent, door = ask.door, "asked");
                if let Some(deadline) = ask.deadline_at {
                    self.inner.deadlines.note(deadline);
                }
                if slot.is_none() && submission.wait.is_zero() {
                    // Nobody has seen it yet, and nobody waits: it stands as it was written.
                    let record = AskRecord { ask, decision: None, claimed_at: None };
                    return Ok(Ok(pending(judged, record)));
                }
                ask.id
            }
            Opened::Found(found) => found.ask.id,
            Opened::Claimed(claimed) => {
                let is_it = is_alike(&submission.call, &claimed.ask.call);
                if !is_it || still_bound(&claimed.ask).is_err() {
                    // It was approved for another shell, or for other files than lie there now: a
                    // person looks again.
                    return Ok(Err(Again::Changed));
                }
                if let Some((slot, key)) = &slot {
                    self.inner.twins.open(key, slot, call_id, claimed.ask.id);
                    self.inner.twins.close(claimed.ask.id);
                }
                return Ok(Ok(self.released(judged, *claimed, &submission.call)));
            }
        };
        if let Some((slot, key)) = &slot {
            self.inner.twins.open(key, slot, call_id, found);
        }
        drop(turn);
        let release = Box::pin(self.wait(found, &submission.call, until)).await;
        self.inner.twins.close(found);
        Ok(match release? {
            Release::Settled(record) => Ok(self.released(judged, *record, &submission.call)),
            Release::Pending(record) => Ok(pending(judged, *record)),
            Release::Again(again) => Err(again),
        })
    }

    /// Answers an event with the ask of another one about the same call.
    async fn twin(
        &self,
        submission: &Submission,
        judged: Judged,
        ask: Id,
        until: Instant,
    ) -> Result<Result<Answered, Again>, Fault> {
        let now = self.now();
        let entry = record::judged(submission, &judged, now);
        self.store().record(vec![entry], Vec::new(), now).await?;
        let record = self.settled(ask, until).await;
        self.inner.twins.close(ask);
        let record = record?;
        let Some(decision) = &record.decision else { return Ok(Ok(pending(judged, record))) };
        if decision.outcome == Outcome::Allow {
            // One execution, and it is this one: whichever event comes first takes it.
            self.claim(&record).await?;
            let is_it = is_alike(&submission.call, &record.ask.call);
            if !is_it || still_bound(&record.ask).is_err() {
                return Ok(Err(Again::Changed));
            }
        }
        Ok(Ok(self.released(judged, record, &submission.call)))
    }

    fn released(&self, judged: Judged, record: AskRecord, call: &CallText) -> Answered {
        let outcome = record.decision.as_ref().map_or(Outcome::Deny, |decision| decision.outcome);
        let receipt = self.receipt_about(&record, call);
        let Judged { verdict, hosts, .. } = judged;
        let (ask, used) = (Some(Box::new(record)), Vec::new());
        Answered { outcome, verdict, ask, receipt, used, hosts, known: None }
    }

    fn new_ask(submission: &Submission, judged: &Judged, now: Moment) -> Ask {
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
        Ask {
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
    let (ask, used) = (Some(Box::new(record)), Vec::new());
    Answered { outcome, verdict, ask, receipt: None, used, hosts, known: None }
}
