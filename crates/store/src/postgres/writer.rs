//! The one task of a node that writes.
//!
//! It takes what waits in its queue into one transaction, so that one sync is shared by many. All
//! nodes write under one lock, in turn: what a group sees, it sees whole, and the chain stays one.
//! Each job is one statement that either changes what it should or nothing, so that all jobs of a
//! group travel at once and a group costs three journeys whatever its size. Whoever waits is
//! answered after the commit, and if that fails, every job of the group failed.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use deadpool_postgres::Object;
use futures_util::future::{MaybeDone, maybe_done};
use portcullis_approval::audit::Entry;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::chain::{Chain, Written};
use super::pool::{Connections, PATIENCE, within};
use super::values::Statement;
use crate::{StoreError, broken};

/// How many jobs may wait before those who bring more must wait too.
const QUEUE: usize = 4096;

/// How many jobs share a transaction at most.
const GROUP: usize = 512;

/// What is sent to the task.
enum Message {
    Work(Box<dyn Work>),
    /// Finish, close, and say so.
    Close(oneshot::Sender<()>),
}

/// What became of a job: whether its entries are written, and what it answers.
pub(super) struct Done<T> {
    /// Whether it changed something, so that its entries belong into the audit.
    pub(super) stands: bool,
    /// The entries, where only what was found says which.
    pub(super) entries: Option<Vec<Entry>>,
    /// The answer.
    pub(super) answer: Result<T, StoreError>,
}

impl<T> Done<T> {
    /// It changed something.
    pub(super) const fn stands(answer: T) -> Done<T> {
        Done { stands: true, entries: None, answer: Ok(answer) }
    }

    /// It changed nothing that the audit speaks about.
    pub(super) const fn nothing(answer: T) -> Done<T> {
        Done { stands: false, entries: None, answer: Ok(answer) }
    }

    /// It changed something, and these are its entries.
    pub(super) const fn writing(answer: T, entries: Vec<Entry>) -> Done<T> {
        Done { stands: true, entries: Some(entries), answer: Ok(answer) }
    }

    /// It changed nothing, and this is why.
    pub(super) const fn refused(error: StoreError) -> Done<T> {
        Done { stands: false, entries: None, answer: Err(error) }
    }
}

/// A job with the one who waits for it.
trait Work: Send + Sync {
    fn statement(&self) -> Option<&Statement>;

    /// Takes what the statement found; whether the entries are written.
    fn take(&mut self, rows: &[Row]) -> bool;

    fn entries(&self) -> &[Entry];

    /// Answers: as it went, or with what became of the whole group.
    fn answer(self: Box<Self>, failure: Option<&Arc<StoreError>>);
}

struct Job<F, T> {
    statement: Option<Statement>,
    entries: Vec<Entry>,
    read: F,
    result: Option<Result<T, StoreError>>,
    waiting: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Work for Job<F, T>
where
    F: Fn(&[Row]) -> Done<T> + Send + Sync,
    T: Send + Sync,
{
    fn statement(&self) -> Option<&Statement> {
        self.statement.as_ref()
    }

    fn take(&mut self, rows: &[Row]) -> bool {
        let done = (self.read)(rows);
        self.result = Some(done.answer);
        if let Some(entries) = done.entries {
            self.entries = entries;
        }
        done.stands
    }

    fn entries(&self) -> &[Entry] {
        &self.entries
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

/// The way to the task.
pub(super) struct Writer {
    queue: mpsc::UnboundedSender<Message>,
    places: Arc<Semaphore>,
}

impl Writer {
    /// Starts the task; `ring` hears how far it wrote, behind each commit.
    pub(super) fn start(
        connections: Connections,
        node: String,
        ring: watch::Sender<Written>,
    ) -> Writer {
        let (queue, messages) = mpsc::unbounded_channel();
        let task = Task { connections, node, ring, messages, client: None };
        tokio::spawn(task.run());
        Writer { queue, places: Arc::new(Semaphore::new(QUEUE)) }
    }

    /// Runs a job; what it answers is durable when this returns.
    pub(super) async fn run<F, T>(
        &self,
        statement: Option<Statement>,
        entries: Vec<Entry>,
        read: F,
    ) -> Result<T, StoreError>
    where
        F: Fn(&[Row]) -> Done<T> + Send + Sync + 'static,
        T: Send + Sync + 'static,
    {
        let closed = || broken("the store is closed");
        let _place = self.places.acquire().await.map_err(|_| closed())?;
        let (waiting, answer) = oneshot::channel();
        let job = Job { statement, entries, read, result: None, waiting };
        self.queue.send(Message::Work(Box::new(job))).map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }

    /// Runs a statement that changes something or nothing; whether it did.
    pub(super) async fn change(
        &self,
        statement: Statement,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let read = |rows: &[Row]| {
            if rows.is_empty() { Done::nothing(false) } else { Done::stands(true) }
        };
        self.run(Some(statement), entries, read).await
    }

    /// How many jobs wait or run.
    pub(super) fn queued(&self) -> usize {
        QUEUE.saturating_sub(self.places.available_permits())
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

struct Task {
    connections: Connections,
    node: String,
    ring: watch::Sender<Written>,
    messages: mpsc::UnboundedReceiver<Message>,
    client: Option<Object>,
}

impl Task {
    async fn run(mut self) {
        let mut closing = None;
        while closing.is_none() {
            let mut group = Vec::new();
            match self.messages.recv().await {
                Some(Message::Work(work)) => group.push(work),
                Some(Message::Close(done)) => {
                    closing = Some(done);
                    break;
                }
                None => break,
            }
            while group.len() < GROUP && closing.is_none() {
                match self.messages.try_recv() {
                    Ok(Message::Work(work)) => group.push(work),
                    Ok(Message::Close(done)) => closing = Some(done),
                    Err(_) => break,
                }
            }
            self.write(group).await;
        }
        self.messages.close();
        self.client = None;
        self.connections.close();
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    /// Commits a group and answers. If the database refused it, each job is tried by itself, so
    /// that one which cannot be stored takes no other with it. A turn that did not come is no
    /// job's fault: the group waits once more, because many turns would only take longer.
    async fn write(&mut self, mut group: Vec<Box<dyn Work>>) {
        let mut done = self.commit(&mut group).await;
        if done.as_ref().is_err_and(|error| is_missed_turn(error)) {
            done = self.commit(&mut group).await;
        }
        match done {
            Ok(()) => group.into_iter().for_each(|work| work.answer(None)),
            Err(error) if group.len() > 1 && is_refusal(&error) && !is_missed_turn(&error) => {
                for work in group {
                    let mut alone = vec![work];
                    let failure = self.commit(&mut alone).await.err();
                    for work in alone {
                        work.answer(failure.as_ref());
                    }
                }
            }
            Err(error) => group.into_iter().for_each(|work| work.answer(Some(&error))),
        }
    }

    async fn commit(&mut self, group: &mut [Box<dyn Work>]) -> Result<(), Arc<StoreError>> {
        let done = self.on_a_connection(group).await;
        if done.as_ref().is_err_and(|error| !is_refusal(error)) {
            // What became of it nobody knows here; it is not acknowledged.
            if let Some(client) = self.client.take() {
                drop(Object::take(client));
            }
        }
        let written = done.map_err(Arc::new)?;
        self.ring.send_if_modified(|known| {
            let is_newer = written.newest > known.newest;
            if is_newer {
                *known = written;
            }
            is_newer
        });
        Ok(())
    }

    async fn on_a_connection(
        &mut self,
        group: &mut [Box<dyn Work>],
    ) -> Result<Written, StoreError> {
        if self.client.as_ref().is_none_or(|client| client.is_closed()) {
            self.client = None;
            self.client = Some(self.connections.get().await?);
        }
        let Some(client) = &self.client else { return Err(broken("no connection")) };
        let before = *self.ring.borrow();
        let done = within(PATIENCE, transaction(client, &self.node, before, group)).await;
        if done.as_ref().is_err_and(is_refusal) {
            within(PATIENCE, async { Ok(client.batch_execute("ROLLBACK").await?) }).await?;
        }
        done
    }
}

/// Whether the database understood and refused, so that the connection can go on.
fn is_refusal(error: &StoreError) -> bool {
    said(error).is_some_and(|error| {
        let ended = error.code().is_some_and(|code| code.code().starts_with("57P"));
        error.as_db_error().is_some() && !error.is_closed() && !ended
    })
}

/// Whether the lock that all writers take did not come in time.
fn is_missed_turn(error: &StoreError) -> bool {
    said(error).is_some_and(|error| error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
}

/// What the driver said, if it is behind an error.
fn said(error: &StoreError) -> Option<&tokio_postgres::Error> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(found) = cause {
        if let Some(error) = found.downcast_ref::<tokio_postgres::Error>() {
            return Some(error);
        }
        cause = found.source();
    }
    None
}

/// Runs a group in one transaction; how far it is written behind it.
async fn transaction(
    client: &Object,
    node: &str,
    before: Written,
    group: &mut [Box<dyn Work>],
) -> Result<Written, StoreError> {
    let chain = Chain::begin(node);
    let mut statements = vec![Statement::new("BEGIN", Vec::new())];
    statements.extend(chain.opening());
    let opening = statements.len();
    let jobs = group.iter().filter_map(|work| work.statement());
    let mut found = at_once(client, statements.iter().chain(jobs)).await?.into_iter();

    let opened: Vec<Vec<Row>> = found.by_ref().take(opening).collect();
    let mut chain = chain.standing(&opened)?;
    for work in group.iter_mut() {
        let rows = if work.statement().is_some() { found.next() } else { None };
        if work.take(&rows.unwrap_or_default()) {
            chain.append(work.entries());
        }
    }
    let mut statements = chain.closing();
    statements.push(Statement::new("COMMIT", Vec::new()));
    at_once(client, statements.iter()).await?;
    Ok(chain.written(before))
}

/// Sends statements one behind the other without waiting between them; the rows of each. The
/// database runs them in order.
async fn at_once(
    client: &Object,
    statements: impl Iterator<Item = &Statement>,
) -> Result<Vec<Vec<Row>>, StoreError> {
    let mut sent: Vec<Pin<Box<MaybeDone<_>>>> = Vec::new();
    for statement in statements {
        let prepared = client.prepare_cached(&statement.text).await?;
        sent.push(Box::pin(maybe_done(async move {
            client.query(&prepared, &statement.parameters()).await
        })));
    }
    // The first look at each sends it.
    poll_fn(|context| {
        for one in &mut sent {
            let _ = one.as_mut().poll(context);
        }
        Poll::Ready(())
    })
    .await;
    let mut found = Vec::with_capacity(sent.len());
    for mut one in sent {
        one.as_mut().await;
        let rows = one.as_mut().take_output().ok_or_else(|| broken("an answer taken twice"))?;
        found.push(rows?);
    }
    Ok(found)
}
