//! `AgentScope`: a serialised permission context.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import, paths, shell};

/// Tools whose content is a path.
const FILES: &[&str] = &["Read", "Write", "Edit", "Glob", "Grep"];

/// What is read of a context.
const KNOWN: &[&str] = &["mode", "working_directories", "deny_rules", "ask_rules", "allow_rules"];

/// Reads a context.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let all = file.json()?;
    let members = import.members(file, "the file", Some(&all));
    import.strange(file, "", &members, KNOWN);
    mode(import, file, all.get("mode"));
    directories(import, file, all.get("working_directories"));
    let buckets = [
        ("deny_rules", Outcome::Deny),
        ("ask_rules", Outcome::Ask),
        ("allow_rules", Outcome::Allow),
    ];
    for (bucket, outcome) in buckets {
        for (tool, rules) in import.members(file, bucket, all.get(bucket)) {
            for rule in import.items(file, tool, Some(rules)) {
                one(import, file, bucket, tool, rule, outcome);
            }
        }
    }
    Ok(())
}

fn mode(import: &mut Import, file: &File<'_>, value: Option<&Value>) {
    let Some(value) = value.filter(|value| !value.is_null()) else { return };
    let Some(mode) = import.text(file, "mode", Some(value)) else { return };
    let ours = mode.to_ascii_lowercase().replace('_', "-");
    let line = file.line_of("mode");
    match ours.as_str() {
        "bypass" if !import.accepts_bypass => {
            import.unmapped(file, line, "mode: bypass", "only with `--accept-bypass`");
        }
        "default" | "accept-edits" | "explore" | "bypass" | "dont-ask" => {
            import.setting(file, "\"mode\"", "mode", ours.into(), Fate::Exact, "");
        }
        _ => {
            let text = format!("mode: {mode}");
            import.unmapped(file, line, &text, "no mode of ours is like it");
        }
    }
}

/// Takes the directories: each a path, under its name or in a list.
fn directories(import: &mut Import, file: &File<'_>, value: Option<&Value>) {
    let name = "working_directories";
    if let Some(Value::Array(_)) = value {
        for path in import.texts(file, name, value) {
            import.directory(file, path);
        }
        return;
    }
    for (key, directory) in import.members(file, name, value) {
        let path = directory.get("path").and_then(Value::as_str).unwrap_or(key);
        import.directory(file, path);
    }
}

/// Takes one rule of a bucket.
fn one(
    import: &mut Import,
    file: &File<'_>,
    bucket: &str,
    tool: &str,
    rule: &Value,
    outcome: Outcome,
) {
    let content = match (rule.is_object(), rule.get("rule_content")) {
        (true, None | Some(Value::Null)) => "",
        (true, Some(Value::String(content))) => content,
        _ => {
            let text = format!("{bucket}: {tool}: {rule}");
            return import.unmapped(file, file.line_of(tool), &text, "it is no rule");
        }
    };
    let line = if content.is_empty() { file.line_of(bucket) } else { file.line_of(content) };
    let text = format!("{bucket}: {tool}({content})");
    let told = |name: &str| rule.get(name).and_then(Value::as_str);
    let (became, mut why) = became(tool, content, outcome);
    if told("tool_name").is_some_and(|name| name != tool) && why.is_empty() {
        why = "a field inside names another tool; the key counts";
    }
    let behavior = told("behavior").map(str::to_ascii_lowercase);
    if behavior.is_some_and(|behavior| behavior != outcome.name()) && why.is_empty() {
        why = "a field inside says something else; the list it stands in counts";
    }
    import.rule(file, line, &text, outcome, became, why);
}

fn became(tool: &str, content: &str, outcome: Outcome) -> (Vec<(String, Fate)>, &'static str) {
    if content.is_empty() {
        return (vec![(tool.to_owned(), Fate::Exact)], "");
    }
    if tool == "Bash" {
        return match (content.ends_with(":*"), content.contains('*'), outcome) {
            (true, _, _) => (vec![(format!("Bash({content})"), Fate::Exact)], ""),
            (false, true, _) => shell::text_glob(content, outcome),
            (false, false, Outcome::Allow) => {
                (Vec::new(), "plain text is a part of any command there")
            }
            (false, false, Outcome::Ask | Outcome::Deny) => (
                vec![(format!("Bash({content}:*)"), Fate::Partial)],
                "plain text is a part of any command there",
            ),
        };
    }
    if FILES.contains(&tool) {
        let patterns = paths::crossing(content, outcome).into_iter();
        return (
            patterns.map(|(pattern, fate)| (format!("{tool}({pattern})"), fate)).collect(),
            "",
        );
    }
    (vec![(format!("{tool}({content})"), Fate::Exact)], "")
}
