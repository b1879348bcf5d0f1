//! The pen: the connection that writes, and what is known of where the chain stands.
//!
//! One holds it at a time: the writer's thread for a group, or whoever comes alone for itself
//! (`writer`). What was begun with it is committed or taken back before it is let go.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::watch;

use super::chain::Group;
use super::log::{self, Log};
use super::memory::Memory;
use super::presence::Presence;
use super::schema::BUSY;
use super::tail::Tail;
use crate::{StoreError, broken};

/// A disk that took longer for the last commit is waited for where nobody else is kept waiting.
const QUICK: Duration = Duration::from_millis(3);

/// A group this large shows a crowd: it pays to wait a moment for those who come again, and who
/// asks alone never waits.
pub(super) const CROWD: usize = 8;

/// Those who come again do so at once: who comes later than this after a crowd comes alone.
pub(super) const SOON: Duration = Duration::from_millis(10);

/// Takes the right to write at once, so that nothing that was read is old when it is written.
const BEGIN: &str = "BEGIN IMMEDIATE";

/// Something to be written.
pub(super) trait Step {
    /// Whether it may fail half done, and is then taken back alone.
    fn may_fail(&self) -> bool;

    /// Runs it; whether it may stand.
    fn run(&mut self, group: &mut Group<'_>) -> bool;
}

/// Tells everybody that something was written; clones are the same.
#[derive(Clone)]
pub(super) struct Bell(watch::Sender<u64>);

impl Bell {
    /// Rings for a position, unless it rang for a newer one.
    pub(super) fn ring(&self, position: u64) {
        self.0.send_if_modified(|known| {
            let is_newer = position > *known;
            *known = position.max(*known);
            is_newer
        });
    }
}

/// What writes.
pub(super) struct Pen {
    db: Connection,
    log: Log,
    presence: Presence,
    node: String,
    bell: Bell,
    /// What is known from the last group, unless that failed.
    memory: Option<Memory>,
    /// The newest position that is known here.
    newest: u64,
    /// The newest one at which something else than a verdict may stand.
    changed: Arc<AtomicU64>,
    /// What was recorded last.
    tail: Arc<Mutex<Tail>>,
    /// What `data_version` was: it changes when another process has written.
    version: Option<i64>,
    /// How many shared the last commit, and how long it took.
    last: (usize, Duration),
    /// When a crowd was last seen.
    crowded: Option<Instant>,
    /// How long it may take for one who waits where it stands.
    quick: Duration,
}

impl Pen {
    /// A pen for a connection of its own.
    pub(super) fn new(
        mut db: Connection,
        presence: Presence,
        node: String,
        bell: watch::Sender<u64>,
    ) -> Result<Pen, StoreError> {
        let path = presence.log().map(Path::to_path_buf).unwrap_or_default();
        let log = Log::watch(&mut db, path)?;
        let newest = *bell.borrow();
        Ok(Pen {
            db,
            log,
            presence,
            node,
            bell: Bell(bell),
            memory: None,
            newest,
            changed: Arc::new(AtomicU64::new(newest)),
            tail: Arc::new(Mutex::new(Tail::behind(newest))),
            version: None,
            // Nobody knows yet how quick the disk is.
            last: (0, Duration::MAX),
            crowded: None,
            quick: QUICK,
        })
    }

    /// The newest position at which something else than a verdict may stand, as it changes.
    pub(super) fn changed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.changed)
    }

    /// What was recorded last, as it changes.
    pub(super) fn recorded(&self) -> Arc<Mutex<Tail>> {
        Arc::clone(&self.tail)
    }

    /// Whether who comes now may write where it stands: the last came alone too, no crowd is about,
    /// and the disk did not keep it waiting.
    pub(super) fn suits_one(&self) -> bool {
        let is_crowded = self.crowded.is_some_and(|seen| seen.elapsed() <= SOON);
        self.last.0 <= 1 && self.last.1 <= self.quick && !is_crowded
    }

    /// Takes every disk for this quick.
    #[cfg(test)]
    pub(super) fn expect(&mut self, quick: Duration) {
        self.quick = quick;
    }

    /// Begins a transaction if no other process writes just now. What was begun is committed by
    /// [`Pen::commit`].
    pub(super) fn begins_at_once(&mut self) -> bool {
        // Setting it writes a number; asking for the lock again would sleep.
        let has_patience = self.db.busy_timeout(Duration::ZERO);
        let begun = has_patience.is_ok() && self.execute(BEGIN).is_ok();
        self.db.busy_timeout(BUSY).is_ok() && begun
    }

    /// Runs a group and commits it, in the transaction that was begun or in a new one; the newest
    /// position behind it.
    pub(super) fn commit<'s>(
        &mut self,
        steps: impl ExactSizeIterator<Item = &'s mut dyn Step>,
    ) -> Result<u64, StoreError> {
        let (count, start) = (steps.len(), Instant::now());
        let begun = if self.db.is_autocommit() { self.execute(BEGIN) } else { Ok(()) };
        let done = begun.and_then(|()| self.try_commit(steps));
        self.last = (count, start.elapsed());
        if count >= CROWD {
            self.crowded = Some(Instant::now());
        }
        if done.is_err() && !self.db.is_autocommit() {
            // If this fails too, the next `BEGIN` does, and nothing is acknowledged.
            let _ = self.db.execute_batch("ROLLBACK");
        }
        done
    }

    fn try_commit<'s>(
        &mut self,
        steps: impl Iterator<Item = &'s mut dyn Step>,
    ) -> Result<u64, StoreError> {
        let db = &self.db;
        // Put back when the group is committed: what fails leaves nothing to rely on.
        let memory = Memory::recall(self.memory.take(), db, &self.node)?;
        let mut group = Group::begin(db, &self.node, memory);
        for step in steps {
            let before = group.head();
            if !step.may_fail() {
                let changes = db.total_changes();
                if !step.run(&mut group) {
                    if db.total_changes() != changes || db.is_autocommit() {
                        return Err(broken("a job failed half done"));
                    }
                    group.return_to(before);
                }
                continue;
            }
            self.execute("SAVEPOINT job")?;
            if !step.run(&mut group) {
                // A full disk ends the whole transaction by itself; then there is nothing to go on
                // with, and going on would commit each statement by itself.
                if db.is_autocommit() {
                    return Err(broken("the transaction was ended by a failing write"));
                }
                self.execute("ROLLBACK TO job")?;
                group.return_to(before);
                group.memory.recount();
            }
            self.execute("RELEASE job")?;
        }
        let position = group.end()?;
        let is_quiet = group.is_quiet_since(self.newest);
        self.presence.check()?;
        self.execute("COMMIT")?;
        let (began, changes, memory) = group.into_changes();
        self.memory = Some(memory);
        // INVARIANT: before the bell rings for it, and before anybody can hear of a change.
        self.tail().extend(began, position, changes);
        self.newest = position;
        if !is_quiet {
            self.changed.store(position, Ordering::Release);
        }
        Ok(position)
    }

    /// Rings the bell if another process has written.
    pub(super) fn look(&mut self) {
        let version = self.db.query_row("PRAGMA data_version", [], |row| row.get(0)).ok();
        if version != self.version {
            self.version = version;
            if let Ok(position) = super::chain::newest(&self.db) {
                self.newest = position;
                *self.tail() = Tail::behind(position);
                self.changed.store(position, Ordering::Release);
                self.bell.ring(position);
            }
        }
    }

    fn execute(&self, text: &str) -> Result<(), StoreError> {
        self.db.prepare_cached(text)?.execute([])?;
        Ok(())
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bell, which can be rung when the pen is let go.
    pub(super) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    /// Whether the log should be written back.
    pub(super) fn has_long_log(&mut self) -> bool {
        self.log.is_long()
    }

    /// The database whose log should be written back now, beside those who write; then
    /// [`Pen::begin_log_anew`] is due.
    pub(super) fn has_to_write_back(&mut self) -> Option<PathBuf> {
        // Otherwise it may be another store by now.
        let is_due = self.log.begins() && self.presence.check().is_ok();
        self.presence.database().filter(|_| is_due).map(Path::to_path_buf)
    }

    /// Writes the rest of the log back, and lets it begin anew.
    pub(super) fn begin_log_anew(&self) {
        log::begin_anew(&self.db);
    }

    /// Makes room for the log where nobody writes just now.
    pub(super) fn make_room(&mut self) {
        if self.log.wants_room() && self.begins_at_once() {
            // Otherwise it may be the log of another store by now.
            if self.presence.check().is_ok() {
                self.log.make_room();
            }
            // If this fails, the next to begin does, and nothing is acknowledged.
            let _ = self.execute("ROLLBACK");
        }
    }

    /// Closes the connection.
    pub(super) fn close(self) {
        // Nothing is lost if this fails: the next to open reads the log.
        let _ = self.db.close();
    }
}
