//! Errors: why a policy text is refused.

use std::fmt;
use std::ops::Range;

/// Why a policy text is refused, and where.
///
/// Whoever has the text shows the line with the offending part underlined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyError {
    /// One sentence: lower case, no final period, backticks around what was written.
    pub message: String,
    /// The offending bytes of the text; none where the text has no positions (JSON).
    pub span: Option<Range<usize>>,
    /// The way out, where it is known.
    pub help: Option<String>,
    /// The place of the layer among those that were merged; none while one text is read.
    pub layer: Option<usize>,
}

impl PolicyError {
    /// An error about some bytes of the text.
    #[must_use]
    pub fn new(message: impl Into<String>, span: Option<Range<usize>>) -> PolicyError {
        PolicyError { message: message.into(), span, help: None, layer: None }
    }

    /// The same error with a way out.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> PolicyError {
        PolicyError { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(out, "; {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PolicyError {}
