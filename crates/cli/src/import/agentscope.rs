//! `AgentScope`: a serialised permission context.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import, shell};

/// Tools whose content is a path.
const FILES: &[&str] = &["Read", "Write", "Edit", "Glob", "Grep"];

/// Reads a context.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let all = file.json()?;
    match all.get("mode").and_then(Value::as_str) {
        None => {}
        Some(mode) if mode.eq_ignore_ascii_case("bypass") && !import.accepts_bypass => {
            let line = file.line("\"mode\"");
            import.unmapped(file, line, "mode: bypass", "only with `--accept-bypass`");
        }
        Some(mode) => {
            let ours = mode.to_ascii_lowercase().replace('_', "-");
            import.setting(file, "\"mode\"", "mode", ours.into(), Fate::Exact, "");
        }
    }
    let directories = all.get("working_directories");
    for directory in directories.and_then(Value::as_array).into_iter().flatten() {
        if let Some(path) = directory.as_str() {
            import.directory(file, path);
        }
    }
    let buckets = [
        ("deny_rules", Outcome::Deny),
        ("ask_rules", Outcome::Ask),
        ("allow_rules", Outcome::Allow),
    ];
    for (bucket, outcome) in buckets {
        for (tool, rules) in all.get(bucket).and_then(Value::as_object).into_iter().flatten() {
            for rule in rules.as_array().into_iter().flatten() {
                let content = rule.get("rule_content").and_then(Value::as_str).unwrap_or_default();
                let line =
                    if content.is_empty() { file.line(bucket) } else { file.line_of(content) };
                let text = format!("{bucket}: {tool}({content})");
                let told = |name: &str| rule.get(name).and_then(Value::as_str);
                let contradicts = told("tool_name").is_some_and(|name| name != tool);
                let (became, mut why) = one(tool, content, outcome);
                if contradicts && why.is_empty() {
                    why = "a field inside names another tool; the key counts";
                }
                import.rule(file, line, &text, outcome, became, why);
            }
        }
    }
    Ok(())
}

fn one(tool: &str, content: &str, outcome: Outcome) -> (Vec<(String, Fate)>, &'static str) {
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
        // There `*` crosses directories.
        let has_star = content.replace("**", "").contains('*');
        let (pattern, fate) = match outcome {
            Outcome::Allow if has_star => (content.to_owned(), Fate::Narrowed),
            Outcome::Ask | Outcome::Deny if has_star => {
                (content.replace("**", "*").replace('*', "**"), Fate::Exact)
            }
            Outcome::Allow | Outcome::Ask | Outcome::Deny => (content.to_owned(), Fate::Exact),
        };
        return (vec![(format!("{tool}({pattern})"), fate)], "");
    }
    (vec![(format!("{tool}({content})"), Fate::Exact)], "")
}
