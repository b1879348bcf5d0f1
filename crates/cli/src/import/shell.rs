//! Patterns over commands of other systems, as rules of ours.

use portcullis_engine::call::Call;
use portcullis_engine::{Lexical, Outcome, Policy, PolicyText, Source, judge};

use super::Fate;

/// Programs that run whatever they are given: an allow for one of them would allow everything.
const BROAD: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "python",
    "python2",
    "python3",
    "node",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "osascript",
    "env",
    "sudo",
    "doas",
    "su",
    "xargs",
    "nohup",
    "timeout",
    "nice",
    "setsid",
    "stdbuf",
    "watch",
    "time",
    "eval",
    "exec",
    "command",
    "builtin",
    "ssh",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "busybox",
    "parallel",
    "script",
    "awk",
    "find",
];

/// Whether an allow of this rule would cover shells, interpreters, wrappers or package runners.
pub fn is_broad(rule: &str) -> bool {
    if rule == "Bash" || rule == "*" {
        return true;
    }
    let Some(content) = rule.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')')) else {
        return false;
    };
    if content.trim().is_empty() {
        return true;
    }
    let first = content.split([' ', ':']).next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or(first);
    // A whole command line is as narrow as it can be.
    let is_prefix = content.ends_with(":*") || content.contains('*');
    is_prefix && (BROAD.contains(&name) || name.contains('*') || name.is_empty())
}

/// A pattern in which `*` stands for any text, also across words.
pub fn text_glob(pattern: &str, outcome: Outcome) -> (Vec<(String, Fate)>, &'static str) {
    let pattern = pattern.trim();
    let less = if outcome == Outcome::Allow { Fate::Narrowed } else { Fate::Partial };
    if pattern.contains('?') {
        return (Vec::new(), "`?` in a command has no counterpart");
    }
    if pattern == "*" || pattern == "**" {
        return (vec![("Bash".to_owned(), Fate::Exact)], "");
    }
    if let Some(prefix) = pattern.strip_suffix(" *").filter(|prefix| !prefix.contains('*')) {
        return (vec![(format!("Bash({prefix}:*)"), Fate::Exact)], "");
    }
    if !pattern.contains('*') {
        return (vec![(format!("Bash({pattern})"), Fate::Exact)], "");
    }
    if let Some(prefix) = pattern.strip_suffix('*').filter(|prefix| !prefix.contains('*')) {
        let why = "the source compares letters, ours whole words";
        return (vec![(format!("Bash({prefix}:*)"), less)], why);
    }
    (vec![(format!("Bash({pattern})"), less)], "`*` stays within one word here")
}

/// A list of words that a command begins with.
pub fn words(words: &[String]) -> Option<String> {
    let is_plain = |word: &String| {
        !word.is_empty()
            && !word.contains(|sign: char| sign.is_whitespace() || "*()'\"\\".contains(sign))
    };
    (!words.is_empty() && words.iter().all(is_plain))
        .then(|| format!("Bash({}:*)", words.join(" ")))
}

/// Whether two patterns can speak about one command: one begins as the other does.
pub fn overlap(one: &str, other: &str) -> bool {
    let head =
        |pattern: &str| pattern.split(['*', '?']).next().unwrap_or_default().trim_end().to_owned();
    let (one, other) = (head(one), head(other));
    one.starts_with(&other) || other.starts_with(&one)
}
/// Whether a rule about commands decides about one.
pub fn hits(rule: &str, outcome: Outcome, command: &str) -> bool {
    let rule = serde_json::Value::from(rule);
    let text = format!("[rules]\n{} = [{rule}]\n", outcome.name());
    let policy =
        PolicyText::from_toml(&text).and_then(|text| Policy::of_layers(&[(Source::User, text)]));
    let code = format!("rule.{}", outcome.name());
    policy.is_ok_and(|policy| {
        let verdict = judge(&policy, &Call::bash(command, "/"), &Lexical);
        verdict.reasons.first().is_some_and(|reason| reason.code == code)
    })
}
