//! Docker agent, which Agentbot runs: its own events. (Without an event in the arguments the hook
//! is Agentbot's drop-in, [`crate::dropin`].)

use super::{Host, PLAIN, UNANSWERED};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "agentbot",
    events: EVENTS,
    read,
    say,
    // Containers have nobody in front of them; `--native-ask auto` says that this one has.
    takes: |_, _| true,
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[
    ("pre_tool_use", Part::Gate),
    ("permission_request", Part::Prompt),
    ("post_tool_use", Part::Result),
];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event(EVENTS)?;
    Ok(Call {
        host: "docker-agent",
        part,
        event,
        tool: fields.need("tool_name")?,
        input: fields.object("tool_input")?,
        cwd: Some(fields.need("cwd")?),
        session: Some(fields.need("session_id")?),
        call_id: fields.text("tool_use_id")?,
        agent: fields.text("agent_name")?,
        ..Call::default()
    })
}

fn say(call: &Call, answer: &Answer) -> Printed {
    let said = |members: &[(&str, String)]| {
        let mut all = vec![("hook_event_name", json::quoted(&call.event))];
        all.extend(members.iter().cloned());
        Printed::document(json::object(&[("hook_specific_output", json::object(&all))]))
    };
    let decision = |word: &str, reason: &str| {
        said(&[
            ("permission_decision", json::quoted(word)),
            ("permission_decision_reason", json::quoted(reason)),
        ])
    };
    if matches!(call.part, Part::Result | Part::Notice) {
        return Printed::nothing();
    }
    match answer {
        Answer::Allow { reason, input: None } => decision("allow", reason),
        Answer::Allow { input: Some(input), .. } => said(&[
            ("permission_decision", json::quoted("allow")),
            ("updated_input", input.clone()),
        ]),
        Answer::Ask(reason) => decision("ask", reason),
        Answer::Deny(reason) => decision("deny", reason),
        Answer::Defer | Answer::Nothing => decision("deny", UNANSWERED),
    }
}
