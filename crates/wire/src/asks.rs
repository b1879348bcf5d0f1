//! Asks, answers and decisions, as the native API shows them.

use portcullis_approval as approval;
use portcullis_approval::{Reply, Scope, State};
use portcullis_engine::policy_text::Fallback;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::body;
use crate::errors::Error;
use crate::json;

/// The longest text for the agent, in characters.
pub const MOST_FEEDBACK: usize = 4000;

/// `GET /v1/asks/{id}`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ask {
    /// Its id.
    pub id: String,
    /// `pending`, `approved`, `rejected`, `expired` or `cancelled`.
    pub state: &'static str,
    /// The door it came through.
    pub door: String,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The agent.
    pub agent: String,
    /// The person it works for.
    pub owner: String,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The call it is about.
    pub call: Called,
    /// The digest of the call.
    pub digest: String,
    /// The engine's answer when it was opened.
    pub verdict: Box<RawValue>,
    /// How many calls wait on it here.
    pub waiting: usize,
    /// When it was opened.
    pub opened_at: String,
    /// When it ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_at: Option<String>,
    /// How it ends then.
    pub fallback: &'static str,
    /// Rules that would answer it for good.
    pub offers: Vec<Offer>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Proof for exactly this call, for the asking agent only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// The call an ask is about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Called {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Box<RawValue>,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the agent says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// A rule that would answer an ask for good.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Offer {
    /// The rule.
    pub rule: String,
    /// The scopes it can be stored in.
    pub scopes: Vec<&'static str>,
    /// What else it would cover.
    pub also_covers: Vec<String>,
}

/// How an ask ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Decision {
    /// What happens to the call: `allow` or `deny`.
    pub outcome: &'static str,
    /// What a person said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<&'static str>,
    /// How far it reaches.
    pub scope: &'static str,
    /// Who decided.
    pub by: String,
    /// The door they came through.
    pub door: String,
    /// When.
    pub at: String,
    /// Why it ended so.
    pub reason: String,
    /// What the agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// The input to run instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<RawValue>>,
    /// What it left behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
}

/// `GET /v1/asks`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Asks {
    /// The asks, oldest first unless another order was asked for.
    pub asks: Vec<Ask>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// `POST /v1/asks/{id}/decision`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// `approve` or `reject`.
    pub answer: String,
    /// `once`, `run`, `session` or `always`.
    pub scope: Option<String>,
    /// The offers to store.
    #[serde(default)]
    pub rules: Vec<String>,
    /// For how many seconds.
    pub valid_s: Option<u64>,
    /// For how many executions, this one included.
    pub uses: Option<u32>,
    /// What the agent is told.
    pub feedback: Option<String>,
    /// The input to run instead.
    pub input: Option<Box<RawValue>>,
}

/// `POST /v1/asks/{id}/check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The input to judge instead.
    pub input: Box<RawValue>,
}

impl Changed {
    /// The input, to the byte.
    ///
    /// # Errors
    /// It is ambiguous or too deep.
    pub fn read(self) -> Result<String, Error> {
        json::value(self.input.get())
            .map_err(|message| Error::invalid(format!("`input`: {message}")))?;
        Ok(self.input.get().to_owned())
    }
}

/// `POST /v1/asks/decisions`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// The answers.
    pub answers: Vec<AnswerTo>,
}

/// One answer of several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerTo {
    /// The ask.
    pub ask: String,
    /// `approve` or `reject`.
    pub answer: String,
    /// `once`, `run`, `session` or `always`.
    pub scope: Option<String>,
    /// The offers to store.
    #[serde(default)]
    pub rules: Vec<String>,
    /// For how many seconds.
    pub valid_s: Option<u64>,
    /// For how many executions, this one included.
    pub uses: Option<u32>,
    /// What the agent is told.
    pub feedback: Option<String>,
    /// The input to run instead.
    pub input: Option<Box<RawValue>>,
}

impl AnswerTo {
    /// The ask's id and the answer to it.
    #[must_use]
    pub fn split(self) -> (String, Answer) {
        let AnswerTo { ask, answer, scope, rules, valid_s, uses, feedback, input } = self;
        (ask, Answer { answer, scope, rules, valid_s, uses, feedback, input })
    }
}

/// The answer to `POST /v1/asks/decisions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Results {
    /// One for each answer, in their order.
    pub results: Vec<Outcome>,
}

/// What became of one answer of several.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Outcome {
    /// The ask, as it was sent.
    pub ask: String,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why the answer does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
}

impl Answer {
    /// The answer, in our words.
    ///
    /// # Errors
    /// A word is unknown or a text too long; the message names the field.
    pub fn read(self) -> Result<approval::Answer, Error> {
        let reply = Reply::named(&self.answer).ok_or_else(|| {
            Error::invalid(format!("unknown answer `{}`; use approve or reject", self.answer))
        })?;
        let scope = match &self.scope {
            None => None,
            Some(name) => Some(Scope::named(name).ok_or_else(|| {
                Error::invalid(format!(
                    "unknown scope `{name}`; use one of once, run, session, always"
                ))
            })?),
        };
        if let Some(feedback) = &self.feedback
            && feedback.chars().count() > MOST_FEEDBACK
        {
            let message = format!("`feedback` is longer than {MOST_FEEDBACK} characters");
            return Err(Error::invalid(message));
        }
        let input = match self.input {
            None => None,
            Some(raw) => {
                json::value(raw.get())
                    .map_err(|message| Error::invalid(format!("`input`: {message}")))?;
                Some(raw.get().to_owned())
            }
        };
        Ok(approval::Answer {
            reply,
            scope,
            rules: self.rules,
            valid_s: self.valid_s,
            uses: self.uses,
            feedback: self.feedback,
            input,
        })
    }
}

/// A JSON text that we keep, as it stands.
#[must_use]
pub fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The name of a fallback.
#[must_use]
pub const fn fallback(fallback: Fallback) -> &'static str {
    match fallback {
        Fallback::Deny => "deny",
        Fallback::Allow => "allow",
        Fallback::AllowCovered => "allow-covered",
    }
}

impl Decision {
    /// The shape of a decision.
    #[must_use]
    pub fn new(decision: &approval::Decision) -> Decision {
        Decision {
            outcome: decision.outcome.name(),
            answer: decision.reply.map(Reply::name),
            scope: decision.scope.name(),
            by: decision.by.clone(),
            door: decision.door.clone(),
            at: decision.at.to_string(),
            reason: decision.reason.clone(),
            feedback: decision.feedback.clone(),
            input: decision.input.as_deref().map(raw),
            grants: decision.grants.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Ask {
    /// The shape of an ask and how far it has come.
    #[must_use]
    pub fn new(ask: &approval::Ask, decision: Option<&approval::Decision>, waiting: usize) -> Ask {
        let call = &ask.call;
        Ask {
            id: ask.id.to_string(),
            state: decision.map_or(State::Pending, |decision| decision.state).name(),
            door: ask.door.clone(),
            host: call.host.clone(),
            agent: ask.asker.agent.clone(),
            owner: ask.asker.owner.clone(),
            session: call.session.clone(),
            run: call.run.clone(),
            call: Called {
                tool: call.tool.clone(),
                input: raw(&call.input),
                cwd: call.cwd.clone(),
                description: call.description.clone(),
            },
            digest: ask.digest.clone(),
            verdict: raw(&ask.verdict),
            waiting,
            opened_at: ask.opened_at.to_string(),
            deadline_at: ask.deadline_at.map(|at| at.to_string()),
            fallback: fallback(ask.fallback),
            offers: ask.offers.iter().map(|offer| offer_of(ask, offer)).collect(),
            decision: decision.map(Decision::new),
            receipt: None,
        }
    }
}

fn offer_of(ask: &approval::Ask, offer: &approval::Offer) -> Offer {
    let has = |scope: &Scope| match scope {
        Scope::Once => false,
        Scope::Run => ask.call.run.is_some(),
        Scope::Session => ask.call.session.is_some(),
        Scope::Always => true,
    };
    Offer {
        rule: offer.rule.clone(),
        scopes: Scope::ALL.into_iter().filter(has).map(Scope::name).collect(),
        also_covers: offer.also_covers.clone(),
    }
}

/// Checks a name that a query gives.
///
/// # Errors
/// It is none.
pub fn state(name: &str) -> Result<State, Error> {
    State::named(name).ok_or_else(|| {
        let known = State::ALL.map(State::name).join(", ");
        Error::invalid(format!("unknown state `{name}`; use one of {known}"))
    })
}

/// Checks a name in a path or a query.
///
/// # Errors
/// It is none; the message names the field.
pub fn name(field: &str, text: &str) -> Result<(), Error> {
    body::name(field, text)
}
