//! Proofs that an installed hook holds.
//!
//! [`mod@statics`] looks at what was written, [`mod@drills`] starts the installed command line as the host
//! does, feeds it canary calls and faults, and looks at what it says. Nothing here runs a tool:
//! every canary ends in an answer that this process reads. Only [`mod@live`] starts a real client,
//! against a scripted model and with nothing but loopback around it. [`mod@gaps`] looks for calls
//! that went past all of it.

mod answers;
mod documents;
mod drills;
mod gaps;
mod lines;
mod live;
pub mod proven;
mod statics;
mod transcripts;

use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::Serialize;

pub use drills::drills;
pub use gaps::gaps;
pub use live::{live, slow};
pub use statics::statics;

/// How long a host may take to say its version.
const VERSION_TIME: Duration = Duration::from_secs(30);

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It holds.
    Holds,
    /// It does not: the gate may stand open.
    Open,
    /// It could not be tested.
    Untested,
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What was checked.
    pub step: &'static str,
    /// How it ended.
    pub state: State,
    /// What was seen.
    pub told: String,
}

impl Check {
    /// A check that ended so.
    pub fn new(step: &'static str, state: State, told: impl Into<String>) -> Check {
        Check { step, state, told: told.into() }
    }

    /// It holds, or is open for this reason.
    fn of(step: &'static str, holds: bool, told: impl Into<String>) -> Check {
        Check::new(step, if holds { State::Holds } else { State::Open }, told)
    }

    /// Whether the gate may stand open.
    pub fn is_failed(&self) -> bool {
        self.state == State::Open
    }
}

/// What a host's program says its version is; none where it is not there or says nothing in time.
pub fn version(program: &str) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdout = child.stdout.take()?;
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = std::io::Read::read_to_string(&mut stdout, &mut text);
        let _ = tell.send(text);
    });
    let text = told.recv_timeout(VERSION_TIME).ok();
    let _ = child.kill();
    let _ = child.wait();
    let line = text?.lines().next()?.trim().to_owned();
    (!line.is_empty() && line.len() < 200).then_some(line)
}
