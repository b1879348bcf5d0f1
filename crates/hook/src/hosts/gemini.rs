//! Gemini CLI: `{"decision":…}`; a new input is merged over the old one, and it has no ask.

use serde_json::Value;

use super::{Host, PLAIN, UNANSWERED, blocked_or_left, claude};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "gemini",
    events: EVENTS,
    read,
    say,
    fail: blocked_or_left,
    takes: |call, input| keeps_fields(&call.input, input),
    ..PLAIN
};

const EVENTS: &[(&str, Part)] =
    &[("BeforeTool", Part::Gate), ("AfterTool", Part::Result), ("Notification", Part::Notice)];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let mut call = claude::like(given, "gemini", EVENTS)?;
    if let Some(server) = given.fields.inside("mcp_context")?
        && let (Some(name), Some(tool)) = (server.text("server_name")?, server.text("tool_name")?)
    {
        call.tool = format!("mcp__{name}__{tool}");
    }
    Ok(call)
}

fn say(call: &Call, answer: &Answer) -> Printed {
    if call.part != Part::Gate {
        return Printed::nothing();
    }
    let deny = |reason: &str| {
        let members = [("decision", json::quoted("deny")), ("reason", json::quoted(reason))];
        Printed::document(json::object(&members))
    };
    let allow = ("decision", json::quoted("allow"));
    match answer {
        Answer::Allow { input: None, .. } => Printed::document(json::object(&[allow])),
        Answer::Allow { input: Some(input), .. } => {
            let specific = json::object(&[
                ("hookEventName", json::quoted(&call.event)),
                ("tool_input", input.clone()),
            ]);
            Printed::document(json::object(&[allow, ("hookSpecificOutput", specific)]))
        }
        Answer::Ask(reason) | Answer::Deny(reason) => deny(reason),
        Answer::Defer | Answer::Nothing => deny(UNANSWERED),
    }
}

/// Whether merging `new` over `old` gives `new`: no field of the old one is gone.
fn keeps_fields(old: &str, new: &str) -> bool {
    fn covers(old: &Value, new: &Value) -> bool {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => {
                old.iter().all(|(name, old)| new.get(name).is_some_and(|new| covers(old, new)))
            }
            (_, Value::Object(_)) => false,
            _ => true,
        }
    }
    match (serde_json::from_str(old), serde_json::from_str(new)) {
        (Ok(old), Ok(new)) => covers(&old, &new),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_that_removes_a_field_cannot_be_merged() {
        let old = r#"{"command":"a","more":{"x":1}}"#;
        assert!(keeps_fields(old, r#"{"command":"b","more":{"x":2},"new":1}"#));
        assert!(!keeps_fields(old, r#"{"command":"b"}"#));
        assert!(!keeps_fields(old, r#"{"command":"b","more":{}}"#));
        assert!(!keeps_fields(old, "no object"));
    }
}
