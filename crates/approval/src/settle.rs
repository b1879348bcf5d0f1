//! How an ask ends: by an answer, by its deadline, because the call is gone, or by a grant.
//!
//! The clock, the fresh verdict and new ids are arguments, so that every ending can be replayed.
//! Nothing here turns a deny into anything else: an approval of what a policy denies by now ends
//! the ask with that deny.

use portcullis_engine::policy_text::{Fallback, Listed};
use portcullis_engine::{Outcome, Verdict};

use crate::approver::Approver;
use crate::ask::Ask;
use crate::decision::{Answer, Decision, Reply, Scope, State};
use crate::grant::{Grant, Granted, Reach};
use crate::id::Id;
use crate::moment::Moment;

/// A decision with what it leaves behind; a store commits both or neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// How the ask ended.
    pub decision: Decision,
    /// The grants it made.
    pub grants: Vec<Grant>,
}

/// Why an answer does not count. The ask stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The approver may not answer this ask.
    #[error("this ask is not yours to answer")]
    NotYours,
    /// The deadline has passed; the ask ends by it.
    #[error("the deadline of this ask has passed")]
    TooLate,
    /// The answer contradicts itself or the ask.
    #[error("{0}")]
    Malformed(String),
    /// A rule that was not offered.
    #[error("rule `{0}` is not among the offers of this ask")]
    RuleRefused(String),
    /// The changed call is denied.
    #[error("the changed call is denied: {0}")]
    CallDenied(String),
}

/// Why a call is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// Its agent took it back.
    Withdrawn,
    /// Its run ended.
    RunEnded,
    /// Its agent went away.
    AgentGone,
    /// Nobody is there who could be shown the ask.
    NoClient,
}

impl Gone {
    /// The code of the reason.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Gone::Withdrawn => "withdrawn",
            Gone::RunEnded => "run_ended",
            Gone::AgentGone => "agent_gone",
            Gone::NoClient => "no_client",
        }
    }
}

/// Settles an ask by a person's answer.
///
/// `verdict` is that of the call which would run, under the policy of this moment: with the
/// changed input where the answer has one.
///
/// # Errors
/// The answer does not count, and the ask stays pending.
pub fn settle(
    ask: &Ask,
    answer: &Answer,
    approver: &Approver,
    verdict: &Verdict,
    now: Moment,
    ids: &mut dyn FnMut() -> Id,
) -> Result<Settlement, Refusal> {
    if !approver.may_answer(ask) {
        return Err(Refusal::NotYours);
    }
    if ask.deadline_at.is_some_and(|deadline| deadline <= now) {
        return Err(Refusal::TooLate);
    }
    let scope = scope(ask, answer)?;
    let mut decision = Decision {
        ask: ask.id,
        state: State::Approved,
        outcome: Outcome::Allow,
        reply: Some(answer.reply),
        scope,
        by: approver.name.clone(),
        door: approver.door.clone(),
        at: now,
        reason: "approver".to_owned(),
        feedback: answer.feedback.clone(),
        input: answer.input.clone(),
        grants: Vec::new(),
    };
    if answer.reply == Reply::Reject {
        decision.state = State::Rejected;
        decision.outcome = Outcome::Deny;
    } else if verdict.outcome == Outcome::Deny {
        let why = verdict.reasons.first();
        if answer.input.is_some() {
            let message = why.map_or("a policy denies it", |reason| reason.message.as_str());
            return Err(Refusal::CallDenied(message.to_owned()));
        }
        decision.state = State::Rejected;
        decision.outcome = Outcome::Deny;
        decision.scope = Scope::Once;
        decision.reason = why.map_or_else(|| "rule.deny".to_owned(), |why| why.code.to_string());
        return Ok(Settlement { decision, grants: Vec::new() });
    }
    let grants = grants(ask, answer, &decision, verdict.is_firm, ids);
    if grants.is_empty() {
        // What could leave nothing behind was an answer to this one call.
        decision.scope = Scope::Once;
    }
    decision.grants = grants.iter().map(|grant| grant.id).collect();
    Ok(Settlement { decision, grants })
}

/// Ends an ask whose deadline has passed.
///
/// The fallback counts only if a node was running when the deadline passed (`was_watched`), and
/// never over a deny or a firm finding.
#[must_use]
pub fn expire(ask: &Ask, verdict: &Verdict, was_watched: bool, now: Moment) -> Decision {
    let is_open = was_watched
        && !ask.is_firm
        && !verdict.is_firm
        && verdict.outcome != Outcome::Deny
        && match ask.fallback {
            Fallback::Deny => false,
            Fallback::Allow => true,
            Fallback::AllowCovered => {
                // Where everything is asked about, reading alone is no entry of a list.
                verdict.acts.iter().all(|act| {
                    let reads = act.is_read_only && !act.reason.code.starts_with("exec.");
                    act.is_covered || act.outcome == Outcome::Allow || reads
                })
            }
        };
    Decision { outcome: if is_open { Outcome::Allow } else { Outcome::Deny }, ..lapse(ask, now) }
}

/// Ends an ask whose deadline has passed and about which no verdict can be given any more.
#[must_use]
pub fn lapse(ask: &Ask, now: Moment) -> Decision {
    ended(ask, State::Expired, "expiry", "fallback", now)
}

/// Ends an ask whose call is gone.
#[must_use]
pub fn cancel(ask: &Ask, gone: Gone, by: &str, door: &str, now: Moment) -> Decision {
    Decision { door: door.to_owned(), ..ended(ask, State::Cancelled, by, gone.name(), now) }
}

/// Ends an ask that a grant answers by now; none where the verdict still asks.
#[must_use]
pub fn settle_by_grant(ask: &Ask, verdict: &Verdict, by: &str, now: Moment) -> Option<Decision> {
    (verdict.outcome == Outcome::Allow).then(|| Decision {
        outcome: Outcome::Allow,
        reply: Some(Reply::Approve),
        ..ended(ask, State::Approved, by, "grant", now)
    })
}

fn ended(ask: &Ask, state: State, by: &str, reason: &str, now: Moment) -> Decision {
    Decision {
        ask: ask.id,
        state,
        outcome: Outcome::Deny,
        reply: None,
        scope: Scope::Once,
        by: by.to_owned(),
        door: ask.door.clone(),
        at: now,
        reason: reason.to_owned(),
        feedback: None,
        input: None,
        grants: Vec::new(),
    }
}

/// How far an answer reaches, if it makes sense.
fn scope(ask: &Ask, answer: &Answer) -> Result<Scope, Refusal> {
    let malformed = |text: &str| Err(Refusal::Malformed(text.to_owned()));
    let is_limited = answer.valid_s.is_some() || answer.uses.is_some();
    let unsaid = match (is_limited || !answer.rules.is_empty(), &ask.call.session) {
        (false, _) => Scope::Once,
        (true, Some(_)) => Scope::Session,
        (true, None) => Scope::Always,
    };
    let scope = answer.scope.unwrap_or(unsaid);
    if answer.reply == Reply::Reject {
        if is_limited || !answer.rules.is_empty() || answer.input.is_some() {
            return malformed("a rejection takes no `rules`, `valid_s`, `uses` or `input`");
        }
        if matches!(scope, Scope::Session | Scope::Always) {
            return malformed("a rejection reaches `once` or `run`");
        }
    }
    if answer.valid_s == Some(0) || answer.uses == Some(0) {
        return malformed("`valid_s` and `uses` begin at 1");
    }
    if scope == Scope::Once && (is_limited || !answer.rules.is_empty()) {
        return malformed("`rules`, `valid_s` and `uses` need a wider scope than `once`");
    }
    if answer.input.as_ref().is_some_and(|input| form(input) != form(&ask.call.input)) {
        return malformed("`input` has another form than that of the call; give it whole, changed");
    }
    if answer.input.is_some() && !answer.rules.is_empty() {
        return malformed("the offers speak about the call as it was asked, not as it was changed");
    }
    if scope == Scope::Run && ask.call.run.is_none() {
        return malformed("this ask belongs to no run");
    }
    if scope == Scope::Session && ask.call.session.is_none() {
        return malformed("this ask belongs to no session");
    }
    let unknown =
        answer.rules.iter().find(|rule| ask.offers.iter().all(|offer| offer.rule != **rule));
    match unknown {
        Some(rule) => Err(Refusal::RuleRefused(rule.clone())),
        None => Ok(scope),
    }
}

/// What a JSON text begins with: whether it is an object, a list, a text or something else.
fn form(json: &str) -> Option<char> {
    json.trim_start().chars().next().filter(|first| "{[\"".contains(*first))
}

/// What the answer leaves behind.
fn grants(
    ask: &Ask,
    answer: &Answer,
    decision: &Decision,
    is_firm: bool,
    ids: &mut dyn FnMut() -> Id,
) -> Vec<Grant> {
    let reach = match (decision.scope, &ask.call.run, &ask.call.session) {
        (Scope::Once, ..) | (Scope::Run, None, _) | (Scope::Session, _, None) => return Vec::new(),
        (Scope::Run, Some(run), _) => Reach::Run(run.clone()),
        (Scope::Session, _, Some(session)) => Reach::Session(session.clone()),
        (Scope::Always, ..) => Reach::Always,
    };
    // The execution that was asked about is the first of those that are counted.
    let uses_left = answer.uses.map(|uses| uses.saturating_sub(1));
    if uses_left == Some(0) {
        return Vec::new();
    }
    let input = answer.input.as_ref().unwrap_or(&ask.call.input);
    let granted: Vec<Granted> = if answer.rules.is_empty() {
        vec![Granted::Exact {
            tool: ask.call.tool.clone(),
            input: input.clone(),
            cwd: ask.call.cwd.clone(),
            reply: answer.reply,
        }]
    } else {
        answer.rules.iter().cloned().map(Granted::Pattern).collect()
    };
    let grant = |granted: Granted| Grant {
        id: ids(),
        owner: ask.asker.owner.clone(),
        // Runs and sessions are called what an agent calls them: they mean something to it alone.
        key: (reach != Reach::Always).then_some(ask.asker.key),
        agent: None,
        profile: match &granted {
            Granted::Pattern(rule) => Listed::of_rule(rule).and(ask.call.profile.clone()),
            Granted::Exact { .. } => None,
        },
        granted,
        reach: reach.clone(),
        expires_at: answer.valid_s.map(|valid_s| decision.at.after_s(valid_s)),
        uses_left,
        made_by: decision.by.clone(),
        made_at: decision.at,
        ask: Some(ask.id),
    };
    let mut grants: Vec<Grant> = granted.into_iter().map(grant).collect();
    // For good, over a firm finding: nothing may be stored that silences it. An entry of a
    // profile's list never does, and is what its clients were shown.
    grants.retain(|grant| !is_firm || grant.is_limited() || grant.profile.is_some());
    grants
}
