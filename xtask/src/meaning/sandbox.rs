//! The sandbox: a throw-away directory in which a text can run and reach nothing but recorders.
//!
//! Every program on the search path is the recorder under another name. Where the machine allows
//! it, texts run as another user, without a network and among no processes but their own; what
//! runs too long is ended together with everything it started.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::record::{Record, records};

/// The names under which the recorder can be started.
pub const PROGRAMS: [&str; 22] = [
    "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "cat", "rm", "git", "ls", "bash",
    "sh", "env", "if", "time", "a=b", "-f", "COPROC",
];

/// How long a text may run.
const PATIENCE: Duration = Duration::from_secs(4);

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

const RECORDER: &str = include_str!("recorder.rs");
const DRIVER: &str = include_str!("driver.sh");

/// What the working directory holds before each text: directories end in a slash.
const FILES: [&str; 8] = ["d1/", "d2/", "f1", "f2", "g.txt", "a b", "d1/h1", "d2/f1"];

/// What one text did.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// The programs that were started, in the order in which they wrote.
    pub records: Vec<Record>,
    /// The files in the working directory that were made or changed.
    pub written: Vec<Vec<u8>>,
    /// What the shell said on standard error.
    pub complaint: Vec<u8>,
    /// The exit status; none where the text ran too long.
    pub status: Option<i32>,
}

/// One sandbox with the shell that runs in it.
pub struct Sandbox {
    root: PathBuf,
    shell: PathBuf,
    wall: Wall,
    runner: Option<Runner>,
}

struct Runner {
    child: Child,
    texts: ChildStdin,
    answers: Receiver<i32>,
}

/// How a text is kept apart, from thick to thin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wall {
    /// Another user in namespaces of its own.
    Stranger,
    /// The same user in namespaces of its own, where it owns nothing.
    Namespaces,
    /// Another user, no namespaces.
    OtherUser,
    /// Limits alone.
    Limits,
}

impl Wall {
    const ALL: [Wall; 4] = [Wall::Stranger, Wall::Namespaces, Wall::OtherUser, Wall::Limits];

    /// The wall in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            Wall::Stranger => "as another user in namespaces of its own",
            Wall::Namespaces => "in namespaces of its own",
            Wall::OtherUser => "as another user",
            Wall::Limits => "under limits alone",
        }
    }

    /// The words before the shell that build the wall.
    fn words(self) -> Vec<PathBuf> {
        let apart = ["--net", "--ipc", "--pid", "--fork", "--kill-child"];
        let other = ["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"];
        let mut words = Vec::new();
        if matches!(self, Wall::Stranger | Wall::Namespaces) {
            words.push(locate("unshare"));
            words.extend(apart.map(PathBuf::from));
        }
        if self == Wall::Namespaces {
            words.push(PathBuf::from("--user"));
        }
        if matches!(self, Wall::Stranger | Wall::OtherUser) {
            words.push(locate("setpriv"));
            words.extend(other.map(PathBuf::from));
            words.push(PathBuf::from("--pdeathsig=KILL"));
        }
        words
    }
}

impl Sandbox {
    /// Makes a sandbox for a shell, with the thickest wall that works here.
    pub fn new(shell: &Path, number: usize) -> Result<Sandbox> {
        let name = format!("portcullis-meaning-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(root.join("bin"))?;
        fs::create_dir_all(root.join("work"))?;
        for file in ["log", "complaints"] {
            fs::write(root.join(file), "")?;
        }
        make_recorder(&root)?;
        let mut sandbox =
            Sandbox { root, shell: shell.to_path_buf(), wall: Wall::Limits, runner: None };
        let is_root = fs::metadata(&sandbox.root)?.uid() == 0;
        for wall in Wall::ALL {
            // Limits alone do not hold back the one user who may write anywhere.
            if wall == Wall::Limits && is_root {
                continue;
            }
            sandbox.wall = wall;
            sandbox.own()?;
            sandbox.restore()?;
            let probe = sandbox.run(b"p0 probe");
            if probe.is_ok_and(|seen| seen.records.len() == 1 && seen.status == Some(0)) {
                return Ok(sandbox);
            }
            sandbox.stop();
        }
        bail!("no text can be run in `{}`; is it mounted noexec?", sandbox.root.display())
    }

    /// How texts are kept apart here.
    pub fn wall(&self) -> Wall {
        self.wall
    }

    /// The working directory of the texts.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Runs one text and tells what it did.
    pub fn run(&mut self, text: &[u8]) -> Result<Observation> {
        ensure!(!text.contains(&0), "a text holds no NUL");
        fs::OpenOptions::new().write(true).truncate(true).open(self.root.join("log"))?;
        let status = self.answer(text)?;
        let log = fs::read(self.root.join("log"))?;
        let written = self.restore()?;
        let complaint = fs::read(self.root.join("complaints")).unwrap_or_default();
        Ok(Observation { records: records(&log), written, complaint, status })
    }

    fn answer(&mut self, text: &[u8]) -> Result<Option<i32>> {
        if self.runner.is_none() {
            self.runner = Some(self.start()?);
        }
        let Some(runner) = &mut self.runner else { return Ok(None) };
        let sent = runner
            .texts
            .write_all(text)
            .and_then(|()| runner.texts.write_all(&[0]))
            .and_then(|()| runner.texts.flush());
        let status = runner.answers.recv_timeout(PATIENCE).ok();
        if sent.is_err() || status.is_none() {
            self.stop();
        }
        Ok(status)
    }

    fn start(&self) -> Result<Runner> {
        let mut words = self.wall.words();
        words.push(locate("bash"));
        let mut words = words.into_iter();
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(&program);
        command
            .args(words)
            .args(["--norc", "--noprofile", "-c", DRIVER, "driver"])
            .arg(&self.shell)
            .arg(&self.root)
            .env_clear()
            // INVARIANT: nothing but recorders is on the search path.
            .env("PATH", self.root.join("bin"))
            .env("HOME", self.work())
            .env("LC_ALL", "C.UTF-8")
            .env("FUNCNEST", "6")
            .env("E0", "p6 w")
            .env("E1", "f1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let mut child =
            command.spawn().with_context(|| format!("cannot start `{}`", program.display()))?;
        let texts = child.stdin.take().context("the runner has no input")?;
        let output = child.stdout.take().context("the runner has no output")?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if line.parse().is_ok_and(|status| sender.send(status).is_err()) {
                    return;
                }
            }
        });
        Ok(Runner { child, texts, answers })
    }

    fn stop(&mut self) {
        let Some(mut runner) = self.runner.take() else { return };
        // Without namespaces the group is all there is to hold on to.
        let group = format!("-{}", runner.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = runner.child.kill();
        let _ = runner.child.wait();
    }

    /// Gives the places where texts write to the user they run as.
    fn own(&self) -> Result<()> {
        if matches!(self.wall, Wall::Stranger | Wall::OtherUser) {
            for place in ["work", "log", "complaints"] {
                // Only root may give a file away; without root this wall does not stand anyway.
                let _ = std::os::unix::fs::chown(self.root.join(place), Some(NOBODY), Some(NOBODY));
            }
        }
        fs::set_permissions(&self.root, fs::Permissions::from_mode(0o755))?;
        Ok(())
    }

    /// Puts the working directory back into its first state and tells what had changed.
    fn restore(&self) -> Result<Vec<Vec<u8>>> {
        let work = self.work();
        let mut expected: BTreeMap<PathBuf, &str> =
            FILES.iter().map(|name| (work.join(name.trim_end_matches('/')), *name)).collect();
        expected.insert(work.join("x1"), "x1");
        let mut written = Vec::new();
        let mut places = vec![work.clone()];
        while let Some(place) = places.pop() {
            for entry in fs::read_dir(place)? {
                let path = entry?.path();
                let found = fs::symlink_metadata(&path)?;
                let known = expected.remove(&path);
                if known == Some("x1") {
                    continue;
                }
                if let Some(name) = known
                    && name.ends_with('/') == found.is_dir()
                {
                    if found.is_dir() {
                        places.push(path);
                    } else if found.size() != name.len() as u64 {
                        written.push(relative(&path, &work));
                        fs::write(&path, name)?;
                    }
                    continue;
                }
                written.push(relative(&path, &work));
                if found.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
            }
        }
        for (path, name) in expected {
            if name == "x1" {
                fs::hard_link(self.root.join("recorder"), &path)?;
            } else if name.ends_with('/') {
                fs::create_dir(&path)?;
            } else {
                fs::write(&path, name)?;
            }
            if matches!(self.wall, Wall::Stranger | Wall::OtherUser) && name != "x1" {
                let _ = std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY));
            }
        }
        Ok(written)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn relative(path: &Path, work: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.strip_prefix(work).unwrap_or(path).as_os_str().as_bytes().to_vec()
}

/// Where a program of this machine stands, so that it is found without a search path.
pub fn locate(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|place| place.join(name))
        .find(|place| place.is_file())
        .unwrap_or_else(|| Path::new("/usr/bin").join(name))
}

/// Compiles the recorder and links it under every name.
fn make_recorder(root: &Path) -> Result<()> {
    let source = root.join("recorder.rs");
    let recorder = root.join("recorder");
    fs::write(&source, RECORDER)?;
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    // A static program starts faster; a machine without static libraries does without.
    let made = [&["-Ctarget-feature=+crt-static"][..], &[]].into_iter().any(|flags| {
        Command::new(&compiler)
            .args(["--edition=2024", "-O", "-Cpanic=abort", "-Cstrip=symbols"])
            .args(flags)
            .arg("-o")
            .args([&recorder, &source])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    });
    ensure!(made, "cannot compile the recorder with `{}`", compiler.display());
    fs::set_permissions(&recorder, fs::Permissions::from_mode(0o555))?;
    for name in PROGRAMS {
        let link = root.join("bin").join(name);
        fs::hard_link(&recorder, link)?;
    }
    Ok(())
}
