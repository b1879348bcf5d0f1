//! Canonical JSON: keys sorted by bytes, no white space, shortest escapes, numbers as written.
//!
//! It is what digests, receipts and audit entries are computed over, so that another program can
//! compute them from the same values without sharing any code with us.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde_json::value::RawValue;

mod scan;

/// A text in canonical form: written so here, or seen to be so, once. Over others no chain would
/// hold, and one careless writer would make all of it unverifiable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Canonical(String);

impl Canonical {
    /// The canonical form of a JSON text; none where it is not JSON.
    #[must_use]
    pub fn read(text: &str) -> Option<Canonical> {
        canonical(text).map(Canonical)
    }
}

/// The canonical form of a JSON text; of what is none, the text as a JSON string.
impl From<String> for Canonical {
    fn from(text: String) -> Canonical {
        if is_canonical(&text) {
            return Canonical(text);
        }
        Canonical(canonical(&text).unwrap_or_else(|| quoted(&text)))
    }
}

impl From<Canonical> for String {
    fn from(text: Canonical) -> String {
        text.0
    }
}

impl Deref for Canonical {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The canonical form of a JSON text; none where it is not JSON. Of equal keys the last counts:
/// whoever reads texts from outside refuses them first.
#[must_use]
pub fn canonical(text: &str) -> Option<String> {
    if is_canonical(text) {
        return Some(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    write(serde_json::from_str(text).ok()?, &mut out)?;
    Some(out)
}

/// Whether a JSON text is in canonical form, told in one pass. A rare form that needs a closer
/// look, such as an escape in a key, is not recognised.
#[must_use]
pub fn is_canonical(text: &str) -> bool {
    scan::value(text.as_bytes(), 0).is_some_and(<[u8]>::is_empty)
}

/// A text as a JSON string.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Writes a text as a JSON string behind another text.
pub fn push_quoted(out: &mut String, text: &str) {
    if scan::is_plain(text.as_bytes()) {
        out.reserve(text.len() + 2);
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        // Writing a string to memory cannot fail.
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// An object of members that are given in canonical form; they are put in order here.
#[must_use]
pub fn object(mut members: Vec<(&str, String)>) -> String {
    members.sort_unstable_by_key(|(key, _)| *key);
    let length: usize = members.iter().map(|(key, value)| key.len() + value.len() + 4).sum();
    let mut out = String::with_capacity(length + 2);
    out.push('{');
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_quoted(&mut out, key);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// An object that is written member by member.
// INVARIANT: the names are given in order, each once, and stand for themselves in JSON.
#[derive(Debug)]
pub struct Members {
    text: String,
    last: &'static str,
}

impl Members {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Members {
        let mut text = String::with_capacity(512);
        text.push('{');
        Members { text, last: "" }
    }

    /// Writes a member whose value is a text.
    pub fn text(&mut self, name: &'static str, value: &str) {
        self.name(name);
        push_quoted(&mut self.text, value);
    }

    /// The same where there is a value.
    pub fn maybe(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// Writes a member whose value is a list of texts.
    pub fn texts<'a>(&mut self, name: &'static str, values: impl Iterator<Item = &'a str>) {
        self.name(name);
        self.text.push('[');
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            push_quoted(&mut self.text, value);
        }
        self.text.push(']');
    }

    /// Writes a member that is true or false.
    pub fn flag(&mut self, name: &'static str, value: bool) {
        self.name(name);
        self.text.push_str(if value { "true" } else { "false" });
    }

    /// Writes a member whose value is there already.
    pub fn raw(&mut self, name: &'static str, value: &Canonical) {
        self.name(name);
        self.text.push_str(value);
    }

    fn name(&mut self, name: &'static str) {
        debug_assert!(scan::is_plain(name.as_bytes()), "`{name}` would have to be escaped");
        debug_assert!(self.last < name, "`{name}` stands behind `{}`", self.last);
        self.last = name;
        self.text.push_str(if self.text.len() > 1 { ",\"" } else { "\"" });
        self.text.push_str(name);
        self.text.push_str("\":");
    }

    /// The object.
    #[must_use]
    pub fn end(mut self) -> Canonical {
        self.text.push('}');
        Canonical(self.text)
    }
}

impl Default for Members {
    fn default() -> Members {
        Members::new()
    }
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
    fn what_is_canonical_is_seen_at_once() {
        #[rustfmt::skip]
        let cases = [
            (r#"{"a":[1,-0.5e+3,{}],"b":{"":null},"ä":"\u001f\t\\\""}"#, true, "every form there is"),
            (r#"{"b":1,"a":1}"#,       false, "members out of order"),
            (r#"{"a":1,"a":1}"#,       false, "a member twice"),
            (r#"{"a": 1}"#,            false, "a blank"),
            (r#"{"a":1,}"#,            false, "a comma too many"),
            (r#"["\u0041"]"#,          false, "a longer escape than there must be"),
            (r#"["\/"]"#,              false, "an escape that need not be"),
            (r#"["\u0009"]"#,          false, "a tab has a shorter escape"),
            (r#"["\u001F"]"#,          false, "digits are small letters"),
            ("[\"\n\"]",               false, "a control character as it is"),
            ("[01]",                   false, "no number"),
            ("[1.]",                   false, "no number"),
            ("[1e]",                   false, "no number"),
            ("[-]",                    false, "no number"),
            ("[1]]",                   false, "something behind it"),
            ("\"a",                    false, "no end"),
            ("",                       false, "nothing"),
        ];
        for (text, want, why) in cases {
            assert_eq!(is_canonical(text), want, "`{text}`: {why}");
        }
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert!(!is_canonical(&deep), "too deep to be told");
    }

    #[test]
    fn what_is_written_or_taken_is_canonical() {
        let mut made = Members::new();
        made.flag("a", true);
        made.maybe("b", None);
        made.raw("c", &Canonical::from(r#"{ "y": 1, "x": 2.0 }"#.to_owned()));
        made.text("d", "\"\n");
        made.texts("e", ["f", "\\"].into_iter());
        let made = made.end();
        assert_eq!(&*made, r#"{"a":true,"c":{"x":2.0,"y":1},"d":"\"\n","e":["f","\\"]}"#);
        assert!(is_canonical(&made));
        assert_eq!(&*Canonical::from("no JSON".to_owned()), "\"no JSON\"", "kept as a text");
        assert_eq!(Canonical::read("{"), None);
    }

    #[test]
    fn members_are_put_in_order() {
        let made = object(vec![("b", "1".into()), ("a", quoted("x\"y"))]);
        assert_eq!(made, r#"{"a":"x\"y","b":1}"#);
    }
}
