//! The palette: which colour means what, and whether there are colours at all.

use std::io::IsTerminal;

use portcullis_engine::Outcome;

/// What a piece of output is, so that it can be coloured alike everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// The name of a node.
    Name,
    /// Lines, gutters and other things that lead the eye.
    Frame,
    /// What a word is worth.
    Worth,
    /// What is not known.
    Unknown,
    /// What was refused.
    Refused,
    /// Characters shown escaped because they mislead.
    Hazard,
    /// The title of a part.
    Title,
    /// What may run.
    Allow,
    /// What a person must decide.
    Ask,
    /// What must not run.
    Deny,
}

/// Colours, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// Plain text.
    Plain,
    /// The sixteen colours every terminal has.
    Terminal,
}

impl From<Outcome> for Ink {
    fn from(outcome: Outcome) -> Ink {
        match outcome {
            Outcome::Allow => Ink::Allow,
            Outcome::Ask => Ink::Ask,
            Outcome::Deny => Ink::Deny,
        }
    }
}

impl Palette {
    /// Colours if `output` is a terminal and `NO_COLOR` is not set.
    pub fn for_output(output: &impl IsTerminal) -> Palette {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if output.is_terminal() && !refused { Palette::Terminal } else { Palette::Plain }
    }

    /// `text` in the colour of `ink`.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        let code = match (self, ink) {
            (Palette::Plain, _) => return text.to_owned(),
            (Palette::Terminal, _) if text.is_empty() => return String::new(),
            (Palette::Terminal, Ink::Name) => "36",
            (Palette::Terminal, Ink::Frame) => "2",
            (Palette::Terminal, Ink::Worth) => "32",
            (Palette::Terminal, Ink::Unknown) => "33",
            (Palette::Terminal, Ink::Refused | Ink::Deny) => "1;31",
            (Palette::Terminal, Ink::Hazard) => "7",
            (Palette::Terminal, Ink::Title) => "1",
            (Palette::Terminal, Ink::Allow) => "1;32",
            (Palette::Terminal, Ink::Ask) => "1;33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(Palette::Plain.paint(Ink::Refused, "no"), "no");
        assert_eq!(Palette::Terminal.paint(Ink::Refused, "no"), "\u{1b}[1;31mno\u{1b}[0m");
    }
}
