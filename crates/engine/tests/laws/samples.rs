//! Samples: commands, rules, modes and policies that laws are tried on.

use std::cell::RefCell;
use std::sync::OnceLock;

use portcullis_engine::{Call, Lexical, Mode, Policy, PolicyText, Source, Verdict, catalog, judge};
use proptest::collection;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Commands of which scripts are put together.
pub const COMMANDS: [&str; 24] = [
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
pub const RULES: [&str; 22] = [
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

/// What stands between two commands.
pub const JOINERS: [&str; 7] = ["; ", " && ", " || ", " | ", "\n", " & ", " |& "];

/// One command: one of the few, or an example of a program of the catalog.
pub fn one() -> impl Strategy<Value = &'static str> {
    prop_oneof![1 => select(&COMMANDS[..]), 1 => select(examples())]
}

/// The examples of all programs, those that only read and those that do more; none that goes over
/// a line or ends with a sign of its own, for that is a script already.
fn examples() -> &'static [&'static str] {
    static ALL: OnceLock<Vec<&'static str>> = OnceLock::new();
    ALL.get_or_init(|| {
        let programs = catalog::programs().iter();
        let texts = programs.flat_map(|program| program.read_only().chain(program.not_read_only()));
        texts.filter(|text| !text.contains('\n') && !text.ends_with([';', '&'])).collect()
    })
}

/// A command, or up to three of them in a row.
pub fn command() -> impl Strategy<Value = String> {
    let joined = collection::vec((one(), select(&JOINERS[..])), 1..4).prop_map(|parts| {
        let all: Vec<String> =
            parts.into_iter().map(|(command, joiner)| format!("{command}{joiner}")).collect();
        all.concat().trim_end_matches([';', '&', '|', ' ', '\n']).to_owned()
    });
    prop_oneof![one().prop_map(str::to_owned), joined]
}

/// At most three rules.
pub fn rules() -> impl Strategy<Value = Vec<&'static str>> {
    collection::vec(select(&RULES[..]), 0..4)
}

/// Any mode.
pub fn mode() -> impl Strategy<Value = Mode> {
    select(&Mode::ALL[..])
}

/// A policy of these rules; the last one is kept, for a law asks several questions of it.
pub fn policy(mode: Mode, allow: &[&str], ask: &[&str], deny: &[&str]) -> Policy {
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

/// What is said of a command in the workspace.
pub fn verdict(policy: &Policy, command: &str) -> Verdict {
    let mut call = Call::bash(command, "/home/dev/proj");
    call.home = Some("/home/dev".to_owned());
    judge(policy, &call, &Lexical)
}
