//! Errors as programs read them: a stable code and a sentence.

use serde::Serialize;

/// Why something could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// What was sent is not what is expected.
    InvalidRequest,
    /// What was sent is longer than what is read.
    TooLarge,
    /// Something it depends on cannot be used.
    Unavailable,
}

impl Code {
    /// The code's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Code::InvalidRequest => "INVALID_REQUEST",
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
}

impl Error {
    /// Something that is not as expected.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Error {
        Error { code: Code::InvalidRequest, message: message.into(), line: None }
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
        map.end()
    }
}
