//! Grants: what an approval wider than once leaves behind.

use std::sync::Arc;

use portcullis_engine::Policy;
use portcullis_engine::policy::{ExactAnswer, ExactGrant, Grants, Source};
use portcullis_engine::policy_text::Listed;
use portcullis_engine::verdict::Outcome;

use crate::ask::{Ask, Asker};
use crate::decision::{Decision, Reply};
use crate::id::Id;
use crate::moment::Moment;

/// What is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Whatever this allow rule covers. It never silences a firm finding.
    Pattern(String),
    /// This very call; or its remembered rejection.
    Exact {
        /// The tool.
        tool: String,
        /// Its input: JSON text.
        input: String,
        /// The working directory, where there is one.
        cwd: Option<String>,
        /// What was said about it.
        reply: Reply,
    },
}

/// How far a grant reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Calls of this run.
    Run(String),
    /// Calls of this session.
    Session(String),
    /// Every call.
    Always,
}

/// A grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its id.
    pub id: Id,
    /// The person whose agents it is for.
    pub owner: String,
    /// The key it is for; every key of the owner where none is named.
    pub key: Option<Id>,
    /// The agent it is for; every agent where none is named.
    pub agent: Option<String>,
    /// The profile it is for; calls of every profile, and of none, where none is named.
    pub profile: Option<String>,
    /// What is granted.
    pub granted: Granted,
    /// How far.
    pub reach: Reach,
    /// Until when, if it ends.
    pub expires_at: Option<Moment>,
    /// How many more executions, if they are counted.
    pub uses_left: Option<u32>,
    /// Who made it.
    pub made_by: String,
    /// When.
    pub made_at: Moment,
    /// The ask it answered, if it answered one.
    pub ask: Option<Id>,
}

/// Who is calling, as far as grants care.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// Who.
    pub asker: &'a Asker,
    /// In which session.
    pub session: Option<&'a str>,
    /// In which run.
    pub run: Option<&'a str>,
    /// By which profile.
    pub profile: Option<&'a str>,
}

impl Grant {
    /// Whether it ends by itself: only such an exact grant answers a firm finding.
    #[must_use]
    pub const fn is_limited(&self) -> bool {
        !matches!(self.reach, Reach::Always)
            || self.expires_at.is_some()
            || self.uses_left.is_some()
    }

    /// Whether it is good for this caller at this moment.
    #[must_use]
    pub fn serves(&self, caller: &Caller<'_>, now: Moment) -> bool {
        let asker = caller.asker;
        self.owner == asker.owner
            && self.key.is_none_or(|key| key == asker.key)
            && self.agent.as_ref().is_none_or(|agent| *agent == asker.agent)
            && self.profile.as_deref().is_none_or(|profile| caller.profile == Some(profile))
            && self.expires_at.is_none_or(|end| now < end)
            && self.uses_left != Some(0)
            && match &self.reach {
                Reach::Run(run) => caller.run == Some(run),
                Reach::Session(session) => caller.session == Some(session),
                Reach::Always => true,
            }
    }

    /// What an approval of a changed call leaves behind where the changed call comes as a call of
    /// its own: this agent may make exactly that one, once and soon.
    #[must_use]
    pub fn for_changed_call(ask: &Ask, decision: &Decision, id: Id) -> Option<Grant> {
        let input = decision.input.as_ref().filter(|_| decision.outcome == Outcome::Allow)?;
        Some(Grant {
            id,
            owner: ask.asker.owner.clone(),
            key: Some(ask.asker.key),
            agent: Some(ask.asker.agent.clone()),
            profile: None,
            granted: Granted::Exact {
                tool: ask.call.tool.clone(),
                input: input.clone(),
                cwd: ask.call.cwd.clone(),
                reply: Reply::Approve,
            },
            reach: Reach::Always,
            expires_at: Some(decision.at.after_s(ask.unused_approval_s)),
            uses_left: Some(1),
            made_by: decision.by.clone(),
            made_at: decision.at,
            ask: Some(ask.id),
        })
    }

    /// Whether it is the one that a rule of the source `grant` came from.
    #[must_use]
    pub fn has_rule(&self, rule: &str) -> bool {
        matches!(&self.granted, Granted::Pattern(text) if text == rule)
    }
}

/// A policy with what was granted. A pattern that is no rule any more (another version wrote it)
/// or whose list is locked adds nothing: the call asks, as it would without the grant.
#[must_use]
pub fn lay_over<'a>(policy: Policy, grants: impl Iterator<Item = &'a Grant>) -> Policy {
    let mut exact = Grants::default();
    let mut policy = policy;
    for grant in grants {
        match &grant.granted {
            Granted::Pattern(rule) if Listed::of_rule(rule).is_some() => {
                policy = listed(policy, Listed::of_rule(rule));
            }
            Granted::Pattern(rule) => {
                if let Ok(wider) = policy.clone().with_rule(Outcome::Allow, rule, Source::Grant) {
                    policy = wider;
                }
            }
            Granted::Exact { tool, input, cwd, reply } => {
                let Ok(input) = serde_json::from_str(input) else { continue };
                let answer = match reply {
                    Reply::Approve => ExactAnswer::Allow { answers_firm: grant.is_limited() },
                    Reply::Reject => ExactAnswer::Deny,
                };
                exact.insert(ExactGrant { tool: tool.clone(), input, cwd: cwd.clone(), answer });
            }
        }
    }
    if exact.is_empty() { policy } else { policy.with_grants(exact) }
}

/// A policy whose allowlist has one more entry; the same where it has no list, or a locked one.
fn listed(policy: Policy, entry: Option<Listed>) -> Policy {
    match (&policy.exec, entry) {
        (Some(exec), Some(entry)) if !policy.is_locked("exec.allowlist") => {
            let mut exec = (**exec).clone();
            exec.allowlist.push(entry);
            let mut policy = policy;
            policy.exec = Some(Arc::new(exec));
            policy
        }
        _ => policy,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::policy_text::Fallback;
    use portcullis_engine::verdict::{Outcome, Tier};

    use super::{Caller, Grant};
    use crate::ask::{Ask, Asker, Bound, CallText};
    use crate::decision::{Decision, Reply, Scope, State};
    use crate::id::Id;
    use crate::moment::Moment;

    #[test]
    fn a_changed_call_may_come_once_and_soon_and_from_its_agent_only() {
        let at = Moment::from_ms(1_000_000);
        let id = Id::new(at, &[0; 10]);
        let asker = Asker { key: id, agent: "a".into(), owner: "o".into(), label: None };
        let ask = Ask {
            id,
            call: CallText { tool: "bash".into(), input: "{}".into(), ..CallText::default() },
            asker: asker.clone(),
            door: "api".into(),
            digest: String::new(),
            bound: Bound::default(),
            verdict: "{}".into(),
            tier: Tier::Review,
            is_firm: false,
            offers: Vec::new(),
            opened_at: at,
            deadline_at: None,
            fallback: Fallback::Deny,
            unused_approval_s: 600,
        };
        let mut decision = Decision {
            ask: id,
            state: State::Approved,
            outcome: Outcome::Allow,
            reply: Some(Reply::Approve),
            scope: Scope::Once,
            by: "p".into(),
            door: "api".into(),
            at,
            reason: "approver".into(),
            feedback: None,
            input: Some("{\"command\":\"ls\"}".into()),
            grants: Vec::new(),
        };
        let grant = Grant::for_changed_call(&ask, &decision, id).unwrap();
        let serves = |asker: &Asker, at: Moment| {
            grant.serves(&Caller { asker, session: None, run: None, profile: None }, at)
        };
        assert_eq!(grant.uses_left, Some(1));
        assert!(serves(&asker, at.after_s(599)));
        assert!(!serves(&asker, at.after_s(600)), "soon");
        assert!(!serves(&Asker { agent: "b".into(), ..asker.clone() }, at), "its agent");

        decision.input = None;
        assert_eq!(Grant::for_changed_call(&ask, &decision, id), None, "nothing was changed");
    }
}
