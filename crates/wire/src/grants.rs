//! Grants, keys, runs and audit entries, as lists show them.

use portcullis_approval as approval;
use portcullis_approval::{Granted, Owners, Reach};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::asks::{Changed, raw};

/// One grant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Grant {
    /// Its id.
    pub id: String,
    /// The person whose agents it is for.
    pub owner: String,
    /// The agent it is for, if it is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The profile it is for, if it is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The allow rule, of a pattern grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The very call, of an exact grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<ExactCall>,
    /// `run`, `session` or `always`.
    pub scope: &'static str,
    /// The run it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The session it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// How many more executions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses_left: Option<u32>,
    /// How often it was used.
    pub used: u64,
    /// When it was used last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_at: Option<String>,
    /// Who made it.
    pub made_by: String,
    /// When.
    pub made_at: String,
    /// The ask it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<String>,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

/// The call of an exact grant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExactCall {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Box<RawValue>,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `approve`, or `reject` for a remembered rejection.
    pub answer: &'static str,
}

/// `GET /v1/grants`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Grants {
    /// The grants, oldest first.
    pub grants: Vec<Grant>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// `POST /v1/grants`: an offer of an ask, for good.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGrant {
    /// An ask that offered the rule, settled or not.
    pub ask: String,
    /// The rule.
    pub rule: String,
}

/// `POST /v1/grants/preview`: an offer of an ask, and calls to try it on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPreview {
    /// An ask that offered the rule, settled or not.
    pub ask: String,
    /// The rule.
    pub rule: String,
    /// Other inputs for the ask's call, sixteen at most.
    #[serde(default)]
    pub tries: Vec<Changed>,
}

/// What a rule would have answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Preview {
    /// The rule.
    pub rule: String,
    /// How many different calls that were asked about were looked at.
    pub looked_at: usize,
    /// How many of them it would have allowed.
    pub covered: usize,
    /// Some of those, the newest first.
    pub examples: Vec<Example>,
    /// What each of the inputs to try would come to with the rule.
    pub tried: Vec<&'static str>,
}

/// A call that a rule would have allowed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Example {
    /// The command, or tool and input.
    pub command: String,
    /// How bad it could be.
    pub tier: &'static str,
    /// Who asked.
    pub agent: String,
}

impl Grant {
    /// The shape of a grant.
    #[must_use]
    pub fn new(grant: &approval::Grant) -> Grant {
        let (rule, call) = match &grant.granted {
            Granted::Pattern(rule) => (Some(rule.clone()), None),
            Granted::Exact { tool, input, cwd, reply } => {
                let (tool, input, cwd) = (tool.clone(), raw(input), cwd.clone());
                (None, Some(ExactCall { tool, input, cwd, answer: reply.name() }))
            }
        };
        let (scope, run, session) = match &grant.reach {
            Reach::Run(run) => ("run", Some(run.clone()), None),
            Reach::Session(session) => ("session", None, Some(session.clone())),
            Reach::Always => ("always", None, None),
        };
        Grant {
            id: grant.id.to_string(),
            owner: grant.owner.clone(),
            agent: grant.agent.clone(),
            profile: grant.profile.clone(),
            rule,
            call,
            scope,
            run,
            session,
            expires_at: grant.expires_at.map(|at| at.to_string()),
            uses_left: grant.uses_left,
            used: 0,
            used_at: None,
            made_by: grant.made_by.clone(),
            made_at: grant.made_at.to_string(),
            ask: grant.ask.map(|ask| ask.to_string()),
            revoked_at: None,
        }
    }
}

/// One key, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Key {
    /// Its id.
    pub id: String,
    /// `agent`, `approver` or `admin`.
    pub role: &'static str,
    /// What people call it.
    pub name: String,
    /// Whose asks it speaks for; everybody's where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<Vec<String>>,
    /// When it was made.
    pub made_at: String,
    /// From when on it counts no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Since when it counts no longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
    /// The secret, shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Key {
    /// The shape of a key.
    #[must_use]
    pub fn new(key: &approval::Key) -> Key {
        let owners = match &key.owners {
            Owners::All => None,
            Owners::Some(owners) => Some(owners.clone()),
        };
        Key {
            id: key.id.to_string(),
            role: key.role.name(),
            name: key.name.clone(),
            owners,
            made_at: key.made_at.to_string(),
            expires_at: key.expires_at.map(|at| at.to_string()),
            revoked_at: key.revoked_at.map(|at| at.to_string()),
            key: None,
        }
    }
}

/// `GET /v1/keys`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Keys {
    /// The keys, oldest first.
    pub keys: Vec<Key>,
}

/// `POST /v1/keys`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// `agent`, `approver` or `admin`.
    pub role: String,
    /// What people call it.
    pub name: String,
    /// Whose asks it speaks for.
    #[serde(default)]
    pub owners: Vec<String>,
    /// For how many seconds it counts.
    pub valid_s: Option<u64>,
}

/// `POST /v1/runs`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// What it is called; a new name where absent.
    #[serde(alias = "id")]
    pub run: Option<String>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Its folder, absolute.
    pub cwd: Option<String>,
    /// What people call what it does.
    pub name: Option<String>,
    /// Its agents.
    #[serde(default)]
    pub agents: Vec<String>,
    /// Its tools.
    #[serde(default)]
    pub tools: Vec<String>,
}

/// `DELETE /v1/runs/{id}`: how a run ended; nothing has to be said.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndRun {
    /// What it brought.
    pub result: Option<String>,
    /// Why it broke off.
    pub error: Option<String>,
    /// What it used.
    pub usage: Option<RunUsage>,
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunUsage {
    /// Tokens that went in.
    pub prompt_tokens: u64,
    /// Tokens that came out.
    pub completion_tokens: u64,
}

/// One run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Run {
    /// What it is called.
    pub run: String,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The person its agent works for.
    pub owner: String,
    /// Its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `pending`, `running`, `completed`, `error` or `cancelled`.
    pub status: &'static str,
    /// When it started.
    pub started_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// `GET /v1/runs`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Runs {
    /// The runs, oldest first.
    pub runs: Vec<Run>,
}

/// `PATCH /v1/sessions/{id}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionChange {
    /// The mode; the policy's again where null.
    pub mode: Option<String>,
}
