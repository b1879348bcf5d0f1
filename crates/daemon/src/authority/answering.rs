//! Answers: what a person, a deadline or an agent's going does to an ask.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_approval::settle::{self, Refusal};
use portcullis_approval::{
    Answer, Approver, Ask, Decision, Grant, Granted, Id, Owners, Reply, Settlement, State, expire,
};
use portcullis_engine::policy_text::Listed;
use portcullis_engine::verdict::Tier;
use portcullis_engine::world::WorldKind;
use portcullis_engine::{Outcome, Verdict};
use portcullis_store::{AskFilter, AskRecord, StoreError};

pub use portcullis_approval::settle::Gone;

use super::binding::still_bound;
use super::{Authority, Fault, Kept, record};
use tracing::{Instrument, debug_span};

use crate::chance;

/// So many pending asks are looked at when a grant was made.
const MOST_LOOKED_AT: usize = 1000;

impl Authority {
    /// Settles an ask by a person's answer.
    ///
    /// The call is judged again first: under the policy of this moment, with the changed input if
    /// there is one, and on this machine only if it is bound to what it was bound to.
    ///
    /// # Errors
    /// The answer does not count; the ask stays as it is.
    pub async fn decide(
        &self,
        approver: &Approver,
        id: Id,
        answer: &Answer,
    ) -> Result<(Ask, Decision), Fault> {
        let found = self.answerable(id).await?.filter(|found| approver.may_answer(&found.ask));
        let Some(found) = found else { return Err(Fault::NoSuchAsk) };
        let AskRecord { ask, decision, .. } = Arc::unwrap_or_clone(found);
        if let Some(decision) = decision {
            return Err(Fault::Store(StoreError::AlreadySettled(Box::new(decision))));
        }
        let input = answer.input.as_ref().unwrap_or(&ask.call.input);
        let verdict = match answer.reply {
            Reply::Approve => self.judge_again(&ask, input).await?,
            // No verdict opens what a person rejects, and no broken policy holds that up.
            Reply::Reject => rejected(),
        };
        let now = self.now();
        let mut ids = || chance::id(now);
        let settled = settle::settle(&ask, answer, approver, &verdict, now, &mut ids);
        let mut settlement = match settled {
            Err(Refusal::TooLate) => {
                let decision = self.expire(&ask, true).await?;
                return Err(Fault::Store(StoreError::AlreadySettled(Box::new(decision))));
            }
            settled => settled?,
        };
        if settlement.decision.outcome == Outcome::Allow
            && let Err(changed) = still_bound(&ask)
        {
            settlement.grants.clear();
            settlement.decision.grants.clear();
            settlement.decision.state = State::Rejected;
            settlement.decision.outcome = Outcome::Deny;
            settlement.decision.reason = changed.to_owned();
        }
        if settlement.grants.is_empty()
            && self.comes_again(&ask.door)
            && let Some(grant) = Grant::for_changed_call(&ask, &settlement.decision, ids())
        {
            settlement.decision.grants.push(grant.id);
            settlement.grants.push(grant);
        }
        super::access::narrow(&ask, &mut settlement.grants);
        self.commit(&ask, &settlement, Some(approver)).await?;
        Ok((ask, settlement.decision))
    }

    /// Takes an ask back, or ends it because its agent is gone.
    ///
    /// # Errors
    /// Somebody settled it first.
    pub async fn cancel(
        &self,
        ask: &Ask,
        gone: Gone,
        by: &str,
        door: &str,
    ) -> Result<Decision, Fault> {
        let decision = settle::cancel(ask, gone, by, door, self.now());
        let settlement = Settlement { decision, grants: Vec::new() };
        self.commit(ask, &settlement, None).await?;
        Ok(settlement.decision)
    }

    /// Ends an ask whose deadline has passed; `was_watched` if a node was running then.
    ///
    /// # Errors
    /// Somebody settled it first.
    pub async fn expire(&self, ask: &Ask, was_watched: bool) -> Result<Decision, Fault> {
        let decision = match self.judge_again(ask, &ask.call.input).await {
            Ok(verdict) => expire(ask, &verdict, was_watched, self.now()),
            Err(Fault::Store(error)) => return Err(Fault::Store(error)),
            // A policy that cannot be read opens nothing, and holds no ask up.
            Err(_) => settle::lapse(ask, self.now()),
        };
        let settlement = Settlement { decision, grants: Vec::new() };
        self.commit(ask, &settlement, None).await?;
        Ok(settlement.decision)
    }

    /// Stores a grant that answers no ask.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn make_grant(&self, grant: Grant, actor: &str) -> Result<(), Fault> {
        let entry = record::granted(&grant, actor, self.now());
        self.store().make_grant(&grant, vec![entry]).await?;
        self.refresh_grants().await?;
        if grant.uses_left.is_none() {
            self.settle_by_grants(&grant.owner, actor).await;
        }
        Ok(())
    }

    /// Revokes a grant; the next call is judged without it. False where there is none.
    ///
    /// # Errors
    /// The store could not do it.
    pub async fn revoke_grant(&self, id: Id, owner: &str, actor: &str) -> Result<bool, Fault> {
        let now = self.now();
        let entry = record::revoked(id, owner, actor, now);
        let was_there = self.store().revoke_grant(id, now, vec![entry]).await?;
        self.refresh_grants().await?;
        Ok(was_there)
    }

    async fn commit(
        &self,
        ask: &Ask,
        settlement: &Settlement,
        approver: Option<&Approver>,
    ) -> Result<(), Fault> {
        let now = self.now();
        let mut entries = vec![record::settled(ask, &settlement.decision, approver, now)];
        let by = &settlement.decision.by;
        entries.extend(settlement.grants.iter().map(|grant| record::granted(grant, by, now)));
        let began = Instant::now();
        self.store().settle_ask(settlement, entries).instrument(debug_span!("commit")).await?;
        self.inner.metrics.committed(began.elapsed());
        self.inner.recent.keep(ask, Some(&settlement.decision));
        let (state, door) = (settlement.decision.state.name(), &settlement.decision.door);
        let outcome = settlement.decision.outcome;
        if settlement.decision.reason == "fallback" && outcome == Outcome::Allow {
            tracing::warn!(ask = %ask.id, "nobody answered in time, and the policy's fallback allows it");
        }
        tracing::info!(ask = %ask.id, state, outcome = outcome.name(), by, door, "settled");
        let took_ms = settlement.decision.at.ms() - ask.opened_at.ms();
        let took = Duration::from_millis(u64::try_from(took_ms).unwrap_or(0));
        self.inner.metrics.answered(took);
        if !settlement.grants.is_empty() {
            self.refresh_grants().await?;
        }
        self.keep_listed(ask, settlement).await;
        if ask.bound.access.is_none() {
            self.waiters().wake(ask.id);
        }
        // What is counted is for calls that come: an ask that it settled would take no use of it.
        if settlement.grants.iter().any(|grant| grant.uses_left.is_none()) {
            let (authority, owner, by) = (self.clone(), ask.asker.owner.clone(), by.clone());
            tokio::spawn(async move { authority.settle_by_grants(&owner, &by).await });
        }
        Ok(())
    }

    /// Keeps entries for a profile in its file too; they hold as grants whatever comes of it.
    async fn keep_listed(&self, ask: &Ask, settlement: &Settlement) {
        let rules = settlement.grants.iter().filter_map(|grant| match &grant.granted {
            Granted::Pattern(rule) => Some((grant.profile.clone()?, Listed::of_rule(rule)?)),
            Granted::Exact { .. } => None,
        });
        let (profiles, entries): (Vec<String>, Vec<Listed>) = rules.unzip();
        let Some(profile) = profiles.into_iter().next() else { return };
        self.keep_in_file(ask, &profile, entries, &settlement.decision.by).await;
    }

    /// Keeps entries in the file of a profile, if it has one, and records what that changed.
    /// Whoever comes second changes nothing.
    pub async fn keep_in_file(&self, ask: &Ask, profile: &str, entries: Vec<Listed>, by: &str) {
        let Some((_, name, files)) = self.profiles_of(profile) else { return };
        let (files, name, now) = (Arc::clone(files), name.to_owned(), self.now());
        let kept = tokio::task::spawn_blocking(move || files.keep(&name, &entries, now)).await;
        let entry = match kept {
            Ok(Kept::Nothing) => return,
            Ok(Kept::Changed(before, after)) => {
                record::listed(ask, profile, by, [&before, &after], now)
            }
            Ok(Kept::Failed(why)) => {
                tracing::error!("profile `{profile}` could not be written: {why}");
                record::profile("profile.unwritten", by, profile, &why, now)
            }
            Err(_) => record::profile("profile.unwritten", by, profile, "it broke off", now),
        };
        if let Err(error) = self.store().record(vec![entry], Vec::new(), now).await {
            tracing::error!("the change of profile `{profile}` could not be recorded: {error}");
        }
    }

    /// Settles pending asks of an owner that a grant answers by now.
    async fn settle_by_grants(&self, owner: &str, by: &str) {
        let owners = Owners::Some(vec![owner.to_owned()]);
        let filter = AskFilter::pending(owners, MOST_LOOKED_AT);
        let Ok(pending) = self.store().asks(&filter).await else { return };
        for AskRecord { ask, .. } in pending {
            let verdict = self.judge_again(&ask, &ask.call.input).await;
            let Ok(verdict) = verdict else { continue };
            let Some(decision) = settle::settle_by_grant(&ask, &verdict, by, self.now()) else {
                continue;
            };
            let settlement = Settlement { decision, grants: Vec::new() };
            let entry = record::settled(&ask, &settlement.decision, None, self.now());
            if self.store().settle_ask(&settlement, vec![entry]).await.is_ok() {
                self.waiters().wake(ask.id);
            }
        }
    }
}

/// What counts as the verdict about a call that a person rejects.
fn rejected() -> Verdict {
    Verdict {
        outcome: Outcome::Deny,
        tier: Tier::Review,
        is_read_only: false,
        is_firm: true,
        world: WorldKind::Lexical,
        reasons: Vec::new(),
        acts: Vec::new(),
        suggestions: Vec::new(),
        always: Vec::new(),
    }
}
