//! What of a policy text can only make a policy stricter.

use super::{ExecText, GateText, PathsText, PolicyText, RulesText, Security};
use crate::guard::Sensitive;
use crate::verdict::Outcome;

/// The stricter part of a text, and the names of what is left out.
pub(super) fn stricter_only(text: &PolicyText) -> (PolicyText, Vec<String>) {
    let mut left = Left(Vec::new());
    left.note("mode", text.mode.is_some());
    left.note("workspace", !text.workspace.is_empty());
    left.note("shell", text.shell.is_some());
    left.note("locked", !text.locked.is_empty());
    left.note("rules.allow", !text.rules.allow.is_empty());
    left.note("sensitive.except", !text.sensitive.except.is_empty());
    left.note("asks", text.asks != super::AsksText::default());
    left.note("hosts", text.hosts != super::HostsText::default());
    left.note("audit", text.audit_input.is_some());
    left.note("tool", !text.tools.is_empty());
    left.note("profile", !text.profiles.is_empty());
    let stricter = PolicyText {
        sensitive_reads: left.dial("sensitive_reads", text.sensitive_reads, Outcome::Ask),
        network_reads: left.dial("network_reads", text.network_reads, Outcome::Ask),
        destructive: left.dial("destructive", text.destructive, Outcome::Deny),
        hopeless: left.dial("hopeless", text.hopeless, Outcome::Deny),
        rules: RulesText {
            allow: Vec::new(),
            ask: text.rules.ask.clone(),
            deny: text.rules.deny.clone(),
        },
        sensitive: Sensitive { except: Vec::new(), ..text.sensitive.clone() },
        exec: text.exec.as_ref().and_then(|exec| left.exec(exec)),
        paths: text.paths.as_ref().map(|paths| left.paths(paths)),
        tests: text.tests.clone(),
        ..PolicyText::default()
    };
    (stricter, left.0)
}

/// The names of what is left out.
struct Left(Vec<String>);

impl Left {
    fn note(&mut self, name: &str, is_left: bool) {
        if is_left {
            self.0.push(name.to_owned());
        }
    }

    /// A dial, if it has its stricter value.
    fn dial(&mut self, name: &str, value: Option<Outcome>, stricter: Outcome) -> Option<Outcome> {
        self.note(name, value.is_some_and(|value| value != stricter));
        value.filter(|value| *value == stricter)
    }

    /// Nothing is stricter than a closed shell; every other value may open one.
    fn exec(&mut self, exec: &ExecText) -> Option<ExecText> {
        let is_closed = exec.security == Some(Security::Deny);
        let rest = ExecText { security: None, ..exec.clone() };
        self.note("exec", !is_closed || rest != ExecText::default());
        is_closed.then(|| ExecText { security: exec.security, ..ExecText::default() })
    }

    fn paths(&mut self, paths: &PathsText) -> PathsText {
        let mut gate = |name: &str, gate: &GateText| {
            let is_left = gate.allow.is_some() || gate.default.is_some();
            self.note(&format!("paths.{name}"), is_left);
            GateText { deny: gate.deny.clone(), ..GateText::default() }
        };
        let (read, write) = (gate("read", &paths.read), gate("write", &paths.write));
        self.note("paths.jail", paths.jail == Some(false));
        self.note("paths.absolute", paths.absolute == Some(true));
        PathsText {
            is_gate: false,
            forbidden: paths.forbidden.clone(),
            jail: paths.jail.filter(|is_on| *is_on),
            absolute: paths.absolute.filter(|may_be| !may_be),
            read,
            write,
        }
    }
}
