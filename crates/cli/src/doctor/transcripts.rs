//! Transcripts: what a host wrote down about the calls that its agent made.
//!
//! Known are those of Claude Code: a file for each session below `projects`, a JSON document in
//! each line. To read those of another host, add its line to [`read`].

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context;
use portcullis_approval::{CallText, Moment};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// So deep files lie below the directory of all projects: those of agents within a session too.
const DEPTH: usize = 4;

/// How a reason of ours begins.
const OURS: &str = "Portcullis: ";

/// A call that a host says has run.
pub struct Told {
    /// The host's name for the tool.
    pub tool: String,
    /// The session.
    pub session: Option<String>,
    /// The directory.
    pub cwd: Option<String>,
    /// When it was made.
    pub at: Moment,
    /// The transcript.
    pub file: PathBuf,
    host: &'static str,
    input: String,
}

impl Told {
    /// The digest that its verdict has if it was made in a directory.
    pub fn digest_in(&self, cwd: &str) -> Option<String> {
        let call = CallText {
            tool: self.tool.clone(),
            input: self.input.clone(),
            cwd: Some(cwd.to_owned()),
            home: None,
            shell: None,
            host: Some(self.host.to_owned()),
            session: self.session.clone(),
            run: None,
            call_id: None,
            profile: None,
            description: None,
        };
        call.digest()
    }
}

/// The calls that have run since a moment, as a host wrote them down; none where nobody here knows
/// how it does.
///
/// # Errors
/// They cannot be read.
pub fn read(host: &str, home: Option<&Path>, since: Moment) -> anyhow::Result<Option<Vec<Told>>> {
    match (host, home) {
        ("claude", Some(home)) => claude(&home.join(".claude/projects"), since).map(Some),
        _ => Ok(None),
    }
}

/// One line, as far as it matters here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    timestamp: Option<String>,
    session_id: Option<String>,
    cwd: Option<String>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    /// A text, or parts.
    content: Option<Box<RawValue>>,
}

/// A part of a message: a call, or what became of one.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part {
    ToolUse {
        id: String,
        name: String,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        is_error: bool,
        #[serde(default)]
        content: Value,
    },
    #[serde(other)]
    Other,
}

/// The input of a call to the byte, which a part that is told by its type would lose.
#[derive(Deserialize)]
struct Input {
    input: Box<RawValue>,
}

fn claude(projects: &Path, since: Moment) -> anyhow::Result<Vec<Told>> {
    let mut files = Vec::new();
    find(projects, DEPTH, &mut files)?;
    let mut calls = Vec::new();
    for file in files {
        let changed = fs::metadata(&file)?.modified()?.duration_since(std::time::UNIX_EPOCH)?;
        if i64::try_from(changed.as_millis()).is_ok_and(|changed| changed >= since.ms()) {
            let lines = File::open(&file).map(BufReader::new);
            let lines = lines.with_context(|| format!("cannot read `{}`", file.display()))?;
            calls.extend(of_claude(lines, &file, since)?);
        }
    }
    calls.sort_by_key(|told| told.at);
    Ok(calls)
}

/// The calls of one transcript that have a result, but for those that we have stopped.
fn of_claude(lines: impl BufRead, file: &Path, since: Moment) -> anyhow::Result<Vec<Told>> {
    let mut open: BTreeMap<String, Told> = BTreeMap::new();
    let mut ran = Vec::new();
    for line in lines.split(b'\n') {
        let line = line?;
        // The client may be writing its last line.
        let Ok(line) = serde_json::from_slice::<Line>(&line) else { continue };
        let content = line.message.and_then(|message| message.content);
        let parts = content.and_then(|content| serde_json::from_str(content.get()).ok());
        let parts: Vec<Box<RawValue>> = parts.unwrap_or_default();
        let at = line.timestamp.as_deref().and_then(Moment::parse);
        for raw in parts {
            match serde_json::from_str(raw.get()) {
                Ok(Part::ToolUse { id, name }) => {
                    let input = serde_json::from_str::<Input>(raw.get());
                    if let (Some(at), Ok(Input { input })) = (at.filter(|at| *at >= since), input) {
                        let (session, cwd) = (line.session_id.clone(), line.cwd.clone());
                        let input = input.get().to_owned();
                        let (host, file) = ("claude", file.to_owned());
                        open.insert(id, Told { tool: name, session, cwd, at, file, host, input });
                    }
                }
                Ok(Part::ToolResult { tool_use_id, is_error, content }) => {
                    let told = open.remove(&tool_use_id);
                    let is_stopped = is_error && content.to_string().contains(OURS);
                    ran.extend(told.filter(|_| !is_stopped));
                }
                Ok(Part::Other) | Err(_) => {}
            }
        }
    }
    Ok(ran)
}

/// The transcripts below a directory, which need not be there.
fn find(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() && depth > 1 {
            find(&path, depth - 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"hi"}}
{"type":"assistant","sessionId":"s","cwd":"/w","timestamp":"2026-11-17T10:00:00.000Z","message":{"content":[{"type":"text","text":"now"},{"type":"tool_use","id":"old","name":"Bash","input":{"command":"ls"}}]}}
{"type":"assistant","sessionId":"s","cwd":"/w","timestamp":"2026-11-17T12:00:00.000Z","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"make","n":1.0}},{"type":"tool_use","id":"b","name":"Bash","input":{"command":"rm"}},{"type":"tool_use","id":"c","name":"Bash","input":{"command":"sleep 9"}}]}}
{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"old","content":"x"},{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"made"}]},{"type":"tool_result","tool_use_id":"b","is_error":true,"content":"Portcullis: no [deny]"}]}}
{"type":"assistant","session"#;

    #[test]
    fn a_call_counts_once_it_has_a_result_that_is_not_our_refusal() {
        let since = Moment::parse("2026-11-17T11:00:00.000Z").unwrap();
        let ran = of_claude(LINES.as_bytes(), Path::new("/t.jsonl"), since).unwrap();
        let commands: Vec<&str> = ran.iter().map(|told| told.input.as_str()).collect();
        assert_eq!(commands, [r#"{"command":"make","n":1.0}"#]);
        let told = &ran[0];
        assert_eq!((told.session.as_deref(), told.cwd.as_deref()), (Some("s"), Some("/w")));
        assert!(told.digest_in("/w").unwrap().starts_with("sha256:"));
        assert_ne!(told.digest_in("/w"), told.digest_in("/x"));
    }

    #[test]
    fn where_nothing_was_written_nothing_ran_and_other_hosts_are_not_read() {
        let home = Path::new("/nowhere-at-all");
        assert!(read("claude", Some(home), Moment::default()).unwrap().unwrap().is_empty());
        assert!(read("gemini", Some(home), Moment::default()).unwrap().is_none());
    }
}
