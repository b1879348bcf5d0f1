//! What is asked of the engine: which policy, which world, and what the verdict rests on.

use std::mem;
use std::path::Path;
use std::sync::Arc;

use portcullis_approval::ask::Bound;
use portcullis_approval::grant::{self, Caller};
use portcullis_approval::{Ask, CallText, Grant, Granted, Moment, Reply};
use portcullis_engine::call::Call;
use portcullis_engine::pattern::json;
use portcullis_engine::policy::{Asks, ExactAnswer, Hosts};
use portcullis_engine::policy_text::{AuditInput, Listed};
use portcullis_engine::verdict::Reason;
use portcullis_engine::{Lexical, Outcome, Policy, Verdict, World, judge};
use portcullis_layers::world::Recorded;
use portcullis_layers::{Live, canary};
use portcullis_store::SessionRecord;
use serde_json::Value;

use super::access::{self, RunAccess};
use super::binding::bound;
use super::repeats::{Known, Question, engine_call};
use super::{Authority, Fault, Seen, Submission};
use crate::policies::InForce;

/// A verdict with what it rests on.
#[derive(Debug)]
pub struct Judged {
    /// The verdict.
    pub verdict: Arc<Verdict>,
    /// The same as it is kept, if it is.
    pub(super) known: Option<Arc<Known>>,
    /// The digest of the call.
    pub digest: String,
    /// What else the call is bound to.
    pub bound: Bound,
    /// The life an ask about it would have.
    pub asks: Asks,
    /// How much of its input the audit keeps.
    pub audit_input: AuditInput,
    /// What the policy says about hosts.
    pub hosts: Hosts,
    /// The grants that allow it, if it takes any.
    pub used: Vec<Arc<Grant>>,
}

/// Other circumstances than those of this moment.
#[derive(Debug, Default)]
pub(super) struct Under {
    /// The policy files as they were.
    pub(super) in_force: Option<Arc<InForce>>,
    /// Grants that were made later do not count.
    pub(super) before: Option<Moment>,
    /// A grant that counts as if it were there.
    pub(super) also: Option<Arc<Grant>>,
}

impl Authority {
    /// Judges a submission of a session.
    pub(super) fn judge(
        &self,
        submission: &Submission,
        session: Option<&SessionRecord>,
    ) -> Result<Judged, Fault> {
        let call = &submission.call;
        let (policy, version) = self.policy(
            &submission.key.name,
            call,
            submission.profile.as_deref(),
            submission.door,
            &submission.seen,
            session.and_then(|session| session.policy.as_deref()),
            submission.access.as_ref(),
        )?;
        let caller = Caller {
            asker: &submission.asker,
            session: call.session.as_deref(),
            run: call.run.as_deref(),
            profile: call.profile.as_deref(),
        };
        let mut grants = self.inner.grants.serving(&caller, self.now());
        let lasts =
            submission.profile.as_deref().is_none_or(|name| self.profiles_of(name).is_none());
        let is_plain = submission.access.is_none() && !submission.overrides && lasts;
        let (mut verdict, known) = match submission.seen {
            Seen::Live | Seen::Nothing if is_plain => self.inner.repeats.answer(&Question {
                policy: &policy,
                grants: &grants,
                mode: submission.mode,
                call,
                input: &submission.input,
                root: session.and_then(|session| session.root.as_deref()),
                is_live: matches!(submission.seen, Seen::Live),
            }),
            Seen::Live | Seen::Nothing | Seen::Recorded(_) => {
                (Arc::new(rare(submission, &policy, &mut grants, session)), None)
            }
        };
        self.pause_over(&submission.asker, call, &mut verdict);
        if submission.door == "hook"
            && names_canary(&submission.input)
            && let Some(data) = &self.inner.policies.places().data
        {
            let canary = engine_call(call, submission.input.clone(), None);
            canary::let_through(data, &canary, Arc::make_mut(&mut verdict));
        }
        // What was changed since is said in other words.
        let known = known.filter(|known| Arc::ptr_eq(&known.verdict, &verdict));
        let used = if verdict.outcome == Outcome::Allow {
            used(&verdict, &grants, call, &submission.input)
        } else {
            Vec::new()
        };
        let mut bound = match submission.seen {
            Seen::Live => bound(call, &verdict, version),
            Seen::Recorded(_) | Seen::Nothing => Bound { policy: version, ..Bound::default() },
        };
        bound.access = submission.access.as_ref().map(|access| access.written.clone());
        let digest = match (&submission.access, &known) {
            (Some(_), _) => access::digest(call),
            (None, Some(known)) => known.texts.digest(call),
            (None, None) => call.digest(),
        };
        Ok(Judged {
            digest: digest.unwrap_or_default(),
            known,
            bound,
            asks: policy.asks.clone(),
            audit_input: policy.audit_input,
            hosts: policy.hosts.clone(),
            used,
            verdict,
        })
    }

    /// Judges what an ask is about under the policy of this moment, with this input.
    ///
    /// # Errors
    /// There is no policy to judge it by.
    pub async fn judge_again(&self, ask: &Ask, input: &str) -> Result<Verdict, Fault> {
        let (verdict, _) = self.judge_under(ask, input, &Under::default()).await?;
        Ok(verdict)
    }

    /// The same under other circumstances; gives also what the policy is called by.
    ///
    /// # Errors
    /// There is no policy to judge it by.
    pub(super) async fn judge_under(
        &self,
        ask: &Ask,
        input: &str,
        under: &Under,
    ) -> Result<(Verdict, String), Fault> {
        let seen = if ask.bound.cwd.is_some() { Seen::Live } else { Seen::Nothing };
        let call = ask.call.with_input(input);
        let name = self.inner.grants.key_name(ask.asker.key);
        let name = name.as_deref().unwrap_or(&ask.asker.agent);
        let session = self.session(&ask.asker, &call).await?;
        let own = session.as_ref().and_then(|session| session.policy.as_deref());
        let access = self.access_of(ask).await?;
        let profile = call.profile.as_deref();
        let in_force = match &under.in_force {
            Some(in_force) => Arc::clone(in_force),
            None => self.in_force(&call, &seen)?,
        };
        let (policy, version) =
            self.policy_in(&in_force, name, &call, profile, &ask.door, own, access.as_ref())?;
        let caller = Caller {
            asker: &ask.asker,
            session: call.session.as_deref(),
            run: call.run.as_deref(),
            profile: call.profile.as_deref(),
        };
        let mut grants = self.inner.grants.serving(&caller, self.now());
        grants.retain(|grant| under.before.is_none_or(|before| grant.made_at < before));
        grants.extend(under.also.clone());
        if access.is_some() {
            grants = access::on_access(grants, &call);
        }
        if is_exception(ask) {
            grants.retain(|grant| !is_rejection(grant));
        }
        let policy = grant::lay_over((*policy).clone(), grants.iter().map(|grant| &**grant));
        let root = match &access {
            Some(access) => access.about.cwd.clone().or_else(|| call.cwd.clone()),
            None => root_of(session.as_ref()),
        };
        let input = serde_json::from_str(input).unwrap_or(Value::Null);
        let verdict = judge(&policy, &engine_call(&call, input, root), &*world(&seen));
        Ok((verdict, version))
    }

    /// The policy that calls of a session are judged by, grants aside.
    ///
    /// # Errors
    /// There is none.
    pub fn session_policy(&self, session: &SessionRecord) -> Result<Arc<Policy>, Fault> {
        let name = self.inner.grants.key_name(session.key).unwrap_or_default();
        let in_force = self.policies().everywhere()?;
        let policy = in_force.for_agent(&name, None, session.policy.as_deref())?;
        policy.ok_or_else(|| Fault::Profile(String::new()))
    }

    /// The policy for a call, and what it is called by.
    #[expect(clippy::too_many_arguments, reason = "each says something else about the call")]
    fn policy(
        &self,
        key_name: &str,
        call: &CallText,
        profile: Option<&str>,
        door: &str,
        seen: &Seen,
        own: Option<&str>,
        access: Option<&RunAccess>,
    ) -> Result<(Arc<Policy>, String), Fault> {
        let in_force = self.in_force(call, seen)?;
        self.policy_in(&in_force, key_name, call, profile, door, own, access)
    }

    /// What is in force where a call would run.
    fn in_force(&self, call: &CallText, seen: &Seen) -> Result<Arc<InForce>, Fault> {
        Ok(match (seen, &call.cwd) {
            (Seen::Live, Some(cwd)) => self.policies().in_directory(Path::new(cwd))?,
            _ => self.policies().everywhere()?,
        })
    }

    /// The policy for a call under what is in force, and what that is called by.
    #[expect(clippy::too_many_arguments, reason = "each says something else about the call")]
    fn policy_in(
        &self,
        in_force: &InForce,
        key_name: &str,
        call: &CallText,
        profile: Option<&str>,
        door: &str,
        own: Option<&str>,
        access: Option<&RunAccess>,
    ) -> Result<(Arc<Policy>, String), Fault> {
        let files = profile.and_then(|profile| self.profiles_of(profile));
        let policy = match in_force.for_agent(key_name, profile, own)? {
            Some(policy) => policy,
            // A file of a dialect opens its profile to the agents of that dialect.
            None if files.is_some_and(|(dialect, ..)| dialect == door) => {
                in_force.for_agent(key_name, None, own)?.unwrap_or_else(|| in_force.policy.clone())
            }
            None => return Err(Fault::Profile(profile.unwrap_or_default().to_owned())),
        };
        if let Some(access) = access {
            let laid = access.lay(&policy, &call.tool, in_force.names_deadline());
            return Ok((Arc::new(laid), in_force.version.clone()));
        }
        let overlay = self.inner.overlays.iter().find(|(known, _)| *known == door);
        let policy = match overlay {
            Some((door, overlay)) => in_force.laid(door, &policy, |policy| (overlay.lay)(policy)),
            None => policy,
        };
        let policy = match files {
            Some((_, name, files)) => Arc::new(files.lay(&policy, name)),
            None => policy,
        };
        Ok((policy, in_force.version.clone()))
    }
}

/// Judges a submission that is an access, overrides a rejection, knows the disk by hearsay or names
/// a profile in a file; what it may not use is taken out of the grants.
fn rare(
    submission: &Submission,
    policy: &Arc<Policy>,
    grants: &mut Vec<Arc<Grant>>,
    session: Option<&SessionRecord>,
) -> Verdict {
    let call = &submission.call;
    if submission.access.is_some() {
        *grants = access::on_access(mem::take(grants), call);
    }
    let root = match &submission.access {
        Some(access) => access.about.cwd.clone().or_else(|| call.cwd.clone()),
        None => root_of(session),
    };
    let mut is_exception = false;
    if submission.overrides {
        // Whoever overrides a remembered rejection wants to be asked, not allowed.
        let judged_call = engine_call(call, submission.input.clone(), root.clone());
        is_exception = rejects(grants, &judged_call);
        grants.retain(|grant| !is_rejection(grant));
    }
    let question = Question {
        policy,
        grants,
        mode: submission.mode,
        call,
        input: &submission.input,
        root: root.as_deref(),
        is_live: matches!(submission.seen, Seen::Live),
    };
    let mut verdict = question.judge(&*world(&submission.seen));
    if submission.access.as_ref().is_some_and(|access| access.is_near) {
        let other = Question { mode: None, ..question }.judge(&Lexical);
        if other.outcome > verdict.outcome {
            verdict = other;
        }
    }
    if is_exception && verdict.outcome != Outcome::Deny {
        except(&mut verdict);
    }
    if submission.access.as_ref().is_some_and(|access| access.kind != access::Kind::Command) {
        // The gates of files ask no allow rule.
        verdict.suggestions.clear();
    }
    verdict
}

/// Whether an ask is about an exception from a remembered rejection.
#[must_use]
pub fn is_exception(ask: &Ask) -> bool {
    let verdict: Value = serde_json::from_str(&ask.verdict).unwrap_or_default();
    let reasons = verdict.get("reasons").and_then(Value::as_array);
    reasons.is_some_and(|reasons| {
        reasons.iter().any(|reason| reason.get("code").is_some_and(|code| code == "grant"))
    })
}

/// Makes a verdict ask for an exception from a remembered rejection.
fn except(verdict: &mut Verdict) {
    verdict.outcome = Outcome::Ask;
    let message = "a rejection is remembered, and the agent asks for one exception".to_owned();
    verdict.reasons.insert(0, Reason { code: "grant".into(), message, span: None });
}

/// Whether one of the grants is the remembered rejection of this very call.
fn rejects(grants: &[Arc<Grant>], call: &Call) -> bool {
    let lay = |policy| grant::lay_over(policy, grants.iter().map(|grant| &**grant));
    lay(Policy::builtin()).grants.answer(call) == Some(ExactAnswer::Deny)
}

fn root_of(session: Option<&SessionRecord>) -> Option<String> {
    session.and_then(|session| session.root.clone())
}

fn is_rejection(grant: &Grant) -> bool {
    matches!(&grant.granted, Granted::Exact { reply: Reply::Reject, .. })
}

pub(super) fn world(seen: &Seen) -> Box<dyn World> {
    match seen {
        Seen::Live => Box::new(Live::new()),
        Seen::Recorded(answers) => Box::new(Recorded::beside_lexical(answers.clone())),
        Seen::Nothing => Box::new(Lexical),
    }
}

/// Whether a command may be the one that makes a canary: others need not be looked at closely.
fn names_canary(input: &Value) -> bool {
    let commands = ["command", "cmd"].iter().filter_map(|name| input.get(name)?.as_str());
    commands.into_iter().any(|command| command.contains(canary::PREFIX))
}

/// The grants an allow rests on.
fn used(
    verdict: &Verdict,
    grants: &[Arc<Grant>],
    call: &CallText,
    given: &Value,
) -> Vec<Arc<Grant>> {
    let is_used = |grant: &&Arc<Grant>| match &grant.granted {
        Granted::Pattern(rule) if grant.profile.is_some() => {
            let entry = Listed::of_rule(rule);
            entry.is_some() && verdict.acts.iter().any(|act| act.listed == entry)
        }
        Granted::Pattern(rule) => verdict
            .acts
            .iter()
            .any(|act| act.source == Some("grant") && act.rule.as_ref() == Some(rule)),
        Granted::Exact { tool, input, .. } => {
            let is_this = || {
                serde_json::from_str::<Value>(input)
                    .is_ok_and(|input| json::canonical(&input) == json::canonical(given))
            };
            verdict.reasons.iter().any(|reason| reason.code == "grant")
                && *tool == call.tool
                && is_this()
        }
    };
    grants.iter().filter(is_used).cloned().collect()
}
