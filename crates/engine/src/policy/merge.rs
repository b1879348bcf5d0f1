//! Merging: from layers to the policy in force.

use std::borrow::Borrow;
use std::sync::Arc;

use super::{Asks, Exec, Gate, Gates, Hosts, Paths, Policy, Source, Warning};
use crate::error::PolicyError;
use crate::guard::Sensitive;
use crate::policy_text::{ExecText, Fallback, GateText, PathsText, PolicyText, Spelled};
use crate::rule::{Rule, Rules};
use crate::tool::Spec;
use crate::verdict::Outcome;

/// Merges layers, strongest authority first.
pub(super) fn of_layers<T: Borrow<PolicyText>>(
    layers: &[(Source, T)],
) -> Result<Policy, PolicyError> {
    let mut merge = Merge::default();
    let mut policy = Policy::builtin();
    for (layer, (source, text)) in layers.iter().enumerate() {
        let text = text.borrow();
        merge.source = *source;
        merge.layer = layer;
        merge
            .layer(&mut policy, text)
            .map_err(|error| PolicyError { layer: Some(layer), ..error })?;
        merge.locked.extend(text.locked.iter().map(|key| key.text.clone()));
    }
    let tools: Arc<[Spec]> = merge.tools.into();
    policy.workspace = merge.workspace.into();
    policy.sensitive = Arc::new(merge.sensitive);
    policy.exec = merge.exec.map(Arc::new);
    policy.gates = Arc::new(Gates::new(&merge.paths));
    policy.paths = Arc::new(merge.paths);
    policy.rules = Arc::new(Rules::new(merge.rules, &tools));
    policy.tools = tools;
    policy.locked = merge.locked.into();
    policy.warnings = merge.warnings.into();
    Ok(policy)
}

#[derive(Default)]
struct Merge {
    source: Source,
    layer: usize,
    workspace: Vec<String>,
    sensitive: Sensitive,
    exec: Option<Exec>,
    paths: Paths,
    rules: Vec<Rule>,
    tools: Vec<Spec>,
    locked: Vec<String>,
    warnings: Vec<Warning>,
}

impl Merge {
    fn layer(&mut self, policy: &mut Policy, text: &PolicyText) -> Result<(), PolicyError> {
        if let Some(key) = text.locked.first().filter(|_| !self.source.may_lock()) {
            let message = format!("a {} layer cannot lock `{}`", self.source.name(), key.text);
            return Err(PolicyError::new(message, key.span.clone())
                .with_help("lock keys in the organization's or the user's file"));
        }
        self.single("mode", &mut policy.mode, text.mode);
        self.single("shell", &mut policy.shell, text.shell);
        self.single("sensitive_reads", &mut policy.sensitive_reads, text.sensitive_reads);
        self.single("network_reads", &mut policy.network_reads, text.network_reads);
        self.single("destructive", &mut policy.destructive, text.destructive);
        self.single("hopeless", &mut policy.hopeless, text.hopeless);
        self.single("audit.input", &mut policy.audit_input, text.audit_input);
        self.asks(&mut policy.asks, text);
        self.hosts(&mut policy.hosts, text);
        if self.may_set("workspace", !text.workspace.is_empty()) {
            self.workspace.extend_from_slice(&text.workspace);
        }
        self.sensitive(&text.sensitive);
        if let Some(exec) = &text.exec {
            self.exec(exec);
        }
        if let Some(paths) = &text.paths {
            self.paths(paths);
        }
        if self.may_set("tool", !text.tools.is_empty()) {
            self.tools.extend(text.tools.iter().map(Spec::of_text));
        }
        self.rules("rules.deny", Outcome::Deny, &text.rules.deny)?;
        self.rules("rules.ask", Outcome::Ask, &text.rules.ask)?;
        self.rules("rules.allow", Outcome::Allow, &text.rules.allow)
    }

    fn rules(&mut self, key: &str, outcome: Outcome, rules: &[Spelled]) -> Result<(), PolicyError> {
        if !self.may_set(key, !rules.is_empty()) {
            return Ok(());
        }
        self.rules.reserve(rules.len());
        for written in rules {
            let rule = Rule::parse(&written.text, outcome, self.source)
                .map_err(|error| PolicyError { span: written.span.clone(), ..error })?;
            self.rules.push(Rule { layer: self.layer, span: written.span.clone(), ..rule });
        }
        Ok(())
    }

    fn asks(&mut self, asks: &mut Asks, text: &PolicyText) {
        let text = &text.asks;
        self.single("asks.deadline_s", &mut asks.deadline_s, text.deadline_s);
        self.single("asks.fallback", &mut asks.fallback, text.fallback);
        if let Some(loose @ (Fallback::Allow | Fallback::AllowCovered)) = text.fallback
            && asks.fallback == loose
        {
            let what = if loose == Fallback::Allow { "is allowed" } else { "may be allowed" };
            let message = format!("with this `asks.fallback`, what nobody answers in time {what}");
            self.warn("loose_fallback", message);
        }
        let unused = &mut asks.unused_approval_s;
        self.single("asks.unused_approval_s", unused, text.unused_approval_s);
    }

    fn hosts(&mut self, hosts: &mut Hosts, text: &PolicyText) {
        let text = &text.hosts;
        self.single("hosts.daemon", &mut hosts.daemon, text.daemon);
        self.single("hosts.wait_s", &mut hosts.wait_s, text.wait_s);
        let answers = &mut hosts.answers_native_prompts;
        self.single("hosts.answer_native_prompts", answers, text.answer_native_prompts);
        self.single("hosts.headless", &mut hosts.headless, text.headless);
    }

    fn sensitive(&mut self, text: &Sensitive) {
        if self.may_set("sensitive.read", !text.read.is_empty()) {
            self.sensitive.read.extend_from_slice(&text.read);
        }
        if self.may_set("sensitive.write", !text.write.is_empty()) {
            self.sensitive.write.extend_from_slice(&text.write);
        }
        if text.except.is_empty() {
            return;
        }
        if !self.source.may_lock() {
            let layer = self.source.name();
            self.warn("no_effect", format!("`sensitive.except` of a {layer} layer does not count"));
        } else if self.may_set("sensitive.except", true) {
            self.sensitive.except.extend_from_slice(&text.except);
        }
    }

    fn exec(&mut self, text: &ExecText) {
        if self.locks("exec") {
            self.warn("locked", "`exec` is locked by an earlier layer".to_owned());
            return;
        }
        let mut exec = self.exec.take().unwrap_or(Exec { is_strict: true, ..Exec::default() });
        self.single("exec.security", &mut exec.security, text.security);
        self.single("exec.ask", &mut exec.ask, text.ask);
        self.single("exec.strict", &mut exec.is_strict, text.strict);
        if self.may_set("exec.allowlist", !text.allowlist.is_empty()) {
            exec.allowlist.extend_from_slice(&text.allowlist);
        }
        self.exec = Some(exec);
    }

    fn paths(&mut self, text: &PathsText) {
        let mut paths = std::mem::take(&mut self.paths);
        let refuses_absolute = text.absolute.map(|may_be| !may_be);
        self.single("paths.jail", &mut paths.is_jail, text.jail);
        self.single("paths.absolute", &mut paths.refuses_absolute, refuses_absolute);
        if self.may_set("paths.forbidden", !text.forbidden.is_empty()) {
            paths.forbidden.extend_from_slice(&text.forbidden);
        }
        if self.may_set("paths.read.deny", !text.read.deny.is_empty()) {
            paths.read_deny.extend_from_slice(&text.read.deny);
        }
        if self.may_set("paths.write.deny", !text.write.deny.is_empty()) {
            paths.write_deny.extend_from_slice(&text.write.deny);
        }
        if text.is_gate && !self.locks("paths") {
            paths.read = Some(self.gate("paths.read", paths.read.take(), &text.read));
            paths.write = Some(self.gate("paths.write", paths.write.take(), &text.write));
        }
        self.paths = paths;
    }

    /// A gate whose lists nobody names lets the workspace pass.
    fn gate(&mut self, key: &str, gate: Option<Gate>, text: &GateText) -> Gate {
        let mut gate = gate.unwrap_or(Gate { allow: Vec::new(), default: Outcome::Ask });
        self.single(&format!("{key}.default"), &mut gate.default, text.default);
        if let Some(allow) = &text.allow
            && self.may_set(&format!("{key}.allow"), true)
        {
            gate.allow.retain(|glob| glob != "**");
            gate.allow.extend_from_slice(allow);
        } else if gate.allow.is_empty() {
            gate.allow.push("**".to_owned());
        }
        gate
    }

    fn single<T>(&mut self, key: &str, value: &mut T, given: Option<T>) {
        if let Some(given) = given
            && self.may_set(key, true)
        {
            *value = given;
        }
    }

    /// Whether a key that this layer names counts; a lock of another layer is told.
    fn may_set(&mut self, key: &str, is_named: bool) -> bool {
        let is_locked = is_named && self.locks(key);
        if is_locked {
            self.warn("locked", format!("`{key}` is locked by an earlier layer"));
        }
        is_named && !is_locked
    }

    fn locks(&self, key: &str) -> bool {
        self.locked.iter().any(|locked| {
            key.strip_prefix(locked.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    fn warn(&mut self, code: &'static str, message: String) {
        let (source, layer) = (self.source, self.layer);
        self.warnings.push(Warning { code, message, source, layer, span: None });
    }
}
