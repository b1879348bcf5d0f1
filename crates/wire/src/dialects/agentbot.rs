//! Agentbot: the bodies of its hook classifier, its permissions and its socket.
//!
//! What comes in is read strictly and refused with the dialect's own sentences; unknown fields are
//! passed over. What goes out stands in [`answers`].

pub mod answers;

mod classify;

use std::borrow::Cow;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::asks::MOST_FEEDBACK;
use crate::json;

pub use classify::Classify;

/// What an agent or a user is called that does not say.
pub const UNKNOWN: &str = "unknown";

/// The sentence for a decision that is none.
pub const INVALID_DECISION: &str = "Invalid decision. Must be: approve, reject, or approve_always";

/// The sentence for a body that is no JSON object.
pub const INVALID_JSON: &str = "Invalid JSON";

/// The sentence for a decision without its parts.
pub const MISSING: &str = "Missing requestId or decision";

/// Fields of an input that must be texts where they are there.
const TEXTS: [&str; 4] = ["command", "input", "path", "file_path"];

/// The sentence a body is refused with.
pub type Sentence = String;

/// What an approver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It may run, once.
    Approve,
    /// It must not.
    Reject,
    /// It and its like may run.
    ApproveAlways,
}

impl Word {
    /// The word itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Word::Approve => "approve",
            Word::Reject => "reject",
            Word::ApproveAlways => "approve_always",
        }
    }

    fn named(name: &str) -> Option<Word> {
        [Word::Approve, Word::Reject, Word::ApproveAlways]
            .into_iter()
            .find(|word| word.name() == name)
    }
}

/// The input to run instead, in the form it was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Modified {
    /// A command.
    Text(String),
    /// A whole input, to the byte.
    Input(String),
}

/// `POST /api/permissions`, and `decision` over the socket.
#[derive(Debug)]
pub struct Decide {
    /// The ask, as it was written.
    pub request: String,
    /// The answer.
    pub word: Word,
    /// What the agent is told.
    pub feedback: Option<String>,
    /// The input to run instead.
    pub modified: Option<Modified>,
}

impl Decide {
    /// Reads a body.
    ///
    /// # Errors
    /// It is none.
    pub fn read(bytes: &[u8]) -> Result<Decide, Sentence> {
        let (members, text) = object(bytes)?;
        let named = |name: &str| match members.get(name) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(_) | None => None,
        };
        let (Some(request), Some(decision)) = (named("requestId"), members.get("decision")) else {
            return Err(MISSING.to_owned());
        };
        let word = match decision {
            Value::String(word) if word.is_empty() => return Err(MISSING.to_owned()),
            Value::String(word) => Word::named(word),
            Value::Null => return Err(MISSING.to_owned()),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let word = word.ok_or(INVALID_DECISION)?;
        let feedback = match members.get("feedback") {
            None => None,
            Some(Value::String(text)) if text.chars().count() <= MOST_FEEDBACK => {
                Some(text.clone())
            }
            Some(_) => return Err(invalid("feedback")),
        };
        let modified = match members.get("modifiedInput") {
            None => None,
            Some(Value::String(text)) => Some(Modified::Text(text.clone())),
            Some(input @ Value::Object(_)) if check_input(input).is_ok() => {
                raw_member(text, "modifiedInput").map(Modified::Input)
            }
            Some(_) => return Err(invalid("modifiedInput")),
        };
        if modified.is_some() && word == Word::Reject {
            return Err(invalid("modifiedInput"));
        }
        Ok(Decide { request, word, feedback, modified })
    }
}

/// What is to be enabled.
#[derive(Debug)]
pub enum Enabled {
    /// A call that was blocked.
    Digest {
        /// The digest it was told with.
        digest: String,
        /// Whose call, where several agents made it.
        agent: Option<String>,
    },
    /// A call in words.
    Call {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// Its input, to the byte.
        input: String,
    },
}

/// `POST /api/permissions/enable`.
#[derive(Debug)]
pub struct Enable {
    /// What.
    pub what: Enabled,
    /// For how many minutes.
    pub minutes: u64,
    /// For how many executions.
    pub uses: u32,
}

impl Enable {
    /// Reads a body.
    ///
    /// # Errors
    /// It is none.
    pub fn read(bytes: &[u8]) -> Result<Enable, Sentence> {
        let (members, text) = object(bytes)?;
        let word = |name: &str| match members.get(name) {
            None => Err(format!("Missing {name}")),
            Some(Value::String(text)) if text.is_empty() => Err(format!("Missing {name}")),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(invalid(name)),
        };
        let number = |name: &str, most: u64, unsaid: u64| match members.get(name) {
            None => Ok(unsaid),
            Some(value) => value
                .as_u64()
                .filter(|number| (1..=most).contains(number))
                .ok_or_else(|| invalid(name)),
        };
        let what = if members.contains_key("callDigest") {
            let agent = members.contains_key("agentId").then(|| word("agentId")).transpose()?;
            Enabled::Digest { digest: word("callDigest")?, agent }
        } else {
            let input = members.get("toolInput").ok_or("Missing toolInput")?;
            check_input(input)?;
            Enabled::Call {
                agent: word("agentId")?,
                tool: word("toolName")?,
                input: raw_member(text, "toolInput").ok_or_else(|| invalid("toolInput"))?,
            }
        };
        let uses = u32::try_from(number("uses", 10, 1)?).map_err(|_| invalid("uses"))?;
        Ok(Enable { what, minutes: number("minutes", 60, 10)?, uses })
    }
}

/// What a client of the socket sends.
#[derive(Debug)]
pub enum Said {
    /// A decision, or the sentence it is refused with and the ask it names.
    Decision(Result<Decide, (Sentence, Option<String>)>),
    /// It wants to know whether we live.
    Ping,
    /// Something that is passed over.
    Nothing,
}

/// Reads a frame.
///
/// # Errors
/// It is no JSON object, or a decision without data.
pub fn said(text: &str) -> Result<Said, Sentence> {
    let (members, text) = object(text.as_bytes())?;
    match members.get("type").and_then(Value::as_str) {
        Some("ping") => Ok(Said::Ping),
        Some("decision") => {
            let Some(Value::Object(data)) = members.get("data") else {
                return Err(INVALID_JSON.to_owned());
            };
            let request = data.get("requestId").and_then(Value::as_str).map(str::to_owned);
            let data = raw_member(text, "data").unwrap_or_default();
            Ok(Said::Decision(Decide::read(data.as_bytes()).map_err(|said| (said, request))))
        }
        Some(_) | None => Ok(Said::Nothing),
    }
}

/// The text of an input that was changed, so that the form it was given in is not forgotten: a
/// space stands before one that was made from a command, which JSON does not mind.
#[must_use]
pub fn changed(call_input: &Value, field: &str, modified: &Modified) -> String {
    match modified {
        Modified::Input(text) => text.clone(),
        Modified::Text(command) => {
            let mut input = call_input.clone();
            if let Some(members) = input.as_object_mut() {
                members.insert(field.to_owned(), Value::String(command.clone()));
            }
            format!(" {input}")
        }
    }
}

/// A changed input in the form it was given: what [`changed`] wrote, read back.
#[must_use]
pub fn as_given(text: &str, field: &str) -> Box<RawValue> {
    let command = text.strip_prefix(' ').and_then(|text| {
        let input: Value = serde_json::from_str(text).ok()?;
        Some(input.get(field)?.to_string())
    });
    crate::asks::raw(command.as_deref().unwrap_or(text))
}

/// A body that is an object, with its text.
fn object(bytes: &[u8]) -> Result<(Map<String, Value>, &str), Sentence> {
    let text = str::from_utf8(bytes).map_err(|_| INVALID_JSON)?;
    match json::value(text) {
        Ok(Value::Object(members)) => Ok((members, text)),
        Ok(_) | Err(_) => Err(INVALID_JSON.to_owned()),
    }
}

fn invalid(field: &str) -> Sentence {
    format!("Invalid {field}")
}

fn check_input(input: &Value) -> Result<(), Sentence> {
    let Value::Object(members) = input else { return Err(invalid("toolInput")) };
    let wrong =
        TEXTS.into_iter().find(|name| members.get(*name).is_some_and(|value| !value.is_string()));
    wrong.map_or(Ok(()), |name| Err(invalid(name)))
}

/// A member of an object, to the byte.
fn raw_member(text: &str, name: &str) -> Option<String> {
    struct Member<'n>(&'n str);

    impl<'de> Visitor<'de> for Member<'_> {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(name) = members.next_key::<Cow<'de, str>>()? {
                if name == self.0 {
                    found = Some(members.next_value()?);
                } else {
                    members.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(Member(name)).ok()?;
    found.map(|raw| raw.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_input_is_given_back_in_the_form_it_came_in() {
        let input = serde_json::json!({ "command": "node x", "timeout": 5 });
        let text = changed(&input, "command", &Modified::Text("ls".to_owned()));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value, serde_json::json!({ "command": "ls", "timeout": 5 }));
        assert_eq!(as_given(&text, "command").get(), "\"ls\"");
        let given = r#"{"command": "ls"}"#;
        let text = changed(&input, "command", &Modified::Input(given.to_owned()));
        assert_eq!(as_given(&text, "command").get(), given);
    }
}
