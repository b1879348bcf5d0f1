//! Laws of the hook: no document and no fault says anything that lets a tool run.

#![cfg(test)]

use std::io::{Cursor, Write};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use portcullis_hook::answer::{Answer, Printed, reason};
use portcullis_hook::cache::Cache;
use portcullis_hook::call::{Call, Part};
use portcullis_hook::hosts::HOSTS;
use portcullis_hook::{Signals, Started, Trouble, VERDICT_LIMIT, run};
use portcullis_law::config;
use proptest::prelude::*;
use serde_json::Value;

/// A document of a gate, for every host that has its event in the arguments.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    (
        "claude",
        "PreToolUse",
        r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"1"}"#,
    ),
    (
        "codex",
        "PreToolUse",
        r#"{"session_id":"s","turn_id":"t","model":"m","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"1"}"#,
    ),
    (
        "gemini",
        "BeforeTool",
        r#"{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","timestamp":"x","tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#,
    ),
    (
        "copilot",
        "preToolUse",
        r#"{"sessionId":"s","timestamp":1,"cwd":"/w","toolName":"bash","toolArgs":{"command":"ls"}}"#,
    ),
    (
        "qwen",
        "PreToolUse",
        r#"{"session_id":"s","transcript_path":"/t","timestamp":"x","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#,
    ),
    (
        "opencode",
        "tool.execute.before",
        r#"{"hook_event_name":"tool.execute.before","tool_name":"bash","tool_input":{"command":"ls"},"session_id":"s","call_id":"c","cwd":"/w"}"#,
    ),
    (
        "agentbot",
        "pre_tool_use",
        r#"{"session_id":"s","cwd":"/w","hook_event_name":"pre_tool_use","tool_name":"shell","tool_input":{"cmd":"ls"}}"#,
    ),
    (
        "cursor",
        "beforeShellExecution",
        r#"{"conversation_id":"c","generation_id":"g","hook_event_name":"beforeShellExecution","command":"ls","cwd":"/w"}"#,
    ),
    (
        "windsurf",
        "pre_run_command",
        r#"{"agent_action_name":"pre_run_command","trajectory_id":"t","tool_info":{"command_line":"ls","cwd":"/w"}}"#,
    ),
    (
        "kiro",
        "preToolUse",
        r#"{"hook_event_name":"preToolUse","cwd":"/w","tool_name":"execute_bash","tool_input":{"command":"ls"}}"#,
    ),
    (
        "droid",
        "PreToolUse",
        r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"ls"}}"#,
    ),
    (
        "cline",
        "PreToolUse",
        r#"{"hookName":"PreToolUse","taskId":"t","workspaceRoots":["/w"],"preToolUse":{"toolName":"execute_command","parameters":{"command":"ls"}}}"#,
    ),
];

/// Programs that a worker may turn out to be: none, one that fails, is silent, or repeats.
const WORKERS: &[&str] = &["/nothing", "/bin/false", "/bin/true", "/bin/cat", "/bin/echo"];

/// Feeds a worker and hears it out, within its limit; what it says is short.
fn hear(
    command: &mut Command,
    input: &[u8],
    limit: Duration,
    _most: usize,
    meanwhile: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Trouble> {
    let end = Instant::now() + limit;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|_| Trouble::Unstarted)?;
    let _ = child.stdin.take().unwrap().write_all(input);
    assert!(meanwhile());
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(Trouble::Late);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().unwrap();
    if output.status.success() { Ok(output.stdout) } else { Err(Trouble::Died) }
}

fn said(host: &str, event: &str, worker: &str, stdin: &[u8]) -> Printed {
    let words = [host, event, "--daemon", "off", "--deadline-ms", "3000"];
    let started = Started {
        arguments: words.iter().map(ToString::to_string).collect(),
        variable: Box::new(|_| None),
        limit: VERDICT_LIMIT,
        began: Instant::now(),
        program: worker.into(),
        kept: Vec::new(),
        directory: None,
        name: "hook-test".to_owned(),
        user: 0,
        ready: |_| true,
        is_near: |_| true,
        check: |_, _| Box::new(|_| Ok(())),
        dial: |path, _| UnixStream::connect(path),
        cache: Cache { holder: str::to_owned, version: |_| None, keep: |_, _| {}, forget: |_| {} },
        signals: Signals { note: |_| Ok(()), tell: |_| Ok(()) },
        run: hear,
        end: |_| {},
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = run(&started, Box::new(Cursor::new(stdin.to_owned())), &mut stdout, &mut stderr);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Printed { stdout: text(stdout), stderr: text(stderr), code, ..Printed::default() }
}

/// Whether what was said blocks in every host: a reason and exit code 2, or one document that
/// denies or asks with a reason and nothing around it.
fn blocks(printed: &Printed) -> bool {
    if printed.code == 2 {
        return printed.stdout.is_empty() && printed.stderr.starts_with("Portcullis: ");
    }
    if printed.code == 1 {
        // Amp's own word for asking its operator.
        return printed.stdout.is_empty();
    }
    let Ok(document) = serde_json::from_str::<Value>(&printed.stdout) else { return false };
    let text = document.to_string();
    let denies = ["\"deny\"", "\"ask\"", "\"cancel\":true"].iter().any(|word| text.contains(word));
    let allows = ["\"allow\"", "\"cancel\":false", "updated", "modified"];
    denies && !allows.iter().any(|word| text.contains(word)) && text.contains("Portcullis: ")
}

proptest! {
    // Each starts a process.
    #![proptest_config(ProptestConfig { cases: config().cases.min(64), ..config() })]

    #[test]
    fn no_document_and_no_worker_lets_a_tool_run(
        which in 0..DOCUMENTS.len(),
        worker in 0..WORKERS.len(),
        cut in 0_usize..300,
        put in prop::collection::vec(any::<u8>(), 0..4),
        is_whole in any::<bool>(),
    ) {
        let (host, event, document) = DOCUMENTS[which];
        let mut bytes = document.as_bytes().to_vec();
        if !is_whole {
            let at = cut.min(bytes.len());
            bytes.splice(at..at, put);
            bytes.truncate(bytes.len().saturating_sub(cut % 3));
        }
        let printed = said(host, event, WORKERS[worker], &bytes);
        prop_assert!(blocks(&printed), "{host}: {printed:?}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_answer_that_does_not_allow_never_reads_like_one(
        which in 0..HOSTS.len(),
        text in any::<String>(),
        asks in any::<bool>(),
    ) {
        let host = &HOSTS[which];
        let event = host.events[0].0;
        let call = Call {
            host: host.name, event: event.to_owned(), part: Part::Gate, tool: "Bash".to_owned(),
            input: "{}".to_owned(), cwd: None, session: None, run: None, call_id: None, agent: None,
            mode: None, is_attended: None, slot: String::new(), is_pascal: false,
            world: None,
        };
        // Words of an agent must not look like a decision of ours.
        let reason = reason(&text.replace(['"', '\\'], ""), "rule.deny");
        prop_assume!(!["allow", "updated", "modified"].iter().any(|word| text.contains(word)));
        let answer = if asks { Answer::Ask(reason) } else { Answer::Deny(reason) };
        let printed = (host.say)(&call, &answer);
        prop_assert!(blocks(&printed), "{}: {printed:?}", host.name);
        prop_assert!(!printed.stderr.contains('\n') && printed.stdout.lines().count() <= 1);
    }
}

#[test]
fn a_worker_that_hangs_is_given_up() {
    let (host, event, document) = DOCUMENTS[0];
    let directory = std::env::temp_dir().join(format!("pcl-law-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let program = directory.join("hang");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let printed = said(host, event, program.to_str().unwrap(), document.as_bytes());
    assert!(blocks(&printed), "{printed:?}");
    let _ = std::fs::remove_dir_all(directory);
}
