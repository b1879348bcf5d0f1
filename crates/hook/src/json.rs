//! JSON that came from outside, read strictly: no key twice, nothing too deep, nothing behind it.
//!
//! `serde_json` takes the last of two equal keys; a host that takes the first would run another
//! call than the one that was judged. So the text is walked once for its keys before it is read.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;
use serde_json::value::RawValue;

/// How deep arrays and objects may be nested.
const MOST_DEPTH: usize = 64;

/// Reads one value; the message says what is wrong with it.
pub fn value(bytes: &[u8]) -> Result<Value, &'static str> {
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8")?;
    let value: Value = serde_json::from_str(text).map_err(|_| "it is not JSON")?;
    check_keys(text)?;
    Ok(value)
}

/// Looks at a text without keeping anything of it; the message says what is wrong with it.
pub fn check(text: &str) -> Result<(), &'static str> {
    let skipped: Result<&RawValue, _> = serde_json::from_str(text);
    skipped.map_err(|_| "it is not JSON")?;
    check_keys(text)
}

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// An object of members that are JSON already, in this order.
pub fn object(members: &[(&str, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    format!("{{{}}}", members.join(","))
}

/// So many keys are compared with each other; more are hashed.
const FEW: usize = 16;

/// The keys of one object.
#[derive(Default)]
struct Keys<'a> {
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Keys<'a> {
    /// Adds a key; whether it is new.
    fn insert(&mut self, key: Cow<'a, str>) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(key);
        }
        let is_new = !self.few.contains(&key);
        self.few.push(key);
        if self.few.len() > FEW {
            self.many.extend(self.few.drain(..));
        }
        is_new
    }
}

/// Looks at the keys of a text that is JSON.
fn check_keys(text: &str) -> Result<(), &'static str> {
    // Of each open object its keys, of each open array none.
    let mut open: Vec<Option<Keys<'_>>> = Vec::new();
    let mut wants_key = false;
    let mut at = 0;
    while let Some(first) = text.as_bytes().get(at) {
        let mut used = 1;
        match first {
            b'{' | b'[' => {
                open.push((*first == b'{').then(Keys::default));
                wants_key = *first == b'{';
                if open.len() > MOST_DEPTH {
                    return Err("it is nested too deep");
                }
            }
            b'}' | b']' => {
                open.pop();
                wants_key = false;
            }
            b',' => wants_key = matches!(open.last(), Some(Some(_))),
            b'"' => {
                let rest = text.get(at..).unwrap_or_default();
                used = string_length(rest);
                if let (true, Some(Some(keys))) = (wants_key, open.last_mut())
                    && !keys.insert(key(rest.get(..used).unwrap_or_default())?)
                {
                    return Err("it says a thing twice");
                }
                wants_key = false;
            }
            _ => {}
        }
        at += used;
    }
    Ok(())
}

/// What a string says.
fn key(string: &str) -> Result<Cow<'_, str>, &'static str> {
    let inside = string.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inside {
        Some(inside) if !inside.contains('\\') => Ok(Cow::Borrowed(inside)),
        _ => serde_json::from_str(string).map(Cow::Owned).map_err(|_| "it is not JSON"),
    }
}

/// How many bytes the string takes that `text` begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match (is_escaped, byte) {
            (true, _) => is_escaped = false,
            (false, b'\\') => is_escaped = true,
            (false, b'"') => return at + 1,
            (false, _) => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        #[rustfmt::skip]
        let cases: &[(&str, Result<(), &str>)] = &[
            (r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}"#, Ok(())),
            (r#"{"a":"a","b":"a, \"a\": {"}"#,               Ok(())),
            (r#"{"a":1,"a":1}"#,                            Err("it says a thing twice")),
            (r#"{"a":1,"\u0061":1}"#,                       Err("it says a thing twice")),
            (r#"{"x":[{"k":1,"b":[],"k":2}]}"#,             Err("it says a thing twice")),
            (r#"{"a\\":1,"a":2,"\"":3,"\\\"":4}"#,           Ok(())),
            (r#"{"a":1} {"b":1}"#,                          Err("it is not JSON")),
            (r#"{"a":1"#,                                   Err("it is not JSON")),
            ("",                                            Err("it is not JSON")),
        ];
        for (text, want) in cases {
            assert_eq!(value(text.as_bytes()).map(drop), *want, "`{text}`");
        }
        let many = |last: &str| {
            let keys: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{{\"k{n}\":1}}")).collect();
            format!("{{{},\"{last}\":0}}", keys.join(","))
        };
        assert_eq!(value(many("k40").as_bytes()).map(drop), Ok(()));
        for last in ["k0", "k15", "k16", "k17", "k39", "\\u006b20"] {
            let said = value(many(last).as_bytes()).map(drop);
            assert_eq!(said, Err("it says a thing twice"), "{last}");
        }
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        assert_eq!(value(deep.as_bytes()), Err("it is nested too deep"));
        assert_eq!(value(b"\"\xff\""), Err("it is not UTF-8"));
    }
}
