//! D4 and D5: canary calls through the installed command line, and faults.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use portcullis_hook_static::cached;
use portcullis_hook_static::installed::{Entry, FILE, Installed};

use super::answers::{Effect, Said, effect};
use super::lines::{Line, installed};
use super::{Check, State, documents};
use crate::install::hosts::Host;

/// A hook that answers at once takes no longer than this.
const SOON: Duration = Duration::from_secs(20);

/// A call that is denied in every mode, and that nobody runs here.
const DENIED: &str = "portcullis pause --minutes 1";

/// A call that only reads.
const ALLOWED: &str = "pwd";

/// A call that a person must decide about, unless a policy says otherwise.
const ASKED: &str = "touch portcullis-canary";

/// The checks that start the installed hook of a host.
pub fn drills(host: &Host, record: &Installed, data: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    for entry in record.entries.iter().filter(|entry| entry.host == host.name) {
        match drilled(host, entry, data) {
            Ok(more) => checks.extend(more),
            Err(error) => checks.push(Check::new("dialect", State::Untested, format!("{error:#}"))),
        }
    }
    checks
}

fn drilled(host: &Host, entry: &Entry, data: &Path) -> anyhow::Result<Vec<Check>> {
    let line = installed(host, entry)?;
    let cwd = std::env::temp_dir().display().to_string();
    let id = format!("{}-{}", std::process::id(), entry.scope);
    let say = |document: &[u8]| line.say(host.name, document, SOON);
    let shell = |command: &str| documents::shell(host.name, command, &cwd, &id).to_string();

    let denied = say(shell(DENIED).as_bytes())?;
    let mut checks = vec![blocked(host, "deny", &denied, "a call that is always denied")];
    if host.name != "amp"
        && !denied.out.contains("self_protection")
        && !denied.error.contains("self_protection")
    {
        checks.push(Check::of(
            "deny",
            false,
            format!("denied for another reason: {}", shown(&denied)),
        ));
    }
    let allowed = say(shell(ALLOWED).as_bytes())?;
    let is_allowed = effect(host.name, &allowed) == Effect::Runs && allowed.code == Some(0);
    checks.push(if is_allowed {
        Check::of("allow", true, "a call that only reads is let through")
    } else {
        Check::new(
            "allow",
            State::Untested,
            format!("the policy stops `{ALLOWED}`: {}", shown(&allowed)),
        )
    });
    checks.push(blocked(host, "malformed", &say(b"this is not json")?, "what is no document"));
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(8 << 20));
    checks.push(blocked(host, "oversized", &say(large.as_bytes())?, "a document of 8 MiB"));
    if let Some(document) = documents::unknown_tool(host.name, &cwd, &id) {
        let drill = Drill::new(data)?;
        let line = drill.line(&line, 5_000)?;
        let said = line.say(host.name, document.to_string().as_bytes(), SOON)?;
        let is_stopped = effect(host.name, &said) != Effect::Runs;
        let told = if is_stopped {
            "an unknown tool is not let through in silence".to_owned()
        } else {
            shown(&said)
        };
        // A policy in mode bypass lets it run, and says so.
        let state = if is_stopped { State::Holds } else { State::Untested };
        checks.push(Check::new("unknown tool", state, told));
    }
    let pair = std::thread::scope(|scope| {
        let one = scope.spawn(|| say(shell(DENIED).as_bytes()));
        let two = scope.spawn(|| say(shell(DENIED).as_bytes()));
        [one, two].map(|run| run.join().ok().and_then(Result::ok))
    });
    let both = pair
        .iter()
        .all(|said| said.as_ref().is_some_and(|said| effect(host.name, said) == Effect::Blocked));
    checks.push(Check::of("parallel", both, "two calls at once get two answers"));
    checks.extend(faults(host, &line, data, &shell(ASKED), &shell(ALLOWED))?);
    Ok(checks)
}

/// Faults, in a directory of their own: the daemon that runs is not disturbed.
fn faults(
    host: &Host,
    line: &Line,
    data: &Path,
    asked: &str,
    allowed: &str,
) -> anyhow::Result<Vec<Check>> {
    if matches!(line, Line::Words(words) if words.len() == 1) {
        let told = "the host gives its hook no arguments; drills need them";
        return Ok(vec![Check::new("faults", State::Untested, told)]);
    }
    let mut checks = Vec::new();
    let drill = Drill::away(data)?;
    let said = drill.line(line, 5_000)?.say(host.name, asked.as_bytes(), SOON)?;
    checks.push(match effect(host.name, &said) {
        Effect::Asks => Check::of("ask", true, "without a daemon the host's own prompt is opened"),
        Effect::Blocked => Check::of("ask", true, "without a daemon it is denied"),
        Effect::Runs => {
            Check::new("ask", State::Untested, format!("the policy lets it run: {}", shown(&said)))
        }
    });

    let drill = Drill::new(data)?;
    let _listener = drill.listen(false)?;
    let said = drill.line(line, 1_000)?.say(host.name, allowed.as_bytes(), SOON)?;
    checks.push(blocked(host, "timeout", &said, "a daemon that does not answer"));

    let drill = Drill::new(data)?;
    let _listener = drill.listen(true)?;
    let said = drill.line(line, 1_000)?.say(host.name, allowed.as_bytes(), SOON)?;
    checks.push(blocked(host, "killed daemon", &said, "a daemon that dies while it is asked"));

    let drill = Drill::new(data)?;
    std::os::unix::fs::symlink("/dev/full", drill.0.join(portcullis_hook_static::journal::FILE))?;
    let said = drill.line(line, 5_000)?.say(host.name, allowed.as_bytes(), SOON)?;
    checks.push(blocked(host, "full disk", &said, "a journal that cannot be written"));

    let drill = Drill::new(data)?;
    let _held = drill.hold_journal()?;
    let said = drill.line(line, 1_000)?.say(host.name, allowed.as_bytes(), SOON)?;
    checks.push(blocked(host, "hanging worker", &said, "a worker that does not come to an end"));

    let drill = Drill::new(data)?;
    let _held = drill.hold_journal()?;
    let line = drill.line(line, 8_000)?;
    let (said, is_killed) = std::thread::scope(|scope| {
        let killed = scope.spawn(|| drill.kill_worker());
        (line.say(host.name, allowed.as_bytes(), SOON), killed.join().unwrap_or(false))
    });
    checks.push(if is_killed {
        blocked(host, "killed worker", &said?, "a worker that is killed")
    } else {
        Check::new("killed worker", State::Untested, "the worker was not found among the processes")
    });
    Ok(checks)
}

fn blocked(host: &Host, step: &'static str, said: &Said, what: &str) -> Check {
    match effect(host.name, said) {
        Effect::Blocked => Check::of(step, true, format!("{what} is blocked")),
        Effect::Asks | Effect::Runs => {
            Check::of(step, false, format!("{what} is not blocked: {}", shown(said)))
        }
    }
}

fn shown(said: &Said) -> String {
    let cut = |text: &str| {
        crate::escape::line(text.chars().take(160).collect::<String>().as_bytes()).clone()
    };
    format!("exit {:?}, stdout `{}`, stderr `{}`", said.code, cut(&said.out), cut(&said.error))
}

/// A data directory for one drill, gone when it is over.
struct Drill(PathBuf);

impl Drill {
    fn new(data: &Path) -> anyhow::Result<Drill> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = data.join(format!("drill-{}-{count}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        let drill = Drill(path);
        // The faults are those of a daemon on this machine; one on another is not disturbed.
        drill.installed(&Installed { url: None, ..Installed::read(data)?.unwrap_or_default() })?;
        Ok(drill)
    }

    /// The same where the daemon is away: one on another machine if it is installed so, with what
    /// is kept of its policy.
    fn away(data: &Path) -> anyhow::Result<Drill> {
        let drill = Drill::new(data)?;
        let installed = Installed::read(data)?.unwrap_or_default();
        if installed.url.is_some() {
            let url = Some("http://127.0.0.1:1".to_owned());
            drill.installed(&Installed { url, ..installed })?;
            // Where there is none yet there is nothing to copy.
            let _ = fs::copy(data.join(cached::FILE), drill.0.join(cached::FILE));
        }
        Ok(drill)
    }

    fn installed(&self, installed: &Installed) -> anyhow::Result<()> {
        Ok(fs::write(self.0.join(FILE), serde_json::to_string(&installed)?)?)
    }

    /// A daemon that takes calls and says nothing, or hangs up.
    fn listen(&self, hangs_up: bool) -> anyhow::Result<UnixListener> {
        let path = self.0.join("portcullis.sock");
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let accepting = listener.try_clone()?;
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in accepting.incoming().map_while(Result::ok) {
                if !hangs_up {
                    held.push(stream);
                }
            }
        });
        Ok(listener)
    }

    /// Holds the journal, so that whoever writes it waits.
    fn hold_journal(&self) -> anyhow::Result<File> {
        let file = File::create(self.0.join(portcullis_hook_static::journal::FILE))?;
        file.lock()?;
        Ok(file)
    }

    /// Kills the worker that judges in this directory as soon as there is one; whether there was.
    fn kill_worker(&self) -> bool {
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            if let Some(worker) = self.worker() {
                return rustix::process::kill_process(worker, rustix::process::Signal::KILL)
                    .is_ok();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// The process whose arguments say that it is a worker and name this directory, of which there
    /// is no second.
    fn worker(&self) -> Option<rustix::process::Pid> {
        let is_worker = |arguments: Vec<u8>| {
            let mut words = arguments.split(|byte| *byte == 0);
            words.any(|word| word == b"--worker")
                && words.any(|word| word == self.0.as_os_str().as_encoded_bytes())
        };
        let processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
        let mut workers = processes.filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let arguments = fs::read(entry.path().join("cmdline")).ok()?;
            is_worker(arguments).then_some(pid)
        });
        workers.next().and_then(rustix::process::Pid::from_raw)
    }

    fn line(&self, line: &Line, deadline_ms: u64) -> anyhow::Result<Line> {
        line.elsewhere(&self.0, deadline_ms).context("the command line cannot be read")
    }
}

impl Drop for Drill {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
