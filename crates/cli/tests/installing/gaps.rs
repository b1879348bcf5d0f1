//! Calls that went past the gate: found in the audit, the journal and the transcripts of a host.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::Home;

/// A daemon, ended when it is dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Home {
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        command.env_clear().env("HOME", &self.0).env("PATH", "/usr/bin:/bin");
        command.current_dir(&self.0);
        command
    }

    fn serve(&self) -> Daemon {
        let mut command = self.command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        assert!(first.starts_with("listening on"), "{first}");
        std::thread::spawn(move || lines.for_each(drop));
        Daemon(child)
    }

    /// Tells the hook about a call, as the host does.
    fn hook(&self, event: &str, command: &str, id: &str) {
        let document = json!({
            "session_id": "s-1", "transcript_path": "/t", "cwd": self.0, "hook_event_name": event,
            "permission_mode": "default", "tool_name": "Bash", "tool_use_id": id,
            "tool_input": { "command": command }, "tool_response": {},
        });
        let mut hook = self.command();
        hook.args(["hook", "claude", event]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = hook.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(document.to_string().as_bytes()).unwrap();
        let said = child.wait_with_output().unwrap();
        assert!(said.status.success(), "{event} of `{command}`: {said:?}");
    }

    /// Writes calls with their results into a transcript, at a time.
    fn transcript(&self, at: &str, calls: &[(&str, &str, &str)]) {
        let mut text = Vec::new();
        for (id, command, result) in calls {
            let made = json!({
                "type": "assistant", "sessionId": "s-1", "cwd": self.0, "timestamp": at,
                "message": { "role": "assistant", "content": [
                    { "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } },
                ] },
            });
            let came = json!({
                "type": "user", "sessionId": "s-1", "cwd": self.0, "timestamp": at,
                "message": { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": id, "content": result,
                      "is_error": result.contains("Portcullis: ") },
                ] },
            });
            writeln!(text, "{made}\n{came}").unwrap();
        }
        let text = String::from_utf8(text).unwrap();
        self.write(".claude/projects/-work/s-1.jsonl", &text);
    }

    /// How a check of `doctor` ended, and what it says; and the exit code.
    fn doctor(&self, step: &str) -> (String, String, i32) {
        let said = self.says(&["doctor", "claude", "--json"]);
        let json: Value = serde_json::from_str(&said.out).unwrap();
        let checks = json["hosts"][0]["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["step"] == step).unwrap();
        let text = |name: &str| check[name].as_str().unwrap().to_owned();
        (text("state"), text("told"), said.code)
    }
}

const LATER: &str = "2099-01-01T00:00:00.000Z";

#[test]
fn a_result_without_a_decision_is_found_with_a_daemon_and_without() {
    for is_served in [true, false] {
        let home = Home::new();
        home.says(&["install", "claude"]);
        let daemon = is_served.then(|| home.serve());
        home.hook("PreToolUse", "pwd", "1");
        home.hook("PostToolUse", "pwd", "1");
        let (state, told, code) = home.doctor("gaps");
        assert_eq!((state.as_str(), code), ("holds", 0), "{is_served}: {told}");
        home.hook("PostToolUse", "make all", "2");
        let (state, told, code) = home.doctor("gaps");
        assert_eq!((state.as_str(), code), ("open", 1), "{is_served}: {told}");
        assert!(told.contains("1 call ran") && told.contains("`Bash`"), "{told}");
        drop(daemon);
        // Found is found, whether somebody serves or not.
        assert_eq!(home.doctor("gaps").0, "open");
        // Another host has nothing to do with it.
        home.says(&["install", "gemini"]);
        let other = home.says(&["doctor", "gemini", "--json"]);
        assert_eq!(other.code, 0, "{}", other.out);
    }
}

#[test]
fn a_call_of_a_transcript_that_nobody_judged_is_found() {
    for is_served in [true, false] {
        let home = Home::new();
        home.says(&["install", "claude"]);
        assert_eq!(home.doctor("transcripts").0, "untested", "there is none yet");
        let daemon = is_served.then(|| home.serve());
        home.hook("PreToolUse", "pwd", "1");
        // What was stopped did not run, and what ran before there was a hook is no gap.
        let stopped = "Portcullis: nobody was asked [no]";
        home.transcript(LATER, &[("1", "pwd", "/"), ("2", "make", stopped)]);
        let (state, told, code) = home.doctor("transcripts");
        assert_eq!((state.as_str(), code), ("holds", 0), "{is_served}: {told}");
        home.transcript("2020-01-01T00:00:00.000Z", &[("3", "make", "made")]);
        assert_eq!(home.doctor("transcripts").0, "untested");
        home.transcript(LATER, &[("1", "pwd", "/"), ("3", "make", "made")]);
        let (state, told, code) = home.doctor("transcripts");
        assert_eq!((state.as_str(), code), ("open", 1), "{is_served}: {told}");
        assert!(told.contains("1 call of transcripts") && told.contains("s-1.jsonl"), "{told}");
        drop(daemon);
    }
}

#[test]
fn a_store_that_cannot_be_read_proves_nothing() {
    let home = Home::new();
    home.says(&["install", "claude"]);
    home.write(
        ".local/share/portcullis/portcullis.db",
        "no database at all, but long enough to be one",
    );
    let (state, told, _) = home.doctor("gaps");
    assert_eq!(state, "untested", "{told}");
}
