//! Dialects: whose grammar a text is read by.

/// The shell whose grammar holds.
///
/// Bash is read whole. For `sh` only what every POSIX shell reads alike is accepted, because
/// `sh` is dash here and bash there; for zsh only what it reads as bash does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// GNU bash.
    #[default]
    Bash,
    /// POSIX sh.
    Sh,
    /// zsh.
    Zsh,
}

impl Dialect {
    /// Every dialect, for loops and messages.
    pub const ALL: [Dialect; 3] = [Dialect::Bash, Dialect::Sh, Dialect::Zsh];

    /// The dialect's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Bash => "bash",
            Dialect::Sh => "sh",
            Dialect::Zsh => "zsh",
        }
    }
}
