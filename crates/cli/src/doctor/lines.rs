//! The installed command line of a gate, started as its host starts it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context, bail};
use portcullis_hook_static::installed::Entry;
use serde_json::Value;

use super::answers::Said;
use crate::install::files;
use crate::install::hosts::Host;

/// A command line: words, or a text for a shell.
#[derive(Clone, Debug)]
pub enum Line {
    /// Program and arguments.
    Words(Vec<String>),
    /// A text for `sh`.
    Text(String),
}

/// The command line that is installed at the gate of a host.
pub fn installed(host: &Host, entry: &Entry) -> anyhow::Result<Line> {
    let text = files::read(&entry.file)?.context("the file is not there")?;
    let event = host.events.first().copied().unwrap_or_default();
    let fits = |line: &str| line.contains(&format!("hook {} {event} ", host.name));
    match host.name {
        "opencode" => {
            let after = |name: &str| {
                let line =
                    text.lines().find_map(|line| line.strip_prefix(&format!("const {name} = ")));
                line.and_then(|line| serde_json::from_str::<Value>(line.trim_end_matches(';')).ok())
            };
            let (program, words) = (after("PROGRAM"), after("WORDS"));
            let program = program.as_ref().and_then(Value::as_str).context("no program")?;
            let words = words.as_ref().and_then(Value::as_array).context("no words")?;
            let words = words.iter().filter_map(Value::as_str);
            let words = words.map(|word| if word == "EVENT" { event } else { word });
            Ok(Line::Words(std::iter::once(program).chain(words).map(str::to_owned).collect()))
        }
        "agentbot" => {
            let commands = text.lines().filter_map(|line| line.trim().strip_prefix("command: "));
            let mut commands =
                commands.filter_map(|line| serde_json::from_str::<String>(line).ok());
            commands.find(|line| fits(line)).map(Line::Text).context("no command at the gate")
        }
        "cline" => Ok(Line::Words(vec![entry.file.display().to_string()])),
        "copilot" | "kiro" => {
            let value: Value = serde_json::from_str(&text)?;
            let command = value
                .pointer("/hooks/preToolUse/0/bash")
                .or_else(|| value.pointer("/action/command"));
            let command = command.and_then(Value::as_str).context("no command at the gate")?;
            Ok(Line::Text(command.to_owned()))
        }
        _ => {
            let ours = host.gate(&text)?.unwrap_or_default();
            let field = |name: &str| ours.get(name).and_then(Value::as_str);
            if let Some(to) = field("to") {
                return Ok(Line::Words(vec![to.to_owned()]));
            }
            if let Some(command) = field("command") {
                let Some(arguments) = ours.get("args").and_then(Value::as_array) else {
                    return Ok(Line::Text(command.to_owned()));
                };
                let words = arguments.iter().filter_map(Value::as_str);
                let words = std::iter::once(command).chain(words).map(str::to_owned);
                return Ok(Line::Words(words.collect()));
            }
            bail!("no command at the gate")
        }
    }
}

impl Line {
    /// The same line with another data directory and deadline, for drills that must not touch a
    /// running daemon.
    pub fn elsewhere(&self, data: &Path, deadline_ms: u64) -> Option<Line> {
        let Line::Words(words) = self.split()? else { return None };
        let mut changed = Vec::new();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let value = match word.as_str() {
                "--data-dir" => data.display().to_string(),
                "--deadline-ms" => deadline_ms.to_string(),
                _ => {
                    changed.push(word);
                    continue;
                }
            };
            words.next();
            changed.extend([word, value]);
        }
        Some(Line::Words(changed))
    }

    /// The words of the line; `install` writes no other quotes than these.
    fn split(&self) -> Option<Line> {
        let text = match self {
            Line::Words(_) => return Some(self.clone()),
            Line::Text(text) => text,
        };
        let mut words = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (word, behind) = match rest.strip_prefix('\'') {
                Some(quoted) => quoted.split_once('\'')?,
                None => rest.split_once(' ').unwrap_or((rest, "")),
            };
            words.push(word.to_owned());
            rest = behind.trim_start();
        }
        Some(Line::Words(words))
    }

    /// Starts it as the host does, gives it a document, and waits for what it says.
    pub fn say(&self, host: &str, document: &[u8], limit: Duration) -> anyhow::Result<Said> {
        let mut command = match self {
            Line::Words(words) => {
                let (program, arguments) = words.split_first().context("no program")?;
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
            Line::Text(text) => {
                let mut command = Command::new("sh");
                command.args(["-c", text]);
                command
            }
        };
        if host == "amp" {
            command.envs([
                ("AGENT", "amp"),
                ("AGENT_TOOL_NAME", "Bash"),
                ("AMP_THREAD_ID", "doctor"),
            ]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("the command could not be started")?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let document = document.to_owned();
        if let Some(mut stdin) = stdin {
            std::thread::spawn(move || drop(stdin.write_all(&document)));
        }
        let (tell, told) = channel();
        std::thread::spawn(move || {
            let (mut out, mut error) = (Vec::new(), Vec::new());
            let _ = stdout.map(|mut pipe| pipe.read_to_end(&mut out));
            let _ = stderr.map(|mut pipe| pipe.read_to_end(&mut error));
            let _ = tell.send((out, error));
        });
        let said = told.recv_timeout(limit);
        if said.is_err() {
            let _ = child.kill();
        }
        let status = child.wait()?;
        let (out, error) = said.context("it did not end in time")?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(Said { out: text(out), error: text(error), code: status.code() })
    }
}
