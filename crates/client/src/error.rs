//! What can go wrong between here and a daemon.

use serde_json::Value;

/// Why there is no answer. None of these lets a call run.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is none.
    #[error("`{0}` is no address of a daemon; use `http://HOST:PORT`")]
    Address(String),
    /// Nobody listens there.
    #[error("no daemon is reachable at `{at}`: {cause}; start one with `portcullis serve`")]
    Unreachable {
        /// Where.
        at: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// The connection broke before the answer was whole.
    #[error("the daemon went away before its answer was whole")]
    Broken(#[source] hyper::Error),
    /// The answer took too long.
    #[error("the daemon did not answer in time")]
    Late,
    /// The daemon answered with something that is no answer.
    #[error("the daemon's answer cannot be read: {0}")]
    Unreadable(String),
    /// The daemon said no.
    #[error("{message}")]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// The stable code.
        code: String,
        /// The sentence.
        message: String,
        /// More about it, for programs.
        details: Option<Value>,
    },
}

impl ClientError {
    /// The stable code, where the daemon said no.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            ClientError::Refused { code, .. } => Some(code),
            ClientError::Address(_)
            | ClientError::Unreachable { .. }
            | ClientError::Broken(_)
            | ClientError::Late
            | ClientError::Unreadable(_) => None,
        }
    }

    /// Whether it may be over soon: the daemon is away, or cannot keep anything at the moment.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        match self {
            ClientError::Unreachable { .. } | ClientError::Broken(_) | ClientError::Late => true,
            ClientError::Refused { status, .. } => *status == 503,
            ClientError::Address(_) | ClientError::Unreadable(_) => false,
        }
    }
}

/// What a refusal says.
pub(crate) fn refusal(status: u16, body: &[u8]) -> ClientError {
    let whole: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = whole.get("error");
    let text = |name: &str| error.and_then(|error| error.get(name)).and_then(Value::as_str);
    let (Some(code), Some(message)) = (text("code"), text("message")) else {
        return ClientError::Unreadable(format!("status {status} without an error of ours"));
    };
    ClientError::Refused {
        status,
        code: code.to_owned(),
        message: message.to_owned(),
        details: error.and_then(|error| error.get("details")).cloned(),
    }
}
