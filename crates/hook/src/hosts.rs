//! The agent hosts: one row here, one file each under `hosts/`.
//!
//! A row says how a host's document is read and how an answer is said in its dialect. Nothing here
//! judges, waits or writes; [`crate::run`] and the daemon's `/v1/hooks/{host}` use the same rows.

mod agentbot;
mod amp;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod kiro;
mod opencode;
mod qwen;
mod windsurf;

use crate::answer::{Answer, Printed, edited};
use crate::call::{Call, Failure, Fields, Given, Part};

/// One agent host.
pub struct Host {
    /// The name in the arguments.
    pub name: &'static str,
    /// Its events, and what each wants.
    pub events: &'static [(&'static str, Part)],
    /// Reads its document.
    pub read: fn(&Given<'_>) -> Result<Call, Failure>,
    /// Says an answer.
    pub say: fn(&Call, &Answer) -> Printed,
    /// Says that there is no verdict and the document may be anything.
    pub fail: fn(Part, &str) -> Printed,
    /// Whether its own prompt may stand in for a person at this call.
    pub may_ask: fn(&Call) -> bool,
    /// Whether it runs exactly this input instead of the call's.
    pub takes: fn(&Call, &str) -> bool,
    /// Whether silence leaves an allowed call to its native rules.
    pub may_pass: bool,
    /// Whether silence at its prompt leaves the prompt to whoever sits there.
    pub leaves_prompts: bool,
    /// Whether a failure hides its reason from the model, so that a document is better.
    pub hides_reasons: bool,
}

/// What most hosts have in common: a failure blocks, nothing is left to the host, and an edited
/// input is not taken.
const PLAIN: Host = Host {
    name: "",
    events: &[],
    read: |_| Err(Failure::input("the host is unknown")),
    say: |_, answer| by_code(answer),
    fail: blocked,
    may_ask: never,
    takes: takes_nothing,
    may_pass: false,
    leaves_prompts: false,
    hides_reasons: false,
};

/// What is said where an answer does not fit the event.
const UNANSWERED: &str = "Portcullis: there is no answer to this call [HOOK_DIALECT]";

/// Every host.
pub const HOSTS: &[Host] = &[
    claude::HOST,
    codex::HOST,
    gemini::HOST,
    copilot::HOST,
    qwen::HOST,
    opencode::HOST,
    cursor::HOST,
    agentbot::HOST,
    amp::HOST,
    windsurf::HOST,
    kiro::HOST,
    droid::HOST,
    cline::HOST,
];

/// The host of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|host| host.name == name)
}

/// What Claude's approver tool calls itself among the entries of its host.
const APPROVER: &str = "mcp-approver";

/// Whether an entry of ours for a host has this slot: an event at which it asks.
#[must_use]
pub fn has_slot(host: Option<&str>, slot: &str) -> bool {
    let (Some(host), Some((entry, event))) = (host, slot.split_once('/')) else { return false };
    let fits = match entry {
        "agentbot" => host == "docker-agent",
        // Copilot reads this host's settings too.
        "claude" => matches!(host, "claude" | "copilot"),
        entry => host == entry,
    };
    let asks = |part: Part| matches!(part, Part::Gate | Part::Prompt);
    let is_known = find(entry)
        .is_some_and(|entry| entry.events.iter().any(|(name, part)| *name == event && asks(*part)));
    fits && (is_known || (entry == "claude" && event == APPROVER))
}

impl Host {
    /// Reads a document: whose it is, then what it says.
    ///
    /// # Errors
    /// It is another host's, or is not understood.
    pub fn call(&self, given: &Given<'_>) -> Result<Call, Failure> {
        let found = recognise(given.fields, given.variable);
        let fits = match (self.name, found) {
            (_, None) | ("claude", Some("copilot-pascal")) | ("droid", Some("claude")) => true,
            ("copilot", Some(found)) => found == "copilot" || found == "copilot-pascal",
            (name, Some(found)) => name == found,
        };
        if fits {
            let mut call = (self.read)(given)?;
            call.slot = format!("{}/{}", self.name, call.event);
            return Ok(call);
        }
        let text = format!("the document is not one of `{}`", self.name);
        Err(Failure::new("HOOK_WRONG_HOST", text))
    }

    /// What an event of this host wants; the gate where it is not known.
    #[must_use]
    pub fn part(&self, event: Option<&str>) -> Part {
        let named = |event: &str| self.events.iter().find(|(known, _)| *known == event);
        event.and_then(named).map_or(Part::Gate, |(_, part)| *part)
    }
}

/// Whose document this is, by its fields; the first row that fits counts.
fn recognise(
    fields: &Fields<'_>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Option<&'static str> {
    let has = |name: &str| fields.has(name);
    let event = fields.text("hook_event_name").ok().flatten().unwrap_or_default();
    let is_pascal = event.starts_with(|sign: char| sign.is_ascii_uppercase());
    if has("turn_id") && has("model") {
        return Some("codex");
    }
    if event == "BeforeTool" || event == "AfterTool" {
        return Some("gemini");
    }
    if is_pascal && has("transcript_path") {
        return Some(if has("timestamp") { "qwen" } else { "claude" });
    }
    if is_pascal && has("timestamp") {
        return Some("copilot-pascal");
    }
    if (has("sessionId") && has("toolName")) || (has("hookName") && has("toolInput")) {
        return Some("copilot");
    }
    if matches!(event.as_str(), "pre_tool_use" | "permission_request" | "post_tool_use") {
        return Some("agentbot");
    }
    if has("conversation_id") && has("generation_id") {
        return Some("cursor");
    }
    if has("agent_action_name") {
        return Some("windsurf");
    }
    if has("preToolUse") {
        return Some("cline");
    }
    if event == "preToolUse" {
        return Some("kiro");
    }
    if event.starts_with("tool.execute.") {
        return Some("opencode");
    }
    (event.is_empty() && variable("AGENT").as_deref() == Some("amp")).then_some("amp")
}

/// Exit code 2 with the reason, whatever the event.
fn blocked(_: Part, reason: &str) -> Printed {
    Printed::blocked(reason)
}

/// The same at a gate; silence where the host's own prompt follows.
fn blocked_or_left(part: Part, reason: &str) -> Printed {
    match part {
        Part::Gate => Printed::blocked(reason),
        Part::Prompt | Part::Result | Part::Notice => Printed::nothing(),
    }
}

/// The answer of a host that reads the exit code alone.
fn by_code(answer: &Answer) -> Printed {
    match answer {
        Answer::Allow { input: None, .. } => Printed::nothing(),
        Answer::Allow { input: Some(input), .. } => Printed::blocked(&edited(input)),
        Answer::Ask(reason) | Answer::Deny(reason) => Printed::blocked(reason),
        Answer::Defer | Answer::Nothing => Printed::blocked(UNANSWERED),
    }
}

/// The one root of a workspace that a document lists; none where there are several.
fn sole_root(fields: &Fields<'_>, name: &str) -> Result<Option<String>, Failure> {
    let Some(raw) = fields.raw(name) else { return Ok(None) };
    let roots: Vec<String> = serde_json::from_str(raw)
        .map_err(|_| Failure::input(format!("`{name}` is no list of texts")))?;
    Ok(match roots.as_slice() {
        [root] => Some(root.clone()),
        _ => None,
    })
}

/// `plan` tightens; every other mode of a host changes nothing.
fn mode(name: Option<&str>) -> Option<&'static str> {
    (name == Some("plan")).then_some("explore")
}

fn never(_: &Call) -> bool {
    false
}

fn takes_nothing(_: &Call, _: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::has_slot;

    #[test]
    fn a_slot_is_an_event_at_which_an_entry_of_the_host_asks() {
        for (host, slot) in [
            ("claude", "claude/PreToolUse"),
            ("claude", "claude/PermissionRequest"),
            ("claude", "claude/mcp-approver"),
            ("copilot", "copilot/preToolUse"),
            ("copilot", "claude/PreToolUse"),
            ("docker-agent", "agentbot/permission_request"),
        ] {
            assert!(has_slot(Some(host), slot), "{host} {slot}");
        }
        for (host, slot) in [
            (Some("claude"), "claude/PostToolUse"),
            (Some("claude"), "claude/1"),
            (Some("claude"), "codex/PreToolUse"),
            (Some("codex"), "claude/PreToolUse"),
            (Some("claude"), "mine"),
            (Some("x"), "x/1"),
            (None, "claude/PreToolUse"),
        ] {
            assert!(!has_slot(host, slot), "{host:?} {slot}");
        }
    }
}
