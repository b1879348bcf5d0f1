//! Twins: several events of a host that are about one call, or several entries for one host.
//!
//! A host may ask before a call and again at its own prompt, and may read another host's settings.
//! An event that comes through another slot than those before it, soon after them and with the same
//! acts, takes their ask and its decision; a second event through the same slot is a second call.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use portcullis_approval::Id;
use portcullis_engine::Verdict;
use portcullis_engine::pattern::json::canonical_text;
use portcullis_hook::OWN_NAME;
use serde_json::Value;

use super::Submission;

/// How long after the last event another one is taken for its twin.
const WINDOW: Duration = Duration::from_secs(10);

/// So many are remembered.
const MOST: usize = 4096;

/// What permission events leave out, or say in other words.
const CHATTER: &[&str] = &["description", "timeout", "sync", "mode", "is_background"];

/// The asks of recent events.
#[derive(Default)]
pub(super) struct Twins {
    twins: Mutex<VecDeque<Twin>>,
    /// Held from looking for a twin until the ask is remembered: of two events that come at once
    /// one finds the other.
    pub(super) turn: tokio::sync::Mutex<()>,
}

struct Twin {
    key: String,
    call_id: Option<String>,
    ask: Id,
    slots: Vec<String>,
    at: Instant,
    is_pending: bool,
}

impl Twins {
    /// The ask of an event before this one that is about the same call; takes the slot.
    pub(super) fn take(&self, key: &str, slot: &str, call_id: Option<&str>) -> Option<Id> {
        let mut twins = self.twins.lock().unwrap_or_else(PoisonError::into_inner);
        twins.retain(|twin| twin.is_pending || twin.at.elapsed() < WINDOW);
        // Names that hooks give by themselves say nothing about the host's call.
        let of_host = |id: &str| !id.starts_with(OWN_NAME);
        let other_call = |twin: &Twin| match (&twin.call_id, call_id) {
            (Some(known), Some(new)) => known != new && of_host(known) && of_host(new),
            _ => false,
        };
        let found = twins.iter_mut().find(|twin| {
            twin.key == key && !twin.slots.iter().any(|used| used == slot) && !other_call(twin)
        })?;
        found.slots.push(slot.to_owned());
        found.at = Instant::now();
        Some(found.ask)
    }

    /// Remembers the ask of an event.
    pub(super) fn open(&self, key: &str, slot: &str, call_id: Option<&str>, ask: Id) {
        let mut twins = self.twins.lock().unwrap_or_else(PoisonError::into_inner);
        if twins.iter().any(|twin| twin.ask == ask) {
            return;
        }
        if twins.len() >= MOST {
            twins.pop_front();
        }
        twins.push_back(Twin {
            key: key.to_owned(),
            call_id: call_id.map(str::to_owned),
            ask,
            slots: vec![slot.to_owned()],
            at: Instant::now(),
            is_pending: true,
        });
    }

    /// An event about an ask was answered: the window begins.
    pub(super) fn close(&self, ask: Id) {
        let mut twins = self.twins.lock().unwrap_or_else(PoisonError::into_inner);
        for twin in twins.iter_mut().filter(|twin| twin.ask == ask) {
            twin.at = Instant::now();
            twin.is_pending = false;
        }
    }
}

/// What twins have in common: who, where, and what would be done, without chatter.
pub(super) fn key(submission: &Submission, verdict: &Verdict) -> String {
    let call = &submission.call;
    let who = (submission.asker.key, &call.host, &call.session, &call.cwd);
    let mut key = format!("{who:?}");
    let is_plain = verdict.acts.iter().all(|judged| {
        let touches = judged.touched.iter().any(|touched| touched.place.is_some());
        !judged.act.args.is_empty() || touches
    });
    if is_plain && !verdict.acts.is_empty() {
        for judged in &verdict.acts {
            let touched = judged.touched.iter().map(|touched| (touched.effect, &touched.place));
            let _ = write!(key, "|{:?}{:?}", judged.act.args, touched.collect::<Vec<_>>());
        }
        let command = ["command", "cmd"].iter().find_map(|name| submission.input.get(name));
        let _ = write!(key, "|{command:?}");
        return key;
    }
    let tool: String = call.tool.chars().filter(char::is_ascii_alphanumeric).collect();
    let mut input = submission.input.clone();
    if let Value::Object(members) = &mut input {
        members.retain(|name, _| !CHATTER.contains(&name.as_str()));
    }
    let _ = write!(key, "|{}|{}", tool.to_ascii_lowercase(), canonical_text(&input));
    key
}
