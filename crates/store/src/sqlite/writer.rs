//! Who writes: one at a time, and whoever comes alone for itself.
//!
//! A thread takes what waits in its queue into one transaction, so that one sync is shared by many.
//! A job that fails changes nothing and disturbs no other: those that may fail half done stand in a
//! savepoint of their own, the others look before they write. Whoever waits is answered after the
//! commit, and if that fails, every job of the group failed.
//!
//! Where nobody else waits and the disk is quick, there is nothing to share: the job takes the
//! [`Pen`] and commits where it stands, which spares it the way to the thread and back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::chain::Group;
use super::log;
use super::pen::{CROWD, Pen, SOON, Step};
use super::presence::Presence;
use super::tail::Tail;
use crate::records::{AuditFilter, AuditRecord};
use crate::{StoreError, broken};

/// How many jobs may wait before those who bring more must wait too.
const QUEUE: usize = 4096;

/// How many jobs share a transaction at most.
const GROUP: usize = 512;

/// How long a crowd is waited for at a time, and how often at most.
const MOMENT: Duration = Duration::from_micros(100);
const MOMENTS: usize = 10;

/// How often an idle writer looks whether another process wrote.
const LOOK: Duration = Duration::from_millis(500);

/// What is sent to the thread.
enum Message {
    Work(Box<dyn Work>),
    /// The log is long.
    Tend,
    /// Finish, close, and say so.
    Close(oneshot::Sender<()>),
}

/// A job with the one who waits for it.
trait Work: Send {
    /// What is to be written.
    fn step(&mut self) -> &mut dyn Step;

    /// Answers: as it went, or with what became of the whole group.
    fn answer(self: Box<Self>, failure: Option<&Arc<StoreError>>);
}

/// What is to be written, and how it went.
struct Job<F, T> {
    may_fail: bool,
    run: Option<F>,
    result: Option<Result<T, StoreError>>,
}

impl<F, T> Job<F, T> {
    fn result(self) -> Result<T, StoreError> {
        self.result.unwrap_or_else(|| Err(broken("the job did not run")))
    }
}

impl<F, T> Step for Job<F, T>
where
    F: FnOnce(&mut Group<'_>) -> Result<T, StoreError>,
{
    fn may_fail(&self) -> bool {
        self.may_fail
    }

    fn run(&mut self, group: &mut Group<'_>) -> bool {
        self.result = self.run.take().map(|run| run(group));
        matches!(self.result, Some(Ok(_)))
    }
}

/// A job in the queue.
struct Queued<F, T> {
    job: Job<F, T>,
    waiting: oneshot::Sender<Result<T, StoreError>>,
    place: OwnedSemaphorePermit,
}

impl<F, T> Work for Queued<F, T>
where
    F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send,
    T: Send,
{
    fn step(&mut self) -> &mut dyn Step {
        &mut self.job
    }

    fn answer(self: Box<Self>, failure: Option<&Arc<StoreError>>) {
        let Queued { job, waiting, place } = *self;
        let result = match failure {
            Some(failure) => Err(StoreError::Unavailable(Box::new(Arc::clone(failure)))),
            None => job.result(),
        };
        // First, so that who comes again at once is not taken for a second one.
        drop(place);
        // Nobody waits any more: what was done stays done.
        let _ = waiting.send(result);
    }
}

/// The way to write.
pub(super) struct Writer {
    queue: Sender<Message>,
    places: Arc<Semaphore>,
    // INVARIANT: poisoned, it is never used again: a transaction may be open half done.
    pen: Arc<Mutex<Option<Pen>>>,
    changed: Arc<AtomicU64>,
    tail: Arc<Mutex<Tail>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(
        db: Connection,
        presence: Presence,
        node: String,
        bell: watch::Sender<u64>,
    ) -> Result<Writer, StoreError> {
        let pen = Pen::new(db, presence, node, bell)?;
        let (changed, tail) = (pen.changed(), pen.recorded());
        let pen = Arc::new(Mutex::new(Some(pen)));
        let (queue, messages) = channel();
        let places = Arc::new(Semaphore::new(QUEUE));
        let mut thread = Thread {
            pen: Arc::clone(&pen),
            messages,
            places: Arc::clone(&places),
            writing_back: None,
        };
        std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(Writer { queue, places, pen, changed, tail })
    }

    /// Runs a job; what it returned is durable when this returns.
    pub(super) async fn run<F, T>(&self, run: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.write(true, run).await
    }

    /// Runs a job that looks before it writes: behind its first change nothing but a broken store
    /// makes it fail, and then its whole group fails with it. It is spared a savepoint, for which
    /// every page that it changes would be copied.
    pub(super) async fn run_plain<F, T>(&self, run: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        self.write(false, run).await
    }

    /// Runs a job that may take long, or writes much: always by the thread.
    pub(super) async fn run_long<F, T>(&self, run: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let place = self.place().await?;
        self.queue(Job { may_fail: true, run: Some(run), result: None }, place).await
    }

    async fn write<F, T>(&self, may_fail: bool, run: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let place = self.place().await?;
        let mut job = Job { may_fail, run: Some(run), result: None };
        if self.queued() == 1
            && may_wait_here()
            && let Some(committed) = self.write_alone(&mut job)
        {
            return committed.and_then(|()| job.result());
        }
        self.queue(job, place).await
    }

    async fn place(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        place.map_err(|_| broken("the store is closed"))
    }

    async fn queue<F, T>(
        &self,
        job: Job<F, T>,
        place: OwnedSemaphorePermit,
    ) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Group<'_>) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let closed = || broken("the store is closed");
        let (waiting, answer) = oneshot::channel();
        let queued = Queued { job, waiting, place };
        self.queue.send(Message::Work(Box::new(queued))).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Writes one job where it stands, unless there is somebody to share a sync with, another
    /// process writes, or the disk is slow.
    fn write_alone(&self, job: &mut dyn Step) -> Option<Result<(), StoreError>> {
        let mut held = match self.pen.try_lock() {
            Ok(held) => held,
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(_)) => return Some(Err(broken("the store is closed"))),
        };
        let pen = held.as_mut().filter(|pen| pen.suits_one())?;
        if !pen.begins_at_once() {
            return None;
        }
        let committed = pen.commit([job].into_iter());
        let committed = committed.map(|position| pen.bell().ring(position));
        if pen.has_long_log() {
            // Behind the answer; that nobody is left to do it is found out by the next.
            let _ = self.queue.send(Message::Tend);
        }
        Some(committed)
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

/// Whether the thread of this task may wait for a disk: others take its place meanwhile.
fn may_wait_here() -> bool {
    Handle::try_current().is_ok_and(|runtime| {
        runtime.runtime_flavor() == RuntimeFlavor::MultiThread
            && runtime.metrics().num_workers() > 1
    })
}

struct Thread {
    pen: Arc<Mutex<Option<Pen>>>,
    messages: Receiver<Message>,
    places: Arc<Semaphore>,
    /// The thread that writes the log back.
    writing_back: Option<JoinHandle<()>>,
}

impl Thread {
    fn run(&mut self) {
        let closing = self.write();
        if let Some(writing) = self.writing_back.take() {
            let _ = writing.join();
        }
        let pen = self.pen.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(pen) = pen {
            pen.close();
        }
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    /// Writes until it is told to end; who told it.
    fn write(&mut self) -> Option<oneshot::Sender<()>> {
        let (mut last, mut answered) = (0, Instant::now());
        loop {
            let first = match self.messages.recv_timeout(LOOK) {
                Ok(Message::Work(work)) => Some(work),
                Ok(Message::Close(done)) => return Some(done),
                Ok(Message::Tend) | Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return None,
            };
            let Some(first) = first else {
                // Poisoned, it is closed: who waits is told so.
                let mut held = self.pen.lock().ok()?;
                let pen = held.as_mut()?;
                pen.look();
                pen.make_room();
                drop(held);
                self.tend()?;
                continue;
            };
            if last >= CROWD && answered.elapsed() <= SOON {
                self.await_crowd(last);
            }
            let mut held = self.pen.lock().ok()?;
            let pen = held.as_mut()?;
            let mut group = vec![first];
            let mut closing = None;
            while group.len() < GROUP && closing.is_none() {
                match self.messages.try_recv() {
                    Ok(Message::Work(work)) => group.push(work),
                    Ok(Message::Close(done)) => closing = Some(done),
                    Ok(Message::Tend) => {}
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            last = group.len();
            let committed = pen.commit(group.iter_mut().map(|work| work.step()));
            let (bell, is_long) = (pen.bell(), pen.has_long_log());
            // Whoever is answered may come again at once.
            drop(held);
            let committed = committed.map_err(Arc::new);
            let failure = committed.as_ref().err();
            for work in group {
                work.answer(failure);
            }
            answered = Instant::now();
            if let Ok(position) = committed {
                bell.ring(position);
            }
            if is_long || self.writing_back.is_some() {
                self.tend()?;
            }
            if closing.is_some() {
                return closing;
            }
        }
    }

    /// Lets the log be written back if it is long, and begin anew if that is done; none if the pen
    /// is gone.
    fn tend(&mut self) -> Option<()> {
        if let Some(writing) = self.writing_back.take_if(|writing| writing.is_finished()) {
            let _ = writing.join();
            self.pen.lock().ok()?.as_mut()?.begin_log_anew();
        }
        if self.writing_back.is_some() {
            return Some(());
        }
        let mut held = self.pen.lock().ok()?;
        let pen = held.as_mut()?;
        let Some(database) = pen.has_to_write_back() else { return Some(()) };
        let thread = std::thread::Builder::new().name("store-log".to_owned());
        // What fails is done when the log begins anew.
        match thread.spawn(move || drop(log::write_back(&database))) {
            Ok(writing) => self.writing_back = Some(writing),
            Err(_) => pen.begin_log_anew(),
        }
        Some(())
    }

    /// Waits a moment for as many as came last: they share one sync.
    fn await_crowd(&self, last: usize) {
        for _ in 0..MOMENTS {
            if QUEUE.saturating_sub(self.places.available_permits()) >= last / 4 * 3 {
                return;
            }
            std::thread::sleep(MOMENT);
        }
    }
}

#[cfg(test)]
mod tests;
