//! The one thread that writes.
//!
//! It takes what waits in its queue into one transaction, so that one sync is shared by many. A job
//! that fails changes nothing and disturbs no other: those that may fail half done stand in a
//! savepoint of their own, the others look before they write. Whoever waits is answered after the
//! commit, and if that fails, every job of the group failed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::chain::Group;
use super::log::Log;
use super::presence::Presence;
use super::tail::Tail;
use crate::records::{AuditFilter, AuditRecord};
use crate::{StoreError, broken};

/// How many jobs may wait before those who bring more must wait too.
const QUEUE: usize = 4096;

/// How many jobs share a transaction at most.
const GROUP: usize = 512;

/// A group this large shows a crowd: it pays to wait a moment for those who come again.
const CROWD: usize = 8;

/// How long a crowd is waited for at a time, and how often at most.
const MOMENT: Duration = Duration::from_micros(100);
const MOMENTS: usize = 10;

/// How often an idle writer looks whether another process wrote.
const LOOK: Duration = Duration::from_millis(500);

/// What is sent to the thread.
enum Message {
    Work(Box<dyn Work>),
    /// Finish, close, and say so.
    Close(oneshot::Sender<()>),
}

/// A job with the one who waits for it.
trait Work: Send {
    /// Whether it may fail half done, and is then taken back alone.
    fn may_fail(&self) -> bool;

    /// Runs it; whether it may stand.
    fn run(&mut self, group: &mut Group<'_>) -> bool;

    /// Answers: as it went, or with what became of the whole group.
    fn answer(self: Box<Self>, failure: Option<&Arc<StoreError>>);
}

struct Job<F, T> {
    may_fail: bool,
    run: Option<F>,
    result: Option<Result<T, StoreError>>,
    waiting: oneshot::Sender<Result<T, StoreError>>,
    _place: OwnedSemaphorePermit,
}

impl<F, T> Work for Job<F, T>
where
    F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn may_fail(&self) -> bool {
        self.may_fail
    }

    fn run(&mut self, group: &mut Group<'_>) -> bool {
        self.result = self.run.take().map(|run| run(group));
        matches!(self.result, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, failure: Option<&Arc<StoreError>>) {
        let result = match (failure, self.result) {
            (Some(failure), _) => Err(StoreError::Unavailable(Box::new(Arc::clone(failure)))),
            (None, Some(result)) => result,
            (None, None) => Err(broken("the job did not run")),
        };
        // Nobody waits any more: what was done stays done.
        let _ = self.waiting.send(result);
    }
}

/// The way to the thread.
pub(super) struct Writer {
    queue: Sender<Message>,
    places: Arc<Semaphore>,
    changed: Arc<AtomicU64>,
    tail: Arc<Mutex<Tail>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(
        mut db: Connection,
        presence: Presence,
        node: String,
        bell: watch::Sender<u64>,
    ) -> Result<Writer, StoreError> {
        let log = Log::watch(&mut db)?;
        let (queue, messages) = channel();
        let newest = *bell.borrow();
        let changed = Arc::new(AtomicU64::new(newest));
        let tail = Arc::new(Mutex::new(Tail::behind(newest)));
        let places = Arc::new(Semaphore::new(QUEUE));
        let shared = Arc::clone(&places);
        let thread = Thread {
            db,
            log,
            presence,
            node,
            bell,
            newest,
            changed: Arc::clone(&changed),
            tail: Arc::clone(&tail),
            messages,
            places: shared,
            version: None,
        };
        std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(Writer { queue, places, changed, tail })
    }

    /// Runs a job; what it returned is durable when this returns.
    pub(super) async fn run<F, T>(&self, run: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.queue(true, run).await
    }

    /// Runs a job that looks before it writes: behind its first change nothing but a broken store
    /// makes it fail, and then its whole group fails with it. It is spared a savepoint, for which
    /// every page that it changes would be copied.
    pub(super) async fn run_plain<F, T>(&self, run: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.queue(false, run).await
    }

    async fn queue<F, T>(&self, may_fail: bool, run: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let closed = || broken("the store is closed");
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| closed())?;
        let (waiting, answer) = oneshot::channel();
        let job = Job { may_fail, run: Some(run), result: None, waiting, _place: place };
        self.queue.send(Message::Work(Box::new(job))).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// How many jobs wait or run.
    pub(super) fn queued(&self) -> usize {
        QUEUE.saturating_sub(self.places.available_permits())
    }

    /// The newest position at which something else than a verdict may stand.
    pub(super) fn newest_change(&self) -> u64 {
        self.changed.load(Ordering::Acquire)
    }

    /// The entries a filter names, if this process has just recorded all of them.
    pub(super) fn recorded(&self, filter: &AuditFilter) -> Option<Vec<AuditRecord>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).read(filter)
    }

    /// Finishes what was begun, and refuses what comes after.
    pub(super) async fn close(&self) {
        self.places.close();
        let (done, closed) = oneshot::channel();
        if self.queue.send(Message::Close(done)).is_ok() {
            let _ = closed.await;
        }
    }
}

struct Thread {
    db: Connection,
    log: Log,
    presence: Presence,
    node: String,
    bell: watch::Sender<u64>,
    /// The newest position that is known here.
    newest: u64,
    /// The newest one at which something else than a verdict may stand.
    changed: Arc<AtomicU64>,
    /// What was recorded last.
    tail: Arc<Mutex<Tail>>,
    messages: Receiver<Message>,
    places: Arc<Semaphore>,
    /// What `data_version` was: it changes when another process has written.
    version: Option<i64>,
}

impl Thread {
    fn run(mut self) {
        let mut last = 0;
        let closing = loop {
            let first = match self.messages.recv_timeout(LOOK) {
                Ok(Message::Work(work)) => work,
                Ok(Message::Close(done)) => break Some(done),
                Err(RecvTimeoutError::Timeout) => {
                    self.look();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break None,
            };
            self.await_crowd(last);
            let mut group = vec![first];
            let mut closing = None;
            while group.len() < GROUP && closing.is_none() {
                match self.messages.try_recv() {
                    Ok(Message::Work(work)) => group.push(work),
                    Ok(Message::Close(done)) => closing = Some(done),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            last = group.len();
            let committed = self.commit(&mut group);
            let failure = committed.as_ref().err();
            for work in group {
                work.answer(failure);
            }
            if let Ok(position) = committed {
                self.ring(position);
            }
            self.log.tend(&self.db);
            if closing.is_some() {
                break closing;
            }
        };
        // Nothing is lost if this fails: the next to open reads the log.
        let _ = self.db.close();
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    /// Waits a moment for as many as came last, if those were many: they share one sync, and who
    /// asks alone never waits.
    fn await_crowd(&self, last: usize) {
        if last < CROWD {
            return;
        }
        for _ in 0..MOMENTS {
            if QUEUE.saturating_sub(self.places.available_permits()) >= last / 4 * 3 {
                return;
            }
            std::thread::sleep(MOMENT);
        }
    }

    /// Runs a group and commits it; the newest position behind it.
    fn commit(&mut self, works: &mut [Box<dyn Work>]) -> Result<u64, Arc<StoreError>> {
        let done = self.try_commit(works);
        if done.is_err() && !self.db.is_autocommit() {
            // If this fails too, the next `BEGIN` does, and nothing is acknowledged.
            let _ = self.db.execute_batch("ROLLBACK");
        }
        done.map_err(Arc::new)
    }

    fn try_commit(&mut self, works: &mut [Box<dyn Work>]) -> Result<u64, StoreError> {
        let db = &self.db;
        let statement = |text: &str| -> Result<(), StoreError> {
            db.prepare_cached(text)?.execute([])?;
            Ok(())
        };
        statement("BEGIN IMMEDIATE")?;
        let mut group = Group::begin(db, &self.node)?;
        for work in works {
            let before = group.head();
            if !work.may_fail() {
                let changes = db.total_changes();
                if !work.run(&mut group) {
                    if db.total_changes() != changes || db.is_autocommit() {
                        return Err(broken("a job failed half done"));
                    }
                    group.return_to(before);
                }
                continue;
            }
            statement("SAVEPOINT job")?;
            if !work.run(&mut group) {
                // A full disk ends the whole transaction by itself; then there is nothing to go on
                // with, and going on would commit each statement by itself.
                if db.is_autocommit() {
                    return Err(broken("the transaction was ended by a failing write"));
                }
                statement("ROLLBACK TO job")?;
                group.return_to(before);
            }
            statement("RELEASE job")?;
        }
        let position = group.end()?;
        let is_quiet = group.is_quiet_since(self.newest);
        self.presence.check()?;
        statement("COMMIT")?;
        let (began, changes) = group.into_changes();
        // INVARIANT: before the bell rings for it, and before anybody can hear of a change.
        self.tail().extend(began, position, changes);
        self.newest = position;
        if !is_quiet {
            self.changed.store(position, Ordering::Release);
        }
        Ok(position)
    }

    /// Rings the bell if another process has written.
    fn look(&mut self) {
        let version = self.db.query_row("PRAGMA data_version", [], |row| row.get(0)).ok();
        if version != self.version {
            self.version = version;
            if let Ok(position) = super::chain::newest(&self.db) {
                self.newest = position;
                *self.tail() = Tail::behind(position);
                self.changed.store(position, Ordering::Release);
                self.ring(position);
            }
        }
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self, position: u64) {
        self.bell.send_if_modified(|known| {
            let is_newer = position > *known;
            *known = position.max(*known);
            is_newer
        });
    }
}
