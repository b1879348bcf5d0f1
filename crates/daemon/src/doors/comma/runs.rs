//! What a client does to runs: makes, attaches to, starts, continues, stops and lists them.

use std::path::{Path, PathBuf};

use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_store::RunRecord;
use portcullis_wire::dialects::comma::Prepare;
use portcullis_wire::dialects::comma::frames::{
    Conversation, Frame, ListedRun, ListedStrategy, Shown,
};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::NAME;
use super::socket::{Refusal, Talk};
use crate::authority::runs::{About, Ending, Status, record};
use crate::chance;

/// The largest strategy file that is read.
const MOST_STRATEGY: u64 = 1 << 20;

/// So many runs are listed.
const MOST_LISTED: usize = 1000;

/// A run as it is shown when it begins.
pub(super) fn shown(run: &RunRecord, about: &About) -> Shown {
    Shown {
        run_id: run.run.clone(),
        strategy_name: about.name.clone(),
        agents: about.agents.clone(),
        flow_tree: if about.flow.is_object() { about.flow.clone() } else { json!({}) },
    }
}

impl Talk {
    /// Makes a run from its strategy file, or attaches to one; gives it and what to say.
    pub(super) async fn prepare(
        &self,
        prepare: Prepare,
        request_id: Option<String>,
    ) -> Result<(RunRecord, Frame), Refusal> {
        let failed = |message: String| Refusal::new("PREPARE_FAILED", message);
        let authority = &self.app.authority;
        let now = authority.now();
        let name = prepare.run.clone().unwrap_or_else(|| chance::id(now).to_string());
        let known = authority.store().runs_named(&name).await?;
        let owners = self.caller.owners();
        let own = known.iter().rev().filter(|run| owners.include(&run.owner));
        let run = match &prepare.strategy {
            Some(_) if !known.is_empty() => {
                return Err(failed(format!("Run already exists: {name}")));
            }
            Some(path) => {
                let about = strategy(path, prepare.cwd.as_deref()).map_err(failed)?;
                self.make(&name, &about).await?
            }
            None => match own.max_by_key(|run| run.ended_at.is_none()) {
                None => return Err(failed(format!("Run not found: {name}"))),
                Some(run) if run.ended_at.is_none() => run.clone(),
                Some(ended) => {
                    let before = About::of(ended);
                    let about = About {
                        status: Status::Pending,
                        cwd: prepare.cwd.clone().or(before.cwd),
                        name: before.name,
                        strategy: before.strategy,
                        flow: before.flow,
                        agents: before.agents,
                        tools: before.tools,
                        command_tools: before.command_tools,
                        continues: true,
                        ..About::default()
                    };
                    let again = RunRecord {
                        about: about.text(),
                        started_at: now,
                        ended_at: None,
                        ..ended.clone()
                    };
                    self.keep(again).await?
                }
            },
        };
        let frame = Frame::RunPrepared {
            run: shown(&run, &About::of(&run)),
            conversation: Conversation::default(),
            mcp_servers: [],
            request_id,
        };
        Ok((run, frame))
    }

    async fn make(&self, name: &str, about: &About) -> Result<RunRecord, Refusal> {
        let key = &self.caller.key;
        let run = record(name, key.id, key.owner(), about, self.app.authority.now());
        self.keep(run).await
    }

    async fn keep(&self, run: RunRecord) -> Result<RunRecord, Refusal> {
        let entry = Entry {
            kind: "run.prepared",
            at: run.started_at,
            actor: self.caller.key.name.clone(),
            subject: run.run.clone(),
            owner: Some(run.owner.clone()),
            data: object(vec![("after", quoted(Status::Pending.name()))]).into(),
        };
        if self.app.authority.store().start_run(&run, vec![entry]).await? {
            Ok(run)
        } else {
            Err(Refusal::new("PREPARE_FAILED", format!("Run already exists: {}", run.run)))
        }
    }

    /// Starts a prepared run, or continues one that was prepared for it.
    pub(super) async fn start(
        &self,
        name: &str,
        continues: bool,
        request_id: Option<&String>,
    ) -> Result<RunRecord, Refusal> {
        let code = if continues { "CONTINUE_FAILED" } else { "START_FAILED" };
        let failed = |message: String| Refusal::new(code, message);
        let not_found = || failed(format!("Prepared run not found: {name}"));
        let (run, _) = self.app.authority.run_for(name, &self.caller.owners()).await?;
        let run = run.filter(|run| run.ended_at.is_none()).ok_or_else(not_found)?;
        let about = About::of(&run);
        if about.status != Status::Pending {
            return Err(failed(format!("Run already started: {name}")));
        }
        match (about.continues, continues) {
            (true, false) => {
                return Err(failed(format!("Run was prepared for continuation: {name}")));
            }
            (false, true) => {
                return Err(failed(format!("Run was not prepared for continuation: {name}")));
            }
            (true, true) | (false, false) => {}
        }
        let is_mine = std::sync::atomic::AtomicBool::new(false);
        let started = self.app.authority.change_run(&run, &self.caller.key.name, |about| {
            let is_pending = about.status == Status::Pending;
            is_mine.store(is_pending, std::sync::atomic::Ordering::Relaxed);
            about.status = Status::Running;
            about.start_request = request_id.cloned();
            let before = quoted(Status::Pending.name());
            let after = quoted(Status::Running.name());
            is_pending.then(|| ("run.started", vec![("before", before), ("after", after)]))
        });
        let started = started.await?.ok_or_else(not_found)?;
        // Somebody else may have started it meanwhile.
        if is_mine.into_inner() {
            Ok(started)
        } else {
            Err(failed(format!("Run already started: {name}")))
        }
    }

    /// Stops a run; one that nobody knows is none.
    pub(super) async fn stop(&self, name: &str) -> Result<(), Refusal> {
        let owners = self.caller.owners();
        let (run, has_other) = self.app.authority.run_for(name, &owners).await?;
        let Some(run) = run.filter(|run| run.ended_at.is_none()) else {
            if has_other {
                let message = format!("This connection may not stop run {name}");
                return Err(Refusal::new("FORBIDDEN", message));
            }
            return Ok(());
        };
        let ending = Ending {
            status: Status::Cancelled,
            result: None,
            error: None,
            usage: None,
            by: &self.caller.key.name,
            door: NAME,
        };
        self.app.authority.end_run(&run, ending).await?;
        Ok(())
    }

    /// The runs this client may see, newest first.
    pub(super) async fn list(
        &self,
        cwd: Option<&str>,
        request_id: Option<String>,
    ) -> Result<Frame, Refusal> {
        let runs = self.visible().await?;
        let in_folder = |about: &About| cwd.is_none() || about.cwd.as_deref() == cwd;
        let runs = runs.iter().map(|run| (run, About::of(run)));
        let listed = runs.filter(|(_, about)| in_folder(about)).map(|(run, about)| ListedRun {
            run_id: run.run.clone(),
            cwd: about.cwd.unwrap_or_default(),
            strategy_name: about.name,
            strategy_path: about.strategy,
            started_at: run.started_at.to_string(),
            completed_at: run.ended_at.map(|at| at.to_string()),
            status: about.status.name(),
        });
        Ok(Frame::RunList { runs: listed.take(MOST_LISTED).collect(), request_id })
    }

    /// The same in another shape.
    pub(super) async fn list_strategies(
        &self,
        request_id: Option<String>,
    ) -> Result<Frame, Refusal> {
        let runs = self.visible().await?;
        let listed =
            runs.iter().map(|run| (run, About::of(run))).map(|(run, about)| ListedStrategy {
                run_id: run.run.clone(),
                strategy_name: about.name,
                status: about.status.name(),
                started_at: run.started_at.to_string(),
                completed_at: run.ended_at.map(|at| at.to_string()),
            });
        Ok(Frame::StrategyList { runs: listed.take(MOST_LISTED).collect(), request_id })
    }

    async fn visible(&self) -> Result<Vec<RunRecord>, Refusal> {
        let owners = self.caller.owners();
        let mut runs = self.app.authority.store().runs(true).await?;
        runs.retain(|run| owners.include(&run.owner));
        runs.reverse();
        Ok(runs)
    }
}

/// What a strategy file says about a run.
fn strategy(path: &str, cwd: Option<&str>) -> Result<About, String> {
    let cwd = match cwd {
        None => None,
        Some(cwd) if cwd.starts_with('/') => Some(cwd),
        Some(cwd) => return Err(format!("Folder must be absolute: {cwd}")),
    };
    let file = match cwd {
        Some(cwd) => Path::new(cwd).join(path),
        None => PathBuf::from(path),
    };
    if !file.is_absolute() {
        return Err(format!("Strategy file needs an absolute path or a cwd: {path}"));
    }
    let metadata =
        std::fs::metadata(&file).map_err(|_| format!("Strategy file not found: {path}"))?;
    if !metadata.is_file() || metadata.len() > MOST_STRATEGY {
        return Err(format!("Strategy file is no file of at most 1 MiB: {path}"));
    }
    let text = std::fs::read_to_string(&file)
        .map_err(|_| format!("Strategy file cannot be read: {path}"))?;
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(members) = value.as_object() else {
        return Err(format!("Strategy file is not a JSON object: {path}"));
    };
    let base = file.file_name().map(|base| base.to_string_lossy().into_owned());
    let name = members.get("name").and_then(Value::as_str).map(str::to_owned).or(base);
    // In the order of the file, which a map does not keep.
    let Named { agents: Keys(agents) } = serde_json::from_str(&text).unwrap_or_default();
    let flow = members.get("flow").filter(|flow| flow.is_object());
    Ok(About {
        status: Status::Pending,
        cwd: cwd.map(str::to_owned),
        name: name.unwrap_or_default(),
        strategy: file.to_string_lossy().into_owned(),
        flow: flow.cloned().unwrap_or_else(|| json!({})),
        agents,
        ..About::default()
    })
}

/// What a strategy file says about its agents.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    agents: Keys,
}

/// The names of an object's members, as they stand.
#[derive(Default)]
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Keys, D::Error> {
        deserializer.deserialize_map(Keys::default())
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = Keys;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Keys, A::Error> {
        while let Some((name, IgnoredAny)) = members.next_entry()? {
            self.0.push(name);
        }
        Ok(self)
    }
}
