//! What the classifier is sent, read in one pass.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::de::{DeserializeSeed as _, Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{INVALID_JSON, Sentence, UNKNOWN, check_input, invalid};
use crate::{body, json};

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

/// A name that only says where an ask is shown.
fn label(given: Option<Value>, name: &str) -> Result<String, Sentence> {
    match given {
        None => Ok(UNKNOWN.to_owned()),
        Some(Value::String(text)) if text.is_empty() => Ok(UNKNOWN.to_owned()),
        Some(Value::String(text)) if body::name(name, &text).is_ok() => Ok(text),
        Some(_) => Err(invalid(name)),
    }
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
}
