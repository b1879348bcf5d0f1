//! Modes: how a policy answers acts that no rule speaks about.

use crate::verdict::Outcome;

/// How a policy answers acts that no rule speaks about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reading commands run, the rest asks.
    #[default]
    Default,
    /// The same, and ordinary edits in the workspace run too.
    AcceptEdits,
    /// Reading runs, everything else is denied.
    Explore,
    /// Everything runs that no rule denies or asks about.
    Bypass,
    /// The same as the default, but what would ask is denied.
    DontAsk,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 5] =
        [Mode::Default, Mode::AcceptEdits, Mode::Explore, Mode::Bypass, Mode::DontAsk];

    /// The mode's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Default => "default",
            Mode::AcceptEdits => "accept-edits",
            Mode::Explore => "explore",
            Mode::Bypass => "bypass",
            Mode::DontAsk => "dont-ask",
        }
    }

    /// The code of a reason that is this mode's own answer.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Mode::Default => "mode.default",
            Mode::AcceptEdits => "mode.accept_edits",
            Mode::Explore => "mode.explore",
            Mode::Bypass => "mode.bypass",
            Mode::DontAsk => "mode.dont_ask",
        }
    }

    /// The mode of this name; underscores and upper case are read too.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Mode> {
        let name = name.to_ascii_lowercase().replace('_', "-");
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// What becomes of an outcome in this mode: nobody is asked in `dont-ask`.
    #[must_use]
    pub fn bend(self, outcome: Outcome) -> Outcome {
        match (self, outcome) {
            (Mode::DontAsk, Outcome::Ask) => Outcome::Deny,
            _ => outcome,
        }
    }

    /// The answer for an act that nothing else speaks about.
    #[must_use]
    pub const fn unmatched(self) -> Outcome {
        match self {
            Mode::Default | Mode::AcceptEdits => Outcome::Ask,
            Mode::Explore | Mode::DontAsk => Outcome::Deny,
            Mode::Bypass => Outcome::Allow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mode;

    #[test]
    fn names_are_read_in_other_spellings() {
        for mode in Mode::ALL {
            assert_eq!(Mode::from_name(mode.name()), Some(mode));
        }
        assert_eq!(Mode::from_name("DONT_ASK"), Some(Mode::DontAsk));
        assert_eq!(Mode::from_name("accept_edits"), Some(Mode::AcceptEdits));
        assert_eq!(Mode::from_name("yolo"), None);
    }
}
