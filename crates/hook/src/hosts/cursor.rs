//! Cursor: one event for each kind of tool, and one for all of them that cannot ask.

use super::{Host, PLAIN, UNANSWERED, sole_root};
use crate::answer::{Answer, Printed};
use crate::call::{Call, Failure, Given, Part};
use crate::json;

/// The row.
pub const HOST: Host = Host {
    name: "cursor",
    events: EVENTS,
    read,
    say,
    may_ask: |call| matches!(call.event.as_str(), "beforeShellExecution" | "beforeMCPExecution"),
    ..PLAIN
};

const EVENTS: &[(&str, Part)] = &[
    ("beforeShellExecution", Part::Gate),
    ("beforeMCPExecution", Part::Gate),
    ("beforeReadFile", Part::Gate),
    ("preToolUse", Part::Gate),
];

fn read(given: &Given<'_>) -> Result<Call, Failure> {
    let fields = given.fields;
    let (event, part) = given.event(EVENTS)?;
    let text = |name: &str| Ok::<_, Failure>((name.to_owned(), json::quoted(&fields.need(name)?)));
    let (tool, input) = match event.as_str() {
        "beforeShellExecution" => {
            let (name, command) = text("command")?;
            (event.clone(), json::object(&[(&name, command)]))
        }
        "beforeReadFile" => {
            // The content that comes along is neither judged nor kept.
            let (name, path) = text("file_path")?;
            (event.clone(), json::object(&[(&name, path)]))
        }
        "beforeMCPExecution" => {
            (format!("MCP:{}", fields.need("tool_name")?), fields.object_or_text("tool_input")?)
        }
        _ => (fields.need("tool_name")?, fields.object_or_text("tool_input")?),
    };
    Ok(Call {
        host: "cursor",
        part,
        tool,
        input,
        cwd: match fields.text("cwd")?.filter(|cwd| !cwd.is_empty()) {
            Some(cwd) => Some(cwd),
            None => sole_root(fields, "workspace_roots")?,
        },
        session: Some(fields.need("conversation_id")?),
        run: fields.text("generation_id")?,
        event,
        ..Call::default()
    })
}

fn say(_: &Call, answer: &Answer) -> Printed {
    let deny = |reason: &str| {
        Printed::document(json::object(&[
            ("permission", json::quoted("deny")),
            ("user_message", json::quoted(reason)),
            ("agent_message", json::quoted(reason)),
        ]))
    };
    match answer {
        Answer::Allow { input: None, .. } => {
            Printed::document(json::object(&[("permission", json::quoted("allow"))]))
        }
        Answer::Allow { input: Some(input), .. } => deny(&crate::answer::edited(input)),
        Answer::Ask(reason) => Printed::document(json::object(&[
            ("permission", json::quoted("ask")),
            ("user_message", json::quoted(reason)),
        ])),
        Answer::Deny(reason) => deny(reason),
        Answer::Defer | Answer::Nothing => deny(UNANSWERED),
    }
}
