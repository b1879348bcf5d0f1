//! What happens to runs, made into frames once and told to every client.
//!
//! One task reads the feed, so that all subscribers of a run get the same frames in the same
//! order, after the commit, whichever door it came through.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use portcullis_approval::{Granted, Id, Moment, Owners, Reach};
use portcullis_store::{AskRecord, AuditRecord, RunRecord, StoreError};
use portcullis_wire::dialects::comma::frames::{Broken, Frame, Usage};
use serde_json::Value;
use tokio::sync::broadcast;

use super::{chain, runs, words};
use crate::App;
use crate::authority::runs::{About, Status};
use crate::feed::{Event, View};

/// So many things a client may lag behind.
const MOST_BEHIND: usize = 1024;

/// Something that clients may be told.
#[derive(Clone, Debug)]
pub struct News {
    /// The run it is about.
    pub run: String,
    /// Whose affair it is.
    pub owner: String,
    /// Its place in the audit: who came later does not hear of it.
    pub position: u64,
    /// When it was made.
    pub at: Moment,
    /// What it is.
    pub what: What,
}

/// What clients may be told.
#[derive(Clone, Debug)]
pub enum What {
    /// An ask was opened.
    Opened(Arc<AskRecord>),
    /// An ask was settled.
    Settled(Id, Frame),
    /// Anything else.
    Said(Frame),
    /// Something was missed: look again.
    Missed,
}

/// The clients of this dialect.
#[derive(Clone, Debug)]
pub struct Hub {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    sender: broadcast::Sender<Arc<News>>,
    clients: AtomicUsize,
    began: Instant,
}

impl Default for Hub {
    fn default() -> Hub {
        let sender = broadcast::Sender::new(MOST_BEHIND);
        Hub {
            inner: Arc::new(Inner { sender, clients: AtomicUsize::new(0), began: Instant::now() }),
        }
    }
}

/// A client that is counted while it is here.
pub struct Present {
    hub: Hub,
}

impl Drop for Present {
    fn drop(&mut self) {
        self.hub.inner.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Hub {
    /// For how long there has been one.
    #[must_use]
    pub fn uptime_ms(&self) -> u64 {
        u64::try_from(self.inner.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How many clients are here.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.inner.clients.load(Ordering::Relaxed)
    }

    /// Counts a client and lets it listen.
    #[must_use]
    pub fn join(&self) -> (Present, broadcast::Receiver<Arc<News>>) {
        self.inner.clients.fetch_add(1, Ordering::Relaxed);
        (Present { hub: self.clone() }, self.inner.sender.subscribe())
    }

    /// Reads the feed until the node goes down.
    pub async fn pump(self, app: App) {
        let view = View { owners: Owners::All, agent: None, wants_calls: false };
        let Ok(mut feed) = app.feed.subscribe(&app.authority, view, None).await else {
            tracing::error!("Comma's clients cannot be told anything: the feed cannot be read");
            return;
        };
        let mut remembered = HashMap::new();
        loop {
            let event = tokio::select! {
                event = feed.next() => event,
                () = app.authority.stopped() => return,
            };
            let Some(event) = event else { return };
            match news(&app, &event, &mut remembered).await {
                Ok(all) => {
                    for news in all {
                        let news = News { position: event.position, ..news };
                        // Nobody listening is no fault.
                        let _ = self.inner.sender.send(Arc::new(news));
                    }
                }
                Err(error) => tracing::error!("Comma's clients were not told: {error}"),
            }
        }
    }
}

/// Where a person's decision is remembered: run, owner and tool, by the grant.
type Remembered = HashMap<Id, (RunRecord, String)>;

/// What clients are told about an event.
async fn news(
    app: &App,
    event: &Event,
    remembered: &mut Remembered,
) -> Result<Vec<News>, StoreError> {
    let at = app.authority.now();
    match (event.kind.as_str(), &event.ask, &event.entry) {
        ("ask.opened", Some(record), _) => Ok(opened(record, at).into_iter().collect()),
        ("ask.settled", Some(record), _) => settled(app, record, at, remembered).await,
        ("grant.revoked", _, Some(entry)) => {
            let known = entry.subject.parse().ok().and_then(|id: Id| remembered.remove(&id));
            let Some((run, tool)) = known else { return Ok(Vec::new()) };
            let Some(run) = current(app, &run).await? else { return Ok(Vec::new()) };
            Ok(vec![said(&run, chain::updated(&app.authority, &run, &tool), at)])
        }
        ("run.started" | "run.changed" | "run.ended", _, Some(entry)) => {
            about_run(app, entry, at, remembered).await
        }
        ("resync", ..) => {
            let (run, owner) = (String::new(), String::new());
            Ok(vec![News { run, owner, position: 0, at, what: What::Missed }])
        }
        _ => Ok(Vec::new()),
    }
}

fn opened(record: &Arc<AskRecord>, at: Moment) -> Option<News> {
    let run = record.ask.call.run.clone()?;
    let owner = record.ask.asker.owner.clone();
    Some(News { run, owner, position: 0, at, what: What::Opened(Arc::clone(record)) })
}

async fn settled(
    app: &App,
    record: &Arc<AskRecord>,
    at: Moment,
    remembered: &mut Remembered,
) -> Result<Vec<News>, StoreError> {
    let ask = &record.ask;
    let (Some(name), Some(decision)) = (&ask.call.run, &record.decision) else {
        return Ok(Vec::new());
    };
    let owner = ask.asker.owner.clone();
    let mut all = Vec::new();
    if ask.bound.access.is_some() && !decision.grants.is_empty() {
        let runs = app.authority.store().runs_named(name).await?;
        let going = runs.into_iter().filter(|run| run.ended_at.is_none());
        for run in going.filter(|run| app.authority.may_attach(&ask.asker, run)) {
            for grant in app.authority.grants() {
                let is_made = decision.grants.contains(&grant.id);
                let is_run = matches!(grant.reach, Reach::Run(_));
                if let (true, true, Granted::Exact { tool, .. }) = (is_made, is_run, &grant.granted)
                {
                    remembered.insert(grant.id, (run.clone(), tool.clone()));
                }
            }
            let frame = chain::updated(&app.authority, &run, &ask.call.tool);
            let what = What::Said(frame);
            all.push(News { run: name.clone(), owner: owner.clone(), position: 0, at, what });
        }
    }
    let what = What::Settled(ask.id, words::resolved(ask, decision, name));
    all.push(News { run: name.clone(), owner, position: 0, at, what });
    Ok(all)
}

async fn about_run(
    app: &App,
    entry: &AuditRecord,
    at: Moment,
    remembered: &mut Remembered,
) -> Result<Vec<News>, StoreError> {
    let runs = app.authority.store().runs_named(&entry.subject).await?;
    let is_meant = |run: &&RunRecord| {
        entry.owner.as_ref() == Some(&run.owner)
            && (entry.kind == "run.ended") == run.ended_at.is_some()
    };
    let Some(run) = runs.iter().rev().find(is_meant) else { return Ok(Vec::new()) };
    let about = About::of(run);
    let frames = match entry.kind.as_str() {
        "run.started" => vec![Frame::StrategyStarted {
            run: runs::shown(run, &about),
            request_id: about.start_request,
        }],
        "run.changed" => {
            let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
            let tools = data.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
            let tools = tools.iter().filter_map(Value::as_str);
            tools.map(|tool| chain::updated(&app.authority, run, tool)).collect()
        }
        _ => {
            remembered.retain(|_, (known, _)| known.run != run.run || known.key != run.key);
            vec![ended(run, about)]
        }
    };
    Ok(frames.into_iter().map(|frame| said(run, frame, at)).collect())
}

fn ended(run: &RunRecord, about: About) -> Frame {
    let run_id = run.run.clone();
    match about.status {
        Status::Error => {
            let message = about.error.unwrap_or_else(|| "Run failed".to_owned());
            let error = Broken { code: "EXECUTION_ERROR", message };
            Frame::StrategyError { run_id, error }
        }
        Status::Cancelled => {
            let message = "Run cancelled by client".to_owned();
            Frame::StrategyError { run_id, error: Broken { code: "CANCELLED", message } }
        }
        Status::Pending | Status::Running | Status::Completed => {
            let usage = about.usage.unwrap_or_default();
            Frame::StrategyCompleted {
                run_id,
                result: about.result.unwrap_or_default(),
                usage: Usage {
                    prompt_tokens: usage.prompt_tokens,
                    completion_tokens: usage.completion_tokens,
                },
                request_id: about.start_request,
            }
        }
    }
}

fn said(run: &RunRecord, frame: Frame, at: Moment) -> News {
    let (run, owner) = (run.run.clone(), run.owner.clone());
    News { run, owner, position: 0, at, what: What::Said(frame) }
}

/// A run as it is now, if it goes on and is not about to end.
async fn current(app: &App, run: &RunRecord) -> Result<Option<RunRecord>, StoreError> {
    let runs = app.authority.store().runs_named(&run.run).await?;
    Ok(runs.into_iter().find(|now| {
        let goes_on = matches!(About::of(now).status, Status::Pending | Status::Running);
        now.key == run.key && now.ended_at.is_none() && goes_on
    }))
}
