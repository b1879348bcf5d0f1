//! Agentbot: the bodies of its hook classifier, its permissions and its socket.
//!
//! What comes in is read strictly and refused with the dialect's own sentences; unknown fields are
//! passed over. What goes out stands in [`answers`].

pub mod answers;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::{
    DeserializeSeed as _, Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::asks::MOST_FEEDBACK;
use crate::{body, json};

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

/// `POST /api/hooks/classify`.
#[derive(Debug)]
pub struct Classify {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Its input, to the byte.
    pub input_text: String,
    /// The agent, as it calls itself.
    pub agent: String,
    /// The user it says it works for.
    pub user: String,
}

/// The sentence a body is refused with.
pub type Sentence = String;

impl Classify {
    /// Reads a body.
    ///
    /// # Errors
    /// It is none.
    pub fn read(bytes: &[u8]) -> Result<Classify, Sentence> {
        let text = str::from_utf8(bytes).map_err(|_| INVALID_JSON)?;
        let Members { tool, input, agent, user } =
            Members::read(text).ok_or_else(|| INVALID_JSON.to_owned())?;
        let tool = match tool {
            None => return Err("Missing toolName".to_owned()),
            Some(Value::String(tool)) if tool.is_empty() => {
                return Err("Missing toolName".to_owned());
            }
            Some(Value::String(tool)) if body::name("toolName", &tool).is_ok() => tool,
            Some(_) => return Err(invalid("toolName")),
        };
        let (input, input_text) = input.unwrap_or_else(|| (Value::Object(Map::new()), "{}"));
        check_input(&input)?;
        let (agent, user) = (label(agent, "agentId")?, label(user, "userId")?);
        Ok(Classify { tool, input, input_text: input_text.to_owned(), agent, user })
    }
}

/// What is known of a body to classify, read in one pass and as strictly as [`json::value`] reads.
#[derive(Default)]
struct Members<'a> {
    tool: Option<Value>,
    /// The input, and the same to the byte.
    input: Option<(Value, &'a str)>,
    agent: Option<Value>,
    user: Option<Value>,
}

impl<'a> Members<'a> {
    fn read(text: &'a str) -> Option<Members<'a>> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let members = reader.deserialize_map(Known).ok()?;
        reader.end().ok().map(|()| members)
    }
}

/// Reads [`Members`].
struct Known;

/// The name of a member, which most often need not be copied.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Known {
    type Value = Members<'de>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Members<'de>, A::Error> {
        let strict = json::Strict::inside(1);
        let mut found = Members::default();
        let mut others = HashSet::new();
        while let Some(Name(name)) = members.next_key()? {
            let place = match &*name {
                "toolInput" if found.input.is_none() => {
                    let text = members.next_value::<&RawValue>()?.get();
                    let mut reader = serde_json::Deserializer::from_str(text);
                    let value = strict.deserialize(&mut reader).map_err(A::Error::custom)?;
                    found.input = Some((value, text));
                    continue;
                }
                "toolName" => &mut found.tool,
                "agentId" => &mut found.agent,
                "userId" => &mut found.user,
                _ => {
                    members.next_value_seed(strict)?;
                    // The input is no other one, and stands there twice.
                    if name == "toolInput" || !others.insert(name.into_owned()) {
                        return Err(A::Error::custom("a member stands there twice"));
                    }
                    continue;
                }
            };
            if place.replace(members.next_value_seed(strict)?).is_some() {
                return Err(A::Error::custom("a member stands there twice"));
            }
        }
        Ok(found)
    }
}

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
    Digest(String),
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
            Enabled::Digest(word("callDigest")?)
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

/// A name that only says where an ask is shown.
fn label(given: Option<Value>, name: &str) -> Result<String, Sentence> {
    match given {
        None => Ok(UNKNOWN.to_owned()),
        Some(Value::String(text)) if text.is_empty() => Ok(UNKNOWN.to_owned()),
        Some(Value::String(text)) if body::name(name, &text).is_ok() => Ok(text),
        Some(_) => Err(invalid(name)),
    }
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
    fn a_body_to_classify_is_read_in_one_pass_and_strictly() {
        let nested = |levels: usize| {
            format!(r#"{{"toolName":"x","a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels))
        };
        let deep_input = |levels: usize| {
            let (open, shut) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"toolName":"x","toolInput":{{"a":{open}{shut}}}}}"#)
        };
        #[rustfmt::skip]
        let cases = [
            (r#"{"toolName":"bash"}"#.to_owned(),                    Ok("bash {} unknown unknown"), "what is not said"),
            (r#" { "agentId" : "a", "toolInput" : { "b" : [1, 2] } , "x": {"y": 1}, "toolName" : "t", "userId": "u" } "#.to_owned(),
                Ok(r#"t { "b" : [1, 2] } a u"#), "in any order, the input to the byte"),
            (r#"{"tool\u004eame":"t","agentId":""}"#.to_owned(),     Ok("t {} unknown unknown"), "an escape in a name"),
            (r#"{"toolName":"t","toolName":"t"}"#.to_owned(),        Err(INVALID_JSON), "the tool twice"),
            (r#"{"toolName":"t","toolInput":{},"tool\u0049nput":{}}"#.to_owned(), Err(INVALID_JSON), "the input twice, once escaped"),
            (r#"{"toolName":"t","toolInput":{"a":1,"a":1}}"#.to_owned(), Err(INVALID_JSON), "something in the input twice"),
            (r#"{"toolName":"t","x":1,"x":2}"#.to_owned(),           Err(INVALID_JSON), "something unknown twice"),
            (r#"{"toolName":"t","x":{"y":1,"y":2}}"#.to_owned(),     Err(INVALID_JSON), "something in something unknown twice"),
            (r#"{"toolName":"t"} {}"#.to_owned(),                    Err(INVALID_JSON), "something behind it"),
            (r#"{"toolName":"t","toolInput":{]}"#.to_owned(),        Err(INVALID_JSON), "no JSON in the input"),
            (r#"["toolName"]"#.to_owned(),                           Err(INVALID_JSON), "no object"),
            (nested(63),                                             Ok("x {} unknown unknown"), "as deep as may be"),
            (nested(64),                                             Err(INVALID_JSON), "deeper"),
            (deep_input(63),                                         Err(INVALID_JSON), "deeper, in the input"),
            (r#"{"toolInput":{}}"#.to_owned(),                       Err("Missing toolName"), "no tool"),
            (r#"{"toolName":7}"#.to_owned(),                         Err("Invalid toolName"), "a tool that is no text"),
            (r#"{"toolName":"t","toolInput":[]}"#.to_owned(),        Err("Invalid toolInput"), "an input that is no object"),
            (r#"{"toolName":"t","toolInput":null}"#.to_owned(),      Err("Invalid toolInput"), "nor is this"),
            (r#"{"toolName":"t","toolInput":{"command":1}}"#.to_owned(), Err("Invalid command"), "a command that is no text"),
            (r#"{"toolName":"t","agentId":1}"#.to_owned(),           Err("Invalid agentId"), "an agent that is no text"),
        ];
        for (text, want, why) in cases {
            let read = Classify::read(text.as_bytes()).map(|read| {
                assert_eq!(json::value(&read.input_text).unwrap(), read.input);
                format!("{} {} {} {}", read.tool, read.input_text, read.agent, read.user)
            });
            assert_eq!(read.as_deref().map_err(String::as_str), want, "{why}");
        }
        assert_eq!(Classify::read(b"{\"toolName\":\"\xff\"}").unwrap_err(), INVALID_JSON);
    }

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
