//! Errors as programs read them: a stable code and a sentence.

use serde::Serialize;

/// Why something could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// What was sent is not what is expected.
    InvalidRequest,
    /// No valid credential was shown.
    Unauthorized,
    /// The credential does not reach so far.
    Forbidden,
    /// There is no such ask, or it is not shown to this key.
    NoSuchAsk,
    /// There is no such session, or it is not shown to this key.
    NoSuchSession,
    /// There is no such thing.
    NotFound,
    /// The path is known, the method is not.
    MethodNotAllowed,
    /// Somebody answered first.
    AskAlreadySettled,
    /// What was sent is longer than what is read.
    TooLarge,
    /// The agent has too many asks waiting, or asks too often.
    TooManyAsks,
    /// The changed call is denied.
    CallDenied,
    /// A rule was not offered.
    RuleRefused,
    /// Something it depends on cannot be used.
    Unavailable,
}

impl Code {
    /// The code's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Code::InvalidRequest => "INVALID_REQUEST",
            Code::Unauthorized => "UNAUTHORIZED",
            Code::Forbidden => "FORBIDDEN",
            Code::NoSuchAsk => "NO_SUCH_ASK",
            Code::NoSuchSession => "NO_SUCH_SESSION",
            Code::NotFound => "NOT_FOUND",
            Code::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Code::AskAlreadySettled => "ASK_ALREADY_SETTLED",
            Code::TooManyAsks => "TOO_MANY_ASKS",
            Code::CallDenied => "CALL_DENIED",
            Code::RuleRefused => "RULE_REFUSED",
            Code::TooLarge => "TOO_LARGE",
            Code::Unavailable => "UNAVAILABLE",
        }
    }
}

/// An error: what is wrong, and where in the input if it has lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The code.
    pub code: Code,
    /// The sentence: lower case, no final period, the way out where it is known.
    pub message: String,
    /// The line of the input, from one.
    pub line: Option<u64>,
    /// More about it, for programs.
    pub details: Option<serde_json::Value>,
}

impl Error {
    /// Something that is not as expected.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::new(Code::InvalidRequest, message)
    }

    /// An error of this kind.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), line: None, details: None }
    }

    /// The same error with more for programs.
    #[must_use]
    pub fn with_details(self, details: serde_json::Value) -> Error {
        Error { details: Some(details), ..self }
    }
}

impl Serialize for Error {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", self.code.name())?;
        map.serialize_entry("message", &self.message)?;
        if let Some(line) = self.line {
            map.serialize_entry("line", &line)?;
        }
        if let Some(details) = &self.details {
            map.serialize_entry("details", details)?;
        }
        map.end()
    }
}

impl schemars::JsonSchema for Error {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Error".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": { "type": "string" },
                "message": { "type": "string" },
                "line": { "type": "integer" },
                "details": {}
            }
        })
    }
}
