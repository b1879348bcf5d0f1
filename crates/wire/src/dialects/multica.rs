//! Multica: envelopes, remote calls and the messages of an approval.
//!
//! What comes in is read strictly where it decides something and passed over where it does not;
//! what goes out has exactly the fields of the wire. [`settings`] reads a profile's file.

pub mod settings;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::json;

/// The sentence for a sender that was never registered.
pub const NOT_REGISTERED: &str = "Sender not registered";

/// The sentence for an envelope that is none, or is not its sender's.
pub const INVALID_SENDER: &str = "Invalid sender ID";

/// The sentence for a second connection of one device.
pub const IN_USE: &str = "Device ID already in use";

/// The sentence for a connection that does not say what it is.
pub const MISSING: &str = "Missing deviceId or deviceType";

/// The sentence for a hub that wants to connect.
pub const BUILT_IN: &str = "Hub is built in";

/// The sentence for an action before verification.
pub const NOT_VERIFIED: &str = "Device not verified. Please complete verification first.";

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Shows requests to a person.
    Client,
    /// Wants to run commands.
    Agent,
    /// What Portcullis is itself.
    Hub,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Client => "client",
            Kind::Agent => "agent",
            Kind::Hub => "hub",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        [Kind::Client, Kind::Agent, Kind::Hub].into_iter().find(|kind| kind.name() == name)
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Envelope {
    /// Its id.
    pub id: String,
    /// Always null.
    pub uid: Option<String>,
    /// The device it comes from.
    pub from: String,
    /// The device it goes to.
    pub to: String,
    /// What it is.
    pub action: String,
    /// What it says.
    pub payload: Value,
}

/// A message that is none; its id, where it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub Option<String>);

impl Envelope {
    /// Reads a message.
    ///
    /// # Errors
    /// It is none.
    pub fn read(text: &str) -> Result<Envelope, Malformed> {
        json::value(text).map_err(|_| Malformed(None)).and_then(Envelope::of)
    }

    /// The message that a value is.
    ///
    /// # Errors
    /// It is none.
    pub fn of(value: Value) -> Result<Envelope, Malformed> {
        let Value::Object(mut members) = value else { return Err(Malformed(None)) };
        let mut text = |name: &str| match members.remove(name) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            Some(_) | None => None,
        };
        let id = text("id");
        let (from, to, action) = (text("from"), text("to"), text("action"));
        let payload = members.remove("payload").unwrap_or(Value::Null);
        match (id, from, to, action) {
            (Some(id), Some(from), Some(to), Some(action)) => {
                Ok(Envelope { id, uid: None, from, to, action, payload })
            }
            (id, ..) => Err(Malformed(id)),
        }
    }
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The code.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
    /// The message.
    pub message_id: Option<String>,
}

impl Fault {
    /// It as the payload of `error`.
    #[must_use]
    pub fn payload(&self) -> Value {
        json!({ "code": self.code, "message": self.message, "messageId": self.message_id })
    }

    /// It as the event `send_error`.
    #[must_use]
    pub fn event(&self) -> Value {
        json!({ "messageId": self.message_id, "error": self.message, "code": self.code })
    }
}

/// A remote call.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What its answer is told by.
    pub id: String,
    /// The method.
    pub method: String,
    /// Its parameters.
    pub params: Option<Value>,
}

impl Request {
    /// The call that a payload is; none where it cannot even be answered.
    #[must_use]
    pub fn of(payload: Value) -> Option<Request> {
        let Value::Object(mut members) = payload else { return None };
        let Some(Value::String(id)) = members.remove("requestId") else { return None };
        let Some(Value::String(method)) = members.remove("method") else { return None };
        Some(Request { id, method, params: members.remove("params") })
    }

    /// Its parameters, which must be an object.
    ///
    /// # Errors
    /// They are none.
    pub fn params(&self) -> Result<Params<'_>, Refusal> {
        match &self.params {
            Some(Value::Object(members)) => Ok(Params { members }),
            Some(_) | None => Err(Refusal::invalid("params must be an object")),
        }
    }
}

/// The parameters of a call.
#[derive(Clone, Copy, Debug)]
pub struct Params<'a> {
    members: &'a Map<String, Value>,
}

impl<'a> Params<'a> {
    /// A text that must be there.
    ///
    /// # Errors
    /// It is not.
    pub fn text(&self, name: &str) -> Result<&'a str, Refusal> {
        match self.members.get(name) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text),
            Some(_) | None => Err(Refusal::invalid(format!("Missing required param: {name}"))),
        }
    }

    /// A text that may be there.
    ///
    /// # Errors
    /// Something else is.
    pub fn maybe(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Refusal::invalid(format!("Invalid param: {name}"))),
        }
    }

    /// A whole number, or what it is without one.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, name: &str, unsaid: u64) -> Result<u64, Refusal> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(unsaid),
            Some(value) => {
                value.as_u64().ok_or_else(|| Refusal::invalid(format!("Invalid param: {name}")))
            }
        }
    }

    /// What stands under a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name)
    }
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The code.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
    /// Whether it may help to try again.
    pub is_retryable: bool,
    /// Who settled the ask, and how.
    pub settled: Option<(String, &'static str)>,
}

impl Refusal {
    /// A refusal of this code.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), is_retryable: false, settled: None }
    }

    /// Parameters that do not make sense.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Refusal {
        Refusal::new("INVALID_PARAMS", message)
    }

    /// Somebody may not do this.
    #[must_use]
    pub fn unauthorized(message: impl Into<String>) -> Refusal {
        Refusal::new("UNAUTHORIZED", message)
    }

    /// There is no such ask that waits.
    #[must_use]
    pub fn not_found(settled: Option<(String, &'static str)>) -> Refusal {
        let message = "Approval request not found or already resolved";
        Refusal { settled, ..Refusal::new("NOT_FOUND", message) }
    }

    /// Something went wrong here.
    #[must_use]
    pub fn internal(message: impl Into<String>) -> Refusal {
        Refusal { is_retryable: true, ..Refusal::new("RPC_ERROR", message) }
    }
}

/// The payload of a `response`.
#[must_use]
pub fn response(request: &str, result: Result<Value, Refusal>) -> Value {
    match result {
        Ok(payload) => json!({ "requestId": request, "ok": true, "payload": payload }),
        Err(refusal) => {
            let mut error = json!({ "code": refusal.code, "message": refusal.message });
            if let Some(members) = error.as_object_mut() {
                if refusal.is_retryable {
                    members.insert("retryable".to_owned(), true.into());
                }
                if let Some((by, decision)) = refusal.settled {
                    members.insert("resolvedBy".to_owned(), by.into());
                    members.insert("decision".to_owned(), decision.into());
                }
            }
            json!({ "requestId": request, "ok": false, "error": error })
        }
    }
}

/// What an approver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// This command may run.
    AllowOnce,
    /// It may, and so may what the shown patterns cover.
    AllowAlways,
    /// It must not.
    Deny,
}

impl Word {
    /// The word itself.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Word::AllowOnce => "allow-once",
            Word::AllowAlways => "allow-always",
            Word::Deny => "deny",
        }
    }

    fn named(name: &str) -> Option<Word> {
        [Word::AllowOnce, Word::AllowAlways, Word::Deny]
            .into_iter()
            .find(|word| word.name() == name)
    }
}

/// `resolveExecApproval`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolve {
    /// The ask, as it was written.
    pub approval: String,
    /// The answer.
    pub word: Word,
}

impl Resolve {
    /// Reads the parameters.
    ///
    /// # Errors
    /// They are none.
    pub fn read(params: Option<&Value>) -> Result<Resolve, Refusal> {
        let get = |name: &str| params.and_then(|params| params.get(name));
        let Some(Value::String(approval)) = get("approvalId") else {
            return Err(Refusal::invalid("approvalId is required"));
        };
        let said = get("decision");
        let word = said.and_then(Value::as_str).and_then(Word::named);
        let word = word.ok_or_else(|| {
            let said = match said {
                None => "undefined".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            let message =
                format!("Invalid decision: {said}. Must be allow-once, allow-always, or deny");
            Refusal::invalid(message)
        })?;
        Ok(Resolve { approval: approval.clone(), word })
    }
}

/// The payload of `exec-approval-request`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The ask.
    pub approval_id: String,
    /// The session of the agent.
    pub agent_id: String,
    /// The command, with nothing hidden in it.
    pub command: String,
    /// Where it would run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `safe`, `needs-review` or `dangerous`.
    pub risk_level: &'static str,
    /// Sentences, the most serious first.
    pub risk_reasons: Vec<String>,
    /// The deadline; -1 without one.
    pub expires_at_ms: i64,
    /// The engine's tier.
    pub tier: &'static str,
    /// What `allow-always` will store.
    pub allow_always_patterns: Vec<String>,
}

/// The payload of `exec-approval-resolved`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    /// The ask.
    pub approval_id: String,
    /// The session of the agent.
    pub agent_id: String,
    /// How it ended.
    pub decision: &'static str,
    /// Who ended it.
    pub resolved_by: String,
    /// The door they came through.
    pub via: String,
    /// When.
    pub resolved_at_ms: i64,
    /// Why it ended so.
    pub reason: String,
}

/// What `requestExecApproval` comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// Whether the command may run.
    pub approved: bool,
    /// The word for it.
    pub decision: &'static str,
    /// Why: a word, a colon and a sentence.
    pub reason: String,
    /// The ask, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// Proof for exactly this command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::{Envelope, Malformed, Refusal, Request, Resolve, Word, response};
    use serde_json::{Value, json};

    #[test]
    fn an_envelope_has_its_parts_or_is_none() {
        let good = json!({ "id": "1", "from": "a", "to": "b", "action": "hello", "payload": {} });
        let read = Envelope::read(&good.to_string()).unwrap();
        assert_eq!((read.uid, read.action.as_str()), (None, "hello"));
        #[rustfmt::skip]
        let cases = [
            ("nonsense",                                       None),
            ("[]",                                             None),
            (r#"{"from":"a","to":"b","action":"c"}"#,          None),
            (r#"{"id":"1","from":"a","action":"c"}"#,          Some("1")),
            (r#"{"id":"1","from":1,"to":"b","action":"c"}"#,   Some("1")),
            (r#"{"id":"1","id":"2","from":"a","to":"b","action":"c"}"#, None),
        ];
        for (text, id) in cases {
            let want = Err(Malformed(id.map(str::to_owned)));
            assert_eq!(Envelope::read(text), want, "`{text}`");
        }
    }

    #[test]
    fn a_decision_is_one_of_three_words() {
        let read = |params: Value| Resolve::read(Some(&params));
        let word = read(json!({ "approvalId": "x", "decision": "allow-always" })).unwrap().word;
        assert_eq!(word, Word::AllowAlways);
        #[rustfmt::skip]
        let cases = [
            (json!({ "decision": "deny" }),                    "approvalId is required"),
            (json!({ "approvalId": 1, "decision": "deny" }),   "approvalId is required"),
            (json!([]),                                        "approvalId is required"),
            (json!({ "approvalId": "x", "decision": "yes" }),  "Invalid decision: yes. Must be allow-once, allow-always, or deny"),
            (json!({ "approvalId": "x", "decision": 1 }),      "Invalid decision: 1. Must be allow-once, allow-always, or deny"),
            (json!({ "approvalId": "x" }),                     "Invalid decision: undefined. Must be allow-once, allow-always, or deny"),
        ];
        for (params, want) in cases {
            assert_eq!(read(params.clone()), Err(Refusal::invalid(want)), "{params}");
        }
    }

    #[test]
    fn a_response_says_what_went_wrong_and_who_was_first() {
        let refusal = Refusal::not_found(Some(("anna".to_owned(), "deny")));
        let want = json!({ "requestId": "7", "ok": false, "error": {
            "code": "NOT_FOUND", "message": "Approval request not found or already resolved",
            "resolvedBy": "anna", "decision": "deny" } });
        assert_eq!(response("7", Err(refusal)), want);
        let want = json!({ "requestId": "7", "ok": false, "error": {
            "code": "RPC_ERROR", "message": "later", "retryable": true } });
        assert_eq!(response("7", Err(Refusal::internal("later"))), want);
        let call = Request::of(json!({ "requestId": "7", "method": "m" })).unwrap();
        assert_eq!(call.params().err(), Some(Refusal::invalid("params must be an object")));
        assert_eq!(Request::of(json!({ "method": "m" })), None);
    }
}
