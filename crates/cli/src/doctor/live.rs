//! D6 to D8: the real client, headless, against a scripted model, where only loopback is there.
//!
//! Each proof starts from a state in which the call would run without us, and a second run in
//! which the call is let through shows that the first one was no accident.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use portcullis_approval::key::hex;
use portcullis_client::Client;
use portcullis_hook_static::installed::{Entry, Installed};
use portcullis_layers::canary;
use portcullis_live::alone;
use portcullis_live::host::{self, LIMIT, wait};
use portcullis_live::model::Model;
use serde_json::{Value, json};

use super::{Check, State};
use crate::install::hosts::Host;
use crate::reach::block_on;

/// How much longer than the host's own patience a slow answer takes.
const LATER: Duration = Duration::from_secs(5);

/// How often is looked whether somebody is asked.
const LOOK: Duration = Duration::from_millis(250);

/// The checks with the real client of a host.
pub fn live(host: &Host, record: &Installed, data: &Path) -> Vec<Check> {
    let untested = |told: String| vec![Check::new("live", State::Untested, told)];
    let stage = match Stage::new(host, record) {
        Ok(stage) => stage,
        Err(error) => return untested(format!("{error:#}")),
    };
    let mut checks = match stage.canaries(data) {
        Ok(check) => vec![check],
        Err(error) => untested(format!("{error:#}")),
    };
    let crashed = stage.crashed(record);
    checks.push(
        crashed.unwrap_or_else(|error| {
            Check::new("live failure", State::Untested, format!("{error:#}"))
        }),
    );
    checks
}

/// Whether a client waits for an answer that comes after its own patience.
pub fn slow(host: &Host, record: &Installed, approver: anyhow::Result<Client>) -> Check {
    let seen = Stage::new(host, record).and_then(|stage| stage.slow(&approver?));
    seen.unwrap_or_else(|error| Check::new("slow", State::Untested, format!("{error:#}")))
}

/// A client, a model and a project of their own.
struct Stage {
    host: &'static host::Host,
    program: PathBuf,
    home: PathBuf,
    place: Place,
    model: Model,
}

/// What became of a call.
struct Seen {
    ran: bool,
    was_told: bool,
}

impl Stage {
    fn new(host: &Host, record: &Installed) -> anyhow::Result<Stage> {
        ensure!(alone::is_here(), "more than loopback can be reached from here");
        let known = host::find(host.name);
        let known = known.with_context(|| format!("no way to drive {} is known", host.name))?;
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&paths).map(|path| path.join(known.program));
        let program = found.into_iter().find(|path| path.is_file());
        let program = program.with_context(|| format!("`{}` is not on PATH", known.program))?;
        let home = record.home.clone().context("`install` wrote down no home")?;
        let model = Model::start(known.script("true"))?;
        let place = Place::new()?;
        known.prepare(&place.0.join("project"))?;
        Ok(Stage { host: known, program, home, place, model })
    }

    /// Lets the client be asked for a command that makes a file, in the user's home or another.
    fn play(&self, home: &Path, command: &str, limit: Duration) -> anyhow::Result<Seen> {
        self.model.play(self.host.script(command));
        let project = self.place.0.join("project");
        let mut client = self.host.command(&self.program, home, &project, self.model.port);
        let child = client.spawn().context("the client does not start")?;
        let (said, _) = wait(child, limit)?;
        let file = command.strip_prefix("touch ").unwrap_or_default();
        let seen =
            Seen { ran: project.join(file).exists(), was_told: self.model.heard("Portcullis: ") };
        let came = seen.ran || seen.was_told || self.model.heard(file);
        let end: Vec<&str> = said.trim().lines().rev().take(3).collect();
        ensure!(came, "the client never made the call; it said last: {}", end.join(" | "));
        Ok(seen)
    }

    /// D6: one canary that must not be made, and one that must.
    fn canaries(&self, data: &Path) -> anyhow::Result<Check> {
        let forbidden = self.play(&self.home, &canary::command(&nonce()?), LIMIT)?;
        if forbidden.ran {
            return Ok(Check::of("live", false, "the client ran a command that is forbidden"));
        }
        ensure!(forbidden.was_told, "a forbidden command did not run, but not because of us");
        let nonce = nonce()?;
        canary::register(data, &nonce).context("cannot register a canary")?;
        let allowed = self.play(&self.home, &canary::command(&nonce), LIMIT);
        canary::forget(data);
        ensure!(allowed?.ran, "a forbidden command did not run, and the one let through neither");
        let told =
            "a forbidden command did not run and the model was told why; one let through ran";
        Ok(Check::of("live", true, told))
    }

    /// D7: the same configuration with a hook that dies, in a home of its own.
    fn crashed(&self, record: &Installed) -> anyhow::Result<Check> {
        ensure!(self.host.name != "codex", "codex trusts a hook only where it was installed");
        let mine =
            |entry: &&Entry| entry.host == self.host.name && entry.file.starts_with(&self.home);
        let entry = record.entries.iter().find(mine).context("nothing in the home is installed")?;
        let home = self.place.0.join("home");
        fs::create_dir_all(&home)?;
        let dying = self.place.0.join("dying");
        fs::write(&dying, "#!/bin/sh\nkill -SEGV $$\n")?;
        fs::set_permissions(&dying, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let text = fs::read_to_string(&entry.file)?;
        let text = text.replace(&entry.program.display().to_string(), &dying.display().to_string());
        let file = home.join(entry.file.strip_prefix(&self.home)?);
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&file, text)?;
        let seen = self.play(&home, &format!("touch portcullis-crash-{}", nonce()?), LIMIT)?;
        Ok(if seen.ran {
            let told = "known limit: where a hook dies before it answers, the client runs the call";
            Check::new("live failure", State::Untested, told)
        } else {
            Check::of("live failure", true, "where a hook dies, the client does not run the call")
        })
    }

    /// D8: a rejection that comes after the client's own patience.
    fn slow(&self, approver: &Client) -> anyhow::Result<Check> {
        let patience = self.host.patience_s.context("the client has no patience of its own")?;
        let patience = Duration::from_secs(patience) + LATER;
        let name = format!("portcullis-slow-{}", nonce()?);
        let command = format!("touch {name}");
        std::thread::scope(|scope| {
            let client = scope.spawn(|| self.play(&self.home, &command, patience + LIMIT));
            let began = Instant::now();
            let ask = loop {
                let asks = block_on(async { Ok(approver.pending().await?) })?;
                let is_it = |ask: &&Value| {
                    ask.get("call").is_some_and(|call| call.to_string().contains(&name))
                };
                if let Some(ask) = asks.iter().find(is_it) {
                    break ask.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
                }
                ensure!(!client.is_finished(), "nobody was asked; does the policy ask here?");
                ensure!(began.elapsed() < LIMIT, "nobody was asked in time");
                std::thread::sleep(LOOK);
            };
            std::thread::sleep(patience);
            block_on(async { Ok(approver.decide(&ask, &json!({ "answer": "reject" })).await?) })?;
            let seen = client.join().map_err(|_| anyhow::anyhow!("the client was lost"))??;
            let told = format!("an answer after {} s still counts", patience.as_secs());
            Ok(if seen.ran {
                let told = format!("the client ran the call before {} s", patience.as_secs());
                Check::of("slow", false, told)
            } else {
                Check::of("slow", true, told)
            })
        })
    }
}

/// Sixteen random bytes in digits.
fn nonce() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// A directory with a project in it, gone when it is dropped.
struct Place(PathBuf);

impl Place {
    fn new() -> anyhow::Result<Place> {
        // Some clients refuse homes below a directory for temporary files.
        let shared = Path::new("/var/tmp");
        let root = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
        let place = Place(root.join(format!("portcullis-doctor-{}", nonce()?)));
        fs::create_dir_all(place.0.join("project"))?;
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
