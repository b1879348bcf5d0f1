//! Hooks that are told to end, or whose words reach nobody: what is said blocks the tool.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;

use serde_json::Value;

use super::faults::{Play, false_daemon};
use super::house::{GATES, Home, assert_blocks, assert_fits, fed, feed, fixture, said};

const ALLOWS: &str = "mode = \"bypass\"\n";

/// Those that end a process which does not heed them, and that it can heed.
const SIGNALS: &[&str] = &[
    "TERM", "INT", "HUP", "QUIT", "XCPU", "XFSZ", "ALRM", "VTALRM", "PROF", "USR1", "USR2", "IO",
    "SYS", "TRAP",
];

fn send(signal: &str, child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
}

/// Waits until a second thread watches the hook.
fn await_watched(child: &Child) {
    let threads = format!("/proc/{}/task", child.id());
    while std::fs::read_dir(&threads).unwrap().count() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_signal_that_ends_the_hook_is_answered_first() {
    let home = Home::with(ALLOWS);
    let connections = false_daemon(&home, Play::Silence);
    for gate in GATES {
        for (count, signal) in SIGNALS.iter().enumerate() {
            let before = connections.load(Ordering::Relaxed);
            let mut child = gate.command(&home, &[]).spawn().unwrap();
            feed(&mut child, &gate.document());
            while connections.load(Ordering::Relaxed) == before {
                std::thread::yield_now();
            }
            // The first four may come at any moment, the others once somebody watches.
            if count >= 4 {
                await_watched(&child);
            }
            send(signal, &child);
            assert_blocks(gate, &said(child), &format!("{}: {signal}", gate.host));
        }
    }
}

#[test]
fn an_abort_that_somebody_sends_is_no_silence() {
    let home = Home::with(ALLOWS);
    for gate in GATES {
        // It waits for its document.
        let child = gate.command(&home, &["--daemon", "off"]).spawn().unwrap();
        await_watched(&child);
        send("ABRT", &child);
        let said = said(child);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}: {said:?}", gate.host);
        assert!(!said.error.is_empty(), "{}: exit code 2 alone blocks in few hosts", gate.host);
    }
}

#[test]
fn a_reason_that_reaches_nobody_becomes_a_document() {
    let home = Home::with(ALLOWS);
    let binary = env!("CARGO_BIN_EXE_portcullis");
    for gate in GATES {
        for how in ["2>&-", "2>/dev/null", "2>/dev/full"] {
            for (stdin, words) in [("nonsense", "off"), ("{}", "sometimes")] {
                let script = format!("exec \"$@\" {how}");
                let mut command = Command::new("sh");
                command.args(["-c", &script, "sh", binary, "hook", gate.host, gate.event]);
                command.args(["--daemon", words]).env("HOME", &home.0);
                command.envs(gate.environment.iter().copied());
                command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
                let said = fed(&mut command, stdin.as_bytes());
                let deny = fixture(&format!("{}/deny", gate.host));
                // Where a host reads codes alone, there is no document.
                if deny["stdout"].is_null() {
                    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", gate.host);
                } else {
                    assert_fits(&said, &deny, &format!("{} {how}: {stdin}", gate.host));
                }
            }
        }
    }
}

#[test]
fn what_is_told_after_a_call_and_not_understood_is_noted() {
    #[rustfmt::skip]
    let observers = [
        ("claude",   "PostToolUse"),
        ("claude",   "PostToolUseFailure"),
        ("claude",   "Notification"),
        ("codex",    "PostToolUse"),
        ("gemini",   "AfterTool"),
        ("copilot",  "postToolUse"),
        ("qwen",     "PostToolUse"),
        ("opencode", "tool.execute.after"),
    ];
    for (host, event) in observers {
        let home = Home::with(ALLOWS);
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(8 << 20));
        for (count, document) in ["nonsense", "{}", &large].iter().enumerate() {
            let mut command = home.portcullis(&["hook", host, event, "--daemon", "off"]);
            let said = fed(&mut command, document.as_bytes());
            assert_eq!((said.code, said.out.as_str(), said.error.as_str()), (Some(0), "", ""));
            let journal = std::fs::read_to_string(home.data().join("journal.jsonl")).unwrap();
            assert_eq!(journal.lines().count(), count + 1, "{host} {event}: {journal}");
            let last: Value = serde_json::from_str(journal.lines().last().unwrap()).unwrap();
            assert_eq!(last["kind"], "hook.observed", "{last}");
            assert_eq!(
                (&last["data"]["host"], &last["data"]["event"]),
                (&host.into(), &event.into())
            );
            let failure = match (host, count) {
                (_, 2) => "HOOK_TOO_LARGE",
                // Its documents name no event: without a result it is one of another.
                ("copilot", 1) => "HOOK_WRONG_HOST",
                _ => "HOOK_BAD_INPUT",
            };
            assert_eq!(last["data"]["failure"], failure, "{last}");
        }
    }
}
