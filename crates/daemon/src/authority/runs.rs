//! Runs: what is known of them, who may attach to them, and how they end.

use std::collections::BTreeMap;

use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{canonical, object, quoted};
use portcullis_approval::settle::Refusal;
use portcullis_approval::{Asker, Granted, Id, Moment, Owners, Reach, Role};
use portcullis_store::{AskFilter, RunRecord, StoreError};
use portcullis_wire::grants::RunUsage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Authority, Fault, Gone};

/// So many tools of a run are known by name; what others may do is the same for all of them.
pub const MOST_TOOLS: usize = 200;

/// Tools that every run is expected to have.
const TOOLS: [&str; 4] = ["create_file", "read_file", "run_command", "write_file"];

/// The one of them that runs commands.
const COMMAND_TOOL: &str = "run_command";

/// The name that stands for tools that come later.
const LATER: &str = "*";

/// So many pending asks of a run are looked at when it ends.
const MOST_ASKS: usize = 1000;

/// Who does what a restart brings with it.
const RESTART: &str = "restart";

/// How a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was made and not started.
    Pending,
    /// It goes on.
    #[default]
    Running,
    /// It came to its end.
    Completed,
    /// It broke off.
    Error,
    /// It was stopped.
    Cancelled,
}

impl Status {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Running => "running",
            Status::Completed => "completed",
            Status::Error => "error",
            Status::Cancelled => "cancelled",
        }
    }
}

/// What is known of a run beside its record, as the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// How it stands.
    pub status: Status,
    /// Its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What people call what it does.
    pub name: String,
    /// The file that says what it does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub strategy: String,
    /// How its agents work together.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub flow: Value,
    /// Its agents.
    pub agents: Vec<String>,
    /// Its tools, beside those that every run has.
    pub tools: Vec<String>,
    /// Those of them that run commands.
    pub command_tools: Vec<String>,
    /// Whether it goes on with a run that had ended.
    pub continues: bool,
    /// What the client called the message that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_request: Option<String>,
    /// What was changed in the gates of its tools; `*` is for tools that come later.
    pub gates: BTreeMap<String, ToolGates>,
    /// What it brought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why it broke off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<RunUsage>,
}

/// What was changed in the gates of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolGates {
    /// For reads.
    pub read: GateChange,
    /// For writes.
    pub write: GateChange,
}

/// What was changed in one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateChange {
    /// What else passes.
    pub allow: Vec<String>,
    /// What does not.
    pub deny: Vec<String>,
    /// What happens to the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

impl About {
    /// What is known of a run.
    #[must_use]
    pub fn of(run: &RunRecord) -> About {
        serde_json::from_str(&run.about).unwrap_or_default()
    }

    /// It as text.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Every tool that is known, in order of names.
    #[must_use]
    pub fn known_tools(&self) -> Vec<String> {
        let gated = self.gates.keys().map(String::as_str).filter(|tool| *tool != LATER);
        let named = self.tools.iter().map(String::as_str);
        let mut tools: Vec<String> =
            TOOLS.into_iter().chain(named).chain(gated).map(str::to_owned).collect();
        tools.sort();
        tools.dedup();
        tools
    }

    /// Whether a tool runs commands.
    #[must_use]
    pub fn runs_commands(&self, tool: &str) -> bool {
        tool == COMMAND_TOOL || self.command_tools.iter().any(|known| known == tool)
    }

    /// What was changed for a tool.
    #[must_use]
    pub fn gates_of(&self, tool: &str) -> ToolGates {
        self.gates.get(tool).or_else(|| self.gates.get(LATER)).cloned().unwrap_or_default()
    }

    /// Changes the gates of a tool, or of all of them and of those that come later; gives the
    /// tools that were touched, in order of names.
    pub fn change_gates(
        &mut self,
        tool: Option<&str>,
        is_write: bool,
        change: &GateChange,
    ) -> Vec<String> {
        let tools = tool.map_or_else(|| self.known_tools(), |tool| vec![tool.to_owned()]);
        let later = tool.is_none().then(|| LATER.to_owned());
        for tool in tools.iter().cloned().chain(later) {
            let mut gates = self.gates_of(&tool);
            let gate = if is_write { &mut gates.write } else { &mut gates.read };
            gate.allow.extend_from_slice(&change.allow);
            gate.deny.extend_from_slice(&change.deny);
            if change.default.is_some() {
                gate.default.clone_from(&change.default);
            }
            self.gates.insert(tool, gates);
        }
        tools
    }

    /// Notes a tool that is used; false where it was known.
    pub fn note_tool(&mut self, tool: &str, is_command: bool) -> bool {
        let is_known = self.known_tools().iter().any(|known| known == tool);
        let is_listed = !is_command || self.runs_commands(tool);
        if (is_known && is_listed) || self.tools.len() + self.gates.len() >= MOST_TOOLS {
            return false;
        }
        if !is_known {
            self.tools.push(tool.to_owned());
        }
        if !is_listed {
            self.command_tools.push(tool.to_owned());
        }
        true
    }
}

/// Who ends a run, and how.
#[derive(Clone)]
pub struct Ending<'a> {
    /// How it stands then.
    pub status: Status,
    /// What it brought.
    pub result: Option<String>,
    /// Why it broke off.
    pub error: Option<String>,
    /// What it used.
    pub usage: Option<RunUsage>,
    /// Who ends it.
    pub by: &'a str,
    /// Through which door.
    pub door: &'a str,
}

impl Authority {
    /// The run of this name that an agent's calls belong to: its own, or one that a person made
    /// who answers for the agent's owner.
    ///
    /// # Errors
    /// There is none that goes on, or the store cannot be read.
    pub async fn attach(&self, asker: &Asker, name: &str) -> Result<RunRecord, Fault> {
        let runs = self.store().runs_named(name).await?;
        let going = || runs.iter().filter(|run| run.ended_at.is_none());
        let own = going().find(|run| run.key == asker.key);
        let run = own.or_else(|| going().find(|run| self.may_attach(asker, run)));
        run.cloned().ok_or_else(|| {
            let message = format!("no run `{name}` goes on; start it with `POST /v1/runs`");
            Fault::Refused(Refusal::Malformed(message))
        })
    }

    /// Whether an agent's calls may belong to a run that it did not start.
    pub fn may_attach(&self, asker: &Asker, run: &RunRecord) -> bool {
        if run.key == asker.key {
            return true;
        }
        match self.key(run.key) {
            Some(key) if key.role == Role::Agent => false,
            Some(key) => key.role == Role::Admin || key.owners.include(&asker.owner),
            None => run.owner == asker.owner,
        }
    }

    /// The run of this name that these owners' affairs are in: the one that goes on, else the
    /// last one. The second says whether there is one of somebody else.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn run_for(
        &self,
        name: &str,
        owners: &Owners,
    ) -> Result<(Option<RunRecord>, bool), StoreError> {
        let (own, others): (Vec<_>, Vec<_>) = self
            .store()
            .runs_named(name)
            .await?
            .into_iter()
            .partition(|run| owners.include(&run.owner));
        let has_other = others.iter().any(|run| run.ended_at.is_none());
        let going = own.iter().rev().find(|run| run.ended_at.is_none());
        Ok((going.or_else(|| own.last()).cloned(), has_other))
    }

    /// Changes what is known of a run that goes on; gives it as it is then, or none where it has
    /// ended. `change` says what the audit notes about it (nothing, where the kind is empty), or
    /// none where nothing changes.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn change_run(
        &self,
        run: &RunRecord,
        actor: &str,
        change: impl Fn(&mut About) -> Option<(&'static str, Vec<(&'static str, String)>)>,
    ) -> Result<Option<RunRecord>, StoreError> {
        let mut run = run.clone();
        loop {
            let mut about = About::of(&run);
            let Some((kind, data)) = change(&mut about) else { return Ok(Some(run)) };
            let entry = Entry {
                kind,
                at: self.now(),
                actor: actor.to_owned(),
                subject: run.run.clone(),
                owner: Some(run.owner.clone()),
                data: object(data).into(),
            };
            let after = about.text();
            let entries = if kind.is_empty() { Vec::new() } else { vec![entry] };
            let store = self.store();
            if store.change_run(run.key, &run.run, &run.about, after.clone(), entries).await? {
                return Ok(Some(RunRecord { about: after, ..run }));
            }
            // Somebody changed it meanwhile, or it has ended.
            let now = store.runs_named(&run.run).await?;
            match now.into_iter().find(|now| now.key == run.key && now.ended_at.is_none()) {
                Some(now) => run = now,
                None => return Ok(None),
            }
        }
    }

    /// Ends a run: what it remembers is gone, and its pending asks are settled as cancelled.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn end_run(&self, run: &RunRecord, ending: Ending<'_>) -> Result<bool, Fault> {
        let Ending { status, result, error, usage, by, door } = ending;
        let before = About::of(run).status.name();
        let noted = self.change_run(run, by, |about| {
            about.status = status;
            about.result.clone_from(&result);
            about.error.clone_from(&error);
            about.usage = usage;
            Some(("", Vec::new()))
        });
        let Some(run) = noted.await? else { return Ok(false) };
        // Grants of agents that attached to it; the store ends those of the run's own key.
        for grant in self.inner.grants.all() {
            let is_of_run = matches!(&grant.reach, Reach::Run(name) if *name == run.run);
            if is_of_run && grant.key != Some(run.key) && self.was_attached(grant.key, &run) {
                self.revoke_grant(grant.id, &grant.owner, by).await?;
            }
        }
        let now = self.now();
        let entry = Entry {
            kind: "run.ended",
            at: now,
            actor: by.to_owned(),
            subject: run.run.clone(),
            owner: Some(run.owner.clone()),
            data: object(vec![("before", quoted(before)), ("after", quoted(status.name()))]).into(),
        };
        let has_ended = self.store().end_run(run.key, &run.run, now, vec![entry]).await?;
        self.refresh_grants().await?;
        self.cancel_asks_of(&run, by, door).await?;
        Ok(has_ended)
    }

    async fn cancel_asks_of(&self, run: &RunRecord, by: &str, door: &str) -> Result<(), Fault> {
        let mut filter = AskFilter::pending(Owners::All, MOST_ASKS);
        filter.run = Some(run.run.clone());
        for record in self.store().asks(&filter).await? {
            if !self.may_attach(&record.ask.asker, run) {
                continue;
            }
            match self.cancel(&record.ask, Gone::RunEnded, by, door).await {
                // Somebody answered it a moment before.
                Ok(_) | Err(Fault::Store(StoreError::AlreadySettled(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn was_attached(&self, key: Option<Id>, run: &RunRecord) -> bool {
        let Some(key) = key.and_then(|key| self.key(key)) else { return true };
        let asker = Asker {
            key: key.id,
            agent: key.name.clone(),
            owner: key.owner().to_owned(),
            label: None,
        };
        self.may_attach(&asker, run)
    }

    /// Brings runs up after a start: what people decided about their accesses is forgotten and
    /// asked again, and asks of runs whose end was not finished are cancelled.
    ///
    /// # Errors
    /// The store could not keep it.
    pub async fn resume_runs(&self) -> Result<(), StoreError> {
        for grant in self.inner.grants.all() {
            let Granted::Exact { input, .. } = &grant.granted else { continue };
            let is_access = super::access::key_of(input).is_some();
            if is_access && matches!(grant.reach, Reach::Run(_)) {
                let now = self.now();
                let entry = super::record::revoked(grant.id, &grant.owner, RESTART, now);
                self.store().revoke_grant(grant.id, now, vec![entry]).await?;
            }
        }
        self.refresh_grants().await?;
        let filter = AskFilter::pending(Owners::All, MOST_ASKS);
        for record in self.store().asks(&filter).await? {
            let (Some(_), Some(run)) = (&record.ask.bound.access, &record.ask.call.run) else {
                continue;
            };
            let runs = self.store().runs_named(run).await?;
            let mut own = runs.iter().filter(|run| self.may_attach(&record.ask.asker, run));
            if own.all(|run| run.ended_at.is_some()) {
                // What cannot be cancelled now stays pending, and allows nothing.
                let _ = self.cancel(&record.ask, Gone::RunEnded, RESTART, "daemon").await;
            }
        }
        Ok(())
    }
}

/// What was changed, before and after, for the audit.
#[must_use]
pub fn changed(before: &impl Serialize, after: &impl Serialize) -> Vec<(&'static str, String)> {
    let text = |value: String| canonical(&value).unwrap_or_else(|| "{}".to_owned());
    vec![
        ("before", text(serde_json::to_string(before).unwrap_or_default())),
        ("after", text(serde_json::to_string(after).unwrap_or_default())),
    ]
}

/// The record of a new run.
#[must_use]
pub fn record(name: &str, key: Id, owner: &str, about: &About, now: Moment) -> RunRecord {
    RunRecord {
        run: name.to_owned(),
        key,
        owner: owner.to_owned(),
        session: None,
        about: about.text(),
        started_at: now,
        ended_at: None,
    }
}
