//! Oracles: the real shells, asked whether they can read a text.
//!
//! A shell is started with `-n`, which reads and never runs, with an empty environment and a
//! search path without programs. The text follows `-c`, as hosts hand it over: at the end of a
//! file a backslash means something else. Only what is too long for an argument is put into a
//! file. What a shell answers is its exit status and what it complains about: bash complains
//! about some broken texts and still exits 0.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use portcullis_shell::{Dialect, Limits, Reader};

/// A shell with its settings, and so the reader it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum Shell {
    /// `bash -n`
    Bash,
    /// `bash -O extglob -n`
    Extglob,
    /// `dash -n`
    Sh,
    /// `zsh -n`
    Zsh,
}

impl Shell {
    /// Every shell.
    pub const ALL: [Shell; 4] = [Shell::Bash, Shell::Extglob, Shell::Sh, Shell::Zsh];

    /// The word for it in tables, options and listed differences.
    pub const fn name(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::Extglob => "extglob",
            Shell::Sh => "sh",
            Shell::Zsh => "zsh",
        }
    }

    /// The program and the options that make it read without running.
    const fn command(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Shell::Bash => ("bash", &["--norc", "--noprofile", "-n"]),
            Shell::Extglob => ("bash", &["--norc", "--noprofile", "-O", "extglob", "-n"]),
            Shell::Sh => ("dash", &["-n"]),
            Shell::Zsh => ("zsh", &["-f", "-n"]),
        }
    }

    /// Where the program is, or nothing where it is not installed.
    pub fn program(self) -> Option<PathBuf> {
        let (name, _) = self.command();
        ["/usr/bin", "/bin", "/usr/local/bin"]
            .iter()
            .map(|directory| Path::new(directory).join(name))
            .find(|path| path.exists())
    }

    /// Our reader with the settings of this shell, its limits lifted.
    pub fn reader(self) -> Reader {
        let dialect = match self {
            Shell::Bash | Shell::Extglob => Dialect::Bash,
            Shell::Sh => Dialect::Sh,
            Shell::Zsh => Dialect::Zsh,
        };
        let mut reader = Reader::new(dialect);
        reader.limits = Limits::LIFTED;
        reader.extglob = self == Shell::Extglob;
        reader
    }
}

/// What a shell said about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It can read it.
    Accepts,
    /// It cannot, and this is its complaint.
    Rejects(String),
    /// It did not answer: it took too long or died.
    Silent,
}

/// Longer than any shell needs for a text of ours.
const PATIENCE: Duration = Duration::from_secs(10);

/// What fits into one argument, with room to spare.
const LONGEST: usize = 100_000;

/// What the parser of zsh complains about, as against what it finds when it expands.
const ZSH_COMPLAINTS: [&str; 4] =
    ["parse error", "condition expected", "unmatched ", "unknown condition"];

/// What the shell calls the text in its complaints.
const NAME: &str = "portcullis-differential";

/// One worker's way to ask the shells: a file for the text, and a watchdog over the shell.
pub struct Oracle {
    file: PathBuf,
    /// What was asked before, where the same is asked often.
    memory: Option<Mutex<Memory>>,
    running: Arc<Mutex<Option<Running>>>,
}

type Memory = HashMap<(Shell, Vec<u8>), Answer>;

struct Running {
    child: Child,
    since: Instant,
}

impl Oracle {
    /// An oracle that keeps its text in `directory`, which must exist, under the name `name`.
    pub fn new(directory: &Path, name: &str) -> Oracle {
        let running: Arc<Mutex<Option<Running>>> = Arc::default();
        let watched = Arc::downgrade(&running);
        thread::spawn(move || {
            while let Some(running) = watched.upgrade() {
                if let Some(running) = lock(&running).as_mut()
                    && running.since.elapsed() > PATIENCE
                {
                    // An error means that it has already ended.
                    let _ = running.child.kill();
                }
                drop(running);
                thread::sleep(Duration::from_millis(500));
            }
        });
        Oracle { file: directory.join(name), memory: None, running }
    }

    /// The same oracle, with a memory for what it was asked.
    pub fn remembering(mut self) -> Oracle {
        self.memory = Some(Mutex::default());
        self
    }

    /// Asks whether `shell` can read `text`.
    ///
    /// bash gives up on some broken `[[ ]]` and `for (( ))` without a word and exits 0. So where
    /// it is content with such a text, a line is added that it must complain about.
    pub fn ask(&self, shell: Shell, text: &[u8]) -> anyhow::Result<Answer> {
        let Some(memory) = &self.memory else { return self.ask_afresh(shell, text) };
        let question = (shell, text.to_vec());
        if let Some(answer) = lock(memory).get(&question) {
            return Ok(answer.clone());
        }
        let answer = self.ask_afresh(shell, text)?;
        lock(memory).insert(question, answer.clone());
        Ok(answer)
    }

    fn ask_afresh(&self, shell: Shell, text: &[u8]) -> anyhow::Result<Answer> {
        let (answer, said) = self.listen(shell, text)?;
        let suspicious = matches!(shell, Shell::Bash | Shell::Extglob)
            && text.windows(2).any(|pair| pair == b"[[" || pair == b"((");
        // After an open here-document, of which it warns, it would not read the line.
        if answer != Answer::Accepts || !suspicious || !said.is_empty() {
            return Ok(answer);
        }
        match self.listen(shell, &[text, b"\n;;"].concat())? {
            (Answer::Accepts, _) => Ok(Answer::Rejects("it gives up without a word".to_owned())),
            _ => Ok(answer),
        }
    }

    /// Whether bash calls `${…}` a bad substitution when it expands it.
    ///
    /// This is the one place where a shell runs something: `:` with one word, in which only
    /// letters, digits and harmless signs are left, so that nothing in it can run.
    pub fn is_bad_substitution(&self, part: &[u8]) -> anyhow::Result<bool> {
        const HARMLESS: &[u8] = b"_#!@*?:=+/%^,~.-[] \\";
        let inside = part.strip_prefix(b"${").and_then(|part| part.strip_suffix(b"}"));
        let Some(inside) = inside else { return Ok(false) };
        let harmless = |byte: &u8| byte.is_ascii_alphanumeric() || HARMLESS.contains(byte);
        let mut script = b": ${".to_vec();
        let mut depth = 0_usize;
        for (at, byte) in inside.iter().enumerate() {
            let begins = *byte == b'(' && at > 0 && inside.get(at - 1) == Some(&b'$');
            depth += usize::from(begins || depth > 0 && *byte == b'(');
            script.push(if depth == 0 && harmless(byte) { *byte } else { b'.' });
            depth = depth.saturating_sub(usize::from(*byte == b')'));
        }
        script.push(b'}');
        let mut command = Command::new("/bin/bash");
        command.args(["--norc", "--noprofile", "-c", "--"]);
        command.arg(OsStr::from_bytes(&script)).args([NAME, "1", "2"]).env_clear();
        // The operators of a parameter without a value are not looked at.
        for name in inside.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_') {
            let is_own = [&b"BASH"[..], b"SHELL", b"LD_", b"LC_", b"PATH", b"IFS", b"PS", b"ENV"]
                .iter()
                .any(|own| name.starts_with(own));
            if !is_own && name.first().is_some_and(|byte| !byte.is_ascii_digit()) {
                command.env(OsStr::from_bytes(name), "1");
            }
        }
        let (_, said) = self.start(&mut command)?;
        Ok(said.contains("bad substitution"))
    }

    /// What bash prints of a text that it has read, without running it; nothing for other shells
    /// and where it does not print.
    pub fn reprint(&self, shell: Shell, text: &[u8]) -> anyhow::Result<Option<Vec<u8>>> {
        let options: &[&str] = match shell {
            Shell::Bash => &["--norc", "--noprofile", "--pretty-print", "-n"],
            Shell::Extglob => &["--norc", "--noprofile", "--pretty-print", "-O", "extglob", "-n"],
            Shell::Sh | Shell::Zsh => return Ok(None),
        };
        let (Some(program), true) = (shell.program(), text.len() <= LONGEST) else {
            return Ok(None);
        };
        fs::write(&self.file, text).context("the text could not be handed to the shell")?;
        let output = Command::new(program)
            .args(options)
            .arg(&self.file)
            .env_clear()
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/nonexistent")
            .stdin(Stdio::null())
            .output()
            .context("the shell could not be started")?;
        let is_whole = output.status.success() && output.stderr.is_empty();
        Ok(is_whole.then_some(output.stdout))
    }

    /// Starts the shell; gives its answer and all that it said.
    fn listen(&self, shell: Shell, text: &[u8]) -> anyhow::Result<(Answer, String)> {
        let (name, options) = shell.command();
        let program = shell
            .program()
            .with_context(|| format!("no `{name}` on this machine; install it first"))?;
        let mut command = Command::new(program);
        command.args(options).env_clear();
        if text.len() <= LONGEST {
            // Without `--` a text that begins with a dash is an option.
            command.args(["-c", "--"]).arg(OsStr::from_bytes(text)).arg(NAME);
        } else {
            fs::write(&self.file, text).context("the text could not be handed to the shell")?;
            command.arg(&self.file);
        }
        let (code, said) = self.start(&mut command)?;
        Ok((code.map_or(Answer::Silent, |code| self.understand(shell, code, &said)), said))
    }

    /// Runs a command to its end; gives its exit code, if it came so far, and what it said.
    fn start(&self, command: &mut Command) -> anyhow::Result<(Option<i32>, String)> {
        let mut child = command
            .env("LC_ALL", "C.UTF-8")
            .env("PATH", "/nonexistent")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("the shell could not be started")?;
        let stderr = child.stderr.take();
        *lock(&self.running) = Some(Running { child, since: Instant::now() });
        let mut said = Vec::new();
        if let Some(mut stderr) = stderr {
            stderr.read_to_end(&mut said)?;
        }
        let status =
            lock(&self.running).take().map(|mut running| running.child.wait()).transpose()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok((status.and_then(|status| status.code()), said))
    }

    /// Tells a complaint from a warning. A complaint is a line that begins with the text's name;
    /// warnings do too, and say so.
    ///
    /// zsh goes on to expand words under `-n`, although it runs nothing, and turns the status
    /// around for `!`; there only what its parser complains about counts.
    fn understand(&self, shell: Shell, code: i32, said: &str) -> Answer {
        if shell == Shell::Zsh {
            let complaint = said
                .lines()
                .find(|line| ZSH_COMPLAINTS.iter().any(|complaint| line.contains(complaint)));
            return complaint
                .map_or(Answer::Accepts, |complaint| Answer::Rejects(complaint.to_owned()));
        }
        let file = self.file.to_string_lossy();
        let complaint = said
            .lines()
            .filter_map(|line| line.strip_prefix(NAME).or_else(|| line.strip_prefix(file.as_ref())))
            .find(|line| !line.contains(": warning: "));
        match complaint {
            Some(complaint) => {
                let complaint = complaint.trim_start_matches(": ").trim_start_matches("-c: ");
                Answer::Rejects(complaint.to_owned())
            }
            None if code == 0 => Answer::Accepts,
            None => Answer::Rejects(said.lines().next().unwrap_or_default().to_owned()),
        }
    }
}

/// A poisoned lock only means that another thread failed; what it guards is still sound.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
