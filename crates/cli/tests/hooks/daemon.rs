//! The hook with a daemon: a person answers, from anywhere, and the host is told in its words.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use serde_json::{Value, json};

use super::house::{GATES, Gate, Home, assert_blocks, assert_fits, feed, fixture, said};

/// A daemon in a home, ended when the test is over.
pub struct Daemon {
    child: Child,
}

impl Daemon {
    pub fn serve(home: &Home) -> Daemon {
        let mut child = home.portcullis(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
        drop(child.stdin.take());
        let mut logs = child.stderr.take().unwrap();
        std::thread::spawn(move || logs.read_to_end(&mut Vec::new()));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().expect("a first line").unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Daemon { child }
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A command that says JSON.
fn json_of(home: &Home, arguments: &[&str]) -> Value {
    let child = home.portcullis(arguments).spawn().unwrap();
    let said = said(child);
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{arguments:?}: {said:?}"))
}

/// The asks that wait, as soon as there are so many.
pub fn asks(home: &Home, count: usize) -> Vec<Value> {
    for _ in 0..2000 {
        let asks = json_of(home, &["asks", "--json"])["asks"].as_array().unwrap().clone();
        if asks.len() >= count {
            return asks;
        }
    }
    panic!("no {count} asks")
}

fn started(gate: &Gate, home: &Home, words: &[&str]) -> Child {
    let mut child = gate.command(home, words).spawn().unwrap();
    feed(&mut child, &gate.document());
    child
}

pub fn answer(home: &Home, ask: &Value, words: &[&str]) {
    let id = ask["id"].as_str().unwrap();
    let (verb, rest) = words.split_first().unwrap();
    let mut arguments = vec![*verb, id];
    arguments.extend(rest);
    let said = said(home.portcullis(&arguments).spawn().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
}

/// The recorded gates; the hosts that were only documented speak the same.
fn gates() -> impl Iterator<Item = &'static Gate> {
    GATES.iter()
}

#[test]
fn an_approval_lets_the_call_run_and_a_rejection_tells_why() {
    let home = Home::new();
    let _daemon = Daemon::serve(&home);
    for gate in gates() {
        let waiting = started(gate, &home, &[]);
        let ask = asks(&home, 1).remove(0);
        let host = if gate.host == "agentbot" { "docker-agent" } else { gate.host };
        assert_eq!((&ask["host"], &ask["door"]), (&json!(host), &json!("hook")), "{ask}");
        answer(&home, &ask, &["approve"]);
        assert_fits(&said(waiting), &fixture(&format!("{}/allow", gate.host)), gate.host);

        let mut command = gate.command(&home, &[]);
        let mut document: Value = serde_json::from_slice(&gate.document()).unwrap();
        if let Some(id) = document.get_mut("tool_use_id") {
            *id = "another".into();
        }
        if let Some(id) = document.get_mut("call_id") {
            *id = "another".into();
        }
        let mut child = command.spawn().unwrap();
        feed(&mut child, document.to_string().as_bytes());
        let ask = asks(&home, 1).remove(0);
        answer(&home, &ask, &["reject", "--feedback", "use the other file"]);
        let rejected = said(child);
        assert_blocks(gate, &rejected, gate.host);
        let text = format!("{}{}", rejected.out, rejected.error);
        assert!(text.contains("rejected by") && text.contains("use the other file"), "{text}");
    }
}

#[test]
fn what_the_policy_says_is_said_at_once() {
    let home = Home::with("[rules]\nallow = [\"Bash(echo:*)\", \"Write(**)\"]\n");
    let _daemon = Daemon::serve(&home);
    let gate = &GATES[0];
    let mut document: Value = serde_json::from_slice(&gate.document()).unwrap();
    document["tool_input"]["command"] = "echo hi".into();
    let mut child = gate.command(&home, &[]).spawn().unwrap();
    feed(&mut child, document.to_string().as_bytes());
    assert_fits(&said(child), &fixture("claude/allow"), "a rule allows");
    document["tool_input"]["command"] = "portcullis approve x".into();
    let mut child = gate.command(&home, &[]).spawn().unwrap();
    feed(&mut child, document.to_string().as_bytes());
    let denied = said(child);
    assert_fits(&denied, &fixture("claude/deny"), "it protects itself");
    assert!(denied.out.contains("[self_protection]"), "{denied:?}");
}

#[test]
fn nobody_answers_until_the_deadline() {
    let home = Home::new();
    let _daemon = Daemon::serve(&home);
    let waiting: Vec<Child> =
        gates().map(|gate| started(gate, &home, &["--deadline-ms", "6000"])).collect();
    for (gate, child) in gates().zip(waiting) {
        let late = said(child);
        assert_blocks(gate, &late, gate.host);
        let text = format!("{}{}", late.out, late.error);
        assert!(text.contains("[HOOK_DEADLINE]") && text.contains("still open"), "{text}");
    }
    // The ask is still there; whoever answers it late serves the next identical call.
    let asks = asks(&home, gates().count());
    let of = |host: &str| asks.iter().find(|ask| ask["host"] == host).unwrap();
    answer(&home, of("claude"), &["approve"]);
    assert_fits(&said(started(&GATES[0], &home, &[])), &fixture("claude/allow"), "late");
}

#[test]
fn a_canary_runs_once_when_it_is_registered() {
    let home = Home::with("mode = \"bypass\"\n");
    let gate = &GATES[0];
    let nonce = "00112233445566778899aabbccddeeff";
    let said_about = |words: &[&str]| {
        let mut document: Value = serde_json::from_slice(&gate.document()).unwrap();
        document["tool_input"]["command"] = format!("touch portcullis-canary-{nonce}").into();
        let mut child = gate.command(&home, words).spawn().unwrap();
        feed(&mut child, document.to_string().as_bytes());
        said(child)
    };
    let turn = |words: &[&str], how: &str| {
        assert_blocks(gate, &said_about(words), how);
        fs::write(home.data().join("canary"), nonce).unwrap();
        assert_fits(&said_about(words), &fixture("claude/allow"), how);
        assert_blocks(gate, &said_about(words), how);
    };
    turn(&["--daemon", "off"], "without a daemon");
    let _daemon = Daemon::serve(&home);
    turn(&[], "with one");
}

#[test]
fn an_edited_input_is_run_where_the_host_takes_it_and_quoted_where_not() {
    let home = Home::new();
    let _daemon = Daemon::serve(&home);
    let changed = |gate: &Gate, document: &Value| -> Value {
        let mut input = match gate.host {
            "copilot" => document["toolArgs"].clone(),
            "windsurf" => document["tool_info"].clone(),
            "cline" => document["preToolUse"]["parameters"].clone(),
            "amp" => document.clone(),
            "cursor" => json!({ "command": document["command"] }),
            _ => document["tool_input"].clone(),
        };
        for name in ["command", "cmd", "command_line"] {
            if let Some(command) = input.get_mut(name) {
                *command = "echo modified > notes.txt".into();
            }
        }
        input
    };
    for gate in gates() {
        let document: Value = serde_json::from_slice(&gate.document()).unwrap();
        let input = changed(gate, &document);
        let waiting = started(gate, &home, &[]);
        let ask = asks(&home, 1).remove(0);
        answer(&home, &ask, &["approve", "--input", &input.to_string()]);
        let told = said(waiting);
        let takes = ["claude", "codex", "gemini", "copilot", "opencode", "agentbot"];
        if takes.contains(&gate.host) {
            let mut want = fixture(&format!("{}/modified", gate.host));
            if gate.host == "gemini" {
                want["stdout"]["hookSpecificOutput"]["tool_input"] = input;
            }
            assert_fits(&told, &want, gate.host);
        } else {
            assert_blocks(gate, &told, gate.host);
            let text = format!("{}{}", told.out, told.error);
            assert!(text.contains("echo modified > notes.txt [EDITED]"), "{text}");
        }
    }
    // Gemini merges: a field that the edit takes away would stay.
    let gate = &GATES[2];
    let waiting = started(gate, &home, &[]);
    let ask = asks(&home, 1).remove(0);
    answer(&home, &ask, &["approve", "--input", "{\"command\":\"echo less\"}"]);
    let told = said(waiting);
    assert_blocks(gate, &told, "a field is gone");
    assert!(told.out.contains("run instead: echo less [EDITED]"), "{told:?}");
}

#[test]
fn a_daemon_that_dies_while_it_asks_is_waited_for() {
    let home = Home::new();
    let mut daemon = Daemon::serve(&home);
    let gone = started(&GATES[1], &home, &["--deadline-ms", "1500"]);
    let back = started(&GATES[0], &home, &[]);
    asks(&home, 2);
    daemon.kill();
    let denied = said(gone);
    assert_blocks(&GATES[1], &denied, "the daemon died and nobody came");
    assert!(denied.out.contains("[HOOK_DEADLINE]"), "{denied:?}");
    let _daemon = Daemon::serve(&home);
    let asks = asks(&home, 1);
    let ask = asks.iter().find(|ask| ask["host"] == "claude").unwrap();
    answer(&home, ask, &["approve"]);
    assert_fits(&said(back), &fixture("claude/allow"), "it asked the same again");
}

#[test]
fn a_receipt_of_another_key_is_no_proof() {
    let home = Home::with("mode = \"bypass\"\n");
    let _daemon = Daemon::serve(&home);
    for gate in gates() {
        assert_fits(
            &said(started(gate, &home, &[])),
            &fixture(&format!("{}/allow", gate.host)),
            gate.host,
        );
    }
    let pinned = json!({ "home": home.0, "key": "ab".repeat(32) });
    fs::write(home.data().join("install.json"), pinned.to_string()).unwrap();
    for gate in gates() {
        let denied = said(started(gate, &home, &[]));
        assert_blocks(gate, &denied, gate.host);
        assert!(format!("{}{}", denied.out, denied.error).contains("[HOOK_RECEIPT]"), "{denied:?}");
    }
}

#[test]
fn calls_in_parallel_are_two_asks_and_the_same_call_is_one() {
    let home = Home::new();
    let _daemon = Daemon::serve(&home);
    let start = |input: &str| {
        let mut child = home.portcullis(&["hook", "claude", "PreToolUse"]).spawn().unwrap();
        feed(&mut child, fixture(input).to_string().as_bytes());
        child
    };
    let first = start("claude/PreToolUse.Bash.parallel-1");
    let second = start("claude/PreToolUse.Bash.parallel-2");
    let both = asks(&home, 2);
    let again = start("claude/PreToolUse.Bash.parallel-1");
    let of =
        |command: &str| both.iter().find(|ask| ask["call"]["input"]["command"] == command).unwrap();
    answer(&home, of("echo two > notes2.txt"), &["reject"]);
    answer(&home, of("echo hi > notes.txt"), &["approve"]);
    assert_fits(&said(first), &fixture("claude/allow"), "approved");
    assert_fits(&said(second), &fixture("claude/deny"), "rejected");
    assert_fits(&said(again), &fixture("claude/allow"), "the same call again, as after a resume");
    assert_eq!(json_of(&home, &["asks", "--json"])["asks"], json!([]), "nobody is asked twice");
}

#[test]
fn a_journal_that_somebody_wrote_into_is_taken_over_and_reported() {
    let home = Home::with("mode = \"dont-ask\"\n");
    let gate = gates().next().unwrap();
    said(started(gate, &home, &["--daemon", "off"]));
    let journal = home.data().join("journal.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"\xff\xfe no line of ours\n");
    std::fs::write(&journal, bytes).unwrap();
    let _daemon = Daemon::serve(&home);
    for _ in 0..2000 {
        let written = said(home.portcullis(&["audit", "export"]).spawn().unwrap()).out;
        let entries = written.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        if let Some(taken) = entries.into_iter().find(|entry| entry["kind"] == "journal.taken") {
            assert!(taken["data"]["broken"].is_string(), "{taken}");
            assert!(!journal.exists(), "it is not in the way of the next");
            return;
        }
    }
    panic!("nobody took the journal");
}

#[test]
fn what_was_judged_without_a_daemon_is_taken_into_its_audit() {
    let home = Home::with("mode = \"dont-ask\"\n");
    for gate in gates() {
        said(started(gate, &home, &["--daemon", "off"]));
    }
    let journal = home.data().join("journal.jsonl");
    assert!(journal.exists());
    let _daemon = Daemon::serve(&home);
    for _ in 0..2000 {
        let written = said(home.portcullis(&["audit", "export"]).spawn().unwrap()).out;
        let entries: Vec<Value> =
            written.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let of =
            |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).collect::<Vec<_>>();
        if let Some(taken) = of("journal.taken").first() {
            assert_eq!(taken["data"], json!({ "entries": gates().count() }), "{taken}");
            assert_eq!(of("call.judged").len(), gates().count());
            assert!(!journal.exists(), "it was handed over");
            return;
        }
    }
    panic!("nobody took the journal");
}

#[test]
fn a_headless_run_ends_and_is_resumed_where_the_policy_says_so() {
    let home = Home::with("[hosts]\nheadless = \"defer\"\n");
    let _daemon = Daemon::serve(&home);
    let start = |attended: &str, input: &str| {
        let mut command = home.portcullis(&["hook", "claude", "PreToolUse"]);
        let mut child = command.env("CLAUDE_CODE_SESSION_ATTENDED", attended).spawn().unwrap();
        feed(&mut child, fixture(input).to_string().as_bytes());
        child
    };
    let deferred = said(start("0", "claude/PreToolUse.Bash.resumed"));
    assert_fits(&deferred, &fixture("claude/defer"), "nobody watches");
    let ask = asks(&home, 1).remove(0);
    answer(&home, &ask, &["approve"]);
    let resumed = said(start("0", "claude/PreToolUse.Bash.resumed"));
    assert_fits(&resumed, &fixture("claude/allow"), "the same call after the decision");
    let watched = start("1", "claude/PreToolUse.Bash");
    let ask = asks(&home, 1).remove(0);
    answer(&home, &ask, &["reject"]);
    assert_fits(&said(watched), &fixture("claude/deny"), "somebody watches: it waits");
}

#[test]
fn a_prompt_of_an_approved_call_is_answered_and_nobody_is_asked_again() {
    let home = Home::new();
    let _daemon = Daemon::serve(&home);
    let start = |host: &str, event: &str, document: &Value| {
        let mut child =
            home.portcullis(&["hook", host, event, "--deadline-ms", "5000"]).spawn().unwrap();
        feed(&mut child, document.to_string().as_bytes());
        child
    };
    #[rustfmt::skip]
    let cases = [
        ("claude",  "PreToolUse", "claude/PreToolUse.Bash",    "PermissionRequest", "claude/PermissionRequest.Bash"),
        ("codex",   "PreToolUse", "codex/PreToolUse.Bash",     "PermissionRequest", "codex/PermissionRequest.Bash"),
        ("copilot", "preToolUse", "copilot/preToolUse.create", "permissionRequest", "copilot/permissionRequest.edit"),
        ("copilot", "preToolUse", "copilot/preToolUse.mcp",    "permissionRequest", "copilot/permissionRequest.mcp"),
    ];
    for (host, event, input, prompt_event, prompt) in cases {
        let first = fixture(input);
        let mut second = fixture(prompt);
        for name in ["session_id", "sessionId"] {
            if let Some(session) = first.get(name) {
                second[name] = session.clone();
            }
        }
        let waiting = start(host, event, &first);
        let ask = asks(&home, 1).remove(0);
        answer(&home, &ask, &["approve"]);
        assert_fits(&said(waiting), &fixture(&format!("{host}/allow")), input);
        let prompted = said(start(host, prompt_event, &second));
        assert_fits(&prompted, &fixture(&format!("{host}/permission-request.allow")), prompt);
        assert_eq!(json_of(&home, &["asks", "--json"])["asks"], json!([]), "{prompt}");
    }
    // Copilot also reads the settings of Claude Code: both entries fire, one ask.
    let shared = fixture("copilot/PreToolUse.Bash.pascal");
    let mut own = fixture("copilot/preToolUse.bash");
    own["sessionId"] = shared["session_id"].clone();
    let (one, two) = (start("claude", "PreToolUse", &shared), start("copilot", "preToolUse", &own));
    let ask = asks(&home, 1).remove(0);
    std::thread::sleep(std::time::Duration::from_millis(300));
    answer(&home, &ask, &["approve"]);
    assert_fits(&said(one), &fixture("claude/allow"), "the shared file");
    assert_fits(&said(two), &fixture("copilot/allow"), "its own file");
    assert_eq!(json_of(&home, &["asks", "--json"])["asks"], json!([]), "asked once");
}
