//! `OpenCode`: `permission`, where the last match wins.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import, paths, shell};
use crate::install::jsonc;

/// Reads a configuration.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let config = file.json()?;
    if let Some(agents) = config.get("agent").and_then(Value::as_object) {
        for (name, agent) in agents.iter().filter(|(_, agent)| agent.get("permission").is_some()) {
            let line = file.line_of(name);
            let text = format!(
                "agent.{name}.permission: {}",
                agent.get("permission").unwrap_or(&Value::Null)
            );
            import.unmapped(file, line, &text, "rules of one agent; make a profile of them");
        }
    }
    for (above, name) in config.get("mode").and_then(Value::as_object).into_iter().flatten() {
        if name.get("permission").or_else(|| name.get("tools")).is_some() {
            let text = format!("mode.{above}: {}", super::shown(name));
            import.unmapped(file, file.line_of(above), &text, "rules of one mode of the source");
        }
    }
    for (tool, is_there) in import.members(file, "tools", config.get("tools")) {
        let text = format!("tools: {tool}: {is_there}");
        match (is_there, tool) {
            (Value::Bool(true), _) => {}
            (Value::Bool(false), "write" | "patch") => {
                let became = vec![("Edit|Write".to_owned(), Fate::Widened)];
                import.rule(file, file.line_of(tool), &text, Outcome::Deny, became, "");
            }
            (Value::Bool(false), tool) => {
                one(import, file, file.line_of(tool), &text, (tool, "*"), Outcome::Deny, false);
            }
            _ => import.unmapped(file, file.line_of(tool), &text, "it is neither true nor false"),
        }
    }
    let Some(permission) = config.get("permission") else { return Ok(()) };
    if let Some(action) = permission.as_str() {
        let line = file.line("\"permission\"");
        import.unmapped(file, line, action, "an action for every tool; set the mode instead");
        return Ok(());
    }
    for (key, value) in import.members(file, "permission", Some(permission)) {
        let rows: Vec<(String, String)> = match value {
            Value::String(action) => vec![("*".to_owned(), action.clone())],
            Value::Object(rows) => in_order(file, key, rows),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                let text = format!("{key}: {value}");
                import.unmapped(file, file.line_of(key), &text, "the action is unknown");
                continue;
            }
        };
        for (number, (glob, action)) in rows.iter().enumerate() {
            let text = format!("{key}: {glob}: {action}");
            let line = if glob == "*" { file.line_of(key) } else { file.line_of(glob) };
            let Some(outcome) = outcome(action) else {
                import.unmapped(file, line, &text, "the action is unknown");
                continue;
            };
            let is_exception = rows.iter().take(number).any(|(other, action)| {
                let stricter = self::outcome(action).is_some_and(|other| other > outcome);
                // A catch-all that asks is what happens anyway.
                let is_default = other == "*" && action == "ask";
                stricter && !is_default && shell::overlap(glob, other)
            });
            if is_exception {
                import.unmapped(
                    file,
                    line,
                    &text,
                    "it is an exception to a stricter rule, which is kept",
                );
                continue;
            }
            // Behind what it allows, a catch-all that asks takes that back.
            let is_last = rows.iter().take(number).any(|(_, action)| action == "allow");
            one(import, file, line, &text, (key, glob), outcome, is_last);
        }
    }
    Ok(())
}

fn one(
    import: &mut Import,
    file: &File<'_>,
    line: usize,
    text: &str,
    (key, glob): (&str, &str),
    outcome: Outcome,
    is_last: bool,
) {
    let tool = match key {
        "bash" => "Bash",
        "edit" => "Edit|Write",
        "read" => "Read",
        "glob" => "Glob",
        "grep" => "Grep",
        "task" => "Agent",
        "webfetch" => "WebFetch",
        "websearch" => "WebSearch",
        "external_directory" if outcome == Outcome::Allow && glob != "*" => {
            return import.directory(file, glob.trim_end_matches("/**").trim_end_matches("/*"));
        }
        "*" if glob == "*" && outcome == Outcome::Ask && is_first(file) => "*",
        _ => return import.unmapped(file, line, text, "it has no counterpart"),
    };
    if glob == "*" && outcome == Outcome::Ask && !is_last {
        return import.setting(
            file,
            &format!("\"{key}\""),
            "mode",
            "default".into(),
            Fate::Exact,
            "what no rule allows asks",
        );
    }
    let (became, why) = match (key, glob) {
        (_, "*") => (vec![(tool.to_owned(), Fate::Exact)], ""),
        ("bash", glob) => shell::text_glob(glob, outcome),
        (_, glob) if glob.contains('?') => (Vec::new(), "`?` has no counterpart"),
        ("webfetch" | "websearch" | "task", _) => (Vec::new(), "only a whole tool can be named"),
        (_, glob) => {
            let patterns = paths::crossing(glob, outcome).into_iter();
            (patterns.map(|(pattern, fate)| (format!("{tool}({pattern})"), fate)).collect(), "")
        }
    };
    import.rule(file, line, text, outcome, became, why);
}

/// Whether what is said about every tool stands before all else, which then takes it back.
fn is_first(file: &File<'_>) -> bool {
    let root = jsonc::read(file.text);
    root.is_ok_and(|root| jsonc::names(&root, &["permission"]).first() == Some(&"*"))
}

/// The rows of an object in the order of the file: the last one that fits counts there.
fn in_order(
    file: &File<'_>,
    key: &str,
    rows: &serde_json::Map<String, Value>,
) -> Vec<(String, String)> {
    let Ok(root) = jsonc::read(file.text) else { return Vec::new() };
    let names = jsonc::names(&root, &["permission", key]).into_iter();
    let action = |glob: &str| rows.get(glob).and_then(Value::as_str).unwrap_or_default().to_owned();
    names.map(|glob| (glob.to_owned(), action(glob))).collect()
}

fn outcome(action: &str) -> Option<Outcome> {
    match action {
        "allow" => Some(Outcome::Allow),
        "ask" => Some(Outcome::Ask),
        "deny" => Some(Outcome::Deny),
        _ => None,
    }
}
