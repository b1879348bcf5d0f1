//! What the threat model asks of the engine beyond single cases: tables and laws that go through
//! every form of one evasion. `docs/threat-model.md` says which requirement each proves.

#![cfg(test)]

#[path = "threats/around.rs"]
mod around;
#[path = "threats/limits.rs"]
mod limits;
#[path = "threats/redirections.rs"]
mod redirections;
#[path = "threats/signs.rs"]
mod signs;

use portcullis_engine::{Call, Lexical, Mode, Policy, PolicyText, Source, Verdict, judge};
use serde_json::{Value, json};

/// A policy with these rules.
fn policy(mode: Mode, rules: &Value) -> Policy {
    let text = PolicyText::from_json(&json!({ "mode": mode.name(), "rules": rules })).unwrap();
    Policy::of_layers(&[(Source::User, text)]).unwrap()
}

fn verdict(policy: &Policy, command: &str) -> Verdict {
    let mut call = Call::bash(command, "/home/dev/proj");
    call.home = Some("/home/dev".to_owned());
    judge(policy, &call, &Lexical)
}

/// The beginning of a text, for a message about a long one.
fn beginning(text: &str) -> String {
    text.chars().take(80).collect()
}
