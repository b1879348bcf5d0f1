//! What an authority says about a call: the daemon, or the worker that judges here.

use serde_json::{Map, Value};

use crate::answer;

/// What is said, from permissive to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The call may run.
    Allow,
    /// A person must decide.
    Ask,
    /// The call must not run.
    Deny,
}

/// What an authority says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The outcome.
    pub outcome: Outcome,
    /// The stable code.
    pub code: String,
    /// One sentence.
    pub text: String,
    /// The input to run instead: the text of an object.
    pub input: Option<String>,
    /// Whether a person decided, or is to decide.
    pub is_by_person: bool,
    /// What the policy says about hosts.
    pub policy: Dials,
    /// The version of the policy in force, where a daemon on another machine names it.
    pub version: Option<String>,
}

/// The dials of a policy that a hook heeds itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dials {
    /// Whether an allow answers a host's own prompt.
    pub answers_prompts: bool,
    /// Whether a headless run ends and is resumed.
    pub defers: bool,
    /// Whether the daemon is wanted for every call.
    pub needs_daemon: bool,
}

impl Told {
    /// Nobody has answered, and the time is over.
    #[must_use]
    pub fn late() -> Told {
        Told {
            outcome: Outcome::Deny,
            code: "HOOK_DEADLINE".to_owned(),
            text: "no answer yet; the ask is still open; try again later".to_owned(),
            input: None,
            is_by_person: false,
            policy: Dials::default(),
            version: None,
        }
    }

    /// The line for the model.
    #[must_use]
    pub fn reason(&self) -> String {
        answer::reason(&self.text, &self.code)
    }

    /// Reads the answer to `POST /v1/calls`.
    ///
    /// # Errors
    /// It is none.
    pub fn of_answer(answer: &Map<String, Value>) -> Result<Told, &'static str> {
        let outcome = outcome(answer.get("outcome"))?;
        let hosts = answer.get("hosts");
        let host = |name: &str| hosts.and_then(|hosts| hosts.get(name));
        let mut told = Told {
            outcome,
            policy: Dials {
                answers_prompts: host("answer_native_prompts") == Some(&Value::Bool(true)),
                defers: host("headless").and_then(Value::as_str) == Some("defer"),
                needs_daemon: false,
            },
            version: host("policy").and_then(Value::as_str).map(str::to_owned),
            ..Told::late()
        };
        let verdict = answer.get("verdict").ok_or("it has no verdict")?;
        let first = verdict.get("reasons").and_then(Value::as_array).and_then(|all| all.first());
        (told.code, told.text) = match first {
            Some(reason) => (text(reason, "code")?, text(reason, "message")?),
            None => ("verdict".to_owned(), "judged by the policy".to_owned()),
        };
        match (answer.get("decision"), outcome) {
            (Some(decision), _) => {
                told.is_by_person = true;
                told.decided(decision)?;
            }
            (None, Outcome::Ask) => told.is_by_person = true,
            (None, Outcome::Allow | Outcome::Deny) => {}
        }
        Ok(told)
    }

    /// Reads the line of the worker.
    ///
    /// # Errors
    /// It is none.
    pub fn of_worker(line: &[u8]) -> Result<Told, &'static str> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let value = crate::json::value(line)?;
        let is = |name: &str| value.get(name).and_then(Value::as_bool).ok_or("a field is missing");
        let told = Told {
            outcome: outcome(value.get("outcome"))?,
            code: text(&value, "code")?,
            text: text(&value, "text")?,
            input: None,
            is_by_person: false,
            policy: Dials {
                answers_prompts: is("answers_prompts")?,
                defers: false,
                needs_daemon: is("needs_daemon")?,
            },
            version: None,
        };
        if told.code.is_empty() || told.text.is_empty() {
            return Err("it gives no reason");
        }
        Ok(told)
    }

    /// Takes over how an ask ended.
    fn decided(&mut self, decision: &Value) -> Result<(), &'static str> {
        let said = |name: &str| decision.get(name).and_then(Value::as_str);
        if outcome(decision.get("outcome"))? != self.outcome && self.outcome == Outcome::Allow {
            return Err("outcome and decision differ");
        }
        let by = said("by").unwrap_or("somebody");
        let feedback = said("feedback").map_or_else(String::new, |text| format!(": {text}"));
        said("reason").unwrap_or("approver").clone_into(&mut self.code);
        self.text = match (self.outcome, said("answer")) {
            (Outcome::Allow, _) => format!("approved by {by}{feedback}"),
            (_, Some("reject")) => format!("rejected by {by}{feedback}"),
            (_, Some("approve")) => format!("approved by {by} in another form{feedback}"),
            (_, _) if self.code == "fallback" => {
                "nobody answered in time; the call was not rejected by a person".to_owned()
            }
            (_, _) => format!("the ask ended without an approval{feedback}"),
        };
        Ok(())
    }
}

fn outcome(value: Option<&Value>) -> Result<Outcome, &'static str> {
    match value.and_then(Value::as_str) {
        Some("allow") => Ok(Outcome::Allow),
        Some("ask") => Ok(Outcome::Ask),
        Some("deny") => Ok(Outcome::Deny),
        _ => Err("its outcome is unknown"),
    }
}

fn text(value: &Value, name: &str) -> Result<String, &'static str> {
    value.get(name).and_then(Value::as_str).map(str::to_owned).ok_or("a field is missing")
}
