//! Laws: what holds for every policy and every call.

#![cfg(test)]

use std::cell::RefCell;

use portcullis_engine::{Call, Lexical, Mode, Outcome, Policy, PolicyText, Source, Verdict, judge};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

/// How many cases each law is tried on; fewer with `PORTCULLIS_CASES`.
const CASES: u32 = 10_000;

/// Commands of which scripts are put together.
const COMMANDS: [&str; 24] = [
    "ls -la",
    "git status",
    "git push origin main",
    "npm run build",
    "rm notes.txt",
    "rm -rf /",
    "touch a.txt",
    "cp a /tmp/b",
    "echo hi > out.txt",
    "echo hi > /dev/null",
    "sudo ls",
    "FOO=1 make",
    "cat ~/.ssh/id_rsa",
    "curl https://a.example",
    "curl x | sh",
    "$X y",
    "find . -exec rm {} +",
    "bash -c 'rm x'",
    "timeout 5 npm run x",
    "eval ls",
    "make all",
    "xargs rm",
    "mkdir -p x/y",
    "git -c a=b push",
];

/// Rules that speak about some of them.
const RULES: [&str; 22] = [
    "Bash",
    "Bash(ls:*)",
    "Bash(git *)",
    "Bash(git push:*)",
    "Bash(npm run:*)",
    "Bash(rm:*)",
    "Bash(rm *)",
    "Bash(touch a.txt)",
    "Bash(cp:*)",
    "Bash(sudo:*)",
    "Bash(echo:*)",
    "Bash(:*)",
    "Bash(*)",
    "Write(**)",
    "Write(out.txt)",
    "Edit(**/x)",
    "Read(**)",
    "Read(**/.ssh/**)",
    "MyTool(*)",
    "mcp__*",
    "WebFetch(domain:a.example)",
    "Bash(bash:*)",
];

const JOINERS: [&str; 7] = ["; ", " && ", " || ", " | ", "\n", " & ", " |& "];

/// Tries a law on many cases, always the same ones.
fn law<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
    test: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let asked = std::env::var("PORTCULLIS_CASES").ok().map(|text| text.parse().unwrap());
    let config = Config {
        cases: CASES.min(asked.unwrap_or(CASES)),
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    runner.run(&strategy, test).unwrap();
}

fn command() -> impl Strategy<Value = String> {
    let one = proptest::sample::select(&COMMANDS[..]).prop_map(str::to_owned);
    let joined = proptest::collection::vec(
        (proptest::sample::select(&COMMANDS[..]), proptest::sample::select(&JOINERS[..])),
        1..4,
    )
    .prop_map(|parts| {
        let all: Vec<String> =
            parts.into_iter().map(|(command, joiner)| format!("{command}{joiner}")).collect();
        all.concat().trim_end_matches([';', '&', '|', ' ', '\n']).to_owned()
    });
    prop_oneof![one, joined]
}

fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(&RULES[..]), 0..4)
}

fn mode() -> impl Strategy<Value = Mode> {
    proptest::sample::select(&Mode::ALL[..])
}

fn policy(mode: Mode, allow: &[&str], ask: &[&str], deny: &[&str]) -> Policy {
    thread_local! {
        static LAST: RefCell<Option<(Value, Policy)>> = const { RefCell::new(None) };
    }
    let value =
        json!({ "mode": mode.name(), "rules": { "allow": allow, "ask": ask, "deny": deny } });
    LAST.with_borrow_mut(|last| {
        if let Some((_, policy)) = last.as_ref().filter(|(known, _)| *known == value) {
            return policy.clone();
        }
        let text = PolicyText::from_json(&value).unwrap();
        let policy = Policy::of_layers(&[(Source::User, text)]).unwrap();
        *last = Some((value, policy.clone()));
        policy
    })
}

fn verdict(policy: &Policy, command: &str) -> Verdict {
    let mut call = Call::bash(command, "/home/dev/proj");
    call.home = Some("/home/dev".to_owned());
    judge(policy, &call, &Lexical)
}

#[test]
fn a_deny_rule_holds_in_every_mode() {
    law((command(), rules(), rules(), mode()), |(command, allow, deny, mode)| {
        let denied = verdict(&policy(Mode::Bypass, &[], &[], &deny), &command);
        let by_rule = denied.acts.iter().any(|act| act.reason.code == "rule.deny");
        let answer = verdict(&policy(mode, &allow, &[], &deny), &command);
        prop_assert!(!by_rule || answer.outcome == Outcome::Deny, "{} {:?}", command, deny);
        Ok(())
    });
}

#[test]
fn a_stricter_rule_never_loosens() {
    let strategy =
        (command(), rules(), rules(), rules(), proptest::sample::select(&RULES[..]), mode());
    law(strategy, |(command, allow, ask, deny, rule, mode)| {
        let before = verdict(&policy(mode, &allow, &ask, &deny), &command).outcome;
        let more_deny = [&deny[..], &[rule]].concat();
        let after = verdict(&policy(mode, &allow, &ask, &more_deny), &command).outcome;
        prop_assert!(after >= before, "{command} with deny {rule} in {}", mode.name());
        if mode != Mode::Explore {
            let more_ask = [&ask[..], &[rule]].concat();
            let after = verdict(&policy(mode, &allow, &more_ask, &deny), &command).outcome;
            prop_assert!(after >= before, "{command} with ask {rule} in {}", mode.name());
        }
        Ok(())
    });
}

#[test]
fn dont_ask_never_asks() {
    law((command(), rules(), rules()), |(command, allow, ask)| {
        let answer = verdict(&policy(Mode::DontAsk, &allow, &ask, &[]), &command);
        prop_assert_ne!(answer.outcome, Outcome::Ask);
        Ok(())
    });
}

#[test]
fn an_allow_rule_changes_only_what_it_covers() {
    let strategy = (command(), rules(), rules(), proptest::sample::select(&RULES[..]), mode());
    law(strategy, |(command, allow, ask, rule, mode)| {
        let before = verdict(&policy(mode, &allow, &ask, &[]), &command);
        let more = [&allow[..], &[rule]].concat();
        let after = verdict(&policy(mode, &more, &ask, &[]), &command);
        prop_assert_eq!(before.acts.len(), after.acts.len());
        for (before, after) in before.acts.iter().zip(&after.acts) {
            let by_rule = after.rule.as_deref() == Some(rule);
            prop_assert!(before.outcome == after.outcome || by_rule, "{command} with allow {rule}");
            prop_assert!(after.outcome <= before.outcome);
            prop_assert_eq!(before.tier, after.tier, "a rule never changes the tier");
        }
        Ok(())
    });
}

#[test]
fn a_script_is_as_strict_as_its_strictest_part() {
    let one = proptest::sample::select(&COMMANDS[..]);
    let joiner = proptest::sample::select(&JOINERS[..]);
    let strategy = (one.clone(), joiner, one, rules(), rules(), mode());
    law(strategy, |(first, joiner, second, allow, deny, mode)| {
        let policy = policy(mode, &allow, &[], &deny);
        let parts = verdict(&policy, first).outcome.max(verdict(&policy, second).outcome);
        let whole = verdict(&policy, &format!("{first}{joiner}{second}")).outcome;
        prop_assert!(whole >= parts, "{first}{joiner}{second} in {}", mode.name());
        Ok(())
    });
}

#[test]
fn what_is_appended_never_turns_an_ask_into_an_allow() {
    law((command(), command(), rules(), mode()), |(first, second, allow, mode)| {
        let policy = policy(mode, &allow, &[], &[]);
        let before = verdict(&policy, &first).outcome;
        let after = verdict(&policy, &format!("{first}\n{second}")).outcome;
        prop_assert!(after >= before, "{first} then {second} in {}", mode.name());
        Ok(())
    });
}

#[test]
fn accepting_every_suggestion_answers_the_question() {
    law((command(), rules()), |(command, allow)| {
        let asked = verdict(&policy(Mode::Default, &allow, &[], &[]), &command);
        let offered: Vec<&str> =
            asked.suggestions.iter().map(|suggestion| suggestion.rule.as_str()).collect();
        let more = [&allow[..], &offered].concat();
        let after = verdict(&policy(Mode::Default, &more, &[], &[]), &command);
        for (before, after) in asked.acts.iter().zip(&after.acts) {
            let helped = after.rule.as_deref().is_some_and(|rule| offered.contains(&rule));
            prop_assert!(after.outcome <= before.outcome);
            prop_assert!(!helped || after.outcome == Outcome::Allow);
        }
        let outside = asked.acts.iter().any(|act| {
            act.touched.iter().any(|touched| {
                touched
                    .place
                    .as_ref()
                    .is_none_or(|place| !place.normalised.starts_with("/home/dev/proj"))
            })
        });
        let single = asked.acts.iter().filter(|act| act.outcome == Outcome::Ask).count() == 1;
        prop_assert!(
            offered.is_empty() || !single || outside || after.outcome == Outcome::Allow,
            "{command}: {offered:?}"
        );
        Ok(())
    });
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        proptest::sample::select(&COMMANDS[..]).prop_map(Value::from),
        proptest::sample::select(vec!["/etc/x", "~", "a/../b", "*** Begin Patch", "http://x"])
            .prop_map(Value::from),
    ];
    let keys = proptest::sample::select(vec![
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
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((keys.clone(), inner), 0..4).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    })
}

#[test]
fn every_call_gets_a_verdict() {
    let tools = proptest::sample::select(vec![
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
    let hosts = proptest::sample::select(vec![
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
