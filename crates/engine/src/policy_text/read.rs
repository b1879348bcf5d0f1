//! Reading: from the tree of a policy text to its typed form.

use portcullis_shell::Dialect;

use super::node::{Node, Value};
use super::table::{Table, text, wrong_sort};
use super::{
    AskWhen, AsksText, AuditInput, DaemonUse, ExecText, Fallback, GateText, Headless, HostsText,
    Listed, PathsText, PolicyText, ProfileText, RulesText, Security, Spelled, TestText,
};
use crate::call::Shell;
use crate::error::PolicyError;
use crate::guard::Sensitive;
use crate::mode::Mode;
use crate::pattern::path;
use crate::rule;
use crate::verdict::Outcome;

/// The keys of a policy and of a profile.
const SHARED: [&str; 16] = [
    "mode",
    "workspace",
    "shell",
    "sensitive_reads",
    "network_reads",
    "destructive",
    "hopeless",
    "rules",
    "sensitive",
    "exec",
    "paths",
    "asks",
    "hosts",
    "audit",
    "tool",
    "test",
];

/// The keys inside tables.
const INNER: [(&str, &[&str]); 6] = [
    ("rules", &["allow", "ask", "deny"]),
    ("sensitive", &["read", "write", "except"]),
    ("exec", &["security", "ask", "allowlist", "strict"]),
    ("asks", &["deadline_s", "fallback", "unused_approval_s"]),
    ("hosts", &["daemon", "wait_s", "answer_native_prompts", "headless"]),
    ("audit", &["input"]),
];

const PATHS: [&str; 5] = ["forbidden", "jail", "absolute", "read", "write"];
const GATE: [&str; 3] = ["allow", "deny", "default"];

/// Whether `locked` may name this key.
fn is_known_key(key: &str) -> bool {
    let mut parts = key.split('.');
    let (first, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    if parts.next().is_some() {
        return false;
    }
    let inner = INNER.iter().find(|(table, _)| *table == first).map(|(_, keys)| *keys);
    match (inner, second, third) {
        (Some(keys), Some(second), None) => keys.contains(&second),
        (None, Some(second), None) if first == "paths" => PATHS.contains(&second),
        (None, Some("read" | "write"), Some(third)) if first == "paths" => GATE.contains(&third),
        (_, None, None) => first == "profile" || SHARED.contains(&first),
        _ => false,
    }
}

/// Reads a whole text.
pub(super) fn policy(node: &Node) -> Result<PolicyText, PolicyError> {
    let known: Vec<&str> = SHARED.into_iter().chain(["locked", "profile"]).collect();
    let table = Table::open(node, "", &known)?;
    let mut policy = shared(&table)?;
    policy.locked = spelled(&table, "locked")?;
    for key in &policy.locked {
        if !is_known_key(&key.text) {
            let message = format!("`locked` names the unknown key `{}`", key.text);
            return Err(PolicyError::new(message, key.span.clone())
                .with_help("name keys as `mode` or `rules.deny`"));
        }
    }
    for item in table.list("profile")?.unwrap_or_default() {
        policy.profiles.push(profile(item)?);
    }
    Ok(policy)
}

fn profile(node: &Node) -> Result<ProfileText, PolicyError> {
    let known: Vec<&str> = SHARED.into_iter().chain(["name", "agents"]).collect();
    let table = Table::open(node, "profile", &known)?;
    Ok(ProfileText {
        name: table.required("name")?,
        agents: table.texts("agents")?.unwrap_or_default(),
        text: shared(&table)?,
    })
}

fn shared(table: &Table<'_>) -> Result<PolicyText, PolicyError> {
    use Outcome::{Allow, Ask, Deny};
    let mode = table.text("mode")?;
    let mode = mode.map(|name| self::mode(&name, table.get("mode"))).transpose()?;
    let workspace = table.texts("workspace")?.unwrap_or_default();
    if let Some(relative) = workspace.iter().find(|path| !path.starts_with(['/', '~'])) {
        let message = format!("workspace directory `{relative}` is relative");
        let span = table.get("workspace").and_then(|node| node.span.clone());
        return Err(PolicyError::new(message, span).with_help("begin with `/` or `~`"));
    }
    let shell = table.choice(
        "shell",
        &[
            ("bash", Shell::Known(Dialect::Bash)),
            ("sh", Shell::Known(Dialect::Sh)),
            ("zsh", Shell::Known(Dialect::Zsh)),
        ],
    )?;
    Ok(PolicyText {
        mode,
        workspace,
        shell,
        sensitive_reads: table.choice("sensitive_reads", &[("ask", Ask), ("allow", Allow)])?,
        network_reads: table.choice("network_reads", &[("ask", Ask), ("allow", Allow)])?,
        destructive: table.choice("destructive", &[("ask", Ask), ("deny", Deny)])?,
        hopeless: table.choice("hopeless", &[("ask", Ask), ("deny", Deny)])?,
        locked: Vec::new(),
        rules: inner(table, "rules", rules)?.unwrap_or_default(),
        sensitive: inner(table, "sensitive", sensitive)?.unwrap_or_default(),
        exec: inner(table, "exec", exec)?,
        paths: table.get("paths").map(paths).transpose()?,
        asks: inner(table, "asks", asks)?.unwrap_or_default(),
        hosts: inner(table, "hosts", hosts)?.unwrap_or_default(),
        audit_input: inner(table, "audit", audit)?.flatten(),
        tools: items(table, "tool", super::custom::tool)?,
        profiles: Vec::new(),
        tests: items(table, "test", test)?,
    })
}

fn mode(name: &str, node: Option<&Node>) -> Result<Mode, PolicyError> {
    Mode::from_name(name).ok_or_else(|| {
        let names = Mode::ALL.map(Mode::name).join(", ");
        let span = node.and_then(|node| node.span.clone());
        PolicyError::new(format!("unknown mode `{name}`"), span)
            .with_help(format!("use one of {names}"))
    })
}

fn inner<T>(
    table: &Table<'_>,
    name: &str,
    read: fn(&Table<'_>) -> Result<T, PolicyError>,
) -> Result<Option<T>, PolicyError> {
    let Some(node) = table.get(name) else { return Ok(None) };
    let keys = INNER.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, keys)| keys);
    read(&Table::open(node, name, keys)?).map(Some)
}

fn items<T>(
    table: &Table<'_>,
    name: &str,
    read: fn(&Node) -> Result<T, PolicyError>,
) -> Result<Vec<T>, PolicyError> {
    table.list(name)?.unwrap_or_default().iter().map(read).collect()
}

fn spelled(table: &Table<'_>, key: &str) -> Result<Vec<Spelled>, PolicyError> {
    let name = table.name(key);
    let items = table.list(key)?.unwrap_or_default();
    items
        .iter()
        .map(|item| Ok(Spelled { text: text(&name, item)?.to_owned(), span: item.span.clone() }))
        .collect()
}

fn rules(table: &Table<'_>) -> Result<RulesText, PolicyError> {
    let list = |key: &str| {
        let rules = spelled(table, key)?;
        for written in &rules {
            rule::split(&written.text).map_err(|help| {
                let message = format!("`{}` is no rule", written.text);
                PolicyError::new(message, written.span.clone()).with_help(help)
            })?;
        }
        Ok(rules)
    };
    Ok(RulesText { allow: list("allow")?, ask: list("ask")?, deny: list("deny")? })
}

fn sensitive(table: &Table<'_>) -> Result<Sensitive, PolicyError> {
    let list = |key: &str| table.texts(key).map(Option::unwrap_or_default);
    Ok(Sensitive { read: list("read")?, write: list("write")?, except: list("except")? })
}

fn exec(table: &Table<'_>) -> Result<ExecText, PolicyError> {
    let mut allowlist = Vec::new();
    for item in table.list("allowlist")?.unwrap_or_default() {
        allowlist.push(match &item.value {
            Value::Text(pattern) => Listed { pattern: pattern.trim().to_owned(), is_exact: false },
            Value::Table(_) => {
                let known = ["pattern", "exact", "id", "lastUsedAt", "lastUsedCommand"];
                let entry = Table::open(item, "exec.allowlist", &known)?;
                let is_exact = entry.bool("exact")?.unwrap_or_default();
                Listed { pattern: entry.required("pattern")?.trim().to_owned(), is_exact }
            }
            Value::Integer(_) | Value::Bool(_) | Value::List(_) | Value::Other(..) => {
                return Err(wrong_sort("exec.allowlist", "a list of texts or tables", item));
            }
        });
    }
    Ok(ExecText {
        security: table.choice(
            "security",
            &[
                ("deny", Security::Deny),
                ("allowlist", Security::Allowlist),
                ("full", Security::Full),
            ],
        )?,
        ask: table.choice(
            "ask",
            &[("off", AskWhen::Off), ("on-miss", AskWhen::OnMiss), ("always", AskWhen::Always)],
        )?,
        allowlist,
        strict: table.bool("strict")?,
    })
}

fn paths(node: &Node) -> Result<PathsText, PolicyError> {
    let table = Table::open(node, "paths", &PATHS)?;
    let gate = |key: &str| {
        let Some(node) = table.get(key) else { return Ok(GateText::default()) };
        let gate = Table::open(node, &format!("paths.{key}"), &GATE)?;
        let default = [("allow", Outcome::Allow), ("ask", Outcome::Ask), ("deny", Outcome::Deny)];
        Ok(GateText {
            allow: globs(&gate, "allow")?,
            deny: globs(&gate, "deny")?.unwrap_or_default(),
            default: gate.choice("default", &default)?,
        })
    };
    Ok(PathsText {
        is_gate: true,
        forbidden: globs(&table, "forbidden")?.unwrap_or_default(),
        jail: table.bool("jail")?,
        absolute: table.bool("absolute")?,
        read: gate("read")?,
        write: gate("write")?,
    })
}

/// A list of globs of `[paths]`, each known to be one.
fn globs(table: &Table<'_>, key: &str) -> Result<Option<Vec<String>>, PolicyError> {
    let name = table.name(key);
    let Some(items) = table.list(key)? else { return Ok(None) };
    let mut globs = Vec::with_capacity(items.len());
    for item in items {
        let glob = text(&name, item)?;
        path::check_braces(glob).map_err(|help| {
            PolicyError::new(format!("`{glob}` is no glob of `{name}`"), item.span.clone())
                .with_help(help)
        })?;
        globs.push(glob.to_owned());
    }
    Ok(Some(globs))
}

fn asks(table: &Table<'_>) -> Result<AsksText, PolicyError> {
    Ok(AsksText {
        deadline_s: table.natural("deadline_s")?,
        fallback: table.choice(
            "fallback",
            &[
                ("deny", Fallback::Deny),
                ("allow", Fallback::Allow),
                ("allow-covered", Fallback::AllowCovered),
            ],
        )?,
        unused_approval_s: table.natural("unused_approval_s")?,
    })
}

fn hosts(table: &Table<'_>) -> Result<HostsText, PolicyError> {
    Ok(HostsText {
        daemon: table.choice(
            "daemon",
            &[
                ("auto", DaemonUse::Auto),
                ("required", DaemonUse::Required),
                ("off", DaemonUse::Off),
            ],
        )?,
        wait_s: table.natural("wait_s")?,
        answer_native_prompts: table.bool("answer_native_prompts")?,
        headless: table
            .choice("headless", &[("ask", Headless::Ask), ("defer", Headless::Defer)])?,
    })
}

fn audit(table: &Table<'_>) -> Result<Option<AuditInput>, PolicyError> {
    table.choice(
        "input",
        &[
            ("redacted", AuditInput::Redacted),
            ("full", AuditInput::Full),
            ("digest", AuditInput::Digest),
        ],
    )
}

fn test(node: &Node) -> Result<TestText, PolicyError> {
    let known = ["command", "tool", "input", "cwd", "mode", "outcome", "why"];
    let table = Table::open(node, "test", &known)?;
    table.text("why")?;
    let command = table.text("command")?;
    let tool = table.text("tool")?;
    let input = match (command, table.get("input")) {
        (Some(command), None) => serde_json::json!({ "command": command }),
        (None, Some(input)) if tool.is_some() => input.to_json(),
        (None, None) if tool.is_some() => serde_json::json!({}),
        _ => {
            return Err(PolicyError::new("this test does not say one call", node.span.clone())
                .with_help("give `command`, or `tool` with `input`"));
        }
    };
    let outcome = table.choice(
        "outcome",
        &[("allow", Outcome::Allow), ("ask", Outcome::Ask), ("deny", Outcome::Deny)],
    )?;
    let mode = table.text("mode")?;
    Ok(TestText {
        tool: tool.unwrap_or_else(|| "Bash".to_owned()),
        input,
        cwd: table.text("cwd")?,
        mode: mode.map(|name| self::mode(&name, table.get("mode"))).transpose()?,
        outcome: outcome.ok_or_else(|| {
            PolicyError::new("`test.outcome` is missing", node.span.clone())
                .with_help("use one of `allow`, `ask`, `deny`")
        })?,
        span: node.span.clone(),
    })
}
