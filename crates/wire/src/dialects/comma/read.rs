//! Members of a message, taken one by one; whatever is wrong is kept for the end.

use serde_json::{Map, Value};

use super::{Choice, MOST_RUN, Message, Said, Unread};
use crate::json;

/// The choices, in the words of the wire.
const CHOICES: [(&str, Choice); 4] = [
    ("allow", Choice::Allow),
    ("deny", Choice::Deny),
    ("allow-session", Choice::AllowSession),
    ("deny-session", Choice::DenySession),
];

/// The members of a message and what is wrong with them so far.
pub(super) struct Reader {
    members: Map<String, Value>,
    request: Option<String>,
    faults: Vec<String>,
}

impl Reader {
    /// The members of a frame.
    pub(super) fn new(text: &str) -> Result<Reader, Unread> {
        let value = match json::value(text) {
            Ok(value) => value,
            // What is JSON and says a thing twice is no message, but it is JSON.
            Err(message) => match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                Ok(_) => return Err(invalid("message", &message)),
                Err(_) => return Err(Unread::NotJson),
            },
        };
        let Value::Object(members) = value else {
            return Err(invalid(
                "message",
                &format!("Expected object, received {}", named(&value)),
            ));
        };
        let mut reader = Reader { members, request: None, faults: Vec::new() };
        let request = reader.maybe_any_text("requestId");
        reader.request = request.filter(|_| reader.is_clean());
        Ok(reader)
    }

    /// The message, if nothing is wrong with it.
    pub(super) fn finish(self, message: Message) -> Result<Said, Unread> {
        let Reader { request, faults, .. } = self;
        if faults.is_empty() {
            Ok(Said { request, message })
        } else {
            Err(Unread::Invalid { faults, request })
        }
    }

    /// Whether nothing is wrong so far.
    pub(super) fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }

    /// Notes what is wrong with a member.
    pub(super) fn fault(&mut self, path: &str, reason: &str) {
        self.faults.push(format!("{path}: {reason}"));
    }

    /// The type of the message; empty where there is none.
    pub(super) fn kind(&self) -> String {
        self.members.get("type").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Notes that the type is none that is known.
    pub(super) fn unknown_kind(&mut self) {
        let kind = self.members.get("type");
        let reason = match kind {
            None => "Required".to_owned(),
            Some(Value::String(_)) => "Unknown message type".to_owned(),
            Some(other) => format!("Expected string, received {}", named(other)),
        };
        self.fault("type", &reason);
    }

    /// A text that is there and not empty.
    pub(super) fn text(&mut self, name: &str) -> String {
        match self.maybe_text(name) {
            Some(text) => text,
            None => self.missing(name),
        }
    }

    /// A text that may be empty.
    pub(super) fn any_text(&mut self, name: &str) -> String {
        match self.maybe_any_text(name) {
            Some(text) => text,
            None => self.missing(name),
        }
    }

    /// A text that is not empty, if it is there.
    pub(super) fn maybe_text(&mut self, name: &str) -> Option<String> {
        let before = self.faults.len();
        let text = self.maybe_any_text(name)?;
        if text.is_empty() && self.faults.len() == before {
            self.fault(name, "String must contain at least 1 character(s)");
        }
        Some(text)
    }

    /// A text, if it is there.
    pub(super) fn maybe_any_text(&mut self, name: &str) -> Option<String> {
        match self.members.get(name) {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => {
                let reason = format!("Expected string, received {}", named(other));
                self.fault(name, &reason);
                Some(String::new())
            }
        }
    }

    /// The name of a run.
    pub(super) fn run(&mut self) -> String {
        match self.maybe_run() {
            Some(run) => run,
            None => self.missing("runId"),
        }
    }

    /// The name of a run, if it is there.
    pub(super) fn maybe_run(&mut self) -> Option<String> {
        let before = self.faults.len();
        let run = self.maybe_text("runId")?;
        if self.faults.len() > before {
            return Some(run);
        }
        if run.chars().count() > MOST_RUN {
            let reason = format!("String must contain at most {MOST_RUN} character(s)");
            self.fault("runId", &reason);
        } else if run.chars().any(char::is_control) {
            self.fault("runId", "String must not contain control characters");
        }
        Some(run)
    }

    /// A list of texts that are not empty; none where it is absent.
    pub(super) fn texts(&mut self, name: &str) -> Vec<String> {
        let items = match self.members.get(name) {
            None => return Vec::new(),
            Some(Value::Array(items)) => items.clone(),
            Some(other) => {
                let reason = format!("Expected array, received {}", named(other));
                self.fault(name, &reason);
                return Vec::new();
            }
        };
        let mut texts = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let path = format!("{name}.{index}");
            match item {
                Value::String(text) if text.is_empty() => {
                    self.fault(&path, "String must contain at least 1 character(s)");
                }
                Value::String(text) => texts.push(text),
                other @ (Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_)) => {
                    let reason = format!("Expected string, received {}", named(&other));
                    self.fault(&path, &reason);
                }
            }
        }
        texts
    }

    /// One of several words.
    pub(super) fn one_of(&mut self, name: &str, words: &[&str]) -> String {
        match self.maybe_one_of(name, words) {
            Some(word) => word,
            None => self.missing(name),
        }
    }

    /// One of several words, if it is there.
    pub(super) fn maybe_one_of(&mut self, name: &str, words: &[&str]) -> Option<String> {
        let before = self.faults.len();
        let word = self.maybe_any_text(name)?;
        if self.faults.len() == before && !words.contains(&word.as_str()) {
            let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            let words = words.join(" | ");
            let reason = format!("Invalid enum value. Expected {words}, received '{word}'");
            self.fault(name, &reason);
        }
        Some(word)
    }

    /// How an ask is answered.
    pub(super) fn choice(&mut self) -> Choice {
        let word = self.one_of("decision", &CHOICES.map(|(word, _)| word));
        let known = CHOICES.iter().find(|(known, _)| *known == word);
        known.map_or(Choice::Deny, |(_, choice)| *choice)
    }

    fn missing(&mut self, name: &str) -> String {
        self.fault(name, "Required");
        String::new()
    }
}

fn invalid(path: &str, reason: &str) -> Unread {
    Unread::Invalid { faults: vec![format!("{path}: {reason}")], request: None }
}

/// What a value is, in the words of the wire.
const fn named(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Message, Unread, read};

    #[test]
    fn what_is_wrong_is_named() {
        let empty = "String must contain at least 1 character(s)";
        #[rustfmt::skip]
        let cases = [
            (r#"{"type":"ping","more":null}"#,                                                   String::new()),
            (r#"{"type":"hub_search"}"#,                                                         String::new()),
            (r#"{"type":"dance"}"#,                                                              "type: Unknown message type".to_owned()),
            (r#"{"runId":"r"}"#,                                                                 "type: Required".to_owned()),
            (r#"{"type":7}"#,                                                                    "type: Expected string, received number".to_owned()),
            ("[]",                                                                              "message: Expected object, received array".to_owned()),
            (r#"{"type":"ping","requestId":null}"#,                                              "requestId: Expected string, received null".to_owned()),
            (r#"{"type":"subscribe"}"#,                                                          "runId: Required".to_owned()),
            (r#"{"type":"subscribe","runId":null}"#,                                             "runId: Expected string, received null".to_owned()),
            (r#"{"type":"subscribe","runId":""}"#,                                               format!("runId: {empty}")),
            (r#"{"type":"subscribe","runId":"a\nb"}"#,                                           "runId: String must not contain control characters".to_owned()),
            (r#"{"type":"permission_decision","runId":"","permissionRequestId":1,"decision":"yes"}"#, format!("runId: {empty}; permissionRequestId: Expected string, received number; decision: Invalid enum value. Expected 'allow' | 'deny' | 'allow-session' | 'deny-session', received 'yes'")),
            (r#"{"type":"prepare_run"}"#,                                                        "strategyPath: prepare_run requires runId or strategyPath".to_owned()),
            (r#"{"type":"update_policy","runId":"r","mode":"read","allow":[1,""],"default":"no"}"#, format!("allow.0: Expected string, received number; allow.1: {empty}; default: Invalid enum value. Expected 'allow' | 'deny' | 'ask', received 'no'")),
            (r#"{"type":"continue_run","runId":"r"}"#,                                           "input: Required".to_owned()),
            (r#"{"type":"continue_run","runId":"r","input":""}"#,                                String::new()),
            (r#"{"type":"ping","type":"subscribe"}"#,                                            "message: `type` stands there twice".to_owned()),
        ];
        for (text, want) in cases {
            let got = match read(text) {
                Ok(_) => String::new(),
                Err(Unread::Invalid { faults, .. }) => faults.join("; "),
                Err(Unread::NotJson) => "not JSON".to_owned(),
            };
            assert_eq!(got, want, "{text}");
        }
        assert_eq!(read("nonsense"), Err(Unread::NotJson));
        let long = format!(r#"{{"type":"stop_run","runId":"{}"}}"#, "r".repeat(201));
        assert!(matches!(read(&long), Err(Unread::Invalid { .. })));
        let said = read(r#"{"type":"stop_run","runId":"r","requestId":"7"}"#).unwrap();
        assert_eq!(
            (said.request.as_deref(), said.message),
            (Some("7"), Message::Stop("r".to_owned()))
        );
    }

    #[test]
    fn a_message_that_is_cut_or_bent_is_refused_or_read_and_never_more() {
        let whole = r#"{"type":"update_policy","runId":"r","tool":"t","mode":"read","allow":["a"],"requestId":"1"}"#;
        for end in 0..whole.len() {
            assert_eq!(read(whole.get(..end).unwrap()), Err(Unread::NotJson), "{end}");
        }
        for at in 0..whole.len() {
            for sign in ['"', '{', ']', '0', 'x', '\\'] {
                let mut bent: Vec<char> = whole.chars().collect();
                bent[at] = sign;
                let _ = read(&bent.into_iter().collect::<String>());
            }
        }
        let deep = format!(r#"{{"type":"ping","x":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        assert!(read(&deep).is_err());
    }
}
