//! Settings: every key of a policy by its name, as one layer says it and as it is in force.
//!
//! To show a key, add a row to [`KEYS`].

use portcullis_engine::call::Shell;
use portcullis_engine::policy_text::{
    AskWhen, AuditInput, DaemonUse, Fallback, Headless, Listed, PolicyText, Security, Spelled,
};
use portcullis_engine::{Outcome, Policy};
use portcullis_layers::Layers;
use serde_json::{Value, json};

/// One key with its value.
pub struct Setting {
    /// The key, dotted.
    pub key: &'static str,
    /// The value; a list where the key takes several.
    pub value: Value,
}

/// One key in force, with where its value comes from.
pub struct Effective {
    /// The key and the value.
    pub setting: Setting,
    /// The layers it comes from: one, or for a list all that add to it.
    pub sources: Vec<&'static str>,
}

type Key = (&'static str, fn(&PolicyText) -> Option<Value>, fn(&Policy) -> Option<Value>);

/// The keys: what a layer says, and what is in force where a policy can tell.
#[rustfmt::skip]
const KEYS: &[Key] = &[
    ("mode",                   |text| text.mode.map(|mode| mode.name().into()), |policy| Some(policy.mode.name().into())),
    ("workspace",              |text| list(&text.workspace),                    |policy| list(&policy.workspace)),
    ("shell",                  |text| text.shell.map(shell),                    |policy| Some(shell(policy.shell))),
    ("sensitive_reads",        |text| text.sensitive_reads.map(outcome),        |policy| Some(outcome(policy.sensitive_reads))),
    ("network_reads",          |text| text.network_reads.map(outcome),          |policy| Some(outcome(policy.network_reads))),
    ("destructive",            |text| text.destructive.map(outcome),            |policy| Some(outcome(policy.destructive))),
    ("hopeless",               |text| text.hopeless.map(outcome),               |policy| Some(outcome(policy.hopeless))),
    ("locked",                 |text| spelled(&text.locked),                    |_| None),
    ("rules.allow",            |text| spelled(&text.rules.allow),               |policy| rules(policy, Outcome::Allow)),
    ("rules.ask",              |text| spelled(&text.rules.ask),                 |policy| rules(policy, Outcome::Ask)),
    ("rules.deny",             |text| spelled(&text.rules.deny),                |policy| rules(policy, Outcome::Deny)),
    ("sensitive.read",         |text| list(&text.sensitive.read),               |policy| list(&policy.sensitive.read)),
    ("sensitive.write",        |text| list(&text.sensitive.write),              |policy| list(&policy.sensitive.write)),
    ("sensitive.except",       |text| list(&text.sensitive.except),             |policy| list(&policy.sensitive.except)),
    ("exec.security",          |text| text.exec.as_ref()?.security.map(security), |policy| Some(security(policy.exec.as_ref()?.security))),
    ("exec.ask",               |text| text.exec.as_ref()?.ask.map(ask),         |policy| Some(ask(policy.exec.as_ref()?.ask))),
    ("exec.allowlist",         |text| listed(&text.exec.as_ref()?.allowlist),   |policy| listed(&policy.exec.as_ref()?.allowlist)),
    ("exec.strict",            |text| text.exec.as_ref()?.strict.map(Value::Bool), |policy| Some(policy.exec.as_ref()?.is_strict.into())),
    ("paths.forbidden",        |text| list(&text.paths.as_ref()?.forbidden),    |policy| list(&policy.paths.forbidden)),
    ("paths.jail",             |text| text.paths.as_ref()?.jail.map(Value::Bool), |policy| policy.paths.is_jail.then_some(true.into())),
    ("paths.absolute",         |text| text.paths.as_ref()?.absolute.map(Value::Bool), |policy| policy.paths.refuses_absolute.then_some(false.into())),
    ("paths.read.allow",       |text| list(text.paths.as_ref()?.read.allow.as_ref()?), |policy| list(&policy.paths.read.as_ref()?.allow)),
    ("paths.read.deny",        |text| list(&text.paths.as_ref()?.read.deny),    |policy| list(&policy.paths.read_deny)),
    ("paths.read.default",     |text| text.paths.as_ref()?.read.default.map(outcome), |policy| Some(outcome(policy.paths.read.as_ref()?.default))),
    ("paths.write.allow",      |text| list(text.paths.as_ref()?.write.allow.as_ref()?), |policy| list(&policy.paths.write.as_ref()?.allow)),
    ("paths.write.deny",       |text| list(&text.paths.as_ref()?.write.deny),   |policy| list(&policy.paths.write_deny)),
    ("paths.write.default",    |text| text.paths.as_ref()?.write.default.map(outcome), |policy| Some(outcome(policy.paths.write.as_ref()?.default))),
    ("asks.deadline_s",        |text| text.asks.deadline_s.map(Value::from),    |policy| Some(policy.asks.deadline_s.into())),
    ("asks.fallback",          |text| text.asks.fallback.map(fallback),         |policy| Some(fallback(policy.asks.fallback))),
    ("asks.unused_approval_s", |text| text.asks.unused_approval_s.map(Value::from), |policy| Some(policy.asks.unused_approval_s.into())),
    ("hosts.daemon",           |text| text.hosts.daemon.map(daemon),            |policy| Some(daemon(policy.hosts.daemon))),
    ("hosts.wait_s",           |text| text.hosts.wait_s.map(Value::from),       |policy| Some(policy.hosts.wait_s.into())),
    ("hosts.answer_native_prompts", |text| text.hosts.answer_native_prompts.map(Value::Bool), |policy| Some(policy.hosts.answers_native_prompts.into())),
    ("hosts.headless",         |text| text.hosts.headless.map(headless),        |policy| Some(headless(policy.hosts.headless))),
    ("audit.input",            |text| text.audit_input.map(audit),              |policy| Some(audit(policy.audit_input))),
    ("tool",                   |text| names(text.tools.iter().map(|tool| tool.name.as_str())), |_| None),
    ("profile",                |text| names(text.profiles.iter().map(|profile| profile.name.as_str())), |_| None),
];

/// What a layer says, key by key.
pub fn said(text: &PolicyText) -> Vec<Setting> {
    let setting = |&(key, of_text, _): &Key| Some(Setting { key, value: of_text(text)? });
    KEYS.iter().filter_map(setting).collect()
}

/// What is in force, key by key, with the layers it comes from.
pub fn effective(layers: &Layers, policy: &Policy) -> Vec<Effective> {
    let effective = |&(key, of_text, of_policy): &Key| {
        let of_layers =
            || layers.layers.iter().filter_map(|layer| of_text(&layer.counted)).next_back();
        let value = of_policy(policy).or_else(of_layers)?;
        let mut sources = Vec::new();
        let mut locked: Vec<&str> = Vec::new();
        for layer in &layers.layers {
            let is_locked = locked.iter().any(|lock| covers(lock, key));
            if of_text(&layer.counted).is_some() && !is_locked {
                // Lists add up; of single values the last one counts.
                if !value.is_array() {
                    sources.clear();
                }
                sources.push(layer.source.name());
            }
            locked.extend(layer.counted.locked.iter().map(|key| key.text.as_str()));
        }
        if sources.is_empty() {
            sources.push("built-in");
        }
        Some(Effective { setting: Setting { key, value }, sources })
    };
    KEYS.iter().filter_map(effective).collect()
}

/// Whether a name stands for a key: it is the key, or the table the key is in.
pub fn covers(name: &str, key: &str) -> bool {
    key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn list(items: &[String]) -> Option<Value> {
    (!items.is_empty()).then(|| items.into())
}

fn spelled(items: &[Spelled]) -> Option<Value> {
    names(items.iter().map(|item| item.text.as_ref()))
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> Option<Value> {
    let names: Vec<Value> = names.map(Value::from).collect();
    (!names.is_empty()).then_some(Value::Array(names))
}

fn rules(policy: &Policy, outcome: Outcome) -> Option<Value> {
    names(policy.rules().filter(|rule| rule.outcome == outcome).map(|rule| rule.text.as_ref()))
}

fn listed(items: &[Listed]) -> Option<Value> {
    let item = |listed: &Listed| {
        if listed.is_exact {
            json!({ "pattern": listed.pattern, "exact": true })
        } else {
            listed.pattern.as_str().into()
        }
    };
    (!items.is_empty()).then(|| items.iter().map(item).collect())
}

fn outcome(outcome: Outcome) -> Value {
    outcome.name().into()
}

fn shell(shell: Shell) -> Value {
    match shell {
        Shell::Known(dialect) => dialect.name().into(),
        Shell::Other => "other".into(),
    }
}

fn security(security: Security) -> Value {
    match security {
        Security::Deny => "deny".into(),
        Security::Allowlist => "allowlist".into(),
        Security::Full => "full".into(),
    }
}

fn ask(ask: AskWhen) -> Value {
    match ask {
        AskWhen::Off => "off".into(),
        AskWhen::OnMiss => "on-miss".into(),
        AskWhen::Always => "always".into(),
    }
}

fn fallback(fallback: Fallback) -> Value {
    match fallback {
        Fallback::Deny => "deny".into(),
        Fallback::Allow => "allow".into(),
        Fallback::AllowCovered => "allow-covered".into(),
    }
}

fn daemon(daemon: DaemonUse) -> Value {
    match daemon {
        DaemonUse::Auto => "auto".into(),
        DaemonUse::Required => "required".into(),
        DaemonUse::Off => "off".into(),
    }
}

fn headless(headless: Headless) -> Value {
    match headless {
        Headless::Ask => "ask".into(),
        Headless::Defer => "defer".into(),
    }
}

fn audit(input: AuditInput) -> Value {
    match input {
        AuditInput::Redacted => "redacted".into(),
        AuditInput::Full => "full".into(),
        AuditInput::Digest => "digest".into(),
    }
}
