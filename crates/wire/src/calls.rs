//! A call as an agent submits it, and the answer to it.

use std::collections::BTreeMap;

use portcullis_approval::CallText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::asks::Decision;
use crate::body;
use crate::errors::Error;
use crate::json;

/// The longest a request is held, in milliseconds; a larger wish counts as this.
pub const MOST_WAIT_MS: u64 = 600_000;

/// `POST /v1/calls` and `POST /v1/check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The host's name for the tool.
    pub tool: String,
    /// Its input.
    pub input: Option<Box<RawValue>>,
    /// The call in the form of an access, instead of an input.
    pub access: Option<Access>,
    /// The working directory, absolute.
    pub cwd: Option<String>,
    /// The user's home, absolute.
    pub home: Option<String>,
    /// The shell that would run a command.
    pub shell: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The session, as the host names it.
    pub session: Option<String>,
    /// The run, as the host names it.
    pub run: Option<String>,
    /// What the host calls this call.
    pub call_id: Option<String>,
    /// Which of several agents behind one key.
    pub agent: Option<String>,
    /// A mode; it can only tighten.
    pub mode: Option<String>,
    /// A profile of the policy.
    pub profile: Option<String>,
    /// What the agent says about the call.
    pub description: Option<String>,
    /// Asks again where a rejection is remembered.
    #[serde(default, rename = "override")]
    pub overrides: bool,
    /// Whether an immediate allow carries a receipt.
    #[serde(default)]
    pub receipt: bool,
    /// What the caller looked up of the file system.
    #[serde(default)]
    pub world: BTreeMap<String, Place>,
    /// How long to wait for a person.
    #[serde(default)]
    pub wait_ms: u64,
    /// Which entry and event of a host's hook it came through: events of one call, each through a
    /// slot of its own, are asked about once.
    pub slot: Option<String>,
}

/// A call in the form of an access.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// `fs.read`, `fs.write` or `command.execute`.
    pub kind: String,
    /// The path or the command.
    pub resource: String,
    /// How many bytes would be written.
    pub bytes: Option<u64>,
    /// The beginning of what would be written.
    pub preview: Option<String>,
}

/// The kinds of accesses.
pub const ACCESSES: [&str; 3] = ["fs.read", "fs.write", "command.execute"];

/// The longest preview of what would be written, in characters.
pub const MOST_PREVIEW: usize = 4000;

impl Access {
    /// Whether it is one that is known.
    fn check(&self) -> Result<(), Error> {
        let Access { kind, resource, .. } = self;
        if !ACCESSES.contains(&kind.as_str()) {
            let known = ACCESSES.join(", ");
            let message = format!("`access.kind`: unknown kind `{kind}`; use one of {known}");
            return Err(Error::invalid(message));
        }
        if resource.is_empty() {
            return Err(Error::invalid("`access.resource` is empty"));
        }
        if kind != "command.execute" && resource.contains('\0') {
            return Err(Error::invalid("`access.resource` is no path"));
        }
        Ok(())
    }
}

/// What a path leads to.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The physical path; null where it could not be told.
    #[serde(deserialize_with = "Option::deserialize")]
    pub real: Option<String>,
    /// The device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<u64>,
    /// The inode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ino: Option<u64>,
    /// Whether more than one name leads to it.
    #[serde(default)]
    pub shared: bool,
}

impl Call {
    /// Reads a body.
    ///
    /// # Errors
    /// It is not a call; the message names the field.
    pub fn read(bytes: &[u8]) -> Result<Call, Error> {
        let call: Call = body::read(bytes)?;
        if call.tool.is_empty() {
            return Err(Error::invalid("`tool` is empty"));
        }
        match (&call.input, &call.access) {
            (Some(_), Some(_)) => {
                return Err(Error::invalid("give `input` or `access`, not both"));
            }
            (None, None) => return Err(Error::invalid("`input` is missing")),
            (None, Some(_)) if call.run.is_none() => {
                return Err(Error::invalid("`access` needs `run`"));
            }
            (None, Some(access)) => access.check()?,
            (Some(_), None) => {}
        }
        let named = [
            ("tool", Some(&call.tool)),
            ("host", call.host.as_ref()),
            ("session", call.session.as_ref()),
            ("run", call.run.as_ref()),
            ("call_id", call.call_id.as_ref()),
            ("agent", call.agent.as_ref()),
            ("profile", call.profile.as_ref()),
            ("shell", call.shell.as_ref()),
            ("slot", call.slot.as_ref()),
        ];
        for (field, text) in named {
            text.map_or(Ok(()), |text| body::name(field, text))?;
        }
        for (field, text) in [("cwd", &call.cwd), ("home", &call.home)] {
            text.as_ref().map_or(Ok(()), |text| body::directory(field, text))?;
        }
        for (path, place) in &call.world {
            body::directory("world", path)?;
            place.real.as_ref().map_or(Ok(()), |real| body::directory("world.real", real))?;
        }
        Ok(call)
    }

    /// The call to the byte, and its input as a value.
    ///
    /// # Errors
    /// The input is ambiguous or too deep.
    pub fn text(&self) -> Result<(CallText, serde_json::Value), Error> {
        let raw = match (&self.input, &self.access) {
            (Some(input), _) => input.get().to_owned(),
            (None, Some(access)) => {
                serde_json::json!({ "kind": access.kind, "resource": access.resource }).to_string()
            }
            (None, None) => return Err(Error::invalid("`input` is missing")),
        };
        let input =
            json::value(&raw).map_err(|message| Error::invalid(format!("`input`: {message}")))?;
        let text = CallText {
            tool: self.tool.clone(),
            input: raw,
            cwd: self.cwd.clone(),
            home: self.home.clone(),
            shell: self.shell.clone(),
            host: self.host.clone(),
            session: self.session.clone(),
            run: self.run.clone(),
            call_id: self.call_id.clone(),
            profile: self.profile.clone(),
            description: self.description.clone(),
        };
        Ok((text, input))
    }
}

/// The answer to a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answered {
    /// What the agent acts on: `allow`, `deny`, or `ask` while a person is waited for.
    pub outcome: &'static str,
    /// The ask, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// The input to run instead, if a person changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<RawValue>>,
    /// Proof for exactly this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
    /// How the ask ended, once it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Why an access is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The engine's answer.
    pub verdict: Box<RawValue>,
    /// What the policy says about hosts, for a hook's call, where it is not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
}

/// The dials of a policy that a hook heeds itself.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hosts {
    /// Whether an allow answers a host's own prompt.
    pub answer_native_prompts: bool,
    /// What a headless run does with an ask: `ask` or `defer`.
    pub headless: &'static str,
    /// The version of the policy, for a hook on another machine, which keeps what stops a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// Why an access is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refusal {
    /// `outside_workspace` or `permission_denied`.
    pub code: &'static str,
    /// `forbidden`, `denied`, `session-deny`, `rejected`, `expired` or `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'static str>,
}
