//! Cline, by its documentation: a failing hook goes on there, so every answer is a document.

use super::{Host, PLAIN, UNANSWERED, sole_root};
use crate::answer::{Answer, Printed, edited};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "cline",
    events: EVENTS,
    read,
    say,
    fail: |_, reason| cancelled(reason),
    hides_reasons: true,
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[("PreToolUse", Part::Gate)];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event_of(fields.text("hookName")?, EVENTS)?;
    let call = fields.inside("preToolUse")?;
    let call = call.ok_or_else(|| Failure::input("`preToolUse` is missing"))?;
    Ok(Call {
        host: "cline",
        part,
        event,
        tool: call.need("toolName")?,
        input: call.object("parameters")?,
        cwd: sole_root(fields, "workspaceRoots")?,
        session: Some(fields.need("taskId")?),
        ..Call::default()
    })
}

fn say(_: &Call, answer: &Answer) -> Printed {
    match answer {
        Answer::Allow { input: None, .. } => {
            Printed::document(json::object(&[("cancel", "false".to_owned())]))
        }
        Answer::Allow { input: Some(input), .. } => cancelled(&edited(input)),
        Answer::Ask(reason) | Answer::Deny(reason) => cancelled(reason),
        Answer::Defer | Answer::Nothing => cancelled(UNANSWERED),
    }
}

fn cancelled(reason: &str) -> Printed {
    let members = [("cancel", "true".to_owned()), ("errorMessage", json::quoted(reason))];
    Printed::document(json::object(&members))
}
