//! JSON that came from outside: read whole and strictly, or refused with a sentence.
//!
//! No object says a thing twice, nothing is nested deeper than [`MOST_DEPTH`], nothing follows the
//! value. A reader that takes the first of two equal keys and one that takes the last would
//! otherwise judge and run different calls.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// How deep arrays and objects may be nested.
pub const MOST_DEPTH: usize = 64;

/// Reads one value.
///
/// # Errors
/// The text is not JSON or breaks one of the rules above; the message says where.
pub fn value(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value =
        Strict::new().deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| message(&error))
}

/// How many levels a daemon's answer has around a value that came from outside.
const AROUND: usize = 16;

/// Reads one value that a daemon answered: as deep as what it was sent, and what stands around it.
///
/// # Errors
/// The text is not JSON or breaks one of the rules above; the message says where.
pub fn answer(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let strict = Strict { left: MOST_DEPTH + AROUND };
    let value = strict.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| message(&error))
}

/// What went wrong, in our own words where they are ours.
#[must_use]
pub fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let sentence = text.rfind(" at line ").and_then(|at| text.get(..at)).unwrap_or(&text);
    match error.classify() {
        serde_json::error::Category::Data => in_words(sentence),
        serde_json::error::Category::Eof => "not JSON: it ends too early".to_owned(),
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            format!("not JSON: {sentence} at column {}", error.column())
        }
    }
}

/// A sentence without the names of types that nobody outside knows.
fn in_words(sentence: &str) -> String {
    let types = ["u8", "u16", "u32", "u64", "usize", "i64"];
    let parts = sentence.rsplit_once("expected ").filter(|(_, name)| types.contains(name));
    let Some((said, expected)) = parts else { return sentence.to_owned() };
    let sign = if expected.starts_with('u') { " of 0 or more" } else { "" };
    format!("{said}expected a whole number{sign}")
}

/// Reads any value strictly.
#[derive(Clone, Copy, Debug)]
pub struct Strict {
    /// How many more levels may be opened.
    left: usize,
}

impl Strict {
    /// Reads a value at the top.
    #[must_use]
    pub const fn new() -> Strict {
        Strict { left: MOST_DEPTH }
    }

    /// Reads a value inside something.
    #[must_use]
    pub const fn inside(levels: usize) -> Strict {
        Strict { left: MOST_DEPTH.saturating_sub(levels) }
    }

    fn deeper<E: serde::de::Error>(self) -> Result<Strict, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Strict { left }),
            None => Err(E::custom(format_args!("nested deeper than {MOST_DEPTH} levels"))),
        }
    }
}

impl Default for Strict {
    fn default() -> Strict {
        Strict::new()
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            match map.entry(key) {
                Entry::Vacant(free) => free.insert(members.next_value_seed(inner)?),
                Entry::Occupied(taken) => {
                    let key = taken.key();
                    return Err(A::Error::custom(format_args!("`{key}` stands there twice")));
                }
            };
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ambiguous_is_refused() {
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        #[rustfmt::skip]
        let cases = [
            (r#"{"a":1,"b":{"a":2}}"#.to_owned(), None,                               "the same key at two depths"),
            (r#"{"a":1,"a":1}"#.to_owned(),       Some("`a` stands there twice"),     "twice"),
            (r#"{"b":{"a":1,"\u0061":1}}"#.to_owned(), Some("`a` stands there twice"), "twice, once escaped"),
            (deep(64),                            None,                               "as deep as may be"),
            (deep(65),                            Some("nested deeper than 64 levels"), "deeper"),
            (deep(100_000),                       Some("nested deeper than 64 levels"), "far deeper"),
            ("{} {}".to_owned(),                  Some("not JSON: trailing characters at column 4"), "two values"),
            ("{".to_owned(),                      Some("not JSON: it ends too early"), "half a value"),
            ("{a}".to_owned(),                    Some("not JSON: key must be a string at column 2"), "no JSON"),
        ];
        for (text, want, why) in cases {
            assert_eq!(value(&text).err().as_deref(), want, "{why}");
        }
    }
}
