//! Cline, by its documentation: a failing hook goes on there, so every answer is a document.

use super::{Host, never, takes_nothing};
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
    may_ask: never,
    takes: takes_nothing,
    may_pass: false,
    leaves_prompts: false,
    hides_reasons: true,
};

const EVENTS: &[(&str, Part)] = &[("PreToolUse", Part::Gate)];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event_of(fields.text("hookName")?, EVENTS)?;
    let call = fields.inside("preToolUse")?;
    let call = call.ok_or_else(|| Failure::input("`preToolUse` is missing"))?;
    let roots: Vec<String> = match fields.raw("workspaceRoots") {
        None => Vec::new(),
        Some(raw) => serde_json::from_str(raw)
            .map_err(|_| Failure::input("`workspaceRoots` is no list of texts"))?,
    };
    Ok(Call {
        host: "cline",
        part,
        event,
        tool: call.need("toolName")?,
        input: call.object("parameters")?,
        cwd: match roots.as_slice() {
            [root] => Some(root.clone()),
            _ => None,
        },
        session: Some(fields.need("taskId")?),
        run: None,
        call_id: None,
        agent: None,
        mode: None,
        is_attended: None,
        is_pascal: false,
        slot: String::new(),
    })
}

fn say(_: &Call, answer: &Answer) -> Printed {
    match answer {
        Answer::Allow { input: None, .. } => {
            Printed::document(json::object(&[("cancel", "false".to_owned())]))
        }
        Answer::Allow { input: Some(input), .. } => cancelled(&edited(input)),
        Answer::Ask(reason) | Answer::Deny(reason) => cancelled(reason),
        Answer::Defer | Answer::Nothing => {
            cancelled("Portcullis: there is no answer to this call [HOOK_DIALECT]")
        }
    }
}

fn cancelled(reason: &str) -> Printed {
    let members = [("cancel", "true".to_owned()), ("errorMessage", json::quoted(reason))];
    Printed::document(json::object(&members))
}
