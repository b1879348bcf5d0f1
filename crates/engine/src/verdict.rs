//! The verdict: the engine's answer about one call, with everything that led to it.

use std::borrow::Cow;

use portcullis_shell::Span;

use crate::act::Act;
use crate::guard::Finding;
use crate::place::Touched;
use crate::policy_text::Listed;
use crate::world::WorldKind;

/// The engine's three answers, from permissive to strict.
///
/// Combining answers means taking the strictest, which is `Iterator::max`.
// INVARIANT: variants stay sorted from permissive to strict; `Ord` is derived from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The call may run now.
    #[default]
    Allow,
    /// A person must decide first.
    Ask,
    /// The call must not run.
    Deny,
}

impl Outcome {
    /// The outcome's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Allow => "allow",
            Outcome::Ask => "ask",
            Outcome::Deny => "deny",
        }
    }
}

/// How bad an act could be.
// INVARIANT: variants stay sorted from harmless to terrible; `Ord` is derived from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// It only reads, and nothing was found.
    #[default]
    Safe,
    /// It is unknown, or an ordinary change.
    Review,
    /// It could do harm.
    Dangerous,
    /// It could destroy.
    Destructive,
}

impl Tier {
    /// The tier's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Safe => "safe",
            Tier::Review => "review",
            Tier::Dangerous => "dangerous",
            Tier::Destructive => "destructive",
        }
    }
}

/// One sentence with a stable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The code: `rule.deny`, `read_only`, `guard.disk`, `mode.default` …
    pub code: Cow<'static, str>,
    /// The sentence: lower case, no final period, backticks around what was written.
    pub message: String,
    /// The bytes of the command it speaks about.
    pub span: Option<Span>,
}

/// One act with all that was found about it and the rung of the ladder that decided it.
#[derive(Clone, Debug)]
pub struct JudgedAct {
    /// The act.
    pub act: Box<Act>,
    /// The files it touches, where they really are.
    pub touched: Vec<Touched>,
    /// What the guards found.
    pub findings: Vec<Finding>,
    /// How bad it could be.
    pub tier: Tier,
    /// Whether it only reads and no finding asks.
    pub is_read_only: bool,
    /// The answer about it alone.
    pub outcome: Outcome,
    /// The rung of the ladder that held (design: 1 to 5).
    pub rung: u8,
    /// The rule that decided, as written, if one did.
    pub rule: Option<String>,
    /// The layer that rule comes from.
    pub source: Option<&'static str>,
    /// Why.
    pub reason: Reason,
    /// Whether an allow rule or an allowlist covers it, and no firm finding stands against that.
    pub is_covered: bool,
    /// The entry of the allowlist that covers it, if one does.
    pub listed: Option<Listed>,
}

/// An allow rule that would answer the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The rule, as a policy file has it.
    pub rule: String,
    /// What else it would cover, in one line.
    pub covers: String,
}

/// The engine's answer about one call.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What happens to the call.
    pub outcome: Outcome,
    /// The highest tier of its acts.
    pub tier: Tier,
    /// Whether it has acts and all of them only read.
    pub is_read_only: bool,
    /// Whether it asks because of a finding that no allow rule can silence.
    pub is_firm: bool,
    /// How the file system was known.
    pub world: WorldKind,
    /// Why, the deciding reason first.
    pub reasons: Vec<Reason>,
    /// Its acts, in order.
    pub acts: Vec<JudgedAct>,
    /// Allow rules that would answer the question, narrowest first.
    pub suggestions: Vec<Suggestion>,
    /// Entries of the allowlist that would cover what `[exec]` asks about.
    pub always: Vec<Listed>,
}
