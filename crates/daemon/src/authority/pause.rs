//! Pauses: for a while, what would be asked about is allowed. A person says so, for a host or a
//! directory or for everything of their owners; it ends by itself, and with the node.
//!
//! Where several nodes share a store, each hears from the audit what the others pause and end.
//! Deny rules, firm findings that could destroy, self-protection and the audit stay.

use std::sync::{Arc, Mutex, PoisonError};

use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::{Asker, CallText, Moment, Owners, pause};
use portcullis_engine::Verdict;
use portcullis_store::{AuditRecord, StoreError};
use serde_json::Value;

use super::Authority;

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Who paused.
    pub by: String,
    /// Whose agents are meant.
    pub owners: Owners,
    /// Calls of this host only.
    pub host: Option<String>,
    /// Calls in this directory, or below it, only.
    pub workspace: Option<String>,
    /// Until when.
    pub until: Moment,
}

impl Pause {
    /// Whether a call is meant.
    fn covers(&self, asker: &Asker, call: &CallText, now: Moment) -> bool {
        now < self.until
            && self.owners.include(&asker.owner)
            && pause::covers(call, self.host.as_deref(), self.workspace.as_deref())
    }

    fn entry(&self, kind: &'static str, actor: &str, at: Moment) -> Entry {
        let mut data = vec![("by", quoted(&self.by)), ("until", quoted(&self.until.to_string()))];
        data.extend(self.host.as_ref().map(|host| ("host", quoted(host))));
        data.extend(self.workspace.as_ref().map(|root| ("workspace", quoted(root))));
        if let Owners::Some(owners) = &self.owners {
            let owners: Vec<String> = owners.iter().map(|owner| quoted(owner)).collect();
            data.push(("owners", format!("[{}]", owners.join(","))));
        }
        let (actor, subject) = (actor.to_owned(), "pause".to_owned());
        Entry { kind, at, actor, subject, owner: None, data: object(data).into() }
    }
}

impl Pause {
    /// The pause that an audit entry is about.
    fn read(data: &str) -> Option<Pause> {
        let data: Value = serde_json::from_str(data).ok()?;
        let text = |name: &str| Some(data.get(name)?.as_str()?.to_owned());
        let owners = match data.get("owners") {
            Some(owners) => {
                let owner = |owner: &Value| owner.as_str().map(str::to_owned);
                Owners::Some(owners.as_array()?.iter().map(owner).collect::<Option<_>>()?)
            }
            None => Owners::All,
        };
        Some(Pause {
            by: text("by")?,
            owners,
            host: text("host"),
            workspace: text("workspace"),
            until: Moment::parse(&text("until")?)?,
        })
    }
}

/// The pauses of a node.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    pauses: Mutex<Vec<Pause>>,
    /// Those that ended early here: the audit may tell of their beginning only now.
    ended: Mutex<Vec<Pause>>,
}

impl Authority {
    /// Pauses; recorded before it counts.
    ///
    /// # Errors
    /// It could not be recorded, and does not count.
    pub async fn pause(&self, pause: Pause) -> Result<(), StoreError> {
        let now = self.now();
        let entry = pause.entry("pause.started", &pause.by, now);
        self.store().record(vec![entry], Vec::new(), now).await?;
        self.add_pause(pause);
        Ok(())
    }

    /// Does what the audit says somebody did on another node, or on this one.
    pub fn hear_pause(&self, entry: &AuditRecord) {
        let Some(pause) = Pause::read(&entry.data) else { return };
        match entry.kind.as_str() {
            "pause.started" if self.now() < pause.until => self.add_pause(pause),
            "pause.ended" => self.locked_pauses().retain(|known| *known != pause),
            _ => {}
        }
    }

    fn add_pause(&self, pause: Pause) {
        let mut ended = self.inner.pauses.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        ended.retain(|known| now < known.until);
        let mut pauses = self.locked_pauses();
        if !pauses.contains(&pause) && !ended.contains(&pause) {
            pauses.push(pause);
        }
    }

    /// The pauses that go on and that somebody may see.
    #[must_use]
    pub fn pauses(&self, may_see: impl Fn(&Pause) -> bool) -> Vec<Pause> {
        let now = self.now();
        let pauses = self.locked_pauses();
        pauses.iter().filter(|pause| now < pause.until && may_see(pause)).cloned().collect()
    }

    /// Ends pauses early; how many went on.
    ///
    /// # Errors
    /// It could not be recorded; they are over all the same.
    pub async fn resume(
        &self,
        actor: &str,
        may_end: impl Fn(&Pause) -> bool,
    ) -> Result<usize, StoreError> {
        self.end_pauses(actor, may_end).await
    }

    /// Records the end of pauses whose time is over.
    pub async fn tend_pauses(&self) {
        let now = self.now();
        if let Err(error) = self.end_pauses("clock", |pause| pause.until <= now).await {
            tracing::error!("the end of a pause could not be recorded: {error}");
        }
    }

    async fn end_pauses(
        &self,
        actor: &str,
        is_over: impl Fn(&Pause) -> bool,
    ) -> Result<usize, StoreError> {
        let now = self.now();
        let over: Vec<Pause> =
            self.locked_pauses().extract_if(.., |pause| is_over(pause)).collect();
        if over.is_empty() {
            return Ok(0);
        }
        self.inner
            .pauses
            .ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(over.iter().cloned());
        let entries = over.iter().map(|pause| pause.entry("pause.ended", actor, now)).collect();
        self.store().record(entries, Vec::new(), now).await?;
        Ok(over.len())
    }

    /// Changes a verdict if a pause covers its call.
    pub(super) fn pause_over(&self, asker: &Asker, call: &CallText, verdict: &mut Arc<Verdict>) {
        let pauses = self.locked_pauses();
        if pauses.is_empty() {
            return;
        }
        let now = self.now();
        if let Some(on) = pauses.iter().find(|pause| pause.covers(asker, call, now)) {
            *verdict = Arc::new(pause::lifted((**verdict).clone(), &on.by, on.until));
        }
    }

    fn locked_pauses(&self) -> std::sync::MutexGuard<'_, Vec<Pause>> {
        self.inner.pauses.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
