//! Guards: built-in checks of what an act would do.
//!
//! A guard sees one act and reports findings. It reads no rules and no mode;
//! [`judge`](mod@crate::judge) weighs its findings against them. To add a guard, add a line to
//! [`GUARDS`], name it in the catalog or find it in a file under `guard/`, and add its cases to
//! `tests/verdicts/guards.toml`.

mod code;
mod landing;
mod listener;
mod metadata;
mod reach;
mod removal;
mod secret;

use portcullis_shell::Span;

pub(crate) use code::files as files_in_code;
pub(crate) use removal::{is_system, is_whole_home};
pub(crate) use secret::expanded;

use crate::act::{Act, ActKind};
use crate::effect::{Effect, Effects};
use crate::place::{Ground, Touched};
use crate::verdict::{Outcome, Tier};
use crate::world::World;

/// One kind of finding.
#[derive(Debug)]
pub struct Guard {
    /// Its name.
    pub name: &'static str,
    /// How bad what it finds could be.
    pub tier: Tier,
    /// Deny, ask, or allow for one that only informs.
    pub outcome: Outcome,
    /// Whether no allow rule can silence it.
    pub is_firm: bool,
    /// What it says to a person.
    pub message: &'static str,
}

const fn guard(
    name: &'static str,
    tier: Tier,
    outcome: Outcome,
    is_firm: bool,
    message: &'static str,
) -> Guard {
    Guard { name, tier, outcome, is_firm, message }
}

/// Every guard, sorted by name.
#[rustfmt::skip]
pub const GUARDS: &[Guard] = &[
    guard("container_escape",   Tier::Destructive, Outcome::Ask,   true,  "gives a container the machine around it"),
    guard("critical_removal",   Tier::Destructive, Outcome::Ask,   true,  "removes a root, a home, a system tree or the whole workspace"),
    guard("disk",               Tier::Destructive, Outcome::Ask,   true,  "overwrites a disk or file system"),
    guard("download_and_run",   Tier::Dangerous,   Outcome::Ask,   true,  "runs code straight from the network"),
    guard("dynamic",            Tier::Dangerous,   Outcome::Ask,   true,  "cannot be known before it runs"),
    guard("escalation",         Tier::Destructive, Outcome::Ask,   false, "runs with another user's rights"),
    guard("followed_links",     Tier::Review,      Outcome::Allow, false, "follows links that lead out of the workspace"),
    guard("force_kill",         Tier::Dangerous,   Outcome::Ask,   true,  "ends processes by force"),
    guard("forced_removal",     Tier::Dangerous,   Outcome::Ask,   true,  "deletes without asking back"),
    guard("hard_link",          Tier::Dangerous,   Outcome::Ask,   false, "writes a file that has another name elsewhere"),
    guard("hard_reset",         Tier::Dangerous,   Outcome::Ask,   true,  "throws away work that is not committed"),
    guard("hidden_characters",  Tier::Dangerous,   Outcome::Ask,   true,  "holds characters that show something else than they are"),
    guard("late_binding",       Tier::Dangerous,   Outcome::Ask,   false, "runs text or a file as code"),
    guard("loader_environment", Tier::Dangerous,   Outcome::Ask,   true,  "sets a variable that changes which code runs"),
    guard("lost_work",          Tier::Destructive, Outcome::Ask,   true,  "destroys work that cannot be brought back"),
    guard("open_permissions",   Tier::Destructive, Outcome::Ask,   true,  "lets everybody write, or changes the owner of a whole tree"),
    guard("owner_change",       Tier::Destructive, Outcome::Allow, false, "changes the owner of a file"),
    guard("piped_code",         Tier::Dangerous,   Outcome::Ask,   true,  "runs what it gets on standard input"),
    guard("power",              Tier::Destructive, Outcome::Ask,   true,  "stops or exhausts the machine"),
    guard("rows_deleted",       Tier::Destructive, Outcome::Allow, false, "deletes rows of a table"),
    guard("sandbox_left",       Tier::Dangerous,   Outcome::Ask,   false, "runs outside the sandbox of its host"),
    guard("secret_read",        Tier::Review,      Outcome::Ask,   true,  "reads a secret"),
    guard("sed",                Tier::Dangerous,   Outcome::Ask,   true,  "runs a sed script that executes or cannot be followed"),
    guard("self_protection",    Tier::Destructive, Outcome::Deny,  true,  "touches Portcullis itself"),
    guard("sends_file",         Tier::Dangerous,   Outcome::Ask,   false, "sends a file to the network"),
    guard("sensitive_path",     Tier::Dangerous,   Outcome::Ask,   true,  "writes a sensitive path"),
    guard("wide_removal",       Tier::Destructive, Outcome::Allow, false, "removes a whole tree that is not a plain part of the workspace"),
];

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

/// The guard of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Guard> {
    let place = GUARDS.binary_search_by(|guard| guard.name.cmp(name)).ok()?;
    GUARDS.get(place)
}

/// Everything the guards find about an act, the worst first.
#[must_use]
pub fn inspect(act: &Act, touched: &[Touched], scene: &Scene<'_>) -> Vec<Finding> {
    let (base, effects) = (act.base_name(), Effects::of(&act.effects));
    let mut found = Findings { act, base, effects, found: Vec::new() };
    if act.kind == ActKind::Scanned {
        return found.found;
    }
    for note in &act.notes {
        // Without a shell of its own the environment is only as secret as the policy says.
        found.add(note.guard, note.span, note.message.as_deref());
    }
    if let Some(unknown) = act.unknown.as_ref().filter(|unknown| unknown.is_dynamic) {
        found.add("dynamic", unknown.span, Some(&unknown.message));
    }
    removal::inspect(act, touched, scene, &mut found);
    secret::inspect(act, touched, scene, &mut found);
    metadata::inspect(act, &mut found);
    landing::inspect(act, touched, scene, &mut found);
    reach::inspect(act, touched, scene, &mut found);
    code::inspect(act, scene, &mut found);
    let mut found = found.found;
    for finding in &mut found {
        if finding.guard == "secret_read" && !scene.asks_for_secrets {
            finding.outcome = Outcome::Allow;
            finding.is_firm = false;
        }
    }
    found
        .sort_by_key(|finding| std::cmp::Reverse((finding.outcome, finding.is_firm, finding.tier)));
    found
}

/// The findings about one act so far; each guard reports once.
struct Findings<'a> {
    act: &'a Act,
    /// The name of its program, and everything that it does: what guards look at before anything
    /// else, so that those with nothing to find cost nothing.
    base: Option<&'a str>,
    effects: Effects,
    found: Vec<Finding>,
}

impl Findings<'_> {
    /// Adds a finding with the guard's own sentence, or a better one.
    fn add(&mut self, name: &'static str, span: Span, message: Option<&str>) {
        let Some(guard) = find(name) else { return };
        if self.found.iter().any(|finding| finding.guard == guard.name) {
            return;
        }
        self.found.push(Finding {
            guard: guard.name,
            tier: guard.tier,
            outcome: guard.outcome,
            is_firm: guard.is_firm,
            message: message.unwrap_or(guard.message).to_owned(),
            span,
        });
    }

    /// Adds a finding about the whole act.
    fn about(&mut self, name: &'static str, message: &str) {
        self.add(name, self.act.span, Some(message));
    }

    /// Raises the tier of a finding.
    fn raise(&mut self, name: &str, tier: Tier) {
        for finding in self.found.iter_mut().filter(|finding| finding.guard == name) {
            finding.tier = finding.tier.max(tier);
        }
    }
}

/// What changes something at all.
const CHANGES: [Effect; 3] = [Effect::Write, Effect::Delete, Effect::Change];

#[cfg(test)]
mod tests {
    use super::GUARDS;

    #[test]
    fn guards_are_sorted_so_that_they_are_found() {
        assert!(GUARDS.is_sorted_by_key(|guard| guard.name));
    }
}
