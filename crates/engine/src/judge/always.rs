//! What an approval for good stores under `[exec]`: entries of the allowlist, made from the acts.

use super::exec::{names_assignments, runs_until};
use super::{Bench, Facts};
use crate::act::{Act, ActKind};
use crate::arg::Arg;
use crate::environment::{self, Setting};
use crate::pattern::listed;
use crate::policy_text::Listed;
use crate::suggest;
use crate::verdict::Outcome;

impl Bench<'_> {
    /// The entries that would cover what is asked about; none where nothing can be stored.
    pub(super) fn always(&self, all: &[Facts], outcome: Outcome) -> Vec<Listed> {
        let Some(exec) = &self.policy.exec else { return Vec::new() };
        if outcome != Outcome::Ask || self.text.is_none() {
            return Vec::new();
        }
        let mut found: Vec<Listed> = Vec::new();
        let mut inside = 0;
        for (at, facts) in all.iter().enumerate() {
            // What stands in a command that is stored as it is needs no entry of its own.
            if at < inside || facts.is_covered || self.reads_strictly(exec, facts) {
                continue;
            }
            let Some(entry) = entry(&facts.act) else { continue };
            if entry.is_exact {
                inside = inside.max(runs_until(all, at));
            }
            let is_new = !found.iter().any(|known| {
                known.is_exact == entry.is_exact
                    && known.pattern.to_lowercase() == entry.pattern.to_lowercase()
            });
            if is_new {
                found.push(entry);
            }
        }
        found
    }
}

/// The program and anything behind it; the exact command where its words say what it runs.
fn entry(act: &Act) -> Option<Listed> {
    let program = act.program().filter(|_| act.kind == ActKind::Command)?;
    let is_dynamic = act.unknown.as_ref().is_some_and(|unknown| unknown.is_dynamic);
    let is_harmless = act.assignments.iter().all(|assigned| {
        environment::setting(&assigned.name, assigned.value.as_deref()) == Setting::Harmless
    });
    if is_dynamic || program.trim().is_empty() || program == "cd" {
        return None;
    }
    if suggest::runs_others(act) || !act.extras.is_empty() || program.contains(['*', '?', ' ']) {
        let words: Option<Vec<&str>> = act.args.iter().map(Arg::as_known).collect();
        let words = words.filter(|words| is_harmless || names_assignments(act, words))?;
        return Some(Listed { pattern: listed::exact(&words), is_exact: true });
    }
    is_harmless.then(|| Listed { pattern: format!("{program} **"), is_exact: false })
}
