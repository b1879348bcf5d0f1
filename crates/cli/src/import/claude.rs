//! Claude Code: `permissions` in its settings.

use portcullis_engine::Outcome;

use super::paths::path_pattern;
use super::{Fate, File, Import, parts, shell};

/// What a rule became, and why.
type Became = (Vec<(String, Fate)>, &'static str);

/// Tools whose content is a path.
const FILES: &[&str] = &["Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Glob", "Grep"];

/// What is read of `permissions`.
const KNOWN: &[&str] = &["allow", "ask", "deny", "additionalDirectories", "defaultMode"];

/// What older releases read rules from.
const OLDER: &[&str] = &["allowedTools", "disallowedTools", "ignorePatterns"];

/// Reads a settings file.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let settings = file.json()?;
    let permissions = settings.get("permissions");
    let members = import.members(file, "permissions", permissions);
    import.strange(file, "permissions.", &members, KNOWN);
    for name in OLDER {
        if let Some(value) = settings.get(name) {
            let text = format!("{name}: {}", super::shown(value));
            import.unmapped(file, file.line_of(name), &text, "only older releases read it");
        }
    }
    let permission = |name: &str| members.iter().find(|(known, _)| *known == name).map(|it| it.1);
    for (name, outcome) in
        [("deny", Outcome::Deny), ("ask", Outcome::Ask), ("allow", Outcome::Allow)]
    {
        for text in import.texts(file, name, permission(name)) {
            let (became, why) = rule(text, outcome, file).unwrap_or_else(|why| (Vec::new(), why));
            import.rule(file, file.line_of(text), text, outcome, became, why);
        }
    }
    let name = "additionalDirectories";
    for path in import.texts(file, name, permission(name)) {
        import.directory(file, path);
    }
    let mode = permission("defaultMode").filter(|mode| !mode.is_null());
    match mode.and_then(|mode| import.text(file, "defaultMode", Some(mode))) {
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

fn rule(text: &str, outcome: Outcome, file: &File<'_>) -> Result<Became, &'static str> {
    let (tool, content) = parts(text)?;
    let server = tool.strip_prefix("mcp__");
    if let (Some(server), None) = (server, content) {
        let rule = if server.contains("__") { tool.to_owned() } else { format!("{tool}__*") };
        return Ok((vec![(rule, Fate::Exact)], ""));
    }
    let Some(content) = content.filter(|content| *content != "*") else {
        return Ok((vec![(meant(tool, outcome).to_owned(), Fate::Exact)], ""));
    };
    if tool == "Bash" {
        if content.ends_with(":*") && content.matches('*').count() == 1 {
            return Ok((vec![(text.to_owned(), Fate::Exact)], ""));
        }
        return Ok(shell::text_glob(content, outcome));
    }
    if !FILES.contains(&tool) {
        return Ok((vec![(text.to_owned(), Fate::Exact)], ""));
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
    let (fate, why) = match (tool, outcome) {
        ("Edit", Outcome::Allow) => (Fate::Narrowed, ""),
        // There a search leaves such files out.
        ("Read", Outcome::Ask | Outcome::Deny) => {
            (Fate::Partial, "a search that begins above still looks into it")
        }
        _ => (Fate::Exact, ""),
    };
    Ok((vec![(format!("{}({path})", meant(tool, outcome)), fate)], why))
}

/// The tools that a rule about one holds for: its rules about editing hold for writing too, and
/// those about reading for searching. What is allowed is taken for the one that is named.
fn meant(tool: &str, outcome: Outcome) -> &str {
    match (tool, outcome) {
        ("Edit", Outcome::Ask | Outcome::Deny) => "Edit|Write",
        ("Read", Outcome::Ask | Outcome::Deny) => "Read|Grep|Glob",
        (tool, _) => tool,
    }
}
