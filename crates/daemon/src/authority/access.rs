//! Accesses: calls in the form of a kind and a resource, judged by the gates of their run.
//!
//! The gates are parts of the one policy: [`RunAccess::lay`] lays what the run starts with, or
//! what was changed since, over the policy of the call. What is remembered of a person's answer is
//! remembered of the resource a path leads to, not of how it was written.

use std::sync::Arc;

use portcullis_approval::ask::Written;
use portcullis_approval::canonical::quoted;
use portcullis_approval::{Ask, CallText, Decision, Grant, Granted, State};
use portcullis_engine::pattern::json::canonical_text;
use portcullis_engine::place::{Ground, NOWHERE};
use portcullis_engine::policy::Gate;
use portcullis_engine::policy_text::Security;
use portcullis_engine::tool::{Field, ToolKind, ToolText};
use portcullis_engine::{Mode, Outcome, Policy, Verdict};
use portcullis_wire::calls::{MOST_PREVIEW, Refusal};
use serde_json::{Value, json};

use super::runs::{About, GateChange};
use super::{Authority, Fault, Submission, judging};

/// What no access may touch, where the policy has no gates of its own.
const FORBIDDEN: [&str; 9] = [
    ".git/**",
    "**/.env*",
    "**/*.pem",
    "**/*.key",
    "**/id_rsa*",
    "**/secrets/**",
    "**/.npmrc",
    "**/.yarnrc",
    "**/*.crt",
];

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads a file.
    Read,
    /// Writes or removes one.
    Write,
    /// Runs a command.
    Command,
}

impl Kind {
    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        match name {
            "fs.read" => Some(Kind::Read),
            "fs.write" => Some(Kind::Write),
            "command.execute" => Some(Kind::Command),
            _ => None,
        }
    }
}

/// An access and the run it belongs to.
#[derive(Clone, Debug)]
pub struct RunAccess {
    /// What it does.
    pub kind: Kind,
    /// What it would write.
    pub written: Written,
    /// What is known of the run.
    pub about: Arc<About>,
    /// Whether its files are taken for this machine's without proof: then it must also pass as it
    /// is written.
    pub is_near: bool,
}

/// How an access comes.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Whether the run learns of the tool.
    pub leaves_traces: bool,
    /// Whether nobody but this machine reaches the listener it came through.
    pub is_near: bool,
}

impl RunAccess {
    /// The policy of a tool of the run.
    #[must_use]
    pub fn lay(&self, policy: &Policy, tool: &str, names_deadline: bool) -> Policy {
        let mut policy = policy.clone();
        policy.mode = match policy.mode {
            Mode::Explore | Mode::DontAsk => policy.mode,
            Mode::Default | Mode::AcceptEdits | Mode::Bypass => Mode::Default,
        };
        policy.hopeless = Outcome::Deny;
        policy.opened = None;
        // Another dialect's table of commands, unless it shuts the shell.
        policy.exec = policy.exec.filter(|exec| exec.security == Security::Deny);
        if !names_deadline {
            policy.asks.deadline_s = 0;
        }
        let mut paths = (*policy.paths).clone();
        if paths.read.is_none() && paths.write.is_none() {
            paths.forbidden.extend(FORBIDDEN.map(str::to_owned));
        }
        let gates = self.about.gates_of(tool);
        change(&policy, "paths.read", &mut paths.read, &mut paths.read_deny, &gates.read);
        change(&policy, "paths.write", &mut paths.write, &mut paths.write_deny, &gates.write);
        policy.with_paths(paths).with_declared(&declared(tool, self.kind))
    }
}

/// A gate with what was changed in it; what a layer locked stays.
fn change(
    policy: &Policy,
    key: &str,
    gate: &mut Option<Gate>,
    deny: &mut Vec<String>,
    change: &GateChange,
) {
    let gate =
        gate.get_or_insert_with(|| Gate { allow: vec!["**".to_owned()], default: Outcome::Ask });
    deny.extend_from_slice(&change.deny);
    if !policy.is_locked(&format!("{key}.allow")) {
        gate.allow.extend_from_slice(&change.allow);
    }
    let default = match change.default.as_deref() {
        Some("allow") => Some(Outcome::Allow),
        Some("deny") => Some(Outcome::Deny),
        Some("ask") => Some(Outcome::Ask),
        _ => None,
    };
    if let Some(default) = default.filter(|_| !policy.is_locked(&format!("{key}.default"))) {
        gate.default = default;
    }
}

/// A tool as it is for one kind of access, whatever it is otherwise.
fn declared(tool: &str, kind: Kind) -> ToolText {
    let (kind, field) = match kind {
        Kind::Read => (ToolKind::Read, Field::Path),
        Kind::Write => (ToolKind::Write, Field::Path),
        Kind::Command => (ToolKind::Shell, Field::Command),
    };
    let names = vec!["given".to_owned(), "resource".to_owned()];
    ToolText {
        name: tool.to_owned(),
        kind: Some(kind),
        fields: vec![(field, names)],
        ..ToolText::default()
    }
}

/// The kind and resource of an access by its input, as grants remember it.
#[must_use]
pub fn key_of(input: &str) -> Option<(Kind, String, Value)> {
    let value: Value = serde_json::from_str(input).ok()?;
    let members = value.as_object()?;
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let (kind, resource) = (text("kind")?, text("resource")?);
    let is_known = |name: &String| matches!(name.as_str(), "kind" | "resource" | "given");
    if !members.keys().all(is_known) {
        return None;
    }
    let key = json!({ "kind": kind, "resource": resource });
    Some((Kind::named(kind)?, resource.to_owned(), key))
}

/// The digest of an access: whoever executes it knows its resource, not how it was written.
pub(super) fn digest(call: &CallText) -> Option<String> {
    let (_, _, key) = key_of(&call.input)?;
    call.with_input(&canonical_text(&key)).digest()
}

/// The grants as the engine sees them for one access: one of its resource is one of this call.
pub(super) fn on_access(grants: Vec<Arc<Grant>>, call: &CallText) -> Vec<Arc<Grant>> {
    let Some((_, _, key)) = key_of(&call.input) else { return grants };
    let key = canonical_text(&key);
    let mapped = |grant: Arc<Grant>| {
        let Granted::Exact { tool, input, cwd, reply } = &grant.granted else { return grant };
        let is_this = key_of(input).is_some_and(|(_, _, other)| canonical_text(&other) == key);
        if !is_this {
            return grant;
        }
        let granted = Granted::Exact {
            tool: tool.clone(),
            input: call.input.clone(),
            cwd: cwd.clone(),
            reply: *reply,
        };
        Arc::new(Grant { granted, ..(*grant).clone() })
    };
    grants.into_iter().map(mapped).collect()
}

/// What an answer to an ask about an access leaves behind speaks about its resource.
pub(super) fn narrow(ask: &Ask, grants: &mut [Grant]) {
    if ask.bound.access.is_none() {
        return;
    }
    for grant in grants {
        if let Granted::Exact { input, .. } = &mut grant.granted
            && let Some((_, _, key)) = key_of(input)
        {
            *input = canonical_text(&key);
        }
    }
}

impl Authority {
    /// Turns a submission into an access of its run.
    ///
    /// # Errors
    /// No such run goes on, or the store cannot be read.
    pub async fn as_access(
        &self,
        submission: &mut Submission,
        kind: Kind,
        written: Written,
        how: How,
    ) -> Result<(), Fault> {
        let is_near = how.is_near && matches!(submission.seen, super::Seen::Nothing);
        if is_near {
            submission.seen = super::Seen::Live;
        }
        let name = submission.call.run.clone().unwrap_or_default();
        let mut run = self.attach(&submission.asker, &name).await?;
        let tool = submission.call.tool.clone();
        let is_command = kind == Kind::Command;
        if how.leaves_traces {
            let noted = self.change_run(&run, &submission.asker.agent, |about| {
                let data = vec![("tool", quoted(&tool))];
                about.note_tool(&tool, is_command).then_some(("run.used", data))
            });
            run = noted.await?.unwrap_or(run);
        }
        let about = About::of(&run);
        let call = &mut submission.call;
        // The run's folder is where its paths hang; a command runs where it says.
        if !is_command || call.cwd.is_none() {
            call.cwd = about.cwd.clone().or_else(|| call.cwd.take());
        }
        let given = submission.input.get("resource").and_then(Value::as_str).unwrap_or_default();
        let input = if is_command {
            submission.input.clone()
        } else {
            located(call, &submission.input, given, &submission.seen)
        };
        call.input = canonical_text(&input);
        submission.input = input;
        let preview = written.preview.map(|text| text.chars().take(MOST_PREVIEW).collect());
        let written = Written { preview, ..written };
        submission.access = Some(RunAccess { kind, written, about: Arc::new(about), is_near });
        Ok(())
    }

    /// The access an ask is about, under what is known of its run now.
    pub(super) async fn access_of(&self, ask: &Ask) -> Result<Option<RunAccess>, Fault> {
        let (Some(written), Some(run)) = (&ask.bound.access, &ask.call.run) else {
            return Ok(None);
        };
        let Some((kind, _, _)) = key_of(&ask.call.input) else { return Ok(None) };
        let runs = self.store().runs_named(run).await?;
        let own = runs.iter().rev().filter(|run| self.may_attach(&ask.asker, run));
        let about = own.max_by_key(|run| run.ended_at.is_none()).map(About::of).unwrap_or_default();
        let about = Arc::new(about);
        Ok(Some(RunAccess { kind, written: written.clone(), about, is_near: false }))
    }
}

/// The input of a file's access, with where its path leads.
fn located(call: &CallText, input: &Value, given: &str, seen: &super::Seen) -> Value {
    let world = judging::world(seen);
    let cwd = call.cwd.as_deref().unwrap_or(NOWHERE);
    let ground = Ground::new(cwd, call.home.as_deref(), &[], &*world);
    let Some(place) = ground.place(given, &ground.cwd, &*world) else { return input.clone() };
    let kind = input.get("kind").cloned().unwrap_or_default();
    let resource = place.resolved.unwrap_or_else(|| place.normalised.clone());
    if resource == given {
        return json!({ "kind": kind, "resource": resource });
    }
    // As it was written: what is denied is denied under either name, and `..` behind a link leads
    // elsewhere than a look at the text tells.
    json!({ "given": given, "kind": kind, "resource": resource })
}

/// Whether the path of an access still leads where it led.
pub(super) fn leads_there(ask: &Ask) -> bool {
    let Some((kind, resource, _)) = key_of(&ask.call.input) else { return true };
    if kind == Kind::Command || ask.bound.access.is_none() {
        return true;
    }
    let Ok(input) = serde_json::from_str::<Value>(&ask.call.input) else { return false };
    let given = input.get("given").and_then(Value::as_str).unwrap_or(&resource);
    let now = located(&ask.call, &input, given, &super::Seen::Live);
    now.get("resource").and_then(Value::as_str) == Some(&resource)
}

/// Why an access is refused, by its verdict and how its ask ended.
#[must_use]
pub fn refusal(verdict: &Verdict, decision: Option<&Decision>) -> Refusal {
    let denied = |cause| Refusal { code: "permission_denied", cause: Some(cause) };
    if let Some(decision) = decision {
        return match (decision.state, decision.reason.as_str()) {
            (State::Expired, _) => denied("expired"),
            (State::Cancelled, _) => denied("cancelled"),
            (_, "approver") => denied("rejected"),
            (State::Pending | State::Approved | State::Rejected, code) => by_code(code),
        };
    }
    by_code(verdict.reasons.first().map_or("", |reason| &reason.code))
}

fn by_code(code: &str) -> Refusal {
    let denied = |cause| Refusal { code: "permission_denied", cause: Some(cause) };
    match code {
        "paths.jail" | "paths.absolute" => Refusal { code: "outside_workspace", cause: None },
        "paths.forbidden" => denied("forbidden"),
        "grant" => denied("session-deny"),
        _ => denied("denied"),
    }
}
