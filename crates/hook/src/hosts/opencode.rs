//! `OpenCode`, through our bridge plugin: `{"decision":…}`, and the plugin throws unless it allows.

use super::{Host, PLAIN, UNANSWERED, blocked_or_left};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "opencode",
    events: EVENTS,
    read,
    say,
    fail: blocked_or_left,
    takes: |_, _| true,
    ..PLAIN
};

const EVENTS: &[(&str, Part)] =
    &[("tool.execute.before", Part::Gate), ("tool.execute.after", Part::Result)];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event(EVENTS)?;
    Ok(Call {
        host: "opencode",
        part,
        event,
        tool: fields.need("tool_name")?,
        input: fields.object("tool_input")?,
        cwd: Some(fields.need("cwd")?),
        session: Some(fields.need("session_id")?),
        call_id: Some(fields.need("call_id")?),
        ..Call::default()
    })
}

fn say(call: &Call, answer: &Answer) -> Printed {
    if call.part != Part::Gate {
        return Printed::nothing();
    }
    let allow = ("decision", json::quoted("allow"));
    let deny = |reason: &str| {
        let members = [("decision", json::quoted("deny")), ("reason", json::quoted(reason))];
        Printed::document(json::object(&members))
    };
    match answer {
        Answer::Allow { input: None, .. } => Printed::document(json::object(&[allow])),
        Answer::Allow { input: Some(input), .. } => {
            Printed::document(json::object(&[allow, ("input", input.clone())]))
        }
        Answer::Ask(reason) | Answer::Deny(reason) => deny(reason),
        Answer::Defer | Answer::Nothing => deny(UNANSWERED),
    }
}
