//! Windsurf, by its documentation: exit code 2 with the reason, or nothing.

use super::{Host, blocked, never, takes_nothing};
use crate::answer::{Answer, Printed, edited};
use crate::call::{Call, Failure, Given, Part};

/// The row.
pub const HOST: Host = Host {
    name: "windsurf",
    events: EVENTS,
    read,
    say: |_, answer| by_code(answer),
    fail: blocked,
    may_ask: never,
    takes: takes_nothing,
    may_pass: false,
    leaves_prompts: false,
    hides_reasons: false,
};

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
        call_id: None,
        agent: None,
        mode: None,
        is_attended: None,
        is_pascal: false,
        slot: String::new(),
        event,
    })
}

/// The answer of a host that reads the exit code alone.
pub fn by_code(answer: &Answer) -> Printed {
    match answer {
        Answer::Allow { input: None, .. } => Printed::nothing(),
        Answer::Allow { input: Some(input), .. } => Printed::blocked(&edited(input)),
        Answer::Ask(reason) | Answer::Deny(reason) => Printed::blocked(reason),
        Answer::Defer | Answer::Nothing => {
            Printed::blocked("Portcullis: there is no answer to this call [HOOK_DIALECT]")
        }
    }
}
