//! What a host would make of what a hook said.

use serde_json::Value;

/// What a hook said.
#[derive(Clone, Debug)]
pub struct Said {
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub error: String,
    /// The exit code; none where it was killed or did not end.
    pub code: Option<i32>,
}

/// What a host does then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The tool runs, or its native rules decide.
    Runs,
    /// Its own prompt opens.
    Asks,
    /// The tool does not run, and the model reads why.
    Blocked,
}

/// What a host does after an answer at its gate, by the facts that are known of it.
pub fn effect(host: &str, said: &Said) -> Effect {
    let reason = |text: &str| !text.trim().is_empty();
    match said.code {
        Some(2) if said.out.is_empty() && reason(&said.error) && host != "cline" => Effect::Blocked,
        Some(1) if host == "amp" => Effect::Asks,
        Some(0) => document(host, &said.out),
        _ => Effect::Runs,
    }
}

fn document(host: &str, out: &str) -> Effect {
    let Ok(value) = serde_json::from_str::<Value>(out) else { return Effect::Runs };
    let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let decided = |decision: &str, reason: &str| match text(decision) {
        "deny" if !text(reason).is_empty() => Effect::Blocked,
        "ask" => Effect::Asks,
        _ => Effect::Runs,
    };
    match host {
        "claude" | "codex" | "qwen" | "droid" => decided(
            "/hookSpecificOutput/permissionDecision",
            "/hookSpecificOutput/permissionDecisionReason",
        ),
        "gemini" | "opencode" => decided("/decision", "/reason"),
        "copilot" => decided("/permissionDecision", "/permissionDecisionReason"),
        "cursor" => decided("/permission", "/user_message"),
        "agentbot" => decided(
            "/hook_specific_output/permission_decision",
            "/hook_specific_output/permission_decision_reason",
        ),
        "cline" if value.pointer("/cancel") == Some(&Value::Bool(true)) => Effect::Blocked,
        _ => Effect::Runs,
    }
}
