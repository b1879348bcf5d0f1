//! The feed: what changed, in order, for everybody who may see it.
//!
//! One pump reads the audit behind the bell, wakes waiters, and makes each event once; connections
//! share it. Whoever falls behind, or comes with a cursor that is too old, is told to read the
//! inbox again.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use axum::extract::ws::Utf8Bytes;
use portcullis_approval::{Id, Moment, Owners};
use portcullis_store::{AskFilter, AskRecord, AuditFilter, AuditRecord, StoreError};
use portcullis_wire::asks::{self, Ask};
use portcullis_wire::feed;
use tokio::sync::broadcast;

use crate::authority::Authority;
use crate::identity::{Caller, Identity};

/// So many events a connection may lag behind.
const MOST_BEHIND: usize = 1024;

/// So many events are replayed behind a cursor; beyond that the inbox is read again.
const MOST_REPLAYED: usize = 5000;

/// How soon the feed is read again when the store did not answer.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(500);

/// So many pending asks are read at once.
const MOST_AT_ONCE: usize = 1000;

/// Kinds of audit entries that are events.
const KINDS: &[&str] = &[
    "ask.opened",
    "ask.settled",
    "grant.made",
    "grant.revoked",
    "policy.changed",
    "run.started",
    "run.changed",
    "run.ended",
    "gap.found",
];

/// Kinds that make a node read something again.
const CARES: &[&str] =
    &["grant.used", "key.made", "key.revoked", "session.changed", "pause.started", "pause.ended"];

/// The kind of event that only those see who want to.
const CALLS: &str = "call.judged";

/// One event, made once.
#[derive(Debug)]
pub struct Event {
    /// Its position.
    pub position: u64,
    /// What happened.
    pub kind: String,
    /// Whose affair it is.
    pub owner: Option<String>,
    /// The ask, if it is about one.
    pub ask: Option<Arc<AskRecord>>,
    /// The audit entry behind it.
    pub entry: Option<AuditRecord>,
    /// When.
    at: Moment,
    /// How many waited for the ask then.
    waiting: usize,
    /// It as JSON text, made when the first one wants it and shared by all.
    text: OnceLock<Utf8Bytes>,
}

impl Event {
    /// It as JSON text.
    pub fn text(&self) -> &Utf8Bytes {
        self.text.get_or_init(|| {
            let ask = self.ask.as_ref();
            let entry = self.entry.as_ref().filter(|_| ask.is_none());
            let shape = feed::Event {
                cursor: feed::cursor(self.position),
                kind: self.kind.clone(),
                at: self.at.to_string(),
                ask: ask.map(|ask| Ask::new(&ask.ask, ask.decision.as_ref(), self.waiting)),
                actor: entry.map(|entry| entry.actor.clone()),
                subject: entry.map(|entry| entry.subject.clone()),
                data: entry.map(|entry| asks::raw(&without_input(entry))),
            };
            serde_json::to_string(&shape).unwrap_or_default().into()
        })
    }
}

/// Where events come from.
#[derive(Clone, Debug)]
pub struct Feed {
    sender: broadcast::Sender<Arc<Event>>,
    /// How many listen who want every verdict too.
    calls: Arc<AtomicUsize>,
}

impl Default for Feed {
    fn default() -> Feed {
        Feed { sender: broadcast::Sender::new(MOST_BEHIND), calls: Arc::default() }
    }
}

impl Feed {
    /// Reads what is new, again and again, until the store closes.
    pub async fn pump(self, authority: Authority, identity: Arc<Identity>) {
        let mut bell = authority.store().bell();
        let mut last = *bell.borrow_and_update();
        let mut has_failed = false;
        while has_failed || bell.changed().await.is_ok() {
            let newest = *bell.borrow_and_update();
            // INVARIANT: the newest position first, then who wants verdicts: who does from now on
            // begins at a head that is not before it.
            if !has_failed
                && self.calls.load(Ordering::SeqCst) == 0
                && authority.store().newest_change() <= last
            {
                last = last.max(newest);
                continue;
            }
            let looked = self.look(&authority, &identity, newest, &mut last).await;
            has_failed = looked.is_err();
            if let Err(error) = looked {
                tracing::error!("the feed cannot be read: {error}");
                tokio::select! {
                    () = tokio::time::sleep(AGAIN) => {}
                    () = authority.stopped() => return,
                }
            }
        }
    }

    async fn look(
        &self,
        authority: &Authority,
        identity: &Identity,
        head: u64,
        last: &mut u64,
    ) -> Result<(), StoreError> {
        loop {
            let mut filter = AuditFilter::after(*last, MOST_BEHIND);
            filter.kinds = KINDS.iter().chain(CARES).map(ToString::to_string).collect();
            // INVARIANT: looked at behind the head, and nothing beyond that head is taken: who
            // wants verdicts from now on begins at a head that is not before it.
            if self.calls.load(Ordering::SeqCst) > 0 {
                filter.kinds.push(CALLS.to_owned());
            }
            let mut entries = authority.store().news(&filter).await?;
            let is_last = entries.len() < MOST_BEHIND;
            entries.retain(|entry| entry.position <= head);
            let newest = entries.last().map_or(head, |entry| entry.position);
            self.tend(authority, identity, &entries).await?;
            let mut asks = authority.told(&entries).await?;
            for entry in entries {
                if CARES.contains(&entry.kind.as_str()) {
                    continue;
                }
                let settled = (entry.kind == "ask.settled").then(|| entry.subject.parse().ok());
                let ask = asks.remove(&entry.position);
                let event = event(authority, entry, ask);
                if let (Some(record), "ask.opened") = (&event.ask, event.kind.as_str()) {
                    authority.hear_ask(event.position, &record.ask);
                }
                // Nobody listening is no fault.
                let _ = self.sender.send(Arc::new(event));
                // What was decided is told before whoever waits goes on.
                if let Some(id) = settled.flatten() {
                    authority.waiters().wake(id);
                }
            }
            *last = if is_last { newest.max(head) } else { newest };
            if is_last {
                return Ok(());
            }
        }
    }

    /// Does what the entries ask of this node: reads again what changed.
    async fn tend(
        &self,
        authority: &Authority,
        identity: &Identity,
        entries: &[AuditRecord],
    ) -> Result<(), StoreError> {
        let (mut grants, mut keys, mut sessions) = (false, false, false);
        for entry in entries {
            match entry.kind.as_str() {
                "grant.made" | "grant.revoked" | "grant.used" | "run.ended" => grants = true,
                "key.made" | "key.revoked" => keys = true,
                "session.changed" => sessions = true,
                "pause.started" | "pause.ended" => authority.hear_pause(entry),
                _ => {}
            }
        }
        if grants {
            authority.refresh_grants().await?;
        }
        if keys {
            identity.refresh(authority.store()).await?;
            authority.remember_keys(identity.keys().into_iter());
        }
        if sessions {
            authority.forget_sessions();
        }
        Ok(())
    }

    /// Begins to listen: behind a cursor, or with the pending asks first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn subscribe(
        &self,
        authority: &Authority,
        view: View,
        after: Option<u64>,
    ) -> Result<Subscription, StoreError> {
        // First listen, then look: what happens between the two is seen twice, never lost.
        let receiver = self.sender.subscribe();
        let calls = view.wants_calls.then(|| Calls::wanted(&self.calls));
        let head = authority.store().head().await?;
        let mut replay = VecDeque::new();
        let mut pending = None;
        match after {
            None => {
                let mut page = Page::first(&view);
                page.read(authority, head.position, &mut replay).await?;
                pending = Some(page);
            }
            Some(after) => {
                let base = head.base.map_or(0, |(seq, _)| seq);
                let mut filter = AuditFilter::after(after, MOST_REPLAYED);
                filter.kinds = KINDS.iter().map(ToString::to_string).collect();
                if view.wants_calls {
                    filter.kinds.push(CALLS.to_owned());
                }
                let entries = authority.store().audit(&filter).await?;
                if after < base || after > head.position || entries.len() >= MOST_REPLAYED {
                    replay.push_back(Arc::new(resync(authority, head.position)));
                } else {
                    let mut asks = authority.told(&entries).await?;
                    for entry in entries.into_iter().filter(|entry| entry.position <= head.position)
                    {
                        let ask = asks.remove(&entry.position);
                        replay.push_back(Arc::new(event(authority, entry, ask)));
                    }
                }
            }
        }
        Ok(Subscription {
            view,
            replay,
            pending,
            last: head.position,
            receiver,
            authority: authority.clone(),
            _calls: calls,
        })
    }
}

/// One who wants every verdict, counted as long as it listens.
struct Calls(Arc<AtomicUsize>);

impl Calls {
    fn wanted(count: &Arc<AtomicUsize>) -> Calls {
        count.fetch_add(1, Ordering::SeqCst);
        Calls(Arc::clone(count))
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What somebody may and wants to see.
#[derive(Clone, Debug)]
pub struct View {
    /// Affairs of these owners.
    pub owners: Owners,
    /// Only asks raised with this key.
    pub agent: Option<Id>,
    /// Whether every verdict is wanted too.
    pub wants_calls: bool,
}

impl View {
    /// What a caller may see.
    #[must_use]
    pub fn of(caller: &Caller, wants_calls: bool) -> View {
        let agent = (caller.key.role == portcullis_approval::Role::Agent).then_some(caller.key.id);
        View { owners: caller.owners(), agent, wants_calls }
    }

    fn shows(&self, event: &Event) -> bool {
        if event.kind == CALLS && !self.wants_calls {
            return false;
        }
        let is_own = match (self.agent, &event.ask) {
            (None, _) => true,
            (Some(key), Some(record)) => record.ask.asker.key == key,
            (Some(_), None) => event.kind == "resync",
        };
        is_own && event.owner.as_ref().is_none_or(|owner| self.owners.include(owner))
    }
}

/// Pending asks that somebody who connects is told, read as fast as they are taken.
struct Page {
    filter: AskFilter,
    has_more: bool,
}

impl Page {
    fn first(view: &View) -> Page {
        let mut filter = AskFilter::pending(view.owners.clone(), MOST_AT_ONCE);
        filter.key = view.agent;
        Page { filter, has_more: true }
    }

    async fn read(
        &mut self,
        authority: &Authority,
        position: u64,
        replay: &mut VecDeque<Arc<Event>>,
    ) -> Result<(), StoreError> {
        let records = authority.store().asks(&self.filter).await?;
        self.has_more = records.len() == self.filter.limit;
        self.filter.after = records.last().map(|record| record.ask.id);
        for record in records {
            replay.push_back(Arc::new(pending(authority, record, position)));
        }
        Ok(())
    }
}

/// One who listens.
pub struct Subscription {
    view: View,
    replay: VecDeque<Arc<Event>>,
    /// Pending asks that are still to be read, if there are more.
    pending: Option<Page>,
    last: u64,
    receiver: broadcast::Receiver<Arc<Event>>,
    authority: Authority,
    _calls: Option<Calls>,
}

impl Subscription {
    /// The next event; none when the node goes down.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        loop {
            if let Some(event) = self.replay.pop_front() {
                if self.view.shows(&event) {
                    return Some(event);
                }
                continue;
            }
            if let Some(mut page) = self.pending.take_if(|page| page.has_more) {
                page.read(&self.authority, self.last, &mut self.replay).await.ok()?;
                self.pending = Some(page);
                continue;
            }
            match self.receiver.recv().await {
                Ok(event) if event.position > self.last && self.view.shows(&event) => {
                    return Some(event);
                }
                Ok(_) => {}
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    let head = self.authority.store().head().await.ok()?;
                    self.last = head.position;
                    return Some(Arc::new(resync(&self.authority, head.position)));
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

fn event(authority: &Authority, entry: AuditRecord, ask: Option<Arc<AskRecord>>) -> Event {
    Event {
        position: entry.position,
        kind: entry.kind.clone(),
        at: entry.at,
        owner: entry.owner.clone(),
        waiting: ask.as_ref().map_or(0, |record| authority.waiters().count(record.ask.id)),
        ask,
        entry: Some(entry),
        text: OnceLock::new(),
    }
}

/// What an entry says, without the input of a call.
fn without_input(entry: &AuditRecord) -> String {
    if entry.kind != CALLS {
        return entry.data.clone();
    }
    let mut data: serde_json::Value = serde_json::from_str(&entry.data).unwrap_or_default();
    if let Some(members) = data.as_object_mut() {
        members.remove("input");
    }
    data.to_string()
}

fn pending(authority: &Authority, record: AskRecord, position: u64) -> Event {
    Event {
        position,
        kind: "ask.opened".to_owned(),
        at: record.ask.opened_at,
        owner: Some(record.ask.asker.owner.clone()),
        waiting: authority.waiters().count(record.ask.id),
        ask: Some(Arc::new(record)),
        entry: None,
        text: OnceLock::new(),
    }
}

fn resync(authority: &Authority, position: u64) -> Event {
    Event {
        position,
        kind: "resync".to_owned(),
        at: authority.now(),
        owner: None,
        ask: None,
        waiting: 0,
        entry: None,
        text: OnceLock::new(),
    }
}
