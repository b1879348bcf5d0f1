//! Multica: `execApproval` of a profile.

use portcullis_engine::Outcome;
use serde_json::Value;

use super::{Fate, File, Import};

/// Reads a profile's configuration.
pub fn read(import: &mut Import, file: &File<'_>) -> anyhow::Result<()> {
    let config = file.json()?;
    let Some(exec) = config.get("execApproval") else { return Ok(()) };
    let text = |name: &str| exec.get(name).and_then(Value::as_str);
    if let Some(security) = text("security") {
        let is_open = security == "full" && !import.accepts_bypass;
        let (ours, fate) =
            if is_open { ("allowlist", Fate::Narrowed) } else { (security, Fate::Exact) };
        let why = if is_open { "`full` only with `--accept-bypass`" } else { "" };
        import.setting(file, "\"security\"", "exec.security", ours.into(), fate, why);
    }
    if let Some(ask) = text("ask") {
        import.setting(file, "\"ask\"", "exec.ask", ask.into(), Fate::Exact, "");
    }
    match exec.get("timeoutMs").and_then(Value::as_i64) {
        None => {}
        Some(ms) if ms > 0 => {
            let seconds = ms.unsigned_abs().div_ceil(1000);
            import.setting(
                file,
                "\"timeoutMs\"",
                "asks.deadline_s",
                seconds.into(),
                Fate::Exact,
                "",
            );
        }
        Some(_) => {
            let line = file.line("\"timeoutMs\"");
            import.unmapped(file, line, "timeoutMs: -1", "the default deadline holds");
        }
    }
    match text("askFallback") {
        None => {}
        Some("deny") => {
            import.setting(
                file,
                "\"askFallback\"",
                "asks.fallback",
                "deny".into(),
                Fate::Exact,
                "",
            );
        }
        Some(fallback) if import.accepts_bypass => {
            let ours = if fallback == "full" { "allow" } else { "allow-covered" };
            import.setting(file, "\"askFallback\"", "asks.fallback", ours.into(), Fate::Exact, "");
        }
        Some(_) => {
            let why = "only with `--accept-bypass`";
            import.setting(
                file,
                "\"askFallback\"",
                "asks.fallback",
                "deny".into(),
                Fate::Narrowed,
                why,
            );
        }
    }
    let list = exec.get("allowlist").and_then(Value::as_array).cloned().unwrap_or_default();
    for entry in &list {
        let pattern = entry.get("pattern").unwrap_or(entry).as_str().unwrap_or_default();
        let line = file.line_of(pattern);
        let prefix = pattern.strip_suffix(" **").filter(|prefix| !prefix.contains(['*', '?']));
        let became = match prefix {
            Some(prefix) => vec![(format!("Bash({prefix}:*)"), Fate::Narrowed)],
            None if pattern.contains('?') => Vec::new(),
            None if pattern.contains("**") => Vec::new(),
            None => vec![(format!("Bash({pattern})"), Fate::Narrowed)],
        };
        let why = if became.is_empty() {
            "`?` or `**` inside words"
        } else {
            "per act, never across `;` or `&&`"
        };
        import.rule(file, line, pattern, Outcome::Allow, became, why);
    }
    Ok(())
}
