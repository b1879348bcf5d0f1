//! What is submitted to the authority, what comes of it, and why nothing may.

use std::sync::Arc;
use std::time::Duration;

use portcullis_approval::settle::Refusal;
use portcullis_approval::{Asker, CallText, Grant, Key};
use portcullis_engine::policy::Hosts;
use portcullis_engine::{Mode, Outcome, PolicyError, Verdict};
use portcullis_layers::LayerError;
use portcullis_layers::world::Answers;
use portcullis_store::{AskRecord, StoreError};
use serde_json::Value;

use super::access;
use super::repeats::Known;

/// Why something could not be done; `error.rs` and the doors give each its own words.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no such ask, or this caller may not see it.
    #[error("no such ask")]
    NoSuchAsk,
    /// The answer does not count.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The caller may not use this profile.
    #[error("profile `{0}` is not open to this key")]
    Profile(String),
    /// The caller asks or calls too often.
    #[error("{0}")]
    TooOften(String),
    /// The policy that would be in force is broken.
    #[error(transparent)]
    Policy(#[from] LayerError),
    /// What a session says is no policy.
    #[error("the session's policy is broken: {0}")]
    SessionPolicy(#[from] PolicyError),
    /// The store could not keep its promise.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the caller knows of the file system.
#[derive(Clone, Debug)]
pub enum Seen {
    /// It is this machine's.
    Live,
    /// It looked these paths up.
    Recorded(Answers),
    /// Nothing.
    Nothing,
}

/// A call to judge.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The call, to the byte.
    pub call: CallText,
    /// Its input.
    pub input: Value,
    /// Who calls.
    pub asker: Asker,
    /// The key it showed.
    pub key: Arc<Key>,
    /// The door it came through.
    pub door: &'static str,
    /// A mode; it can only tighten.
    pub mode: Option<Mode>,
    /// A profile of the policy.
    pub profile: Option<String>,
    /// Whether a remembered rejection is asked about again.
    pub overrides: bool,
    /// Whether an immediate allow carries a receipt.
    pub wants_receipt: bool,
    /// What is known of the file system.
    pub seen: Seen,
    /// How long to wait for a person.
    pub wait: Duration,
    /// The access, if the call is one.
    pub access: Option<access::RunAccess>,
}

/// The answer to a call.
#[derive(Debug)]
pub struct Answered {
    /// What the agent acts on.
    pub outcome: Outcome,
    /// The verdict.
    pub verdict: Arc<Verdict>,
    /// The ask, if there is one; most calls have none, and do not carry room for it.
    pub ask: Option<Box<AskRecord>>,
    /// Proof for exactly this call.
    pub receipt: Option<String>,
    /// The grants that allowed it.
    pub used: Vec<Arc<Grant>>,
    /// What the policy says about hosts.
    pub hosts: Hosts,
    /// The verdict as it is kept, if it is.
    pub(super) known: Option<Arc<Known>>,
}

impl Answered {
    /// What a door says about the verdict alone. It is said once for calls that come again.
    pub fn said(&self, door: &'static str, say: impl Fn() -> String) -> String {
        // A grant says who made it, and until when.
        let known = self.known.as_ref().filter(|_| self.used.is_empty() && self.ask.is_none());
        match known.map(|known| known.said.get_or_init(|| (door, say()))) {
            Some((said_by, said)) if *said_by == door => said.clone(),
            Some(_) | None => say(),
        }
    }
}
