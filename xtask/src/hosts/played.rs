//! The scenes: one prompt each, and what must come of it.

use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use anyhow::{Context, ensure};
use portcullis_live::host::{Host, LIMIT, wait};
use portcullis_live::model::Model;
use serde_json::Value;

use super::house::House;

/// One scene.
pub struct Scene {
    /// Its name.
    pub name: &'static str,
    policy: &'static str,
    person: Person,
    has_daemon: bool,
    runs: bool,
}

/// What a person does when they are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Person {
    Nothing,
    Approves,
    Rejects,
    Edits,
}

const ALLOW: &str = "[rules]\nallow = [\"Bash(touch:*)\"]\n";
const DENY: &str = "[rules]\ndeny = [\"Bash(touch:*)\"]\n";
const ASK: &str = "[rules]\nask = [\"Bash(touch:*)\"]\n";

/// The scenes, in the order of the table.
#[rustfmt::skip]
pub const SCENES: &[Scene] = &[
    Scene { name: "allow",        policy: ALLOW, person: Person::Nothing,  has_daemon: true,  runs: true },
    Scene { name: "deny",         policy: DENY,  person: Person::Nothing,  has_daemon: true,  runs: false },
    Scene { name: "ask-approved", policy: ASK,   person: Person::Approves, has_daemon: true,  runs: true },
    Scene { name: "ask-rejected", policy: ASK,   person: Person::Rejects,  has_daemon: true,  runs: false },
    Scene { name: "ask-expired",  policy: ASK,   person: Person::Nothing,  has_daemon: true,  runs: false },
    Scene { name: "daemon-down",  policy: ASK,   person: Person::Nothing,  has_daemon: false, runs: false },
    Scene { name: "modified",     policy: ASK,   person: Person::Edits,    has_daemon: true,  runs: false },
];

/// How often a scene is tried that could not be driven.
const ATTEMPTS: usize = 4;

/// How long a hook waits for a person here.
const WAIT_S: &str = "25";

/// What became of a scene.
pub struct Seen {
    /// Its name.
    pub scene: &'static str,
    wants: bool,
    outcome: Result<Outcome, String>,
}

struct Outcome {
    ran: bool,
    ran_edited: bool,
    was_told: bool,
}

impl Seen {
    /// Whether something ran that must not, or the other way round.
    pub fn is_open(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|outcome| outcome.ran != self.wants)
    }

    /// What the table says.
    pub fn cell(&self) -> String {
        let Ok(outcome) = &self.outcome else { return "not driven".to_owned() };
        let ran = match (outcome.ran, outcome.ran_edited) {
            (true, _) => "ran",
            (false, true) => "ran as edited",
            (false, false) => "did not run",
        };
        let told = if outcome.was_told { ", reason told" } else { "" };
        let open = if self.is_open() { "**OPEN** " } else { "" };
        format!("{open}{ran}{told}")
    }
}

/// Plays every scene with a client; its version, and what became of each.
pub fn all(
    host: &Host,
    program: &Path,
    binary: &Path,
    wanted: &[String],
    out: &mut impl Write,
) -> (String, Vec<Seen>) {
    let version = version(program);
    let mut seen = Vec::new();
    let scenes = SCENES
        .iter()
        .filter(|scene| wanted.is_empty() || wanted.iter().any(|wanted| wanted == scene.name));
    let mut stage = Stage::new(host, program, binary);
    for scene in scenes {
        let mut play = || match &mut stage {
            Ok(stage) => stage.play(scene).map_err(|error| format!("{error:#}")),
            Err(error) => Err(format!("{error:#}")),
        };
        // A machine that is busy with other things may keep a hook from the daemon for a moment.
        let mut outcome = play();
        for _ in 1..ATTEMPTS {
            if outcome.is_err() {
                outcome = play();
            }
        }
        if let Err(error) = &outcome {
            let _ = writeln!(out, "{} {}: {error}", host.name, scene.name);
        }
        let one = Seen { scene: scene.name, wants: scene.runs, outcome };
        let _ = writeln!(out, "{} {}: {}", host.name, scene.name, one.cell());
        seen.push(one);
    }
    let proven = match &stage {
        Ok(stage) => stage.proven(),
        Err(_) => "not driven".to_owned(),
    };
    let _ = writeln!(out, "{} doctor --live: {proven}", host.name);
    (version, seen)
}

fn version(program: &Path) -> String {
    let said = std::process::Command::new(program).arg("--version").output();
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    let said = said.unwrap_or_default();
    let is_number = |word: &&str| word.starts_with(|sign: char| sign.is_ascii_digit());
    let found = said.split_ascii_whitespace().find(is_number).unwrap_or("unknown");
    found.trim_end_matches('.').to_owned()
}

/// A client in its home, with a model.
struct Stage<'a> {
    host: &'a Host,
    program: &'a Path,
    house: House,
    model: Model,
    count: usize,
}

impl<'a> Stage<'a> {
    fn new(host: &'a Host, program: &'a Path, binary: &Path) -> anyhow::Result<Stage<'a>> {
        let programs = program.parent().context("the client lies nowhere")?;
        let mut house = House::new(host.name, binary, programs)?;
        let model = Model::start(host.script("true"))?;
        host.prepare(&house.project)?;
        house.policy(ASK)?;
        // The first start makes the key that the hook pins.
        house.serve()?;
        let said = house.portcullis(&["install", host.name, "--wait-s", WAIT_S])?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        ensure!(
            said.status.success(),
            "the hook was not installed: {}{}",
            text(&said.stdout),
            text(&said.stderr)
        );
        Ok(Stage { host, program, house, model, count: 0 })
    }

    /// What `doctor --live` says of this very installation.
    fn proven(&self) -> String {
        let said =
            self.house.portcullis(&["doctor", self.host.name, "--live", "--inside", "--json"]);
        let said = said.ok().and_then(|said| serde_json::from_slice::<Value>(&said.stdout).ok());
        let report = said.as_ref().and_then(|said| said.pointer("/hosts/0/report")?.as_str());
        report.unwrap_or("no answer").to_owned()
    }

    fn play(&mut self, scene: &Scene) -> anyhow::Result<Outcome> {
        // Another name each time: the ask of an attempt before this one may still wait.
        self.count += 1;
        let marker = format!("marker-{}-{}", scene.name, self.count);
        let edited = format!("edited-{}-{}", scene.name, self.count);
        self.house.policy(scene.policy)?;
        if scene.has_daemon {
            self.house.serve()?;
        } else {
            self.house.stop();
        }
        self.model.play(self.host.script(&format!("touch {marker}")));
        let (home, project) = (&self.house.home, &self.house.project);
        let mut command = self.host.command(self.program, home, project, self.model.port);
        let child = command.spawn().context("the client does not start")?;
        let input = self.host.edited(&format!("touch {edited}"));
        let asked = self.answer(scene.person, &input, &child, &marker);
        let (said, ended) = wait(child, LIMIT)?;
        let exists = |name: &str| project.join(name).exists();
        let outcome = Outcome {
            ran: exists(&marker),
            ran_edited: exists(&edited),
            was_told: self.model.heard("Portcullis: "),
        };
        // A client that never came to the call proves nothing.
        let came =
            outcome.ran || outcome.ran_edited || self.model.heard("touch") || outcome.was_told;
        let end: String =
            said.chars().rev().take(1500).collect::<Vec<_>>().into_iter().rev().collect();
        ensure!(came, "the call was never made (ended by itself: {ended}): {end}");
        if let Err(what) = asked {
            anyhow::bail!("{what}: {end}");
        }
        Ok(outcome)
    }

    /// Does what the person of the scene does, as long as the client runs.
    fn answer(
        &self,
        person: Person,
        input: &Value,
        child: &Child,
        marker: &str,
    ) -> Result<(), String> {
        if person == Person::Nothing {
            return Ok(());
        }
        let stat = format!("/proc/{}/stat", child.id());
        let is_alive = || std::fs::read_to_string(&stat).is_ok_and(|stat| is_running(&stat));
        let text = input.to_string();
        let begun = std::time::Instant::now();
        while begun.elapsed() < LIMIT && is_alive() {
            let Some(ask) = self.house.ask(marker) else {
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            let id = ask.get("id").and_then(Value::as_str).unwrap_or_default();
            let words: &[&str] = match person {
                Person::Approves | Person::Nothing => &["approve", id],
                Person::Rejects => &["reject", id, "--feedback", "not today"],
                Person::Edits => &["approve", id, "--input", &text],
            };
            let said = self.house.portcullis(words).map_err(|error| error.to_string())?;
            if said.status.success() {
                return Ok(());
            }
            return Err(String::from_utf8_lossy(&said.stderr).into_owned());
        }
        Err("nobody was asked".to_owned())
    }
}

/// Whether a process has not ended, by what the kernel says about it: its words are missing also
/// for a moment when it begins.
fn is_running(stat: &str) -> bool {
    // The name may hold anything; what follows it begins with the state.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::is_running;

    #[test]
    fn a_process_runs_until_it_is_a_zombie() {
        assert!(is_running("7 (co) Z (x) R 1 7 7 0"));
        assert!(is_running("7 (codex) S 1 7 7 0"));
        assert!(!is_running("7 (codex) Z 1 7 7 0"));
        assert!(!is_running(""));
    }
}
