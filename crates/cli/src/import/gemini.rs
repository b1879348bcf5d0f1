//! Gemini CLI: `[[rule]]` of its policy files, and `tools` of its settings.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import, parts, shell};

/// Conditions that have no counterpart.
const FOREIGN: &[&str] =
    &["argsPattern", "commandRegex", "toolAnnotations", "subagent", "interactive"];

/// What else a rule may say; anything beyond these may be a condition.
const KNOWN: &[&str] = &[
    "toolName",
    "toolNames",
    "mcpName",
    "commandPrefix",
    "decision",
    "priority",
    "modes",
    "denyMessage",
    "allowRedirection",
    "name",
    "description",
];

/// One rule with what it is about.
struct Rule {
    priority: i64,
    outcome: Outcome,
    about: Vec<(String, Option<String>)>,
}

/// Reads a policy file or the settings.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    if std::path::Path::new(&file.name).extension().is_some_and(|ending| ending == "json") {
        return settings(import, file);
    }
    let value: toml::Table = toml::from_str(file.text)?;
    let value = serde_json::to_value(value)?;
    let tables = import.members(file, "the file", Some(&value));
    import.strange(file, "", &tables, &["rule"]);
    let rules: Vec<Value> =
        import.items(file, "rule", value.get("rule")).into_iter().cloned().collect();
    let read: Vec<Option<Rule>> = rules.iter().map(rule).collect();
    let mut from = 0;
    for (number, source) in rules.iter().enumerate() {
        let start = file
            .text
            .get(from..)
            .and_then(|rest| rest.find("[[rule]]"))
            .map_or(from, |at| from + at);
        let line = file.text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        from = start + 8;
        let text = source.to_string();
        let Some(rule) = read.get(number).and_then(Option::as_ref) else {
            import.unmapped(
                file,
                line,
                &text,
                "no tool, no known decision, or something it cannot be about",
            );
            continue;
        };
        if let Some(why) = lost(source) {
            import.unmapped(file, line, &text, &why);
            continue;
        }
        let strange = source.as_object().into_iter().flatten();
        let strange = strange.map(|(name, _)| name).find(|name| !KNOWN.contains(&name.as_str()));
        if let Some(name) = strange
            && rule.outcome == Outcome::Allow
        {
            let why = format!("`{name}` is not known; it may be a condition");
            import.unmapped(file, line, &text, &why);
            continue;
        }
        if import.is_sole && is_default(rule, &read) && strange.is_none() {
            let (name, why) = ("\"ask_user\"", "what no rule allows asks");
            import.setting(file, name, "mode", "default".into(), Fate::Exact, why);
            continue;
        }
        // Ours is strictest-wins: an exception that outranks a stricter rule cannot be said.
        let is_outranking = rules.iter().zip(&read).any(|(source, other)| {
            other.as_ref().is_some_and(|other| {
                let is_stricter = other.outcome > rule.outcome && other.priority < rule.priority;
                let is_default = import.is_sole && is_default(other, &read);
                let is_kept = lost(source).is_none() && !is_default;
                is_stricter && is_kept && overlaps(rule, other)
            })
        });
        if is_outranking {
            import.unmapped(
                file,
                line,
                &text,
                "it is an exception to a stricter rule, which is kept",
            );
            continue;
        }
        let mut became = Vec::new();
        for (tool, prefix) in &rule.about {
            let less = if rule.outcome == Outcome::Allow { Fate::Narrowed } else { Fate::Partial };
            became.push(match prefix {
                // The source compares letters: `git` also means `github`.
                Some(prefix) => (format!("Bash({}:*)", prefix.trim()), less),
                None if strange.is_some() => (tool.clone(), Fate::Widened),
                None => (tool.clone(), Fate::Exact),
            });
        }
        let why = source.get("denyMessage").and_then(Value::as_str).unwrap_or_default();
        import.rule(file, line, &text, rule.outcome, became, why);
    }
    Ok(())
}

/// Why a rule is not taken, whatever it decides.
fn lost(source: &Value) -> Option<String> {
    if let Some(name) = FOREIGN.iter().find(|name| source.get(**name).is_some()) {
        return Some(format!("`{name}` has no counterpart"));
    }
    let modes = source.get("modes")?;
    let is_ours = |modes: &Vec<Value>| modes.iter().any(|mode| mode == "default");
    (!modes.as_array().is_some_and(is_ours)).then(|| "it is not about the mode `default`".into())
}

fn rule(source: &Value) -> Option<Rule> {
    let outcome = match source.get("decision")?.as_str()? {
        "allow" => Outcome::Allow,
        "ask_user" => Outcome::Ask,
        "deny" => Outcome::Deny,
        _ => return None,
    };
    let texts = |name: &str| -> Option<Vec<String>> {
        match source.get(name) {
            None => Some(Vec::new()),
            Some(Value::String(text)) => Some(vec![text.clone()]),
            Some(Value::Array(items)) => {
                items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
            }
            Some(_) => None,
        }
    };
    let tools = [texts("toolName")?, texts("toolNames")?].concat();
    let server = match source.get("mcpName") {
        None => None,
        Some(server) => Some(server.as_str()?),
    };
    let prefixes = texts("commandPrefix")?;
    // Only commands begin with something.
    if !prefixes.is_empty() && (server.is_some() || tools.iter().any(|tool| ours(tool) != "Bash")) {
        return None;
    }
    let mut about = Vec::new();
    for prefix in &prefixes {
        about.push(("Bash".to_owned(), Some(prefix.clone())));
    }
    if prefixes.is_empty() {
        match (server, tools.is_empty()) {
            (Some(server), true) => about.push((format!("mcp__{server}__*"), None)),
            (Some(server), false) => {
                about.extend(tools.iter().map(|tool| (format!("mcp__{server}__{tool}"), None)));
            }
            (None, _) => about.extend(tools.iter().map(|tool| (named(tool, outcome), None))),
        }
    }
    if about.is_empty() {
        return None;
    }
    let priority = source.get("priority").and_then(Value::as_i64).unwrap_or(0);
    Some(Rule { priority, outcome, about })
}

/// Whether a rule asks about every tool and all that is allowed outranks it: that is what happens
/// anyway.
fn is_default(rule: &Rule, all: &[Option<Rule>]) -> bool {
    let is_below = |other: &Rule| other.outcome != Outcome::Allow || other.priority > rule.priority;
    let is_catch_all = rule.about.iter().any(|(tool, _)| tool == "*");
    rule.outcome == Outcome::Ask && is_catch_all && all.iter().flatten().all(is_below)
}

/// Whether two names of tools, of which each may end in a star, can mean one tool.
fn meet(one: &str, other: &str) -> bool {
    match (one.split_once('*'), other.split_once('*')) {
        (None, None) => one == other,
        (Some((start, _)), None) => other.starts_with(start),
        (None, Some((start, _))) => one.starts_with(start),
        (Some((one, _)), Some((other, _))) => one.starts_with(other) || other.starts_with(one),
    }
}

fn overlaps(one: &Rule, other: &Rule) -> bool {
    one.about.iter().any(|(tool, prefix)| {
        other.about.iter().any(|(other_tool, other_prefix)| {
            let (prefix, other) =
                (prefix.as_deref().unwrap_or(""), other_prefix.as_deref().unwrap_or(""));
            meet(tool, other_tool) && shell::overlap(prefix, other)
        })
    })
}

fn settings(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let settings = file.json()?;
    for path in UNREAD {
        if let Some(value) = settings.pointer(path) {
            let (name, text) = (path.rsplit('/').next().unwrap_or(path), super::shown(value));
            let text = format!("{}: {text}", path.trim_start_matches('/').replace('/', "."));
            import.unmapped(file, file.line_of(name), &text, "it has no counterpart");
        }
    }
    for server in import.texts(file, "excluded", settings.pointer("/mcp/excluded")) {
        let became = vec![(format!("mcp__{server}__*"), Fate::Exact)];
        import.rule(file, file.line_of(server), server, Outcome::Deny, became, "");
    }
    for (server, about) in import.members(file, "mcpServers", settings.get("mcpServers")) {
        servers(import, file, server, about);
    }
    for (path, outcome) in LISTS {
        let (outcome, name) = (*outcome, path.rsplit('/').next().unwrap_or(path));
        for text in import.texts(file, name, settings.pointer(path)) {
            let less = if outcome == Outcome::Allow { Fate::Narrowed } else { Fate::Partial };
            let (became, why) = match parts(text) {
                Err(why) => (Vec::new(), why),
                Ok((tool, None)) => (vec![(named(tool, outcome), Fate::Exact)], ""),
                Ok((tool, Some(prefix))) if ours(tool) == "Bash" => {
                    (vec![(format!("Bash({}:*)", prefix.trim()), less)], "")
                }
                Ok(_) => (Vec::new(), "only commands begin with something"),
            };
            import.rule(file, file.line_of(text), text, outcome, became, why);
        }
    }
    Ok(())
}

/// What the settings of a server say about its tools.
fn servers(import: &mut Import, file: &File<'_>, server: &str, about: &Value) {
    for tool in import.texts(file, "excludeTools", about.get("excludeTools")) {
        let became = vec![(format!("mcp__{server}__{tool}"), Fate::Exact)];
        let text = format!("mcpServers.{server}.excludeTools: {tool}");
        import.rule(file, file.line_of(tool), &text, Outcome::Deny, became, "");
    }
    for name in ["includeTools", "trust"] {
        if let Some(value) = about.get(name).filter(|value| **value != Value::Bool(false)) {
            let text = format!("mcpServers.{server}.{name}: {}", super::shown(value));
            import.unmapped(file, file.line_of(name), &text, "it has no counterpart");
        }
    }
}

/// Lists of tools in the settings, as they are and as older releases had them.
const LISTS: &[(&str, Outcome)] = &[
    ("/tools/exclude", Outcome::Deny),
    ("/excludeTools", Outcome::Deny),
    ("/tools/allowed", Outcome::Allow),
    ("/allowedTools", Outcome::Allow),
];

/// Settings about what may run that have no counterpart.
const UNREAD: &[&str] = &[
    "/tools/core",
    "/coreTools",
    "/mcp/allowed",
    "/security/disableYoloMode",
    "/security/disableAlwaysAllow",
];

/// The name under which a tool is ruled on: where two of its tools are one of ours, what is allowed
/// is the one that is named.
fn named(tool: &str, outcome: Outcome) -> String {
    let is_one_of_two = matches!(tool, "read_many_files" | "list_directory");
    if is_one_of_two && outcome == Outcome::Allow { tool.to_owned() } else { ours(tool) }
}

/// The name that rules use for its tools.
fn ours(tool: &str) -> String {
    match tool {
        "run_shell_command" | "ShellTool" => "Bash",
        "read_file" | "read_many_files" => "Read",
        "write_file" => "Write",
        "replace" => "Edit",
        "web_fetch" => "WebFetch",
        "google_web_search" => "WebSearch",
        "glob" | "list_directory" => "Glob",
        "grep_search" | "search_file_content" => "Grep",
        other => other,
    }
    .to_owned()
}
