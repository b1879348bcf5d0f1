//! What a host starts: its document on standard input, the exact answer on standard output.
//!
//! It cannot fail open: whatever happens, one answer is written, and it allows only what a verdict
//! allows. This crate knows std and `serde_json` and nothing else, so that it starts at once.
//! To add a host, add a file under `hosts/` and a line to [`run`].

use std::io::{Read, Write};
use std::time::Duration;

mod hosts;
mod http;
mod json;

/// How long a verdict may take.
pub const VERDICT_LIMIT: Duration = Duration::from_secs(10);

/// What a hook finds when it is started.
pub struct Surroundings<'a> {
    /// The words behind `hook`.
    pub arguments: &'a [String],
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// How long a verdict may take: [`VERDICT_LIMIT`].
    pub limit: Duration,
}

/// Answers one document; gives the exit code.
pub fn run(
    surroundings: &Surroundings<'_>,
    stdin: &mut dyn Read,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    match surroundings.arguments.split_first() {
        Some((host, rest)) if host == "agentbot" => {
            let started = Surroundings { arguments: rest, ..*surroundings };
            hosts::agentbot::run(&started, stdin, stdout, stderr)
        }
        Some((host, _)) => {
            let _ = writeln!(stderr, "error: no hook for `{host}`; use one of agentbot");
            2
        }
        None => {
            let _ = writeln!(stderr, "error: name the host, as in `portcullis hook agentbot`");
            2
        }
    }
}
