//! Refusals: why a text was not read.

use std::fmt;

use crate::span::Span;

/// A text that was not read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What sort of reason it is.
    pub kind: RefusalKind,
    /// The bytes that led to it, in the text as given.
    pub span: Span,
    /// One sentence for a person: lower case, no final period.
    pub message: String,
}

/// The sorts of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalKind {
    /// The shell itself rejects the text, though it may run the lines before the error.
    Syntax,
    /// The shell reads it, in a way that is not read here.
    Unsupported,
    /// It is longer, deeper or wider than is read.
    Limit,
    /// It holds bytes that no honest command has.
    Hazard,
}

impl RefusalKind {
    /// The kind's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RefusalKind::Syntax => "syntax",
            RefusalKind::Unsupported => "unsupported",
            RefusalKind::Limit => "limit",
            RefusalKind::Hazard => "hazard",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
