//! Words: what this dialect says about verdicts, asks and decisions.

use portcullis_approval::{Ask, Decision, Scope};
use portcullis_engine::policy_text::Listed;
use portcullis_engine::verdict::Tier;
use portcullis_engine::{Outcome, Verdict, guard};
use portcullis_store::AskRecord;
use portcullis_wire::dialects::agentbot::answers::{lines, one_line};
use portcullis_wire::dialects::multica::{Approval, Resolved, Word};
use serde_json::Value;

use crate::doors::sole_command;

/// Guards whose finding another one says more exactly.
const SUPERSEDED: [&str; 5] =
    ["force_kill", "forced_removal", "late_binding", "open_permissions", "power"];

/// What is told about an ordinary change.
const ORDINARY: [&str; 5] =
    ["exec_code", "exec_package", "exec_path", "exec_unknown", "exec_write"];

/// What the code of a finding begins with.
const PREFIX: &str = "guard.";

/// The request that an ask is.
pub(super) fn approval(ask: &Ask) -> Approval {
    let verdict: Value = serde_json::from_str(&ask.verdict).unwrap_or(Value::Null);
    let risk_level = risk(ask, &verdict);
    Approval {
        approval_id: ask.id.to_string(),
        agent_id: agent(ask),
        command: command(ask),
        cwd: ask.call.cwd.as_deref().map(one_line),
        risk_level,
        risk_reasons: if risk_level == "safe" { Vec::new() } else { reasons(&verdict) },
        expires_at_ms: ask.deadline_at.map_or(-1, portcullis_approval::Moment::ms),
        tier: ask.tier.name(),
        allow_always_patterns: ask.offers.iter().map(|offer| pattern(&offer.rule)).collect(),
    }
}

/// How an ask ended, as everybody is told who was shown it.
pub(super) fn resolved(ask: &Ask, decision: &Decision) -> Resolved {
    Resolved {
        approval_id: ask.id.to_string(),
        agent_id: agent(ask),
        decision: decided(decision).name(),
        resolved_by: resolved_by(decision),
        via: decision.door.clone(),
        resolved_at_ms: decision.at.ms(),
        reason: ended(decision),
    }
}

/// What was decided.
pub(super) fn decided(decision: &Decision) -> Word {
    match (decision.outcome, decision.scope) {
        (Outcome::Allow, Scope::Always) => Word::AllowAlways,
        (Outcome::Allow, Scope::Once | Scope::Run | Scope::Session) => Word::AllowOnce,
        (Outcome::Ask | Outcome::Deny, _) => Word::Deny,
    }
}

/// Whether an ask was approved for good.
pub(super) fn decided_for_good(record: &AskRecord) -> bool {
    record.decision.as_ref().is_some_and(|decision| decided(decision) == Word::AllowAlways)
}

/// Who ended it: a person, or what happened.
pub(super) fn resolved_by(decision: &Decision) -> String {
    match decision.reason.as_str() {
        "fallback" => "timeout".to_owned(),
        "agent_gone" | "run_ended" => "agent-closed".to_owned(),
        "no_client" => "no-client".to_owned(),
        "withdrawn" => "withdrawn".to_owned(),
        _ => decision.by.clone(),
    }
}

/// Why it ended so: a word, a colon and a sentence.
pub(super) fn ended(decision: &Decision) -> String {
    let is_allowed = decision.outcome == Outcome::Allow;
    match decision.reason.as_str() {
        "approver" if is_allowed => format!("approver: {} approved it", decision.by),
        "approver" => match &decision.feedback {
            Some(feedback) => format!("approver: {} refused it: {feedback}", decision.by),
            None => format!("approver: {} refused it", decision.by),
        },
        "fallback" if is_allowed => {
            "timeout: nobody answered in time, and the profile allows it".to_owned()
        }
        "fallback" => "timeout: nobody answered in time".to_owned(),
        "agent_gone" | "run_ended" => "agent-closed: the agent was closed".to_owned(),
        "no_client" => "no-client: no client is connected that could answer".to_owned(),
        "withdrawn" => "withdrawn: the agent took it back".to_owned(),
        "grant" => format!("allowlist: {} approved the like of it", decision.by),
        code => format!("rule: it was approved, but `{code}` stands against it now"),
    }
}

/// Why a verdict was given without a person.
pub(super) fn judged(verdict: &Verdict) -> String {
    let codes = verdict.reasons.iter().map(|reason| &*reason.code);
    let is_listed = codes.clone().any(|code| code == "exec.allowlist");
    let first = verdict.reasons.first();
    let code = first.map_or("", |reason| &*reason.code);
    let word = match (verdict.outcome, code) {
        (Outcome::Allow, _) if is_listed => "allowlist",
        (Outcome::Allow, "exec.read_only") => "safe",
        (Outcome::Allow, "exec.full") => "full",
        (Outcome::Deny | Outcome::Ask, "exec.deny") => "security-deny",
        (Outcome::Deny | Outcome::Ask, code) if code.starts_with("exec.") => "allowlist-miss",
        _ => "rule",
    };
    let sentence = first.map_or("a policy says so", |reason| reason.message.as_str());
    format!("{word}: {}", one_line(sentence))
}

/// The session of the agent; its name where it has none.
pub(super) fn agent(ask: &Ask) -> String {
    ask.call.session.clone().unwrap_or_else(|| ask.asker.agent.clone())
}

/// The command, or any other call on one line; nothing hides in it.
fn command(ask: &Ask) -> String {
    match sole_command(ask) {
        Some(command) => lines(&command),
        None => one_line(&format!("{} {}", ask.call.tool, ask.call.input)),
    }
}

/// What `allow-always` stores, as it is shown.
fn pattern(rule: &str) -> String {
    one_line(&Listed::of_rule(rule).map_or_else(|| rule.to_owned(), |entry| entry.pattern))
}

/// The level of risk: that of the worst act which nothing covers.
fn risk(ask: &Ask, verdict: &Value) -> &'static str {
    let acts = verdict.get("acts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_covered = |act: &Value| act.get("covered").and_then(Value::as_bool) == Some(true);
    let all_covered = !acts.is_empty() && acts.iter().all(is_covered);
    match ask.tier {
        _ if all_covered => "safe",
        Tier::Safe => "safe",
        Tier::Review => "needs-review",
        Tier::Dangerous | Tier::Destructive => "dangerous",
    }
}

/// The sentences of the findings, the most serious first.
fn reasons(verdict: &Value) -> Vec<String> {
    let all = verdict.get("reasons").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text = |reason: &Value, name: &str| {
        reason.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut found: Vec<(Tier, String)> = Vec::new();
    let has_exact = all.iter().any(|reason| text(reason, "code").starts_with("guard.exec_"));
    for reason in all {
        let code = text(reason, "code");
        let name = code.strip_prefix(PREFIX).unwrap_or(&code);
        let is_finding = code.starts_with(PREFIX)
            || matches!(code.as_str(), "syntax" | "unreadable" | "self_protection" | "limit.acts");
        if !is_finding || (has_exact && SUPERSEDED.contains(&name)) {
            continue;
        }
        let told = if ORDINARY.contains(&name) { Tier::Review } else { Tier::Dangerous };
        let tier = guard::find(name).map_or(told, |guard| guard.tier);
        let sentence = sentence(&text(reason, "message"));
        if !found.iter().any(|(_, known)| *known == sentence) {
            found.push((tier, sentence));
        }
    }
    found.sort_by_key(|(tier, _)| std::cmp::Reverse(*tier));
    found.into_iter().map(|(_, sentence)| sentence).collect()
}

/// A reason as a sentence.
fn sentence(message: &str) -> String {
    let line = one_line(message);
    let mut letters = line.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).chain(['.']).collect(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn a_reason_is_a_sentence() {
        assert_eq!(sentence("deletes recursively"), "Deletes recursively.");
    }
}
