//! Effects: what an act does, and to what.

use std::fmt;

/// What an act does.
// INVARIANT: the order is that of the catalog compiler's list; a set keeps them as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Reads files, or nothing at all.
    Read,
    /// Reads from a service the user has configured.
    Query,
    /// Creates or changes files.
    Write,
    /// Removes files.
    Delete,
    /// Changes a process, a service or a remote object.
    Change,
    /// Runs code that is not known here.
    Execute,
    /// Talks to a host that the command names, or sends data away.
    Connect,
    /// Takes another user's rights.
    Escalate,
    /// Not known.
    Unknown,
}

impl Effect {
    /// Every effect, from harmless to unknown.
    pub const ALL: [Effect; 9] = [
        Effect::Read,
        Effect::Query,
        Effect::Write,
        Effect::Delete,
        Effect::Change,
        Effect::Execute,
        Effect::Connect,
        Effect::Escalate,
        Effect::Unknown,
    ];

    /// The effect's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Query => "query",
            Effect::Write => "write",
            Effect::Delete => "delete",
            Effect::Change => "change",
            Effect::Execute => "execute",
            Effect::Connect => "connect",
            Effect::Escalate => "escalate",
            Effect::Unknown => "unknown",
        }
    }

    /// Whether an act with this effect alone changes nothing and leaves the machine for nothing.
    #[must_use]
    pub const fn is_reading(self) -> bool {
        matches!(self, Effect::Read | Effect::Query)
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A set of effects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects(pub u16);

impl Effects {
    /// Those of a list, whatever they are on.
    pub(crate) fn of(list: &[EffectOn]) -> Effects {
        Effects(list.iter().fold(0, |all, on| all | 1 << on.effect as u16))
    }

    /// Whether the set holds one of these effects.
    pub(crate) fn has_any(self, effects: &[Effect]) -> bool {
        effects.iter().any(|effect| self.has(*effect))
    }

    /// The members, from harmless to unknown.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let effect = Effect::ALL.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(*effect)
        })
    }

    /// Whether the set holds an effect.
    #[must_use]
    pub const fn has(self, effect: Effect) -> bool {
        self.0 & (1 << effect as u16) != 0
    }

    /// Whether the set has no member.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What an effect is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A file or directory as the command writes it, not yet made absolute.
    Path(String),
    /// Files that fit a pattern, as the command writes it.
    Pattern(String),
    /// A path that is not known before the command runs; it fits this pattern, which is empty
    /// where nothing at all is known.
    Unknown(String),
    /// A host or address.
    Host(String),
    /// What the program is about, in words.
    Named(&'static str),
    /// Nothing in particular.
    None,
}

/// What an effect does below its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Below {
    /// Nothing: the target is the file.
    #[default]
    Nothing,
    /// If the target is a directory, what lands in it keeps the names of the act's sources.
    Named,
    /// The target is a directory, or may be one, and what is done in it has names that are not
    /// told.
    Unnamed,
}

/// One effect of an act with its target.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EffectOn {
    /// What is done.
    pub effect: Effect,
    /// To what.
    pub target: Target,
    /// Whether everything below the target is meant too.
    pub is_deep: bool,
    /// Whether only names and attributes are looked at.
    pub is_listing: bool,
    /// What is done below a target that is a directory.
    pub below: Below,
}

impl EffectOn {
    /// An effect on one thing.
    #[must_use]
    pub const fn new(effect: Effect, target: Target) -> EffectOn {
        EffectOn { effect, target, is_deep: false, is_listing: false, below: Below::Nothing }
    }

    /// An effect on nothing in particular.
    #[must_use]
    pub const fn of(effect: Effect) -> EffectOn {
        EffectOn::new(effect, Target::None)
    }
}
