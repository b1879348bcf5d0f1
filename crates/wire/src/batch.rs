//! The lines of a batch: one call in, one verdict or one error out.

use std::fmt;

use portcullis_engine::call::{Call, Shell};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::errors::Error;
use crate::json::{self, Strict};
use crate::nearest::nearest;

/// The members a line may have.
// INVARIANT: the order is that of `KNOWN`.
#[derive(Clone, Copy)]
enum Member {
    Id,
    Tool,
    Input,
    Cwd,
    Home,
    Shell,
    Host,
    Policy,
}

/// Their names.
const KNOWN: &[&str] = &["id", "tool", "input", "cwd", "home", "shell", "host", "policy"];

impl Member {
    fn named(name: &str) -> Option<Member> {
        Some(match name {
            "id" => Member::Id,
            "tool" => Member::Tool,
            "input" => Member::Input,
            "cwd" => Member::Cwd,
            "home" => Member::Home,
            "shell" => Member::Shell,
            "host" => Member::Host,
            "policy" => Member::Policy,
            _ => return None,
        })
    }
}

/// One call of a batch, as it was given.
#[derive(Debug, Default)]
pub struct Line<'a> {
    /// What its answer is called by: a text or a number.
    pub id: Option<&'a RawValue>,
    /// The host's name for the tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// The working directory, absolute.
    pub cwd: Option<String>,
    /// The home of the user, absolute.
    pub home: Option<String>,
    /// The shell that would run a command.
    pub shell: Option<Shell>,
    /// The host.
    pub host: Option<String>,
    /// The policy that stands in for the policy files, not yet read.
    pub policy: Option<&'a RawValue>,
}

impl Line<'_> {
    /// The call, with the directory and the home of the process where the line names none.
    #[must_use]
    pub fn call(self, cwd: &str, home: Option<&str>) -> Call {
        Call {
            tool: self.tool,
            input: self.input,
            cwd: self.cwd.unwrap_or_else(|| cwd.to_owned()),
            home: self.home.or_else(|| home.map(str::to_owned)),
            shell: self.shell,
            root: None,
            host: self.host,
        }
    }
}

/// A line that was not understood: its id, if that much could be read, and why.
#[derive(Debug)]
pub struct Refused<'a> {
    /// The id, exactly as it was given.
    pub id: Option<&'a RawValue>,
    /// What is wrong.
    pub error: Error,
}

impl Serialize for Refused<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = self.id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("error", &self.error)?;
        map.end()
    }
}

/// Reads one line.
///
/// # Errors
/// It is not a call; what was read of its id comes with the error.
pub fn line(bytes: &[u8]) -> Result<Line<'_>, Refused<'_>> {
    let refused = |id, message: String| Refused { id, error: Error::invalid(message) };
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            return Err(refused(None, format!("not UTF-8 from byte {} on", error.valid_up_to())));
        }
    };
    let mut draft = Draft::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = (&mut reader).deserialize_map(Members(&mut draft)).and_then(|()| reader.end());
    let id = draft.line.id;
    if let Err(error) = read {
        let is_object = text.trim_start().starts_with('{');
        let message = if is_object || error.is_syntax() || error.is_eof() {
            json::message(&error)
        } else {
            "a line is an object with `tool` and `input`".to_owned()
        };
        return Err(refused(id, message));
    }
    for (name, was_given) in [("tool", draft.has_tool), ("input", draft.has_input)] {
        if !was_given {
            return Err(refused(id, format!("`{name}` is missing")));
        }
    }
    Ok(draft.line)
}

/// A line while it is read.
#[derive(Default)]
struct Draft<'a> {
    line: Line<'a>,
    has_tool: bool,
    has_input: bool,
}

struct Members<'d, 'a>(&'d mut Draft<'a>);

impl<'a> Visitor<'a> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<(), A::Error> {
        let Draft { line, has_tool, has_input } = self.0;
        let mut seen = [false; KNOWN.len()];
        while let Some(member) = members.next_key_seed(Name)? {
            let member = match member {
                Ok(member) => member,
                Err(name) => {
                    members.next_value::<IgnoredAny>()?;
                    let meant = nearest(&name, KNOWN);
                    return Err(A::Error::custom(unknown(&name, meant)));
                }
            };
            let index = member as usize;
            if seen.get_mut(index).is_some_and(|seen| std::mem::replace(seen, true)) {
                let name = KNOWN.get(index).copied().unwrap_or_default();
                return Err(A::Error::custom(format_args!("`{name}` stands there twice")));
            }
            match member {
                Member::Id => line.id = Some(id(&mut members)?),
                Member::Tool => {
                    line.tool = text(&mut members, "tool")?;
                    *has_tool = true;
                }
                Member::Input => {
                    line.input = members.next_value_seed(Strict::inside(1))?;
                    *has_input = true;
                }
                Member::Cwd => line.cwd = Some(directory(&mut members, "cwd")?),
                Member::Home => line.home = Some(directory(&mut members, "home")?),
                Member::Shell => line.shell = Some(Shell::named(&text(&mut members, "shell")?)),
                Member::Host => line.host = Some(text(&mut members, "host")?),
                Member::Policy => line.policy = Some(members.next_value()?),
            }
        }
        Ok(())
    }
}

/// Reads the name of a member without keeping it; one that is not known is given back.
struct Name;

impl<'a> DeserializeSeed<'a> for Name {
    type Value = Result<Member, String>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Result<Member, String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Member::named(name).ok_or_else(|| name.to_owned()))
    }
}

/// The sentence about a member that is not known.
pub(crate) fn unknown(name: &str, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("unknown field `{name}`; did you mean `{meant}`?"),
        None => format!("unknown field `{name}`; known are {}", KNOWN.join(", ")),
    }
}

fn id<'a, A: MapAccess<'a>>(members: &mut A) -> Result<&'a RawValue, A::Error> {
    let id: &RawValue = members.next_value()?;
    match id.get().as_bytes().first() {
        Some(b'"' | b'-' | b'0'..=b'9') => Ok(id),
        _ => Err(A::Error::custom("`id` must be a text or a number")),
    }
}

fn text<'a, A: MapAccess<'a>>(members: &mut A, name: &str) -> Result<String, A::Error> {
    match members.next_value_seed(Strict::inside(1))? {
        Value::String(text) => Ok(text),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => {
            Err(A::Error::custom(format_args!("`{name}` must be a text, not {}", kind(&other))))
        }
    }
}

fn directory<'a, A: MapAccess<'a>>(members: &mut A, name: &str) -> Result<String, A::Error> {
    let path = text(members, name)?;
    if path.starts_with('/') {
        return Ok(path);
    }
    Err(A::Error::custom(format_args!("`{name}` must be an absolute path, not `{path}`")))
}

/// What a value is, in words.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
