//! Amp: the tool's parameters on standard input, its name in the environment, the exit code as
//! the answer.

use super::{Host, PLAIN, by_code};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Failure, Given, Part};

/// The row.
pub const HOST: Host =
    Host { name: "amp", events: &[("delegate", Part::Gate)], read, say, ..PLAIN };

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    if given.options.event.as_deref().is_some_and(|event| event != "delegate") {
        return Err(Failure::input("the event is unknown"));
    }
    let variable = |name: &str| (given.variable)(name).filter(|value| !value.is_empty());
    let tool = variable("AGENT_TOOL_NAME");
    Ok(Call {
        host: "amp",
        part: Part::Gate,
        event: "delegate".to_owned(),
        tool: tool.ok_or_else(|| Failure::input("AGENT_TOOL_NAME names no tool"))?,
        input: given.text.trim().to_owned(),
        cwd: given.directory.map(str::to_owned),
        session: variable("AMP_THREAD_ID"),
        ..Call::default()
    })
}

fn say(_: &Call, answer: &Answer) -> Printed {
    match answer {
        Answer::Ask(_) => Printed { code: 1, ..Printed::default() },
        Answer::Allow { .. } | Answer::Deny(_) | Answer::Defer | Answer::Nothing => by_code(answer),
    }
}
