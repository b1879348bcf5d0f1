//! Events of the feed: something changed, look again.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::asks::Ask;

/// One event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Where the feed goes on behind it; opaque.
    pub cursor: String,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: String,
    /// When.
    pub at: String,
    /// The whole ask, of `ask.opened` and `ask.settled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Who did it, of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// What it is about, of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// More about it, of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

/// The text of a cursor.
#[must_use]
pub fn cursor(position: u64) -> String {
    format!("{position:016x}")
}

/// The position a cursor stands for; none where it is no cursor.
#[must_use]
pub fn position(cursor: &str) -> Option<u64> {
    let is_one = cursor.len() == 16 && cursor.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| u64::from_str_radix(cursor, 16).ok()).flatten()
}
