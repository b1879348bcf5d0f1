//! The store in one file: `SQLite`, written by one thread and read beside it.
//!
//! A method that changes something is a job for the `writer`, which answers after the commit it
//! shares with others; a method that reads uses a connection of its own. Several processes may
//! have the file open at once.

use std::path::Path;

use async_trait::async_trait;
use portcullis_approval::audit::{Checkpoint, Entry};
use portcullis_approval::{Ask, Grant, Id, Key, Moment, Settlement};
use tokio::sync::watch;

use crate::records::{
    AskFilter, AskRecord, AuditFilter, AuditRecord, DeviceRecord, GrantFilter, GrantRecord, Head,
    KeyRecord, Opened, PairingRecord, Pruned, Retention, RunRecord, SessionRecord,
};
use crate::{Store, StoreError};
use chain::in_order;
use presence::Presence;
use reader::Readers;
use writer::Writer;

mod asks;
mod audit;
mod chain;
mod conditions;
mod devices;
mod grants;
mod keys;
mod presence;
mod prune;
mod reader;
mod runs;
mod schema;
mod writer;

/// A store in one file.
pub struct Sqlite {
    node: String,
    writer: Writer,
    readers: Readers,
    bell: watch::Receiver<u64>,
}

impl Sqlite {
    /// Opens the store in a file, which is made where there is none and brought to the shape this
    /// version knows. Nothing is loaded that grows with the data.
    ///
    /// # Errors
    /// The file cannot be used, or a newer version has written it.
    pub fn open(path: impl AsRef<Path>, node: &str) -> Result<Sqlite, StoreError> {
        let path = path.as_ref();
        let mut db = schema::writer(path)?;
        schema::migrate(&mut db)?;
        let (ring, bell) = watch::channel(chain::newest(&db)?);
        let writer = Writer::start(db, Presence::of(path)?, node.to_owned(), ring)?;
        Ok(Sqlite { node: node.to_owned(), writer, readers: Readers::new(path.to_owned()), bell })
    }
}

#[async_trait]
impl Store for Sqlite {
    async fn record(
        &self,
        entries: Vec<Entry>,
        used: Vec<Id>,
        at: Moment,
    ) -> Result<(), StoreError> {
        let entries = in_order(entries);
        self.writer.run(move |group| grants::record(group, &entries, &used, at)).await
    }

    async fn open_ask(
        &self,
        ask: &Ask,
        most_pending: usize,
        entries: Vec<Entry>,
    ) -> Result<Opened, StoreError> {
        let (ask, entries) = (ask.clone(), in_order(entries));
        self.writer.run(move |group| asks::open(group, &ask, most_pending, &entries)).await
    }

    async fn settle_ask(
        &self,
        settlement: &Settlement,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let (settlement, entries) = (settlement.clone(), in_order(entries));
        self.writer.run(move |group| asks::settle(group, &settlement, &entries)).await
    }

    async fn claim(&self, ask: Id, at: Moment, entries: Vec<Entry>) -> Result<bool, StoreError> {
        let entries = in_order(entries);
        self.writer.run(move |group| asks::claim(group, ask, at, &entries)).await
    }

    async fn ask(&self, id: Id) -> Result<Option<AskRecord>, StoreError> {
        self.readers.read(move |db| asks::one(db, id)).await
    }

    async fn asks(&self, filter: &AskFilter) -> Result<Vec<AskRecord>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |db| asks::list(db, &filter)).await
    }

    async fn pending_count(&self) -> Result<u64, StoreError> {
        self.readers.read(asks::pending_count).await
    }

    async fn due_asks(&self, now: Moment, limit: usize) -> Result<Vec<AskRecord>, StoreError> {
        self.readers.read(move |db| asks::due(db, now, limit)).await
    }

    async fn next_deadline(&self) -> Result<Option<Moment>, StoreError> {
        self.readers.read(asks::next_deadline).await
    }

    async fn make_grant(&self, grant: &Grant, entries: Vec<Entry>) -> Result<(), StoreError> {
        let (grant, entries) = (grant.clone(), in_order(entries));
        let job = move |group: &mut chain::Group<'_>| {
            grants::insert(group.db, &grant)?;
            group.append(&entries)
        };
        self.writer.run(job).await
    }

    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRecord>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |db| grants::list(db, &filter)).await
    }

    async fn revoke_grant(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let entries = in_order(entries);
        self.writer.run(move |group| grants::revoke(group, id, at, &entries)).await
    }

    async fn add_key(
        &self,
        key: &Key,
        hash: [u8; 32],
        replaces: bool,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let (key, entries) = (key.clone(), in_order(entries));
        self.writer.run(move |group| keys::add(group, &key, &hash, replaces, &entries)).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.readers.read(keys::list).await
    }

    async fn revoke_key(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let entries = in_order(entries);
        self.writer.run(move |group| keys::revoke(group, id, at, &entries)).await
    }

    async fn offer_pairing(
        &self,
        pairing: &PairingRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let (pairing, entries) = (pairing.clone(), in_order(entries));
        self.writer.run(move |group| devices::offer(group, &pairing, &entries)).await
    }

    async fn take_pairing(&self, hash: [u8; 32]) -> Result<Option<PairingRecord>, StoreError> {
        self.writer.run(move |group| devices::take(group, &hash)).await
    }

    async fn pair_device(
        &self,
        device: &DeviceRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let (device, entries) = (device.clone(), in_order(entries));
        self.writer.run(move |group| devices::pair(group, &device, &entries)).await
    }

    async fn devices(&self) -> Result<Vec<DeviceRecord>, StoreError> {
        self.readers.read(devices::list).await
    }

    async fn revoke_device(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let entries = in_order(entries);
        self.writer.run(move |group| devices::revoke(group, id, at, &entries)).await
    }

    async fn begin_session(&self, session: &SessionRecord) -> Result<SessionRecord, StoreError> {
        // Each call of a session comes by here; only its first has something to write.
        let asked = session.clone();
        let known = self.readers.read(move |db| runs::known_session(db, &asked)).await?;
        if let Some(known) = known {
            return Ok(known);
        }
        let session = session.clone();
        self.writer.run(move |group| runs::begin_session(group, &session)).await
    }

    async fn set_session_policy(
        &self,
        key: Id,
        session: &str,
        policy: Option<String>,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let (session, entries) = (session.to_owned(), in_order(entries));
        let job = move |group: &mut chain::Group<'_>| {
            runs::set_policy(group, key, &session, policy.as_deref(), &entries)
        };
        self.writer.run(job).await
    }

    async fn sessions(&self, session: &str) -> Result<Vec<SessionRecord>, StoreError> {
        let session = session.to_owned();
        self.readers.read(move |db| runs::sessions(db, &session)).await
    }

    async fn start_run(&self, run: &RunRecord, entries: Vec<Entry>) -> Result<bool, StoreError> {
        let (run, entries) = (run.clone(), in_order(entries));
        self.writer.run(move |group| runs::start(group, &run, &entries)).await
    }

    async fn end_run(
        &self,
        key: Id,
        run: &str,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let (run, entries) = (run.to_owned(), in_order(entries));
        self.writer.run(move |group| runs::end(group, key, &run, at, &entries)).await
    }

    async fn change_run(
        &self,
        key: Id,
        run: &str,
        before: &str,
        after: String,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let (run, before, entries) = (run.to_owned(), before.to_owned(), in_order(entries));
        let change = runs::Change { key, run, before, after };
        self.writer.run(move |group| runs::change(group, &change, &entries)).await
    }

    async fn runs_named(&self, run: &str) -> Result<Vec<RunRecord>, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |db| runs::named(db, &run)).await
    }

    async fn runs(&self, with_ended: bool) -> Result<Vec<RunRecord>, StoreError> {
        self.readers.read(move |db| runs::list(db, with_ended)).await
    }

    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |db| audit::list(db, &filter)).await
    }

    async fn head(&self) -> Result<Head, StoreError> {
        let node = self.node.clone();
        self.readers.read(move |db| chain::head(db, &node)).await
    }

    async fn add_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let checkpoint = checkpoint.clone();
        self.writer.run(move |group| audit::add_checkpoint(group, &checkpoint)).await
    }

    async fn checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        self.readers.read(audit::checkpoints).await
    }

    async fn prune(&self, retention: &Retention, now: Moment) -> Result<Pruned, StoreError> {
        prune::prune(&self.writer, &self.readers, retention, now).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.writer.run(|group| group.touch()).await?;
        self.head().await.map(|_| ())
    }

    fn bell(&self) -> watch::Receiver<u64> {
        self.bell.clone()
    }

    fn node(&self) -> &str {
        &self.node
    }

    async fn close(&self) {
        self.readers.close();
        self.writer.close().await;
    }
}
