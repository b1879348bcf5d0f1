//! What the store hands out and what it is asked by.

use portcullis_approval::audit::Entry;
use portcullis_approval::{Ask, Decision, Grant, Id, Key, Moment, Owners, State};

/// The kind of entries that verdicts leave.
pub(crate) const VERDICT: &str = "call.judged";

/// An ask with how far it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskRecord {
    /// The ask.
    pub ask: Ask,
    /// How it ended, once it has.
    pub decision: Option<Decision>,
    /// When the one execution it is good for was taken.
    pub claimed_at: Option<Moment>,
}

impl AskRecord {
    /// Where it is in its life.
    #[must_use]
    pub fn state(&self) -> State {
        self.decision.as_ref().map_or(State::Pending, |decision| decision.state)
    }
}

/// What became of a call that must be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A new ask is pending.
    New,
    /// The same call has an ask already, in whatever state; or an identical one is pending.
    Found(Box<AskRecord>),
    /// An approval of an identical call, which is used up by this one now.
    Claimed(Box<AskRecord>),
}

/// What the audit says about a call that must be asked about, for each way that may go.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Written first, whatever is found.
    pub judged: Vec<Entry>,
    /// Written with a new ask.
    pub opened: Vec<Entry>,
    /// Written with a claim. Which ask that is the store alone knows: it makes it their subject.
    pub claimed: Vec<Entry>,
}

impl Opening {
    /// What is written with the claim of this ask.
    pub(crate) fn claimed_of(&self, ask: Id) -> Vec<Entry> {
        let about = |entry: &Entry| Entry { subject: ask.to_string(), ..entry.clone() };
        self.claimed.iter().map(about).collect()
    }
}

impl From<Vec<Entry>> for Opening {
    /// Entries that are written with a new ask alone.
    fn from(opened: Vec<Entry>) -> Opening {
        Opening { opened, ..Opening::default() }
    }
}

/// In which order asks come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskOrder {
    /// The oldest first.
    #[default]
    Oldest,
    /// The riskiest first, of those the newest: as an inbox has them.
    Riskiest,
}

impl AskOrder {
    /// The order as every database reads it.
    pub(crate) const fn columns(self) -> &'static str {
        match self {
            AskOrder::Oldest => "a.id",
            AskOrder::Riskiest => {
                "CASE t.tier WHEN 'destructive' THEN 0 WHEN 'dangerous' THEN 1 \
                 WHEN 'review' THEN 2 ELSE 3 END, a.opened_at DESC, a.id DESC"
            }
        }
    }
}

/// Which asks.
#[derive(Clone, Debug)]
pub struct AskFilter {
    /// In this state.
    pub state: Option<State>,
    /// Of these owners.
    pub owners: Owners,
    /// Raised with this key.
    pub key: Option<Id>,
    /// Raised by this agent.
    pub agent: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Of this run.
    pub run: Option<String>,
    /// About the call of this digest.
    pub digest: Option<String>,
    /// Younger than this one.
    pub after: Option<Id>,
    /// In this order.
    pub order: AskOrder,
    /// At most so many.
    pub limit: usize,
}

impl AskFilter {
    /// Pending asks of these owners.
    #[must_use]
    pub const fn pending(owners: Owners, limit: usize) -> AskFilter {
        AskFilter {
            state: Some(State::Pending),
            owners,
            key: None,
            agent: None,
            session: None,
            run: None,
            digest: None,
            after: None,
            order: AskOrder::Oldest,
            limit,
        }
    }
}

/// A grant with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRecord {
    /// The grant; `uses_left` is what is left now.
    pub grant: Grant,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Moment>,
    /// How often it was used.
    pub used: u64,
    /// When it was used last.
    pub used_at: Option<Moment>,
}

/// Which grants.
#[derive(Clone, Debug)]
pub struct GrantFilter {
    /// Of these owners.
    pub owners: Owners,
    /// Only those that are good at this moment; all where absent.
    pub good_at: Option<Moment>,
    /// Younger than this one.
    pub after: Option<Id>,
    /// At most so many.
    pub limit: usize,
}

/// A key with the hash of its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// The key.
    pub key: Key,
    /// The SHA-256 of its secret.
    pub hash: [u8; 32],
}

/// A device that acts as the approver who paired it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRecord {
    /// What it is listed under.
    pub id: Id,
    /// The SHA-256 of the id it shows, which is as good as a secret.
    pub hash: [u8; 32],
    /// The key of the approver.
    pub key: Id,
    /// The agent it was paired for, if for one.
    pub agent: Option<String>,
    /// What it says about itself: JSON text.
    pub about: String,
    /// When it was paired.
    pub paired_at: Moment,
    /// Since when it counts no longer, if it was revoked.
    pub revoked_at: Option<Moment>,
}

/// A token that one device may be paired with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairingRecord {
    /// What it is called by.
    pub id: Id,
    /// The SHA-256 of the token.
    pub hash: [u8; 32],
    /// The key of the approver who made it.
    pub key: Id,
    /// The agent it is for, if for one.
    pub agent: Option<String>,
    /// Whether the approver must accept the device.
    pub must_confirm: bool,
    /// When it was made.
    pub made_at: Moment,
    /// Until when it counts.
    pub expires_at: Moment,
}

/// A session of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    /// The agent's key.
    pub key: Id,
    /// What the host calls it.
    pub session: String,
    /// The person the agent works for.
    pub owner: String,
    /// The directory it began in, if one was said.
    pub root: Option<String>,
    /// What a person set for it besides the policy files: a policy as JSON text.
    pub policy: Option<String>,
    /// When it began.
    pub began_at: Moment,
}

/// A run of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// What it is called.
    pub run: String,
    /// The agent's key.
    pub key: Id,
    /// The person the agent works for.
    pub owner: String,
    /// The session it belongs to.
    pub session: Option<String>,
    /// What else is known about it: JSON text.
    pub about: String,
    /// When it started.
    pub started_at: Moment,
    /// When it ended, if it has.
    pub ended_at: Option<Moment>,
}

/// An audit entry at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its place among all entries of all nodes, as this store counts them.
    pub position: u64,
    /// The node whose chain it is in.
    pub node: String,
    /// Its number in that chain.
    pub seq: u64,
    /// When.
    pub at: Moment,
    /// What kind of thing.
    pub kind: String,
    /// Who did it.
    pub actor: String,
    /// What it is about.
    pub subject: String,
    /// Whose affair it is.
    pub owner: Option<String>,
    /// More about it: canonical JSON.
    pub data: String,
    /// The hash of the entry before.
    pub prev: [u8; 32],
    /// Its hash.
    pub hash: [u8; 32],
}

impl AuditRecord {
    /// The entry as one line.
    #[must_use]
    pub fn line(&self) -> String {
        use portcullis_approval::audit::{Link, Written};
        let written = Written {
            kind: &self.kind,
            at: self.at,
            actor: &self.actor,
            subject: &self.subject,
            data: &self.data,
        };
        written.line(&Link { node: &self.node, seq: self.seq, prev: self.prev })
    }
}

/// Which audit entries.
#[derive(Clone, Debug)]
pub struct AuditFilter {
    /// Behind this position.
    pub after: u64,
    /// Before this position, newest first, where it is given.
    pub before: Option<u64>,
    /// Of these kinds; of all where empty.
    pub kinds: Vec<String>,
    /// Of these owners; entries of nobody in particular are seen by whoever may see everybody's.
    pub owners: Owners,
    /// Not before this moment.
    pub since: Option<Moment>,
    /// About this subject.
    pub subject: Option<String>,
    /// At most so many.
    pub limit: usize,
}

impl AuditFilter {
    /// Everything behind a position.
    #[must_use]
    pub const fn after(position: u64, limit: usize) -> AuditFilter {
        AuditFilter {
            after: position,
            before: None,
            kinds: Vec::new(),
            owners: Owners::All,
            since: None,
            subject: None,
            limit,
        }
    }
}

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the last entry; 0 where there is none.
    pub seq: u64,
    /// Its hash.
    pub hash: [u8; 32],
    /// The position of the newest entry of all nodes.
    pub position: u64,
    /// What the chain begins behind, since older entries were removed: number and hash.
    pub base: Option<(u64, [u8; 32])>,
}

/// How long things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days.
    pub days: u64,
    /// Megabytes of the whole store.
    pub megabytes: u64,
}

/// How often an agent called at one node since that came up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// The node, by an id of its own for each time it comes up.
    pub node: Id,
    /// The key it called with.
    pub key: Id,
    /// The agent.
    pub agent: String,
    /// How often.
    pub calls: u64,
}

/// Whether a node signs with the key that the others sign with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// It does.
    Agreed,
    /// It does from now on: nobody else is there, and this public key counted before.
    Replaced([u8; 32]),
    /// It does not: the others sign with the key of this public half.
    Other([u8; 32]),
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Asks.
    pub asks: u64,
    /// Grants.
    pub grants: u64,
    /// Audit entries.
    pub entries: u64,
}

/// Inputs up to this length are not added up: as many as may be pending take little room.
pub(crate) const SHORT_INPUT: usize = 64 << 10;

/// How many bytes of input the pending asks of a key may have together: every list of them is
/// read and told whole.
pub(crate) const MOST_PENDING_BYTES: i64 = 32 << 20;
