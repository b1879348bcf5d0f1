//! Kiro, by its documentation: exit code 2 with the reason, or nothing.

use super::{Host, PLAIN};
use crate::call::{Call, Failure, Given, Part};

/// The row.
pub const HOST: Host = Host { name: "kiro", events: EVENTS, read, ..PLAIN };

const EVENTS: &[(&str, Part)] = &[("preToolUse", Part::Gate), ("PreToolUse", Part::Gate)];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event(EVENTS)?;
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
