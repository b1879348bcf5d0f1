//! Codex CLI: silence is the only way to allow, and it has no ask.

use super::{Host, PLAIN, UNANSWERED, blocked_or_left, claude};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Failure, Given, Part};

/// The row.
pub const HOST: Host = Host {
    name: "codex",
    events: EVENTS,
    read,
    say,
    fail: blocked_or_left,
    takes: |call, _| call.part == Part::Gate,
    leaves_prompts: true,
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[
    ("PreToolUse", Part::Gate),
    ("PermissionRequest", Part::Prompt),
    ("PostToolUse", Part::Result),
];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let mut call = claude::like(given, "codex", EVENTS)?;
    if call.part == Part::Gate && call.call_id.is_none() {
        return Err(Failure::input("`tool_use_id` is missing"));
    }
    call.run = given.fields.text("turn_id")?;
    Ok(call)
}

fn say(call: &Call, answer: &Answer) -> Printed {
    match (call.part, answer) {
        // An allow without a new input makes the hook "failed", and the tool runs unjudged.
        (Part::Gate, Answer::Allow { input: None, .. }) | (Part::Result | Part::Notice, _) => {
            Printed::nothing()
        }
        (Part::Gate, Answer::Allow { .. } | Answer::Deny(_)) => claude::gate(&call.event, answer),
        (Part::Gate, Answer::Ask(reason)) => {
            claude::gate(&call.event, &Answer::Deny(reason.clone()))
        }
        (Part::Gate, Answer::Defer | Answer::Nothing) => Printed::blocked(UNANSWERED),
        (Part::Prompt, _) => claude::prompt(&call.event, answer, false),
    }
}
