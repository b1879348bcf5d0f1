//! JSON that came from outside, read strictly: no key twice, nothing too deep, nothing behind it.
//!
//! `serde_json` takes the last of two equal keys; a host that takes the first would run another
//! call than the one that was judged. So the text is walked once for its keys before it is read.

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

/// Looks at the keys of a text that is JSON.
fn check_keys(text: &str) -> Result<(), &'static str> {
    // Of each open object its keys, of each open array none.
    let mut open: Vec<Option<HashSet<String>>> = Vec::new();
    let mut wants_key = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut used = first.len_utf8();
        match first {
            '{' | '[' => {
                open.push((first == '{').then(HashSet::new));
                wants_key = first == '{';
                if open.len() > MOST_DEPTH {
                    return Err("it is nested too deep");
                }
            }
            '}' | ']' => {
                open.pop();
                wants_key = false;
            }
            ',' => wants_key = matches!(open.last(), Some(Some(_))),
            '"' => {
                used = string_length(rest);
                let string = rest.get(..used).unwrap_or_default();
                if let (true, Some(Some(keys))) = (wants_key, open.last_mut()) {
                    let key: String = serde_json::from_str(string).map_err(|_| "it is not JSON")?;
                    if !keys.insert(key) {
                        return Err("it says a thing twice");
                    }
                }
                wants_key = false;
            }
            _ => {}
        }
        rest = rest.get(used..).unwrap_or_default();
    }
    Ok(())
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
            (r#"{"a":1} {"b":1}"#,                          Err("it is not JSON")),
            (r#"{"a":1"#,                                   Err("it is not JSON")),
            ("",                                            Err("it is not JSON")),
        ];
        for (text, want) in cases {
            assert_eq!(value(text.as_bytes()).map(drop), *want, "`{text}`");
        }
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        assert_eq!(value(deep.as_bytes()), Err("it is nested too deep"));
        assert_eq!(value(b"\"\xff\""), Err("it is not UTF-8"));
    }
}
