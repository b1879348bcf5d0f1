//! Lint: rules that can never match, are shadowed, or are wider than they look.

mod shadow;

use std::collections::HashSet;

use super::Warning;
use crate::catalog;
use crate::pattern::path::{PathGlob, Reach};
use crate::pattern::words::{PatternWord, WordPattern};
use crate::rule::{Rule, split};
use crate::tool::{Family, Spec, families};
use crate::verdict::Outcome;

/// Programs that are known for their arguments: a plain rule about one misses most of its uses.
const BY_ARGUMENTS: [&str; 14] = [
    "chmod",
    "chown",
    "curl",
    "dd",
    "docker",
    "git",
    "kill",
    "kubectl",
    "mv",
    "npm",
    "rm",
    "ssh",
    "terraform",
    "wget",
];

/// Programs that run what their arguments say: allowing them allows everything.
const RUNNERS: [&str; 22] = [
    "bash", "bunx", "doas", "env", "eval", "exec", "find", "node", "npx", "perl", "php", "python",
    "python3", "ruby", "sh", "ssh", "sudo", "time", "timeout", "uvx", "xargs", "zsh",
];

/// What should be said about rules.
pub(super) fn lint(rules: &[&Rule], tools: &[Spec]) -> Vec<Warning> {
    let shadows = shadow::Shadows::of(rules, tools);
    let mut seen: HashSet<(String, Outcome)> = HashSet::new();
    let mut warnings = Vec::new();
    for rule in rules {
        let Ok((names, content)) = split(&rule.text) else { continue };
        let mut say = |code: &'static str, message: String| {
            let (source, layer, span) = (rule.source, rule.layer, rule.span.clone());
            warnings.push(Warning { code, message, source, layer, span });
        };
        let is_new = seen.insert((rule.text.split_whitespace().collect(), rule.outcome));
        if !is_new {
            say("twice", format!("rule `{}` stands there twice", rule.text));
            continue;
        }
        for name in names.split('|').map(str::trim) {
            if let Some(wider) = shadows.over(name, rule, content, tools) {
                say(
                    "shadowed",
                    format!("rule `{}` never counts: `{wider}` decides first", rule.text),
                );
            }
            let Some(content) = content.filter(|content| !content.trim().is_empty()) else {
                continue;
            };
            for family in families(name, tools) {
                if let Some((code, message)) = by_family(family, rule, content) {
                    say(code, message);
                }
            }
        }
    }
    warnings
}

fn by_family(family: Family, rule: &Rule, content: &str) -> Option<(&'static str, String)> {
    let text = &*rule.text;
    match family {
        Family::Words => by_words(rule, &WordPattern::parse(content)),
        Family::Paths => {
            let reach =
                if rule.outcome == Outcome::Allow { Reach::Root } else { Reach::Everywhere };
            if PathGlob::parse(content, reach).is_none() {
                return Some(("never", format!("rule `{text}` matches no path")));
            }
            let ends_in_slash = content.len() > 1 && content.ends_with('/');
            if ends_in_slash {
                let better = content.trim_end_matches('/');
                let message = format!(
                    "rule `{text}` means the directory itself; `{better}/**` is what lies below"
                );
                return Some(("narrow", message));
            }
            let is_floating = !content.contains('/') && !content.starts_with('~');
            let is_file = is_floating && content != "**" && rule.outcome != Outcome::Allow;
            is_file.then(|| {
                let message = format!(
                    "rule `{text}` means the workspace root only; `**/{content}` is any depth"
                );
                ("narrow", message)
            })
        }
        Family::Whole => {
            let message =
                format!("rule `{text}` never matches: this tool has rules without content only");
            Some(("never", message))
        }
        Family::Inputs => None,
    }
}

fn by_words(rule: &Rule, pattern: &WordPattern) -> Option<(&'static str, String)> {
    let text = &*rule.text;
    let is_allow = rule.outcome == Outcome::Allow;
    match pattern {
        WordPattern::Nothing => {
            Some(("never", format!("rule `{text}` matches nothing: its prefix is empty")))
        }
        WordPattern::Prefix(words) if is_allow => {
            let first = words.first().map_or("", String::as_str);
            let is_runner = RUNNERS.contains(&first) && words.len() == 1;
            is_runner.then(|| {
                ("wide", format!("rule `{text}` allows whatever `{first}` is told to run"))
            })
        }
        WordPattern::Plain(words) if !is_allow => {
            let first = words.first().map_or("", String::as_str);
            let is_known = BY_ARGUMENTS.contains(&first) && catalog::find(first).is_some();
            is_known.then(|| {
                let content = words.join(" ");
                let message = format!(
                    "rule `{text}` means exactly `{content}`; `{content}:*` is every use of it"
                );
                ("narrow", message)
            })
        }
        WordPattern::Glob(words) if is_allow => {
            let is_wide = matches!(words.first(), Some(PatternWord::Star | PatternWord::Fits(_)));
            is_wide.then(|| ("wide", format!("rule `{text}` allows programs it does not name")))
        }
        WordPattern::Prefix(_) | WordPattern::Plain(_) | WordPattern::Glob(_) => None,
    }
}
