//! Kiro, by its documentation: exit code 2 with the reason, or nothing.

use super::{Host, PLAIN};
use crate::call::{Call, Failure, Given, Part};

/// The row.
pub const HOST: Host = Host { name: "kiro", events: EVENTS, read, ..PLAIN };

const EVENTS: &[(&str, Part)] = &[("preToolUse", Part::Gate), ("PreToolUse", Part::Gate)];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    // Its releases spell the one event in two ways, and the arguments may have the other.
    let said = fields.text("hook_event_name")?;
    let named = given.options.event.as_ref();
    let same = named.filter(|named| said.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(named)));
    let (event, part) = given.event_of(same.cloned().or(said), EVENTS)?;
    Ok(Call {
        host: "kiro",
        part,
        event,
        tool: fields.need("tool_name")?,
        input: fields.object("tool_input")?,
        cwd: Some(fields.need("cwd")?),
        session: fields.text("session_id")?,
        ..Call::default()
    })
}
