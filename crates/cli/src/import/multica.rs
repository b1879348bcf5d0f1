//! Multica: `execApproval` of a profile.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import};

/// What is read of `execApproval`.
const KNOWN: &[&str] = &["security", "ask", "timeoutMs", "askFallback", "allowlist"];

/// Reads a profile's configuration.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let config = file.json()?;
    let exec = config.get("execApproval");
    let members = import.members(file, "execApproval", exec);
    import.strange(file, "execApproval.", &members, KNOWN);
    let get = |name: &str| members.iter().find(|(known, _)| *known == name).map(|it| it.1);
    let mut word = |name: &str, known: &[&str]| {
        let value = get(name).filter(|value| !value.is_null())?;
        let word = import.text(file, name, Some(value))?;
        if known.contains(&word) {
            return Some(word);
        }
        let why = format!("it is none of {}", known.join(", "));
        import.unmapped(file, file.line_of(name), &format!("{name}: {word}"), &why);
        None
    };
    let security = word("security", &["deny", "allowlist", "full"]);
    let ask = word("ask", &["off", "on-miss", "always"]);
    let fallback = word("askFallback", &["deny", "allowlist", "full"]);
    if let Some(security) = security {
        let is_open = security == "full" && !import.accepts_bypass;
        let (ours, fate) =
            if is_open { ("allowlist", Fate::Narrowed) } else { (security, Fate::Exact) };
        let why = if is_open { "`full` only with `--accept-bypass`" } else { "" };
        import.setting(file, "\"security\"", "exec.security", ours.into(), fate, why);
    }
    if let Some(ask) = ask {
        import.setting(file, "\"ask\"", "exec.ask", ask.into(), Fate::Exact, "");
    }
    deadline(import, file, get("timeoutMs"));
    if let Some(fallback) = fallback {
        let is_open = fallback != "deny" && !import.accepts_bypass;
        let (ours, fate) = match fallback {
            _ if is_open => ("deny", Fate::Narrowed),
            "full" => ("allow", Fate::Exact),
            "allowlist" => ("allow-covered", Fate::Exact),
            _ => ("deny", Fate::Exact),
        };
        let why = if is_open { "only with `--accept-bypass`" } else { "" };
        import.setting(file, "\"askFallback\"", "asks.fallback", ours.into(), fate, why);
    }
    for entry in import.items(file, "allowlist", get("allowlist")) {
        let pattern = entry.get("pattern").unwrap_or(entry);
        let Some(pattern) = import.text(file, "pattern", Some(pattern)) else { continue };
        let line = file.line_of(pattern);
        match covered(pattern) {
            Ok(rule) => {
                let became = vec![(rule, Fate::Narrowed)];
                let why = "per act, never across `;` or `&&`";
                import.rule(file, line, pattern, Outcome::Allow, became, why);
            }
            Err(why) => import.unmapped(file, line, pattern, why),
        }
    }
    Ok(())
}

/// Takes the time to answer.
fn deadline(import: &mut Import, file: &File<'_>, value: Option<&Value>) {
    let Some(value) = value.filter(|value| !value.is_null()) else { return };
    match value.as_i64() {
        Some(ms) if ms > 0 => {
            let seconds = ms.unsigned_abs().div_ceil(1000);
            let name = "\"timeoutMs\"";
            import.setting(file, name, "asks.deadline_s", seconds.into(), Fate::Exact, "");
        }
        _ => {
            let text = format!("timeoutMs: {value}");
            import.unmapped(file, file.line_of("timeoutMs"), &text, "the default deadline holds");
        }
    }
}

/// The rule that covers no more than a pattern does.
fn covered(pattern: &str) -> Result<String, &'static str> {
    let pattern = pattern.trim();
    if pattern.is_empty() {
        return Err("an empty pattern covers nothing there");
    }
    let prefix = pattern.strip_suffix(" **").filter(|prefix| !prefix.contains(['*', '?']));
    if let Some(prefix) = prefix {
        return Ok(format!("Bash({prefix}:*)"));
    }
    if pattern.contains('?') || pattern.contains("**") {
        return Err("`?` or `**` inside words");
    }
    // There it is one word, or what a word ends with; here it is any number of words.
    if pattern.split_whitespace().any(|word| word == "*") || pattern.ends_with(":*") {
        return Err("`*` stays within one word there and would not here");
    }
    Ok(format!("Bash({pattern})"))
}
