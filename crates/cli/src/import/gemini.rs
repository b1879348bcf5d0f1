//! Gemini CLI: `[[rule]]` of its policy files, and `tools` of its settings.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import, shell};

/// Conditions that have no counterpart.
const FOREIGN: &[&str] =
    &["argsPattern", "commandRegex", "toolAnnotations", "subagent", "interactive"];

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
    let rules = value.get("rule").and_then(Value::as_array).cloned().unwrap_or_default();
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
            import.unmapped(file, line, &text, "no tool or no known decision");
            continue;
        };
        if let Some(name) = FOREIGN.iter().find(|name| source.get(**name).is_some()) {
            import.unmapped(file, line, &text, &format!("`{name}` has no counterpart"));
            continue;
        }
        let modes = source.get("modes").and_then(Value::as_array);
        if modes.is_some_and(|modes| !modes.iter().any(|mode| mode == "default")) {
            import.unmapped(file, line, &text, "it is not about the mode `default`");
            continue;
        }
        // Ours is strictest-wins: an exception that outranks a stricter rule cannot be said.
        let is_outranking = read.iter().flatten().any(|other| {
            other.outcome > rule.outcome && other.priority < rule.priority && overlaps(rule, other)
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
                None => (tool.clone(), Fate::Exact),
            });
        }
        let why = source.get("denyMessage").and_then(Value::as_str).unwrap_or_default();
        import.rule(file, line, &text, rule.outcome, became, why);
    }
    Ok(())
}

fn rule(source: &Value) -> Option<Rule> {
    let outcome = match source.get("decision")?.as_str()? {
        "allow" => Outcome::Allow,
        "ask_user" => Outcome::Ask,
        "deny" => Outcome::Deny,
        _ => return None,
    };
    let texts = |name: &str| -> Vec<String> {
        match source.get(name) {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) => {
                items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        }
    };
    let tools = [texts("toolName"), texts("toolNames")].concat();
    let server = source.get("mcpName").and_then(Value::as_str);
    let prefixes = texts("commandPrefix");
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
            (None, _) => about.extend(tools.iter().map(|tool| (ours(tool), None))),
        }
    }
    if about.is_empty() {
        return None;
    }
    let priority = source.get("priority").and_then(Value::as_i64).unwrap_or(0);
    Some(Rule { priority, outcome, about })
}

fn overlaps(one: &Rule, other: &Rule) -> bool {
    one.about.iter().any(|(tool, prefix)| {
        other.about.iter().any(|(other_tool, other_prefix)| {
            let (prefix, other) =
                (prefix.as_deref().unwrap_or(""), other_prefix.as_deref().unwrap_or(""));
            tool == other_tool && shell::overlap(prefix, other)
        })
    })
}

fn settings(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let settings = file.json()?;
    for (path, outcome) in [("/tools/exclude", Outcome::Deny), ("/tools/allowed", Outcome::Allow)] {
        let rules = settings.pointer(path).and_then(Value::as_array).cloned().unwrap_or_default();
        for text in rules.iter().filter_map(Value::as_str) {
            let (tool, content) = match text.split_once('(') {
                Some((tool, rest)) => (tool, rest.strip_suffix(')')),
                None => (text, None),
            };
            let less = if outcome == Outcome::Allow { Fate::Narrowed } else { Fate::Partial };
            let became = match content {
                Some(prefix) => vec![(format!("Bash({}:*)", prefix.trim()), less)],
                None => vec![(ours(tool), Fate::Exact)],
            };
            import.rule(file, file.line_of(text), text, outcome, became, "");
        }
    }
    Ok(())
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
