//! The shared memory: one trait, and what keeps its promises.
//!
//! Each method is one transaction and one promise; nothing is acknowledged before it is durable,
//! and the audit entries of a change commit with the change or not at all. To add an implementation, let the suite in
//! `tests/conformance.rs` run against it.

use std::sync::Arc;

use async_trait::async_trait;
use portcullis_approval::audit::{Checkpoint, Entry};
use portcullis_approval::{Ask, Decision, Grant, Id, Key, Moment, Settlement};
use tokio::sync::watch;

mod copy;
mod postgres;
pub mod records;
mod rows;
pub mod sqlite;

pub use copy::{Moved, Progress, copy};
pub use postgres::Postgres;
pub use records::{
    AskFilter, AskOrder, AskRecord, AuditFilter, AuditRecord, Called, DeviceRecord, GrantFilter,
    GrantRecord, Head, KeyRecord, Opened, Opening, PairingRecord, Pruned, Retention, RunRecord,
    SessionRecord, Signing,
};
pub use sqlite::Sqlite;

/// Why the store could not keep a promise. Callers branch on every variant.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such ask.
    #[error("no ask `{0}`")]
    NoSuchAsk(Id),
    /// Somebody answered first; carries the decision that stands, so that it can be shown.
    #[error("ask `{}` was already settled by `{}`", .0.ask, .0.by)]
    AlreadySettled(Box<Decision>),
    /// The agent has as many pending asks as it may have.
    #[error("{0} asks of this agent are waiting already; answer or withdraw some first")]
    TooManyAsks(usize),
    /// A grant was revoked, has ended or was used up meanwhile: judge again without it.
    #[error("grant `{0}` is gone")]
    GrantGone(Id),
    /// A key of this name exists already.
    #[error("there is a key named `{0}` already; revoke it first or choose another name")]
    NameTaken(String),
    /// The database was written by a newer version.
    #[error("the store has schema {found}, this version knows {known}; use a newer Portcullis")]
    Newer {
        /// What it has.
        found: i64,
        /// What is known here.
        known: i64,
    },
    /// The database failed. The cause goes to the log and never to a client.
    #[error("the store is not available; the log of the daemon says why")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Unavailable(Box::new(error))
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> StoreError {
        StoreError::Unavailable(Box::new(error))
    }
}

/// A failure that no library names.
fn broken(what: &str) -> StoreError {
    StoreError::Unavailable(what.into())
}

/// Opens the store that an address names: `sqlite:FILE` or `postgres://…`.
///
/// # Errors
/// It is no such address, the store cannot be used, or a newer version has written it.
pub async fn open(address: &str, node: &str) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(path) = address.strip_prefix("sqlite:") {
        return Ok(Arc::new(Sqlite::open(path, node)?));
    }
    if is_postgres(address) {
        return Ok(Arc::new(Postgres::open(address, node).await?));
    }
    Err(broken("no store; use `sqlite:FILE` or `postgres://…`"))
}

/// Whether an address names a database of several nodes.
#[must_use]
pub fn is_postgres(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

/// The asks: opened, settled, claimed and found.
#[async_trait]
pub trait Asks: Send + Sync {
    /// Opens an ask with its audit entries, unless the call has one already:
    ///
    /// - the same key, session, `call_id` and digest is the same call: its ask is found in any
    ///   state;
    /// - an identical call (same key, agent and digest) that is pending is joined;
    /// - an approval of an identical call that nobody used within its time is claimed.
    ///
    /// Of several racing calls exactly one opens the ask or claims the approval. What `entries`
    /// has for the way it went is written with it.
    ///
    /// # Errors
    /// The key has `most_pending` asks pending already ([`StoreError::TooManyAsks`]).
    async fn open_ask(
        &self,
        ask: &Ask,
        most_pending: usize,
        entries: Opening,
    ) -> Result<Opened, StoreError>;

    /// Settles a pending ask, stores the grants it made and appends the audit entries.
    ///
    /// Of several racing calls exactly one succeeds; the others get
    /// [`StoreError::AlreadySettled`] with the decision that stands.
    async fn settle_ask(
        &self,
        settlement: &Settlement,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError>;

    /// Takes the one execution that an approval is good for. Of several racing calls exactly one
    /// gets `true`; an ask that was not allowed gives `false`, and so does one whose unused
    /// approval is too old at `at`. The entries are written with `true` alone.
    async fn claim(&self, ask: Id, at: Moment, entries: Vec<Entry>) -> Result<bool, StoreError>;

    /// An ask in whatever state.
    async fn ask(&self, id: Id) -> Result<Option<AskRecord>, StoreError>;

    /// These asks in whatever state, those that there are, in any order: one journey for all.
    async fn asks_of(&self, ids: &[Id]) -> Result<Vec<AskRecord>, StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            found.extend(self.ask(*id).await?);
        }
        Ok(found)
    }

    /// Those of these asks that are still pending, in any order: one journey for all.
    async fn pending_of(&self, ids: Vec<Id>) -> Result<Vec<Id>, StoreError>;

    /// The asks a filter names, in its order.
    async fn asks(&self, filter: &AskFilter) -> Result<Vec<AskRecord>, StoreError>;

    /// How many asks are pending in all.
    async fn pending_count(&self) -> Result<u64, StoreError>;

    /// Pending asks whose deadline is not after `now`, the longest due first, at most `limit`.
    async fn due_asks(&self, now: Moment, limit: usize) -> Result<Vec<AskRecord>, StoreError>;

    /// The nearest deadline of a pending ask.
    async fn next_deadline(&self) -> Result<Option<Moment>, StoreError>;
}

/// The grants: made, used, listed and revoked.
#[async_trait]
pub trait Grants: Send + Sync {
    /// Appends audit entries, and takes one use from each of these grants, all or nothing.
    ///
    /// # Errors
    /// A grant that is not good any more ([`StoreError::GrantGone`]); of several calls racing for
    /// the last use exactly one gets it.
    async fn record(
        &self,
        entries: Vec<Entry>,
        used: Vec<Id>,
        at: Moment,
    ) -> Result<(), StoreError>;

    /// Stores a grant that answers no ask.
    async fn make_grant(&self, grant: &Grant, entries: Vec<Entry>) -> Result<(), StoreError>;

    /// The grants a filter names, oldest first.
    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRecord>, StoreError>;

    /// Revokes a grant; `false` where there is none that is still good.
    async fn revoke_grant(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError>;
}

/// The keys: made, listed and revoked.
#[async_trait]
pub trait Keys: Send + Sync {
    /// Stores a key with the hash of its secret.
    ///
    /// # Errors
    /// A key of this name and role still counts ([`StoreError::NameTaken`]), unless `replaces`.
    async fn add_key(
        &self,
        key: &Key,
        hash: [u8; 32],
        replaces: bool,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError>;

    /// Every key, oldest first, revoked and expired ones too.
    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError>;

    /// Revokes a key; `false` where there is none that still counts.
    async fn revoke_key(&self, id: Id, at: Moment, entries: Vec<Entry>)
    -> Result<bool, StoreError>;
}

/// The devices, and the tokens they are paired with.
#[async_trait]
pub trait Devices: Send + Sync {
    /// Stores a token that one device may be paired with.
    async fn offer_pairing(
        &self,
        pairing: &PairingRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError>;

    /// Takes the token of this hash away; none where there is none. It is spent even if its time
    /// has passed, and of several racing calls exactly one gets it.
    async fn take_pairing(&self, hash: [u8; 32]) -> Result<Option<PairingRecord>, StoreError>;

    /// Stores a device; what was paired under the same id before is revoked.
    async fn pair_device(
        &self,
        device: &DeviceRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError>;

    /// Every device, oldest first, revoked ones too.
    async fn devices(&self) -> Result<Vec<DeviceRecord>, StoreError>;

    /// Revokes a device; `false` where there is none that still counts.
    async fn revoke_device(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError>;
}

/// The runs and sessions: begun, changed and ended.
#[async_trait]
pub trait Runs: Send + Sync {
    /// Begins a session, or finds the one that began: its first working directory stays its root.
    async fn begin_session(&self, session: &SessionRecord) -> Result<SessionRecord, StoreError>;

    /// Sets what the policy of a session says besides the files, or takes it back; `false` where
    /// there is no such session.
    async fn set_session_policy(
        &self,
        key: Id,
        session: &str,
        policy: Option<String>,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError>;

    /// The sessions of this name, of every key.
    async fn sessions(&self, session: &str) -> Result<Vec<SessionRecord>, StoreError>;

    /// Stores a run; one of this id and key that has not ended is left as it is and `false`.
    async fn start_run(&self, run: &RunRecord, entries: Vec<Entry>) -> Result<bool, StoreError>;

    /// Ends a run and its grants; `false` where there is none that goes on. Its pending asks are
    /// settled by whoever ends it.
    async fn end_run(
        &self,
        key: Id,
        run: &str,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError>;

    /// Changes what is known about a run that goes on; `false` where there is none, or where it
    /// is not `before` any more: of several that change the same one at once exactly one does.
    async fn change_run(
        &self,
        key: Id,
        run: &str,
        before: &str,
        after: String,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError>;

    /// The runs of this name, of every key, oldest first, also those that have ended.
    async fn runs_named(&self, run: &str) -> Result<Vec<RunRecord>, StoreError>;

    /// Runs, oldest first; those that have not ended, or all.
    async fn runs(&self, with_ended: bool) -> Result<Vec<RunRecord>, StoreError>;
}

/// The audit as it is read, and the checkpoints.
#[async_trait]
pub trait Audit: Send + Sync {
    /// Audit entries a filter names, in order.
    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError>;

    /// The same for whoever keeps up with what is new: what this process has just recorded need
    /// not be read back.
    async fn news(&self, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError> {
        self.audit(filter).await
    }

    /// The last entry of this node's chain, and the last position of all.
    async fn head(&self) -> Result<Head, StoreError>;

    /// Keeps a signed statement about a chain.
    async fn add_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), StoreError>;

    /// Every kept statement, oldest first.
    async fn checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError>;
}

/// The memory all nodes share.
#[async_trait]
pub trait Store: Asks + Grants + Keys + Devices + Runs + Audit {
    /// Removes what is older than `retention` says: settled asks, ended grants, runs and sessions,
    /// and audit entries up to the newest checkpoint that is old enough, which becomes what the
    /// chain begins behind.
    async fn prune(&self, retention: &Retention, now: Moment) -> Result<Pruned, StoreError>;

    /// Whether something can be written and read now.
    async fn ready(&self) -> Result<(), StoreError>;

    /// What the clock of the database says, where it decides because several machines share it.
    async fn clock(&self) -> Result<Option<Moment>, StoreError> {
        Ok(None)
    }

    /// The user's policy that somebody set for all nodes, where they share more than a file.
    async fn policy(&self) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// Sets the user's policy for all nodes; nothing where there is one node and its file.
    async fn set_policy(&self, text: &str) -> Result<(), StoreError> {
        let _ = text;
        Ok(())
    }

    /// Agrees on the key that all nodes sign with, by its public half: the first one stands. One
    /// that differs takes its place only while no other node is there.
    async fn signing_key(&self, own: [u8; 32]) -> Result<Signing, StoreError> {
        let _ = own;
        Ok(Signing::Agreed)
    }

    /// Tells other nodes how often agents called at this one, and hears what they told in the last
    /// seconds: sums that only grow while a node is up. Nothing where there is one node.
    async fn share_calls(&self, node: Id, own: &[Called]) -> Result<Vec<Called>, StoreError> {
        let _ = (node, own);
        Ok(Vec::new())
    }

    /// Whether nobody else had the store open when it was opened here: what is remembered only
    /// while the authority runs begins anew then.
    fn is_alone(&self) -> bool {
        true
    }

    /// Tells to look again: the position of the newest audit entry that is known. It may skip
    /// numbers and may be late; whoever hears it reads the store.
    fn bell(&self) -> watch::Receiver<u64>;

    /// The newest position at which something else than a verdict may have been recorded, known
    /// before the bell rings for it: who does not care for verdicts need not look behind it.
    fn newest_change(&self) -> u64 {
        u64::MAX
    }

    /// How many changes this node has begun that are not committed yet.
    fn queued(&self) -> usize;

    /// The name of this node's chain.
    fn node(&self) -> &str;

    /// Finishes what was begun and closes the store. What comes after is refused.
    async fn close(&self);
}
