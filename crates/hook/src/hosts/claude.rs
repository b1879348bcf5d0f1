//! Claude Code; and what Qwen Code, Droid, Codex and Copilot's second dialect share with it.

use super::{Host, PLAIN, blocked_or_left, mode};
use crate::answer::{Answer, Printed, edited, specific};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "claude",
    events: EVENTS,
    read,
    say,
    fail: blocked_or_left,
    may_ask: |_| true,
    takes: |_, _| true,
    may_pass: true,
    leaves_prompts: true,
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[
    ("PreToolUse", Part::Gate),
    ("PermissionRequest", Part::Prompt),
    ("PostToolUse", Part::Result),
    ("PostToolUseFailure", Part::Result),
    ("Notification", Part::Notice),
];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    // Copilot reads this host's settings too; it names no call and no transcript.
    let is_copilot = !given.fields.has("transcript_path") && given.fields.has("timestamp");
    let host = if is_copilot { "copilot" } else { "claude" };
    let mut call = like(given, host, EVENTS)?;
    call.is_attended = (given.variable)("CLAUDE_CODE_SESSION_ATTENDED").map(|value| value != "0");
    if !given.fields.has("hook_event_name") {
        return Err(Failure::input("`hook_event_name` is missing"));
    }
    if call.part == Part::Gate && !is_copilot && call.call_id.is_none() {
        return Err(Failure::input("`tool_use_id` is missing"));
    }
    Ok(call)
}

/// Reads the fields that hosts like this one share.
pub fn like(
    given: &Given<'_>,
    host: &'static str,
    events: &[(&str, Part)],
) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event(events)?;
    let is_call = part != Part::Notice;
    let call_id = match fields.text("tool_use_id")? {
        Some(id) => Some(id),
        None => fields.text("tool_call_id")?,
    };
    Ok(Call {
        host,
        part,
        tool: if is_call { fields.need("tool_name")? } else { event.clone() },
        input: if is_call { fields.object("tool_input")? } else { "{}".to_owned() },
        cwd: Some(fields.need("cwd")?),
        session: Some(fields.need("session_id")?),
        call_id,
        agent: fields.text("agent_type")?,
        mode: mode(fields.text("permission_mode")?.as_deref()),
        event,
        ..Call::default()
    })
}

fn say(call: &Call, answer: &Answer) -> Printed {
    match call.part {
        Part::Gate => gate(&call.event, answer),
        Part::Prompt => prompt(&call.event, answer, true),
        Part::Result | Part::Notice => Printed::nothing(),
    }
}

/// The answer of a gate.
pub fn gate(event: &str, answer: &Answer) -> Printed {
    let decision = |word: &str, reason: &str| {
        let reason = ("permissionDecisionReason", json::quoted(reason));
        Printed::document(specific(event, &[("permissionDecision", json::quoted(word)), reason]))
    };
    match answer {
        Answer::Allow { input: Some(input), .. } => {
            let members =
                [("permissionDecision", json::quoted("allow")), ("updatedInput", input.clone())];
            Printed::document(specific(event, &members))
        }
        Answer::Allow { reason, input: None } => decision("allow", reason),
        Answer::Ask(reason) => decision("ask", reason),
        Answer::Deny(reason) => decision("deny", reason),
        Answer::Defer => {
            Printed::document(specific(event, &[("permissionDecision", json::quoted("defer"))]))
        }
        Answer::Nothing => Printed::nothing(),
    }
}

/// The answer to the host's own prompt; whoever takes no other input is told to deny.
pub fn prompt(event: &str, answer: &Answer, takes_input: bool) -> Printed {
    let decision = |members: &[(&str, String)]| {
        Printed::document(specific(event, &[("decision", json::object(members))]))
    };
    let deny = |reason: &str| {
        decision(&[("behavior", json::quoted("deny")), ("message", json::quoted(reason))])
    };
    match answer {
        Answer::Allow { input: None, .. } => decision(&[("behavior", json::quoted("allow"))]),
        Answer::Allow { input: Some(input), .. } if takes_input => {
            decision(&[("behavior", json::quoted("allow")), ("updatedInput", input.clone())])
        }
        Answer::Allow { input: Some(input), .. } => deny(&edited(input)),
        Answer::Deny(reason) => deny(reason),
        Answer::Ask(_) | Answer::Defer | Answer::Nothing => Printed::nothing(),
    }
}
