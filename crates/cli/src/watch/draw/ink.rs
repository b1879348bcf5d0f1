//! Ink: how each kind of thing looks, with colours and without.

use ratatui::style::{Color, Modifier, Style};

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inks {
    /// Without colours, what could do harm is underlined.
    pub has_colours: bool,
}

impl Inks {
    /// What a tier looks like.
    pub fn tier(self, tier: &str) -> Style {
        let style = Style::new();
        match (tier, self.has_colours) {
            ("safe", true) => style.fg(Color::Green),
            ("safe" | "review", false) => style,
            ("review", true) => style.fg(Color::Yellow),
            ("dangerous", true) => style.fg(Color::Red),
            ("dangerous", false) => style.add_modifier(Modifier::UNDERLINED),
            (_, true) => style.fg(Color::Red).add_modifier(Modifier::BOLD),
            (_, false) => style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
        }
    }

    /// What an outcome looks like.
    pub fn outcome(self, outcome: &str) -> Style {
        self.tier(match outcome {
            "allow" => "safe",
            "ask" => "review",
            _ => "destructive",
        })
    }

    /// What an effect looks like, by its verb.
    pub fn effect(self, effect: &str) -> Style {
        let verb = effect.split(' ').next().unwrap_or(effect);
        let colour = match verb {
            "reads" | "queries" => Color::Cyan,
            "writes" | "changes" => Color::Yellow,
            "connects" => Color::Blue,
            "runs" => Color::Magenta,
            _ => Color::Red,
        };
        self.coloured(colour)
    }

    /// A line that goes away or comes.
    pub fn change(self, sign: char) -> Style {
        match sign {
            '-' => self.coloured(Color::Red),
            '+' => self.coloured(Color::Green),
            _ => Style::new(),
        }
    }

    /// A title.
    #[expect(clippy::unused_self, reason = "every look is asked of the inks")]
    pub fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Labels, lines and what leads the eye.
    #[expect(clippy::unused_self, reason = "every look is asked of the inks")]
    pub fn frame(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What is spelled out because it misleads, and what must be seen.
    #[expect(clippy::unused_self, reason = "every look is asked of the inks")]
    pub fn hazard(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    fn coloured(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }
}
