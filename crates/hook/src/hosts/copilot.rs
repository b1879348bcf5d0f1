//! GitHub Copilot CLI: two dialects of documents, and a failure that hides its reason.

use super::{Host, PLAIN, UNANSWERED, claude, mode};
use crate::answer::{Answer, Printed, edited};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "copilot",
    events: EVENTS,
    read,
    say,
    fail,
    may_ask: |call| call.part == Part::Gate,
    takes: |call, _| call.part == Part::Gate,
    may_pass: true,
    hides_reasons: true,
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[
    ("preToolUse", Part::Gate),
    ("permissionRequest", Part::Prompt),
    ("postToolUse", Part::Result),
    ("PreToolUse", Part::Gate),
    ("PostToolUse", Part::Result),
];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    if fields.has("hook_event_name") {
        let mut call = claude::like(given, "copilot", EVENTS)?;
        call.is_pascal = true;
        return Ok(call);
    }
    let said = match fields.text("hookName")? {
        Some(name) => Some(name),
        // Result events alone carry a result; the gate is the other one.
        None if fields.has("toolResult") => Some("postToolUse".to_owned()),
        None => Some("preToolUse".to_owned()),
    };
    let (event, part) = given.event_of(said, EVENTS)?;
    let input = if fields.has("toolArgs") { "toolArgs" } else { "toolInput" };
    Ok(Call {
        host: "copilot",
        part,
        event,
        tool: fields.need("toolName")?,
        input: fields.object_or_text(input)?,
        cwd: Some(fields.need("cwd")?),
        session: Some(fields.need("sessionId")?),
        mode: mode(None),
        ..Call::default()
    })
}

fn say(call: &Call, answer: &Answer) -> Printed {
    match call.part {
        Part::Gate if call.is_pascal => claude::gate(&call.event, answer),
        Part::Gate => gate(answer),
        Part::Prompt => prompt(answer),
        Part::Result | Part::Notice => Printed::nothing(),
    }
}

fn gate(answer: &Answer) -> Printed {
    let decision = |word: &str, reason: &str| {
        Printed::document(json::object(&[
            ("permissionDecision", json::quoted(word)),
            ("permissionDecisionReason", json::quoted(reason)),
        ]))
    };
    match answer {
        Answer::Allow { input: Some(input), .. } => Printed::document(json::object(&[
            ("permissionDecision", json::quoted("allow")),
            ("modifiedArgs", input.clone()),
        ])),
        Answer::Allow { reason, input: None } => decision("allow", reason),
        Answer::Ask(reason) => decision("ask", reason),
        Answer::Deny(reason) => decision("deny", reason),
        Answer::Defer => decision("deny", "Portcullis: this host cannot wait [HOOK_DIALECT]"),
        Answer::Nothing => Printed::nothing(),
    }
}

fn prompt(answer: &Answer) -> Printed {
    let deny = |reason: &str| {
        let members = [("behavior", json::quoted("deny")), ("message", json::quoted(reason))];
        Printed::document(json::object(&members))
    };
    match answer {
        Answer::Allow { input: None, .. } => {
            Printed::document(json::object(&[("behavior", json::quoted("allow"))]))
        }
        Answer::Allow { input: Some(input), .. } => deny(&edited(input)),
        Answer::Ask(reason) | Answer::Deny(reason) => deny(reason),
        Answer::Defer | Answer::Nothing => deny(UNANSWERED),
    }
}

fn fail(part: Part, reason: &str) -> Printed {
    match part {
        Part::Gate => Printed::blocked(reason),
        Part::Prompt => prompt(&Answer::Deny(reason.to_owned())),
        Part::Result | Part::Notice => Printed::nothing(),
    }
}
