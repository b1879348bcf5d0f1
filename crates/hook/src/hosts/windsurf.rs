//! Windsurf, by its documentation: exit code 2 with the reason, or nothing.

use super::{Host, PLAIN};
use crate::call::{Call, Failure, Given, Part};

/// The row.
pub const HOST: Host = Host { name: "windsurf", events: EVENTS, read, ..PLAIN };

const EVENTS: &[(&str, Part)] = &[
    ("pre_run_command", Part::Gate),
    ("pre_write_code", Part::Gate),
    ("pre_read_code", Part::Gate),
    ("pre_mcp_tool_use", Part::Gate),
];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event_of(fields.text("agent_action_name")?, EVENTS)?;
    let info =
        fields.inside("tool_info")?.ok_or_else(|| Failure::input("`tool_info` is missing"))?;
    Ok(Call {
        host: "windsurf",
        part,
        tool: event.clone(),
        input: fields.object("tool_info")?,
        cwd: info.text("cwd")?,
        session: Some(fields.need("trajectory_id")?),
        run: fields.text("execution_id")?,
        event,
        ..Call::default()
    })
}
