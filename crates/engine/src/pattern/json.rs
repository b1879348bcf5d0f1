//! JSON as a pattern: the same value, whatever the order of keys and the spelling of numbers.

use std::fmt::Write;

use serde_json::{Number, Value};

/// A text that two values share exactly if they are the same value.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Beyond this the neighbours of a number that is no integer of 64 bits are more than one apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether every number in it is surely the one that was written: a larger one was rounded when it
/// was read, and may be equal to another.
#[must_use]
pub fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            !number.is_f64() || number.as_f64().is_some_and(|value| value.abs() <= EXACT)
        }
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

/// The value as JSON text with its keys in order, as a rule has it.
#[must_use]
pub fn canonical_text(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            let members = members.into_iter().map(|(key, value)| {
                format!("{}:{}", Value::from(key.as_str()), canonical_text(value))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical_text).collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in members {
                write_text(key, out);
                out.push(':');
                write(value, out);
                out.push(',');
            }
            out.push('}');
        }
    }
}

/// Writes a number by its value: `1`, `1.0` and `1e0` are one.
fn write_number(number: &Number, out: &mut String) {
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() <= EXACT => {
            // Adding zero makes negative zero positive.
            let _ = write!(out, "{}", value + 0.0);
        }
        _ => {
            let _ = write!(out, "{number}");
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn only_the_value_counts() {
        #[rustfmt::skip]
        let cases = [
            (r#"{"a":1,"b":[2]}"#, r#"{ "b" : [2.0], "a" : 1e0 }"#, true),
            (r#"{"a":1}"#,         r#"{"a":"1"}"#,                   false),
            (r#"{"a":[1,2]}"#,     r#"{"a":[2,1]}"#,                 false),
            (r#"{"a":"\u0041"}"#,  r#"{"a":"A"}"#,                   true),
            (r#"{"a":-0.0}"#,      r#"{"a":0}"#,                     true),
            (r#"{"a":null}"#,      "{}",                         false),
            (r#"["a,b"]"#,         r#"["a","b"]"#,                   false),
        ];
        for (one, other, same) in cases {
            let parse = |text: &str| canonical(&serde_json::from_str(text).unwrap());
            assert_eq!(parse(one) == parse(other), same, "`{one}` and `{other}`");
        }
    }
}
