//! The sandbox: namespaces in which a command sees the system, a small home, and nobody else.
//!
//! One process stands in the namespaces (`driver.sh`), makes the home (`prepare.sh`) and runs
//! command after command under strace, as a user without rights. What a command changed is thrown
//! away before the next one runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::effects::{Kind, Seen, effects};
use super::trace::read;

/// Where commands run.
pub const DIRECTORY: &str = "/home/dev/proj";
/// The home of the user who runs them.
pub const HOME: &str = "/home/dev";

/// How long a command may run, in seconds.
const SECONDS: u64 = 2;
/// How long to wait for the runner itself, which may have to prepare the home.
const PATIENCE: Duration = Duration::from_mins(1);
/// The user commands run as.
const USER: &str = "21734";

const DRIVER: &str = include_str!("driver.sh");
const PREPARE: &str = include_str!("prepare.sh");

/// The places of programs inside, as the driver sets them, with where they are outside.
const PLACES: [&str; 6] =
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// What one command did.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// The effects that were seen.
    pub seen: Vec<Seen>,
    /// How many system calls were looked at.
    pub calls: usize,
    /// The exit status; none where the runner was lost.
    pub status: Option<i32>,
}

impl Observation {
    /// Whether it ran until it was stopped.
    pub fn is_stopped(&self) -> bool {
        matches!(self.status, None | Some(124 | 137))
    }
}

/// One sandbox.
pub struct Sandbox {
    root: PathBuf,
    toolchain: Option<PathBuf>,
    runner: Option<Runner>,
    is_dirty: bool,
}

struct Runner {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<i32>,
}

impl Sandbox {
    /// Makes a sandbox and tries it.
    pub fn new(number: usize) -> Result<Sandbox> {
        let name = format!("portcullis-oracle-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root)?;
        fs::set_permissions(&root, fs::Permissions::from_mode(0o700))?;
        fs::write(root.join("log"), "")?;
        let mut sandbox = Sandbox { root, toolchain: toolchain(), runner: None, is_dirty: false };
        let probe = sandbox.run("rm notes.txt", false)?;
        let is_there = |kind| probe.seen.iter().any(|seen| seen.kind == kind && seen.has_happened);
        ensure!(
            is_there(Kind::Delete) && is_there(Kind::Start),
            "no command can be watched here: strace, unshare and setpriv must be installed and \
             namespaces allowed"
        );
        Ok(sandbox)
    }

    /// Runs one command and tells what it did.
    pub fn run(&mut self, command: &str, has_input: bool) -> Result<Observation> {
        ensure!(!command.contains('\0'), "a command holds no NUL");
        let status = self.answer(command, has_input)?;
        let log = fs::read(self.root.join("log"))?;
        let trace = read(&String::from_utf8_lossy(&log), DIRECTORY);
        let seen = effects(&trace);
        self.is_dirty = seen.iter().any(|seen| {
            seen.has_happened && !seen.what.starts_with("/dev/") && seen.kind != Kind::Start
        });
        Ok(Observation { seen, calls: trace.calls.len(), status })
    }

    /// Whether a program of this name can be found inside.
    pub fn has_program(&self, name: &str) -> bool {
        let is_there = |place: &Path| place.join(name).is_file();
        if let Some(inside) = name.strip_prefix('/') {
            return is_system(name) && Path::new("/").join(inside).is_file();
        }
        PLACES.iter().any(|place| is_there(Path::new(place)))
            || self.toolchain.as_ref().is_some_and(|place| is_there(&place.join("bin")))
    }

    fn answer(&mut self, command: &str, has_input: bool) -> Result<Option<i32>> {
        let is_fresh = if self.runner.is_none() {
            self.runner = Some(self.start()?);
            true
        } else {
            !self.is_dirty
        };
        let Some(runner) = &mut self.runner else { return Ok(None) };
        let first = if is_fresh { "kept" } else { "fresh" };
        let input = if has_input { "text" } else { "nothing" };
        let sent = write!(runner.commands, "{first}\0{input}\0{command}\0")
            .and_then(|()| runner.commands.flush());
        let status = runner.answers.recv_timeout(PATIENCE).ok();
        if sent.is_err() || status.is_none() {
            self.stop();
        }
        Ok(status)
    }

    fn start(&self) -> Result<Runner> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]);
        command.arg("--mount-proc");
        if fs::metadata(&self.root)?.uid() != 0 {
            command.args(["--user", "--map-root-user"]);
        }
        let toolchain = self.toolchain.clone().unwrap_or_default();
        command
            .args(["bash", "--norc", "--noprofile", "-c", DRIVER, "driver"])
            .args([&self.root.join("log"), Path::new(PREPARE), &toolchain])
            .args([USER, &SECONDS.to_string()])
            .current_dir("/")
            .env_clear()
            .env("PATH", PLACES.join(":"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start `unshare`")?;
        let commands = child.stdin.take().context("the runner has no input")?;
        let output = child.stdout.take().context("the runner has no output")?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if line.parse().is_ok_and(|status| sender.send(status).is_err()) {
                    return;
                }
            }
        });
        Ok(Runner { child, commands, answers })
    }

    fn stop(&mut self) {
        let Some(mut runner) = self.runner.take() else { return };
        // The first process of the namespaces dies with its parent, and all others with it.
        let _ = runner.child.kill();
        let _ = runner.child.wait();
        self.is_dirty = false;
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Whether a path lies in a part of the machine that can be seen inside.
fn is_system(path: &str) -> bool {
    ["/bin/", "/sbin/", "/usr/", "/opt/"].iter().any(|place| path.starts_with(place))
}

/// The Rust toolchain of this checkout, which may lie in a place that is hidden inside.
fn toolchain() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.join("bin/rustc").is_file().then_some(path)
}

/// Refuses to go on where a tool is missing.
pub fn check_tools() -> Result<()> {
    for (program, package) in
        [("strace", "strace"), ("unshare", "util-linux"), ("setpriv", "util-linux")]
    {
        if !PLACES.iter().any(|place| Path::new(place).join(program).is_file()) {
            bail!("no `{program}` here; install it with `apt-get install {package}`");
        }
    }
    Ok(())
}
