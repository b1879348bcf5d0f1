//! Canonical JSON: keys sorted by bytes, no white space, shortest escapes, numbers as written.
//!
//! It is what digests, receipts and audit entries are computed over, so that another program can
//! compute them from the same values without sharing any code with us.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The canonical form of a JSON text; none where it is not JSON. Of equal keys the last counts:
/// whoever reads texts from outside refuses them first.
#[must_use]
pub fn canonical(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    write(serde_json::from_str(text).ok()?, &mut out)?;
    Some(out)
}

/// A text as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    // Writing a string to memory cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// An object of members that are given in canonical form; they are put in order here.
#[must_use]
pub fn object(mut members: Vec<(&str, String)>) -> String {
    members.sort_unstable_by_key(|(key, _)| *key);
    let members: Vec<String> =
        members.into_iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
    format!("{{{}}}", members.join(","))
}

fn write(value: &RawValue, out: &mut String) -> Option<()> {
    let text = value.get();
    match text.as_bytes().first()? {
        b'{' => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            for (index, (key, value)) in members.iter().enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                out.push_str(&quoted(key));
                out.push(':');
                write(value, out)?;
            }
            out.push_str(if members.is_empty() { "{}" } else { "}" });
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            for (index, value) in items.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                write(value, out)?;
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        b'"' => out.push_str(&quoted(&serde_json::from_str::<String>(text).ok()?)),
        _ => out.push_str(text),
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_one_text() {
        #[rustfmt::skip]
        let cases = [
            (r#" { "b" : [ 1.0 , {} , [] ], "a" : "\u0041\/" } "#, Some(r#"{"a":"A/","b":[1.0,{},[]]}"#), "blanks, order and escapes go"),
            (r#"{"a":1e2,"aa":100}"#,  Some(r#"{"a":1e2,"aa":100}"#), "numbers stay as written"),
            ("\"\\u0007\\n\"",         Some("\"\\u0007\\n\""),        "the shortest escape"),
            (r#"{"a":}"#,              None,                          "not JSON"),
            ("true",                   Some("true"),                  "a word"),
        ];
        for (text, want, why) in cases {
            assert_eq!(canonical(text).as_deref(), want, "{why}");
        }
    }

    #[test]
    fn members_are_put_in_order() {
        let made = object(vec![("b", "1".into()), ("a", quoted("x\"y"))]);
        assert_eq!(made, r#"{"a":"x\"y","b":1}"#);
    }
}
