//! Answers and decisions: what a person sends, and how an ask ended.

use portcullis_engine::Outcome;

use crate::id::Id;
use crate::moment::Moment;

/// Where an ask is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Nobody has answered yet.
    Pending,
    /// Somebody approved it.
    Approved,
    /// Somebody rejected it, or a policy denies what was approved.
    Rejected,
    /// Its deadline passed.
    Expired,
    /// The call is gone.
    Cancelled,
}

impl State {
    /// Every state.
    pub const ALL: [State; 5] =
        [State::Pending, State::Approved, State::Rejected, State::Expired, State::Cancelled];

    /// The state's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Approved => "approved",
            State::Rejected => "rejected",
            State::Expired => "expired",
            State::Cancelled => "cancelled",
        }
    }

    /// The state of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// How far an answer reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// This very call.
    #[default]
    Once,
    /// Until the run ends.
    Run,
    /// Until the session ends.
    Session,
    /// Until it is revoked.
    Always,
}

impl Scope {
    /// Every scope, from narrow to wide.
    pub const ALL: [Scope; 4] = [Scope::Once, Scope::Run, Scope::Session, Scope::Always];

    /// The scope's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Once => "once",
            Scope::Run => "run",
            Scope::Session => "session",
            Scope::Always => "always",
        }
    }

    /// The scope of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// It may run.
    Approve,
    /// It must not.
    Reject,
}

impl Reply {
    /// The reply's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reply::Approve => "approve",
            Reply::Reject => "reject",
        }
    }

    /// The reply of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Reply> {
        [Reply::Approve, Reply::Reject].into_iter().find(|reply| reply.name() == name)
    }
}

/// What an approver sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Approve or reject.
    pub reply: Reply,
    /// How far; none where it was not said.
    pub scope: Option<Scope>,
    /// The offers to store, by their text.
    pub rules: Vec<String>,
    /// For how many seconds.
    pub valid_s: Option<u64>,
    /// For how many executions, this one included.
    pub uses: Option<u32>,
    /// What the agent is told.
    pub feedback: Option<String>,
    /// The input to run instead: JSON text.
    pub input: Option<String>,
}

impl Answer {
    /// A plain answer.
    #[must_use]
    pub const fn plain(reply: Reply) -> Answer {
        Answer {
            reply,
            scope: None,
            rules: Vec::new(),
            valid_s: None,
            uses: None,
            feedback: None,
            input: None,
        }
    }
}

/// How an ask ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The ask.
    pub ask: Id,
    /// What it is now.
    pub state: State,
    /// What happens to the call.
    pub outcome: Outcome,
    /// What a person said, if one did.
    pub reply: Option<Reply>,
    /// How far it reaches.
    pub scope: Scope,
    /// Who decided; `expiry` for a deadline.
    pub by: String,
    /// The door they came through.
    pub door: String,
    /// When.
    pub at: Moment,
    /// Why it ended so: `approver`, `fallback`, `withdrawn`, `run_ended`, `agent_gone`, `grant`,
    /// or the code of the verdict that stood against an approval.
    pub reason: String,
    /// What the agent is told.
    pub feedback: Option<String>,
    /// The input to run instead: JSON text.
    pub input: Option<String>,
    /// What it left behind.
    pub grants: Vec<Id>,
}
