//! Acts: the single things a tool call would do.

use portcullis_shell::Span;

use crate::arg::Arg;
use crate::effect::{Effect, EffectOn};
use crate::usage::Unknown;

/// One thing a tool call would do: one simple command, one file that a redirection opens.
#[derive(Clone, Debug, Default)]
pub struct Act {
    /// Where it stands in the command.
    pub span: Span,
    /// The program and its arguments; none for a redirection or a bare assignment.
    pub args: Vec<Arg>,
    /// The programs it was seen through, from the outside in.
    pub via: Vec<String>,
    /// What it does.
    pub effects: Vec<EffectOn>,
    /// Guards that the catalog names for it.
    pub findings: Vec<&'static str>,
    /// Variables that are set for it alone.
    pub assignments: Vec<Assigned>,
    /// The directory it runs in, relative to where the call began; none where it is not known.
    pub directory: Option<String>,
    /// Why it is not understood.
    pub unknown: Option<Unknown>,
}

/// A variable that a command sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Its name.
    pub name: String,
    /// Its value, where it is known.
    pub value: Option<String>,
}

impl Act {
    /// Whether nothing but reading is done, as far as the catalog can tell.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        self.unknown.is_none()
            && self.findings.is_empty()
            && self.effects.iter().all(|on| on.effect.is_reading())
    }

    /// The program's name as written, where it is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.args.first().and_then(Arg::as_known)
    }

    /// Whether the act has this effect.
    #[must_use]
    pub fn has(&self, effect: Effect) -> bool {
        self.effects.iter().any(|on| on.effect == effect)
    }
}
