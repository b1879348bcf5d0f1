//! Docker agent, which Agentbot runs: its own events. (Without an event in the arguments the hook
//! is Agentbot's drop-in, [`crate::dropin`].)

use super::{Host, blocked};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "agentbot",
    events: EVENTS,
    read,
    say,
    fail: blocked,
    // Containers have nobody in front of them; `--native-ask auto` says that this one has.
    may_ask: super::never,
    takes: |_, _| true,
    may_pass: false,
    leaves_prompts: false,
    hides_reasons: false,
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
        run: None,
        call_id: fields.text("tool_use_id")?,
        agent: fields.text("agent_name")?,
        mode: None,
        is_attended: None,
        is_pascal: false,
        slot: String::new(),
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
        Answer::Defer | Answer::Nothing => {
            decision("deny", "Portcullis: there is no answer to this call [HOOK_DIALECT]")
        }
    }
}
