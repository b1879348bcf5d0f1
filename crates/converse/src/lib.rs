//! Conversations as data: what is sent to a daemon, what must come back, and what must not.
//!
//! A conversation is a file of JSON Lines under `tests/conversations/<dialect>/`. Its first line
//! says what it is about, each further line is one step. The tests play every file against a node
//! of their own; `cargo xtask converse FILE URL` plays one against a running daemon.
//!
//! To add a conversation, add a file. The first line:
//!
//! ```json
//! {"about": "one sentence", "proves": ["CO-5"], "config": "TOML", "policy": "TOML"}
//! ```
//!
//! `down_ms` says how long a restart takes; `config` and `policy` are what the daemon of the tests is started with; `proves` names the
//! requirements of the protocol page. Then, one per line:
//!
//! | Step | Members |
//! | --- | --- |
//! | connect | `connect` (path and query), `on` (a name for it), `headers`, `at`, `refused` (the status that refuses it) |
//! | send | `on`, `send` (an object, or a text as it is); `send_bytes` for a binary frame |
//! | expect | `on`, `expect`: the next frame; with `"skipping": true` the next one that fits |
//! | expect none | `on`, `expect_none`: nothing comes for so many milliseconds |
//! | expect close | `on`, `expect_close`: the code |
//! | disconnect | `on`, `disconnect: true` |
//! | http | `http` (`"POST /v1/calls"`), `key`, `body`, `headers`, `at`, `status` (200), `expect`; `later` (a name) leaves it waiting; `"eventually": true` repeats it until it fits |
//! | waits, done | `waits`: the request of this name has no answer yet; `done`: it gets one, with `status` and `expect`; `answered`: it gets any |
//! | restart | `restart: true`: the daemon goes down and comes up; every connection is gone |
//! | read | `read` (a path below `${dir}`), `expect`; `"eventually": true` reads it until it fits |
//! | files | `write` (a path) with `text`; `link` (a path) with `to`; `directory` (a path): below `${dir}` |
//! | sleep | `sleep_ms` |
//!
//! `at` names another address: a value such as `own` (the dialect's own listener) or `socket`.
//! `#` is a note for the reader. `${name}` in any text is a value: one that was captured, or
//! `approver`, `agent`, `dir`, `mib` (so many letters) and the like. In what is expected, a text of one of these forms
//! fits: `<any>`, `<text>`, `<number>`, `<bool>`, `<object>`, `<list>`, `<ts>` (a moment),
//! `<uuid>`, `<perm>`, `<hook>` (the ids of asks), `<like:a*b>`; `<perm:id>` also captures it as
//! `id`. An object has exactly the members that are named unless `"..."` is one of them; a list
//! exactly the items unless it ends with `"..."`; `{"<has>": […]}` is a list that has these.

pub mod keys;
mod link;
mod pattern;
mod play;
mod step;

use std::path::{Path, PathBuf};

pub use play::{Stage, play};

use step::Line;

/// A conversation.
#[derive(Debug)]
pub struct Conversation {
    /// Where it stands.
    pub file: PathBuf,
    /// What it is about.
    pub about: String,
    /// The requirements it proves.
    pub proves: Vec<String>,
    /// The configuration its daemon is started with.
    pub config: String,
    /// The policy its daemon is started with.
    pub policy: String,
    /// How long its daemon stays down when it is restarted, in milliseconds.
    pub down_ms: u64,
    /// Its steps, each with its line.
    steps: Vec<(usize, Line)>,
}

/// What went otherwise than the conversation says.
#[derive(Debug, thiserror::Error)]
#[error("{}:{line}: {message}", file.display())]
pub struct Fault {
    /// The file.
    pub file: PathBuf,
    /// The line in it.
    pub line: usize,
    /// What was wanted, and what came.
    pub message: String,
}

impl Conversation {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or a line is no step; the line is named.
    pub fn read(file: &Path) -> Result<Conversation, Fault> {
        let fault = |line: usize, message: String| Fault { file: file.to_owned(), line, message };
        let text = std::fs::read_to_string(file).map_err(|error| fault(0, error.to_string()))?;
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let (at, first) = lines.next().ok_or_else(|| fault(0, "the file is empty".to_owned()))?;
        let head: step::Head = serde_json::from_str(first)
            .map_err(|error| fault(at, format!("the first line: {error}")))?;
        let mut steps = Vec::new();
        for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let step: Line = serde_json::from_str(line)
                .map_err(|error| fault(at, format!("no step: {error}")))?;
            steps.push((at, step));
        }
        let step::Head { about, proves, config, policy, down_ms } = head;
        Ok(Conversation { file: file.to_owned(), about, proves, config, policy, down_ms, steps })
    }

    /// A conversation that a table makes: its name, and its steps.
    ///
    /// # Errors
    /// A value is no step; its place is named.
    pub fn of(name: &str, steps: &[serde_json::Value]) -> Result<Conversation, Fault> {
        let mut lines = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let line: Line = serde_json::from_value(step.clone()).map_err(|error| Fault {
                file: name.into(),
                line: index + 1,
                message: format!("no step: {error}"),
            })?;
            lines.push((index + 1, line));
        }
        Ok(Conversation {
            file: name.into(),
            about: name.to_owned(),
            proves: Vec::new(),
            config: String::new(),
            policy: String::new(),
            down_ms: 0,
            steps: lines,
        })
    }

    /// Every conversation of a directory, in order of their names.
    ///
    /// # Errors
    /// The directory or a file cannot be read.
    pub fn all(directory: &Path) -> Result<Vec<Conversation>, Fault> {
        let fault = |error: std::io::Error| Fault {
            file: directory.to_owned(),
            line: 0,
            message: error.to_string(),
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(directory).map_err(fault)? {
            let path = entry.map_err(fault)?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
        files.sort();
        files.iter().map(|file| Conversation::read(file)).collect()
    }

    /// Whether it restarts the daemon, which only the tests can.
    #[must_use]
    pub fn restarts(&self) -> bool {
        self.steps.iter().any(|(_, step)| step.restart)
    }
}
