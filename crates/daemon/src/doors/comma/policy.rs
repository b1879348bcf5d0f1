//! `update_policy`: what a client changes in the gates of a run.

use portcullis_engine::PolicyText;
use portcullis_wire::dialects::comma::Patch;
use serde_json::json;

use super::socket::{Refusal, Talk};
use crate::authority::runs::{About, GateChange, changed};

/// So many patterns the gates of a run may have been given.
const MOST_PATTERNS: usize = 2000;

impl Talk {
    /// Changes the gates of a tool, or of every tool of a run.
    pub(super) async fn update_policy(
        &self,
        name: &str,
        tool: Option<&str>,
        is_write: bool,
        patch: &Patch,
    ) -> Result<(), Refusal> {
        let owners = self.caller.owners();
        let (run, has_other) = self.app.authority.run_for(name, &owners).await?;
        let Some(run) = run.filter(|run| run.ended_at.is_none()) else {
            return Err(if has_other {
                let message = format!("This connection may not change the policy of run {name}");
                Refusal::new("FORBIDDEN", message)
            } else {
                Refusal::new("RUN_NOT_FOUND", format!("No active run found for runId {name}"))
            });
        };
        self.check(&About::of(&run), is_write, patch)?;
        let Patch { allow, deny, default } = patch.clone();
        let change = GateChange { allow, deny, default };
        if change == GateChange::default() {
            return Ok(());
        }
        let noted = self.app.authority.change_run(&run, &self.caller.key.name, |about| {
            let before = about.gates.clone();
            let tools = about.change_gates(tool, is_write, &change);
            let mut data = changed(&before, &about.gates);
            data.push(("tools", serde_json::to_string(&tools).unwrap_or_default()));
            Some(("run.changed", data))
        });
        if noted.await?.is_none() {
            let message = format!("No active run found for runId {name}");
            return Err(Refusal::new("RUN_NOT_FOUND", message));
        }
        Ok(())
    }

    /// Whether a change is one: globs that are globs, few enough, and nothing that is locked.
    fn check(&self, about: &About, is_write: bool, patch: &Patch) -> Result<(), Refusal> {
        let gate = if is_write { "write" } else { "read" };
        for (list, globs) in [("allow", &patch.allow), ("deny", &patch.deny)] {
            for (index, glob) in globs.iter().enumerate() {
                if let Some(open) = unclosed(glob) {
                    let reason = format!("`{glob}` has a `{open}` that is never closed");
                    return Err(invalid(&format!("{list}.{index}"), &reason));
                }
                let text = json!({ "paths": { gate: { list: [glob] } } });
                if let Err(error) = PolicyText::from_json(&text) {
                    return Err(invalid(&format!("{list}.{index}"), &error.message));
                }
            }
            let most = about.gates.values().map(|gates| {
                let gate = if is_write { &gates.write } else { &gates.read };
                gate.allow.len() + gate.deny.len()
            });
            if most.max().unwrap_or(0) + globs.len() > MOST_PATTERNS {
                let reason = format!("a run has at most {MOST_PATTERNS} patterns for a tool");
                return Err(invalid(list, &reason));
            }
        }
        let policy = self.app.authority.policies().everywhere().map_err(Refusal::internal)?;
        let named = [
            ("allow", !patch.allow.is_empty()),
            ("deny", !patch.deny.is_empty()),
            ("default", patch.default.is_some()),
        ];
        for (member, _) in named.into_iter().filter(|(_, is_named)| *is_named) {
            let key = format!("paths.{gate}.{member}");
            if policy.policy.is_locked(&key) {
                return Err(Refusal::new("FORBIDDEN", format!("`{key}` is locked by the policy")));
            }
        }
        Ok(())
    }
}

fn invalid(path: &str, reason: &str) -> Refusal {
    Refusal::new("VALIDATION_ERROR", format!("Invalid message: {path}: {reason}"))
}

/// A bracket or brace of a glob that is opened and never closed; a `\\` takes its meaning away.
fn unclosed(glob: &str) -> Option<char> {
    let mut open = None;
    let mut chars = glob.chars();
    while let Some(character) = chars.next() {
        match (character, open) {
            ('\\', _) => drop(chars.next()),
            ('[', None | Some('{')) | ('{', None) => open = Some(character),
            (']', Some('[')) | ('}', Some('{')) => open = None,
            _ => {}
        }
    }
    open
}
