//! The envelope of JSON-RPC: what a message is, without a look at what it carries.
//!
//! Reading is strict where two programs could read a text in two ways: a key that is said twice,
//! or in another case than the one we look for (some programs do not tell them apart).

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The code of a text that is no message.
pub const PARSE_ERROR: i64 = -32700;

/// The code of a message that is refused.
pub const INVALID_REQUEST: i64 = -32600;

/// The code of a request that was denied.
pub const DENIED: i64 = -32001;

/// One message.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    /// The id of a request or an answer, to the byte.
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    /// The method of a request or a notification.
    pub method: Option<String>,
    /// What it is called with, to the byte.
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    /// The answer, to the byte.
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads a message; what could be read in two ways is none.
    ///
    /// # Errors
    /// It is none; the message says why.
    pub fn read(text: &'a str) -> Result<Message<'a>, String> {
        let whole = portcullis_wire::json::value(text)?;
        sole_names(&whole, &["jsonrpc", "id", "method", "params", "result", "error"])?;
        serde_json::from_str(text).map_err(|error| portcullis_wire::json::message(&error))
    }

    /// The id as a text; none where it is a notification.
    #[must_use]
    pub fn id(&self) -> Option<&'a str> {
        self.id.map(RawValue::get)
    }

    /// Whether it answers a request.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        self.method.is_none() && self.id.is_some()
    }
}

/// Refuses an object whose names another program could take for one of these, or for each other.
///
/// # Errors
/// There is such a name.
pub fn sole_names(value: &Value, names: &[&str]) -> Result<(), String> {
    let Some(members) = value.as_object() else { return Err("it is no object".to_owned()) };
    let mut seen = HashSet::new();
    for name in members.keys() {
        let plain = folded(name);
        if names.contains(&plain.as_str()) && plain != *name {
            return Err(format!("`{name}` could be read as `{plain}`"));
        }
        if !seen.insert(plain) {
            return Err(format!("`{name}` is said twice, in another case"));
        }
    }
    Ok(())
}

/// Whether a program that is not strict about case and white space could take a name for another.
#[must_use]
pub fn could_be(name: &str, other: &str) -> bool {
    name != other
        && folded(name.trim_matches(|sign: char| sign.is_whitespace() || sign == '\0')) == other
}

/// A name as programs see it that do not tell cases apart.
fn folded(name: &str) -> String {
    let plain = |sign: char| match sign {
        'ſ' => 's',
        'K' => 'k',
        other => other,
    };
    name.chars().map(plain).flat_map(char::to_lowercase).collect()
}

/// An answer that carries a result.
#[must_use]
pub fn result(id: Option<&str>, result: &Value) -> Vec<u8> {
    line(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.unwrap_or("null")))
}

/// An answer that carries an error.
#[must_use]
pub fn error(id: Option<&str>, code: i64, message: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": message });
    line(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.unwrap_or("null")))
}

/// A notification.
#[must_use]
pub fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
}

/// A text as a line.
#[must_use]
pub fn line(text: &str) -> Vec<u8> {
    // A line break inside JSON is white space: strings have it escaped.
    let mut bytes: Vec<u8> =
        text.bytes().map(|byte| if byte == b'\n' || byte == b'\r' { b' ' } else { byte }).collect();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_read_in_two_ways_is_no_message() {
        #[rustfmt::skip]
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, true,  "a request"),
            (r#"{"method":"a","method":"tools/call"}"#,                       false, "said twice"),
            (r#"{"Method":"tools/call"}"#,                                    false, "in another case"),
            (r#"{"paramſ":{},"method":"a"}"#,                                 false, "a letter that folds"),
            (r#"{"method":"a","x":{"K":1,"k":2}}"#,                           true,  "inside it is the server's"),
            ("[]",                                                            false, "a batch is none"),
            ("{",                                                             false, "half of one"),
        ];
        for (text, want, why) in cases {
            assert_eq!(Message::read(text).is_ok(), want, "{why}: {text}");
        }
    }

    #[test]
    fn a_name_may_be_taken_for_another() {
        for name in ["Tools/Call", "tools/call ", "\ttools/call\0", "toolſ/call"] {
            assert!(could_be(name, "tools/call"), "{name:?}");
        }
        for name in ["tools/call", "tools/calls", "x/tools/call", "tools"] {
            assert!(!could_be(name, "tools/call"), "{name:?}");
        }
    }

    #[test]
    fn an_id_is_kept_to_the_byte() {
        let text = r#"{"id":1.50,"method":"m"}"#;
        assert_eq!(Message::read(text).unwrap().id(), Some("1.50"));
        let answer = error(Some("1.50"), DENIED, "no");
        assert!(String::from_utf8(answer).unwrap().contains(r#""id":1.50,"#));
    }
}
