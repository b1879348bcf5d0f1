//! Asks and decisions in the words of this wire.

use portcullis_approval::{Ask, Decision, Id, Scope, State};
use portcullis_engine::Outcome;
use portcullis_engine::pattern::json::canonical_text;
use portcullis_wire::dialects::agentbot::answers::{lines, one_line};
use portcullis_wire::dialects::comma::frames::{Asked, Details, Frame};
use serde_json::Value;

use crate::authority::access::{Kind, key_of};
use crate::authority::is_exception;
use crate::doors::sole_command;

/// An id as this wire writes it.
pub(super) fn id_text(id: Id) -> String {
    format!("perm-{id}")
}

/// The question about an ask of a run.
pub(super) fn asked(ask: &Ask, run: &str, is_tui: bool) -> Frame {
    let (kind, resource) = subject(ask);
    let operation = match (kind, is_tui) {
        (Kind::Read, _) => "fs.read",
        (Kind::Write, _) => "fs.write",
        (Kind::Command, false) => "command.execute",
        (Kind::Command, true) => "fs.exec",
    };
    let written = ask.bound.access.clone().unwrap_or_default();
    let is_write = kind == Kind::Write;
    Frame::RequestPermission(Asked {
        run_id: run.to_owned(),
        request_id: id_text(ask.id),
        agent_name: ask.asker.agent.clone(),
        tool_name: ask.call.tool.clone(),
        operation,
        resource,
        reason: if is_exception(ask) { "policy-deny-override" } else { "policy-ask" },
        details: Details {
            tier: ask.tier.name(),
            reasons: reasons(ask),
            bytes: written.bytes.filter(|_| is_write),
            preview: written.preview.filter(|_| is_write).map(|text| lines(&text)),
            call_digest: ask.digest.clone(),
            expires_at: ask.deadline_at.map(|at| at.to_string()),
        },
    })
}

/// What an ask would do, and to what. A call that is no access is shown as what it comes closest
/// to, and as nothing less than all of it.
fn subject(ask: &Ask) -> (Kind, String) {
    if ask.bound.access.is_some()
        && let Some((kind, resource, _)) = key_of(&ask.call.input)
    {
        return (kind, resource);
    }
    if let Some(command) = sole_command(ask) {
        return (Kind::Command, command);
    }
    let input: Value = serde_json::from_str(&ask.call.input).unwrap_or_default();
    (Kind::Command, format!("{} {}", ask.call.tool, canonical_text(&input)))
}

fn reasons(ask: &Ask) -> Vec<String> {
    let verdict: Value = serde_json::from_str(&ask.verdict).unwrap_or_default();
    let reasons = verdict.get("reasons").and_then(Value::as_array);
    let message = |reason: &Value| reason.get("message").and_then(Value::as_str).map(one_line);
    reasons.map(|reasons| reasons.iter().filter_map(message).collect()).unwrap_or_default()
}

/// What was decided.
pub(super) fn decided(decision: &Decision) -> &'static str {
    match (decision.outcome, decision.scope) {
        (Outcome::Allow, Scope::Once) => "allow",
        (Outcome::Allow, Scope::Run | Scope::Session | Scope::Always) => "allow-session",
        (Outcome::Ask | Outcome::Deny, Scope::Once) => "deny",
        (Outcome::Ask | Outcome::Deny, Scope::Run | Scope::Session | Scope::Always) => {
            "deny-session"
        }
    }
}

/// What subscribers are told about a settled ask.
pub(super) fn resolved(ask: &Ask, decision: &Decision, run: &str) -> Frame {
    let outcome = match (decision.state, decision.reason.as_str()) {
        (State::Expired, _) => "expired",
        (State::Cancelled, "withdrawn") => "withdrawn",
        (State::Cancelled, _) => "cancelled",
        (State::Pending | State::Approved | State::Rejected, _) => "decided",
    };
    Frame::PermissionResolved {
        run_id: run.to_owned(),
        request_id: id_text(ask.id),
        decision: decided(decision),
        by: decision.by.clone(),
        via: decision.door.clone(),
        outcome,
    }
}
