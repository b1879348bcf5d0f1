//! Claude Code: `permissions` in its settings.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import, path_pattern, shell};

/// Tools whose content is a path.
const FILES: &[&str] = &["Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Glob", "Grep"];

/// Reads a settings file.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let settings = file.json()?;
    let Some(permissions) = settings.get("permissions") else { return Ok(()) };
    for (name, outcome) in
        [("deny", Outcome::Deny), ("ask", Outcome::Ask), ("allow", Outcome::Allow)]
    {
        let rules = permissions.get(name).and_then(Value::as_array).into_iter().flatten();
        for text in rules.filter_map(Value::as_str) {
            let (became, why) = rule(text, outcome, file);
            import.rule(file, file.line_of(text), text, outcome, became, why);
        }
    }
    let directories = permissions.get("additionalDirectories").and_then(Value::as_array);
    for path in directories.into_iter().flatten().filter_map(Value::as_str) {
        import.directory(file, path);
    }
    match permissions.get("defaultMode").and_then(Value::as_str) {
        None => {}
        Some("bypassPermissions") if !import.accepts_bypass => {
            let line = file.line("defaultMode");
            import.unmapped(
                file,
                line,
                "defaultMode: bypassPermissions",
                "only with `--accept-bypass`",
            );
        }
        Some(mode) => {
            let ours = match mode {
                "default" => "default",
                "acceptEdits" => "accept-edits",
                "plan" => "explore",
                "dontAsk" => "dont-ask",
                "bypassPermissions" => "bypass",
                _ => {
                    let line = file.line("defaultMode");
                    import.unmapped(
                        file,
                        line,
                        &format!("defaultMode: {mode}"),
                        "no mode of ours is like it",
                    );
                    return Ok(());
                }
            };
            import.setting(file, "defaultMode", "mode", ours.into(), Fate::Exact, "");
        }
    }
    Ok(())
}

fn rule(text: &str, outcome: Outcome, file: &File<'_>) -> (Vec<(String, Fate)>, &'static str) {
    let (tool, content) = match text.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (text, None),
    };
    let server = tool.strip_prefix("mcp__");
    if let (Some(server), None) = (server, content) {
        let rule = if server.contains("__") { tool.to_owned() } else { format!("{tool}__*") };
        return (vec![(rule, Fate::Exact)], "");
    }
    let Some(content) = content.filter(|content| !content.is_empty() && *content != "*") else {
        return (vec![(tool.to_owned(), Fate::Exact)], "");
    };
    if tool == "Bash" {
        if content.ends_with(":*") && content.matches('*').count() == 1 {
            return (vec![(text.to_owned(), Fate::Exact)], "");
        }
        return shell::text_glob(content, outcome);
    }
    if !FILES.contains(&tool) {
        return (vec![(text.to_owned(), Fate::Exact)], "");
    }
    let path = match (content.strip_prefix("//"), content.strip_prefix('/')) {
        (Some(absolute), _) => format!("/{absolute}"),
        // Relative to where the settings lie: the project around `.claude`.
        (None, Some(relative)) => {
            let is_own = file.directory.file_name().is_some_and(|name| name == ".claude");
            let root = file.directory.parent().filter(|_| is_own).unwrap_or(&file.directory);
            format!("{}/{relative}", root.display())
        }
        (None, None) => path_pattern(content),
    };
    let (tool, fate) = match (tool, outcome) {
        // Its rules about editing hold for writing too.
        ("Edit", Outcome::Ask | Outcome::Deny) => ("Edit|Write", Fate::Exact),
        ("Edit", Outcome::Allow) => ("Edit", Fate::Narrowed),
        (tool, _) => (tool, Fate::Exact),
    };
    (vec![(format!("{tool}({path})"), fate)], "")
}
