//! What Agentbot's clients are told.

use portcullis_engine::glyphs;
use serde::Serialize;
use serde_json::value::RawValue;

/// The answer to a call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Classified {
    /// Whether it may run.
    pub allow: bool,
    /// How bad it could be.
    pub tier: &'static str,
    /// Why.
    pub reason: String,
    /// The ask, while somebody must answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The input that was approved instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_input: Option<Box<RawValue>>,
}

/// Why a call was not judged.
#[derive(Debug, Serialize)]
pub struct NotClassified {
    /// Always false.
    pub allow: bool,
    /// Why.
    pub reason: String,
}

/// Why a request was not served.
#[derive(Debug, Serialize)]
pub struct Refused {
    /// The sentence.
    pub error: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the ask was settled by somebody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

/// How an ask was settled.
#[derive(Debug, Serialize)]
pub struct Settled {
    /// `approve`, `approve_always` or `reject`.
    pub decision: &'static str,
    /// Who.
    pub by: String,
    /// When, in milliseconds.
    pub at: i64,
    /// The door they came through.
    pub door: String,
}

/// `GET /api/permissions`.
#[derive(Debug, Serialize)]
pub struct Pending {
    /// Oldest first.
    pub pending: Vec<Item>,
}

/// One pending ask.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent_id: String,
    /// Its owner, or the user it says it works for.
    pub user_id: String,
    /// The tool.
    pub tool_name: String,
    /// Its input.
    pub tool_input: Box<RawValue>,
    /// How bad it could be.
    pub tier: &'static str,
    /// Why it is asked about.
    pub reason: String,
    /// When it was opened, in milliseconds.
    pub timestamp: i64,
    /// `pending`; not said over the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<&'static str>,
    /// The call on one line.
    pub command: String,
    /// `low` where the program or the tool is unknown, else `high`.
    pub confidence: &'static str,
    /// When it ends by itself, in milliseconds.
    pub expires_at: Option<i64>,
    /// What `approve_always` would store.
    pub suggestion: Option<String>,
}

/// `GET /api/permissions/{id}`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Its id.
    pub id: String,
    /// `pending`, `approved`, `rejected` or `expired`.
    pub status: &'static str,
    /// How bad it could be.
    pub tier: &'static str,
    /// Why it is asked about, or why it ended.
    pub reason: String,
    /// When it was opened, in milliseconds.
    pub timestamp: i64,
    /// When it ends by itself, in milliseconds.
    pub expires_at: Option<i64>,
    /// The input in force.
    pub tool_input: Box<RawValue>,
    /// What was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<&'static str>,
    /// What the agent is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// The changed input, in the form it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_input: Option<Box<RawValue>>,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// When, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<i64>,
    /// Proof for exactly this input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// The answer to a decision.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// Always true.
    pub success: bool,
    /// The ask, as it was written.
    pub request_id: String,
    /// What was decided.
    pub decision: &'static str,
    /// How bad the call could be.
    pub tier: &'static str,
    /// What an approval for good left behind; null where nothing could take effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<Granted>,
    /// Why it left nothing behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_reason: Option<&'static str>,
    /// Why an approval became a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What an approval for good left behind.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Granted {
    /// Grants.
    Grant {
        /// The first of them.
        id: String,
        /// What they cover.
        pattern: String,
    },
    /// Nothing, which is written as null.
    Nothing,
}

/// The answer to an enabling.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NowEnabled {
    /// Always true.
    pub success: bool,
    /// The grant.
    pub grant_id: String,
    /// Until when, in milliseconds.
    pub expires_at: i64,
    /// How often.
    pub uses: u32,
}

/// One frame of the socket.
#[derive(Debug, Serialize)]
pub struct Frame<T> {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it says.
    pub data: T,
}

impl<T: Serialize> Frame<T> {
    /// A frame as text.
    #[must_use]
    pub fn text(kind: &'static str, data: T) -> String {
        serde_json::to_string(&Frame { kind, data }).unwrap_or_default()
    }
}

/// An ask was settled.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Acknowledged {
    /// The ask.
    pub request_id: String,
    /// What was decided.
    pub decision: &'static str,
    /// When, in milliseconds.
    pub timestamp: i64,
    /// Who.
    pub by: String,
    /// The door they came through.
    pub door: String,
    /// Why it ended so.
    pub reason: String,
}

/// A destructive call was blocked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// The call on one line.
    pub command: String,
    /// `destructive`.
    pub tier: &'static str,
    /// Why.
    pub reason: String,
    /// The agent.
    pub agent_id: String,
    /// What it can be enabled by.
    pub call_digest: String,
    /// When, in milliseconds.
    pub timestamp: i64,
}

/// Something could not be done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failed {
    /// The sentence.
    pub message: String,
    /// The ask it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// A text on one line, on which nothing hides and which no other text looks like: what cannot be
/// seen, moves other signs or looks like another one is spelled out, a line end is `⏎`.
#[must_use]
pub fn one_line(text: &str) -> String {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'\\';
    if text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    for glyph in glyphs(text.as_bytes()) {
        match (letters.next(), letters.peek()) {
            (Some('\r'), _) => out.push_str("\\r"),
            // Written so, it must not read as the sign above.
            (Some('\\'), Some('r')) => out.push_str("\\u{5c}"),
            (Some(letter), _) if glyph.is_spelled => out.extend(letter.escape_unicode()),
            (Some(_) | None, _) => out.push_str(&glyph.shown),
        }
    }
    out
}

/// The same for a text whose lines and tabs stay as they are.
#[must_use]
pub fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(['\n', '\t']) {
        let end = piece.chars().last().filter(|letter| "\n\t".contains(*letter));
        let body = end.map_or(piece, |end| piece.strip_suffix(end).unwrap_or(piece));
        out.push_str(&one_line(body));
        out.extend(end);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{lines, one_line};

    #[test]
    fn nothing_hides_on_the_line() {
        #[rustfmt::skip]
        let cases = [
            ("ls -la é",                    "ls -la é",                           "what it looks like"),
            ("ls\n\u{202e}x\u{1b}[2J",      "ls⏎\\u{202e}x\\u{1b}[2J",            "a line end, turned writing, a control"),
            (r"printf a\nrm",               r"printf a\nrm",                      "a written line end is none"),
            ("rm\u{a0}-rf\u{2003}x\u{3000}", "rm\\u{a0}-rf\\u{2003}x\\u{3000}",   "blanks that are none"),
            ("\u{600}\u{34f}\u{2800}",      "\\u{600}\\u{34f}\\u{2800}",          "signs without a shape"),
            (r"\u{202e}",                   r"\u{5c}u{202e}",                    "a spelling, written"),
            ("a\rb",                        r"a\rb",                             "a carriage return"),
            (r"a\rb",                       r"a\u{5c}rb",                        "one, written"),
        ];
        for (text, want, why) in cases {
            assert_eq!(one_line(text), want, "{why}");
        }
        assert_eq!(lines("a\n\tb\u{200b}\r\n"), "a\n\tb\\u{200b}\\r\n");
    }
}
