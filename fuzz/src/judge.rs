//! Every call gets a verdict under every policy, and the laws of verdicts hold for it.
//!
//! The first byte of an input says how to read the rest: two bits for the shell, one for a call
//! that is written as JSON, five for the policy and the mode. Seeds begin with `0`: bash, a command.

use std::sync::OnceLock;

use portcullis_engine::call::Shell;
use portcullis_engine::{Call, Lexical, Mode, Outcome, Policy, PolicyText, Source, Verdict, judge};
use portcullis_shell::Dialect;
use serde_json::{Value, json};

/// Policies of several kinds; the same again with one deny rule more.
const POLICIES: [&str; 6] = [
    "{}",
    r#"{"rules":{"allow":["Bash(git:*)","Bash(npm run:*)","Bash(cat *)","Read(**)"],"ask":["Bash(git push:*)"]}}"#,
    r#"{"sensitive_reads":"allow","network_reads":"allow","destructive":"deny"}"#,
    r#"{"exec":{"security":"allowlist","ask":"on-miss","allowlist":["git **"]}}"#,
    r#"{"paths":{"forbidden":["**/.env*"],"jail":true},"hopeless":"deny"}"#,
    r#"{"rules":{"allow":["Bash"]}}"#,
];

/// Every policy in every mode, each beside the same with one deny rule more.
fn policies() -> &'static [(Policy, Policy)] {
    static ALL: OnceLock<Vec<(Policy, Policy)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let pairs = POLICIES.iter().map(|text| pair(text));
        let in_mode = |(policy, stricter): (Policy, Policy)| {
            MODES.map(|mode| (policy.clone().with_mode(mode), stricter.clone().with_mode(mode)))
        };
        pairs.flat_map(in_mode).collect()
    })
}

/// A policy, and the same with one deny rule more.
fn pair(text: &str) -> (Policy, Policy) {
    let value: Value = serde_json::from_str(text).expect("a policy is JSON");
    let mut stricter = value.clone();
    let rules = &mut stricter["rules"];
    if rules.is_null() {
        *rules = json!({});
    }
    rules["deny"] = json!(["Bash(rm:*)", "Read(secret/**)", "Write(secret/**)"]);
    let policy = |value: &Value| {
        let text = PolicyText::from_json(value).expect("the policy is understood");
        Policy::of_layers(&[(Source::User, text)]).expect("the policy holds together")
    };
    (policy(&value), policy(&stricter))
}

const MODES: [Mode; 5] =
    [Mode::Default, Mode::AcceptEdits, Mode::Explore, Mode::Bypass, Mode::DontAsk];

/// Judges one input twice, the second time with one deny rule more.
///
/// # Panics
/// If a law of verdicts does not hold for it.
pub fn try_input(data: &[u8]) {
    let (&how, text) = data.split_first().unwrap_or((&b'0', &[]));
    let dialect = match how & 0b11 {
        1 => Dialect::Sh,
        2 => Dialect::Zsh,
        _ => Dialect::Bash,
    };
    let text = String::from_utf8_lossy(text);
    let mut call = (how & 0b100 != 0)
        .then(|| written(&text))
        .flatten()
        .unwrap_or_else(|| Call::new("Bash", json!({ "command": text }), "/home/dev/proj"));
    call.home = Some("/home/dev".to_owned());
    call.shell = Some(Shell::Known(dialect));
    let chosen = usize::from(how >> 3) % (POLICIES.len() * MODES.len());
    let (policy, stricter) = &policies()[chosen];
    let mode = MODES[chosen % MODES.len()];
    let verdict = judge(policy, &call, &Lexical);
    let denied = judge(stricter, &call, &Lexical);
    check(&verdict, mode, text.len());
    check(&denied, mode, text.len());
    assert!(denied.outcome >= verdict.outcome, "a deny rule loosens in {mode:?}");
    if chosen < MODES.len() && matches!(mode, Mode::Default | Mode::Explore) {
        let is_allowed = verdict.outcome == Outcome::Allow;
        assert!(!is_allowed || verdict.is_read_only, "allowed and not read-only in {mode:?}");
    }
}

/// A call of any tool, as a host would write it.
fn written(text: &str) -> Option<Call> {
    let value: Value = serde_json::from_str(text).ok()?;
    let tool = value.get("tool").and_then(Value::as_str).unwrap_or("Edit");
    let input = value.get("input").unwrap_or(&value);
    Some(Call::new(tool, input.clone(), "/home/dev/proj"))
}

/// What holds for every verdict.
fn check(verdict: &Verdict, mode: Mode, len: usize) {
    assert!(!verdict.reasons.is_empty(), "no reason is given");
    if mode == Mode::DontAsk {
        assert!(verdict.outcome != Outcome::Ask, "dont-ask asks");
    }
    assert!(!verdict.is_firm || verdict.outcome == Outcome::Ask, "firm and no ask");
    assert!(verdict.suggestions.len() <= 5, "more than five suggestions");
    for act in &verdict.acts {
        assert!(act.act.span.end as usize <= len, "an act beyond the text");
    }
}
