//! Guards: built-in checks of what an act would do.
//!
//! A guard sees one act and reports findings. It reads no rules and no mode;
//! [`judge`](crate::judge) weighs its findings against them.

use portcullis_shell::Span;

use crate::act::Act;
use crate::place::{Ground, Touched};
use crate::verdict::{Outcome, Tier};
use crate::world::World;

/// What a guard saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The guard's name: `guard.<name>` is the code of its reason.
    pub guard: &'static str,
    /// How bad it could be.
    pub tier: Tier,
    /// Deny, ask, or allow for one that only informs.
    pub outcome: Outcome,
    /// Whether no allow rule can silence it.
    pub is_firm: bool,
    /// One sentence for a person.
    pub message: String,
    /// What it is about.
    pub span: Span,
}

/// What a guard may look at besides the act.
pub struct Scene<'a> {
    /// Where paths lie.
    pub ground: &'a Ground,
    /// What is known of the disk.
    pub world: &'a dyn World,
    /// The policy's own sensitive paths.
    pub sensitive: &'a Sensitive,
    /// Whether reading a secret asks (else it only informs).
    pub asks_for_secrets: bool,
}

/// Sensitive paths that a policy adds to the built-in list, or takes out of it.
///
/// Patterns are globs as in `data/sensitive_paths.toml`; relative ones hang on the workspace root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sensitive {
    /// Paths whose reading is a finding.
    pub read: Vec<String>,
    /// Paths whose writing is a finding.
    pub write: Vec<String>,
    /// Paths that are ordinary after all.
    pub except: Vec<String>,
}

/// Everything the guards find about an act.
#[must_use]
pub fn inspect(act: &Act, touched: &[Touched], scene: &Scene<'_>) -> Vec<Finding> {
    let _ = (touched, scene);
    act.notes
        .iter()
        .map(|note| Finding {
            guard: note.guard,
            tier: Tier::Dangerous,
            outcome: Outcome::Ask,
            is_firm: true,
            message: note.message.clone().unwrap_or_else(|| note.guard.to_owned()),
            span: note.span,
        })
        .collect()
}
