//! The bodies of `calls` and `confirm`, and what answers them.

use portcullis_approval as approval;
use portcullis_approval::{Reply, Scope};
use serde_json::{Map, Value, json};

use super::{BODY, Decision, Fields, missing, rule_text, wrong};
use crate::errors::Error;
use crate::json;
use portcullis_engine::verdict::{self as engine, Outcome};

/// The longest a request is held, in seconds; a larger wish counts as this.
pub const MOST_WAIT_S: u64 = 600;

/// A call of a session.
#[derive(Debug)]
pub struct Call {
    /// The session.
    pub session: String,
    /// What the agent calls the call.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// The working directory, absolute.
    pub cwd: Option<String>,
    /// Which of several agents behind one key.
    pub agent: Option<String>,
    /// How long to wait for a person, in seconds.
    pub wait_s: u64,
}

/// Reads the body of `calls`.
///
/// # Errors
/// It is not one; the message names the field.
pub fn call(bytes: &[u8]) -> Result<Call, Error> {
    let known = ["session_id", "tool_call", "cwd", "agent_id", "wait_seconds"];
    let mut body = Fields::new(BODY, value(bytes)?, &known)?;
    let session = body.text("session_id")?.ok_or_else(|| missing("session_id"))?;
    crate::body::name("session_id", &session)?;
    let (id, tool, input) = tool_call(&mut body)?;
    let agent = body.text("agent_id")?;
    agent.as_deref().map_or(Ok(()), |agent| crate::body::name("agent_id", agent))?;
    let wait_s = match body.take("wait_seconds") {
        None => 0,
        Some(wait) => {
            wait.as_u64().ok_or_else(|| wrong("wait_seconds", "a whole number", &wait))?
        }
    };
    let cwd = body.directory("cwd")?;
    Ok(Call { session, id, tool, input, cwd, agent, wait_s: wait_s.min(MOST_WAIT_S) })
}

/// One answer of a `confirm`.
#[derive(Debug)]
pub struct Confirmed {
    /// The ask, as it was sent.
    pub ask: String,
    /// The answer, in our words.
    pub answer: approval::Answer,
    /// What the edited call is called, if it was edited: its id and its tool.
    pub edited: Option<(String, String)>,
}

/// Reads the body of `confirm`: the answers, and whether they came in a list.
///
/// # Errors
/// It is not one; the message names the field.
pub fn confirm(bytes: &[u8]) -> Result<(Vec<Confirmed>, bool), Error> {
    let mut value = value(bytes)?;
    let list = value.as_object_mut().and_then(|members| {
        members.contains_key("results").then(|| members.remove("results")).flatten()
    });
    match list {
        None => Ok((vec![confirmed(BODY, value)?], false)),
        Some(Value::Array(results)) => {
            Fields::new(BODY, value, &["results"])?;
            let place = |index: usize| format!("results[{index}]");
            let results = results.into_iter().enumerate();
            let read = results.map(|(index, result)| confirmed(&place(index), result));
            Ok((read.collect::<Result<_, _>>()?, true))
        }
        Some(other) => Err(wrong("results", "a list", &other)),
    }
}

fn confirmed(place: &str, value: Value) -> Result<Confirmed, Error> {
    let known = ["ask_id", "confirmed", "rules", "scope", "tool_call", "feedback"];
    let mut result = Fields::new(place, value, &known)?;
    let ask = result.text("ask_id")?.ok_or_else(|| missing("ask_id"))?;
    let reply = match result.take("confirmed") {
        Some(Value::Bool(true)) => Reply::Approve,
        Some(Value::Bool(false)) => Reply::Reject,
        Some(other) => return Err(wrong("confirmed", "true or false", &other)),
        None => return Err(missing("confirmed")),
    };
    let mut rules = Vec::new();
    if let Some(list) = result.take("rules") {
        let Value::Array(list) = list else { return Err(wrong("rules", "a list", &list)) };
        for (index, rule) in list.into_iter().enumerate() {
            let tool = rule.get("tool_name").and_then(Value::as_str).unwrap_or("").to_owned();
            rules.push(rule_text(&format!("rules[{index}]"), &tool, "allow", rule)?);
        }
    }
    let scope = match result.text("scope")?.as_deref() {
        None if rules.is_empty() => None,
        None | Some("session") => Some(Scope::Session),
        Some("always") => Some(Scope::Always),
        Some(other) => {
            let message = format!("unknown scope `{other}`; use session or always");
            return Err(Error::invalid(message));
        }
    };
    let (input, edited) = if result.has("tool_call") {
        let (id, tool, input) = tool_call(&mut result)?;
        (Some(input.to_string()), Some((id, tool)))
    } else {
        (None, None)
    };
    let feedback = result.text("feedback")?;
    let answer =
        approval::Answer { reply, scope, rules, valid_s: None, uses: None, feedback, input };
    Ok(Confirmed { ask, answer, edited })
}

/// The name, the tool and the input of a `tool_call`.
fn tool_call(body: &mut Fields) -> Result<(String, String, Value), Error> {
    let call = body.take("tool_call").ok_or_else(|| missing("tool_call"))?;
    let mut call = Fields::new("tool_call", call, &["id", "name", "input"])?;
    let tool = call.text("name")?.ok_or_else(|| missing("tool_call.name"))?;
    let id = call.text("id")?.ok_or_else(|| missing("tool_call.id"))?;
    crate::body::name("tool_call.id", &id)?;
    crate::body::name("tool_call.name", &tool)?;
    let input = call.take("input").ok_or_else(|| missing("tool_call.input"))?;
    if !input.is_object() {
        return Err(wrong("tool_call.input", "an object", &input));
    }
    Ok((id, tool, input))
}

fn value(bytes: &[u8]) -> Result<Value, Error> {
    let text = str::from_utf8(bytes).map_err(|error| {
        Error::invalid(format!("not UTF-8 from byte {} on", error.valid_up_to()))
    })?;
    json::value(text).map_err(Error::invalid)
}

/// What stands beside a verdict once there is an ask.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The ask.
    pub ask: &'a approval::Ask,
    /// How it ended, once it has.
    pub decision: Option<&'a approval::Decision>,
    /// Proof, for the asking agent.
    pub receipt: Option<&'a str>,
}

/// The decision about a call, as `calls` and `asks` answer it.
#[must_use]
pub fn decision(verdict: &engine::Verdict, input: &Value, asked: Option<Asked<'_>>) -> Value {
    let mut shape = serde_json::to_value(Decision { verdict, input }).unwrap_or_default();
    let Some(members) = shape.as_object_mut() else { return shape };
    let Some(Asked { ask, decision, receipt }) = asked else { return shape };
    members.insert("ask_id".to_owned(), ask.id.to_string().into());
    if let Some(decision) = decision {
        settle(members, decision, input);
    }
    // A receipt proves that a call may run, and nothing else.
    let is_allowed = decision.is_none_or(|decision| decision.outcome == Outcome::Allow);
    let receipt = receipt.filter(|_| is_allowed);
    members.extend(receipt.map(|receipt| ("receipt".to_owned(), receipt.into())));
    shape
}

fn settle(members: &mut Map<String, Value>, decision: &approval::Decision, input: &Value) {
    for name in ["suggested_rules", "bypass_immune", "updated_input"] {
        members.remove(name);
    }
    let approved = decision.outcome == Outcome::Allow;
    let by = &decision.by;
    let message = match (approved, decision.reason.as_str()) {
        (true, _) => format!("approved by `{by}`"),
        (false, "approver") => format!("rejected by `{by}`"),
        (false, "fallback") => "nobody answered in time".to_owned(),
        (false, reason) => format!("ended: {reason}"),
    };
    let reason = if decision.reason == "grant" { "rule.allow" } else { &decision.reason };
    members.insert("behavior".to_owned(), decision.outcome.name().into());
    members.insert("message".to_owned(), message.into());
    members.insert("decision_reason".to_owned(), reason.replace('-', "_").into());
    if approved {
        let changed = decision.input.as_deref().and_then(|text| serde_json::from_str(text).ok());
        members.insert("updated_input".to_owned(), changed.unwrap_or_else(|| input.clone()));
    }
    members.insert("decision".to_owned(), person(decision));
}

/// Who decided, and how.
#[must_use]
pub fn person(decision: &approval::Decision) -> Value {
    let mut shape = json!({
        "approved": decision.outcome == Outcome::Allow,
        "by": decision.by,
        "at": decision.at.to_string(),
        "scope": decision.scope.name(),
    });
    if let (Some(feedback), Some(members)) = (&decision.feedback, shape.as_object_mut()) {
        members.insert("feedback".to_owned(), feedback.as_str().into());
    }
    shape
}
