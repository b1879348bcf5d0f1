//! Every call of every tool gets one verdict, the same one each time.

use portcullis_engine::{Call, Lexical, Mode, Outcome, judge};
use portcullis_law::law;
use proptest::collection;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use crate::samples::{COMMANDS, command, mode, policy, rules, verdict};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        select(&COMMANDS[..]).prop_map(Value::from),
        select(vec!["/etc/x", "~", "a/../b", "*** Begin Patch", "http://x"]).prop_map(Value::from),
    ];
    let keys = select(vec![
        "command",
        "file_path",
        "path",
        "paths",
        "url",
        "pattern",
        "cwd",
        "input",
        "patch",
        "query",
        "prompt",
        "a",
    ]);
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((keys.clone(), inner), 0..4).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    })
}

#[test]
fn every_call_gets_a_verdict() {
    let tools = select(vec![
        "Bash",
        "Read",
        "Write",
        "Glob",
        "Grep",
        "WebFetch",
        "apply_patch",
        "shell",
        "read_file",
        "mcp__a__b",
        "mcp_a_b",
        "MyTool",
        "Agent",
        "PowerShell",
        "",
        "*",
        "exec",
    ]);
    let hosts = select(vec![
        None,
        Some("codex"),
        Some("gemini"),
        Some("agentbot"),
        Some("copilot"),
        Some("nobody"),
    ]);
    let strategy = (tools, hosts, any_json(), rules(), rules(), mode(), ".{0,8}");
    law(strategy, |(tool, host, input, allow, deny, mode, cwd)| {
        let mut call = Call::new(tool, input, &cwd);
        call.host = host.map(str::to_owned);
        let answer = judge(&policy(mode, &allow, &[], &deny), &call, &Lexical);
        prop_assert!(mode != Mode::DontAsk || answer.outcome != Outcome::Ask);
        prop_assert!(!answer.acts.is_empty() && !answer.reasons.is_empty());
        let strictest = answer.acts.iter().map(|act| act.outcome).max();
        prop_assert_eq!(strictest, Some(answer.outcome));
        Ok(())
    });
}

#[test]
fn the_same_call_gets_the_same_verdict() {
    law((command(), rules(), rules(), mode()), |(command, allow, ask, mode)| {
        let one = verdict(&policy(mode, &allow, &ask, &[]), &command);
        let other = verdict(&policy(mode, &allow, &ask, &[]).clone(), &command);
        prop_assert_eq!(format!("{one:?}"), format!("{other:?}"));
        Ok(())
    });
}

#[test]
fn modes_are_as_strict_as_they_say() {
    law((command(), rules(), rules()), |(command, allow, deny)| {
        let answer = |mode| verdict(&policy(mode, &allow, &[], &deny), &command);
        let in_default = answer(Mode::Default);
        prop_assert!(in_default.outcome >= answer(Mode::AcceptEdits).outcome);
        prop_assert!(answer(Mode::AcceptEdits).outcome >= answer(Mode::Bypass).outcome);
        let in_explore = answer(Mode::Explore).outcome;
        prop_assert!(in_default.is_read_only || in_explore >= in_default.outcome, "{command}");
        prop_assert_ne!(answer(Mode::DontAsk).outcome, Outcome::Ask);
        Ok(())
    });
}
