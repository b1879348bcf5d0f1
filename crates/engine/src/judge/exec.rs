//! Shell calls under `[exec]`: how much is open, when a person is asked, and a stricter reading
//! of what only reads.

use super::cover::has_harmless_assignments;
use super::{Bench, Facts};
use crate::act::{Act, ActKind};
use crate::arg::Arg;
use crate::lists;
use crate::pattern::listed::{self, UNKNOWN};
use crate::policy::Exec;
use crate::policy_text::{AskWhen, Listed, Security};
use crate::rule::{Rule, climbs};
use crate::verdict::Outcome;

/// Programs that may only read under `exec.strict`.
const READERS: [&str; 36] = [
    "ag", "basename", "cat", "comm", "cut", "date", "diff", "dirname", "echo", "egrep", "false",
    "fgrep", "file", "grep", "head", "hostname", "jq", "ls", "printf", "pwd", "realpath", "rg",
    "sort", "stat", "tail", "test", "tr", "tree", "true", "uname", "uniq", "wc", "whereis",
    "which", "whoami", "yq",
];

/// Programs whose reading sub-commands may only read.
const SUBCOMMANDS: [&str; 5] = ["docker", "git", "npm", "pip", "pnpm"];

/// Words that ask a program for its version.
const VERSIONS: [&str; 4] = ["--version", "-V", "-v", "version"];

/// The row of the table that holds for an act.
pub(super) struct Row<'a> {
    pub(super) outcome: Outcome,
    pub(super) code: &'static str,
    pub(super) rule: Option<&'a Rule>,
}

impl<'a> Bench<'a> {
    /// The answer of the table to one act.
    pub(super) fn exec_row(&self, exec: &Exec, facts: &Facts) -> Row<'a> {
        let row = |outcome, code| Row { outcome, code, rule: None };
        match (exec.security, exec.ask) {
            (Security::Deny, _) => return row(Outcome::Deny, "exec.deny"),
            (Security::Full, AskWhen::Off | AskWhen::OnMiss) => {
                return row(Outcome::Allow, "exec.full");
            }
            (Security::Full | Security::Allowlist, AskWhen::Always) => {
                return row(Outcome::Ask, "exec.always");
            }
            (Security::Allowlist, AskWhen::Off | AskWhen::OnMiss) => {}
        }
        if facts.is_covered {
            let rule = self.covering(facts);
            return Row { rule, ..row(Outcome::Allow, "exec.allowlist") };
        }
        let is_reading = facts.firm().is_none() && self.reads_strictly(exec, facts);
        match exec.ask {
            AskWhen::Off => row(Outcome::Deny, "exec.miss"),
            AskWhen::OnMiss | AskWhen::Always if is_reading => {
                row(Outcome::Allow, "exec.read_only")
            }
            AskWhen::OnMiss | AskWhen::Always => row(Outcome::Ask, "exec.miss"),
        }
    }

    /// Finds which acts rules or the allowlist cover, from the first to the last: an exact entry
    /// for a command covers what that command runs.
    pub(super) fn settle_cover(&self, acts: &mut [Facts]) {
        let Some(exec) = &self.policy.exec else { return };
        let ends: Vec<usize> = (0..acts.len()).map(|at| runs_until(acts, at)).collect();
        let mut inside = (0, None);
        for (at, facts) in acts.iter_mut().enumerate() {
            facts.listed = self.listed(exec, facts).or_else(|| {
                let (end, entry) = &inside;
                entry.clone().filter(|_| at < *end && self.stays_inside(facts))
            });
            let is_exact = facts.listed.as_ref().is_some_and(|entry| entry.is_exact);
            let end = ends.get(at).copied().unwrap_or_default();
            if is_exact && end > inside.0 {
                inside = (end, facts.listed.clone());
            }
            let is_covered =
                facts.listed.is_some() || moves(facts) || self.covering(facts).is_some();
            facts.is_covered = is_covered && facts.firm().is_none();
        }
    }

    /// The entry of the allowlist that covers an act.
    fn listed(&self, exec: &Exec, facts: &Facts) -> Option<Listed> {
        let act = &facts.act;
        act.program().filter(|_| act.kind == ActKind::Command && self.stays_inside(facts))?;
        let is_harmless = has_harmless_assignments(act);
        let known: Option<Vec<&str>> = act.args.iter().map(Arg::as_written).collect();
        let words = act.args.iter().map(|arg| arg.as_written().unwrap_or(UNKNOWN));
        let text = listed::folded(words);
        let text = text.trim();
        let fits = |entry: &&Listed| {
            let pattern = entry.pattern.trim();
            let fits = if entry.is_exact {
                let is_named = |words: &Vec<&str>| is_harmless || names_assignments(act, words);
                let is_exact = |words: &&Vec<&str>| listed::is_exactly(pattern, words);
                known.as_ref().filter(is_exact).is_some_and(is_named)
            } else {
                is_harmless
                    && !pattern.is_empty()
                    && listed::fits(&listed::folded(pattern.split_whitespace()), text)
                    && !climbs(pattern.split_whitespace(), text.split_whitespace())
            };
            fits && names_extras(entry, act)
        };
        exec.allowlist.iter().find(fits).cloned()
    }

    pub(super) fn reads_strictly(&self, exec: &Exec, facts: &Facts) -> bool {
        let act = &facts.act;
        let reads = facts.is_read_only || exec.is_strict && lists_packages(act);
        if !reads {
            return false;
        }
        if !exec.is_strict {
            return true;
        }
        let Some(program) = act.program().filter(|_| act.kind == ActKind::Command) else {
            return false;
        };
        let is_version = act.args.len() == 2
            && act
                .args
                .iter()
                .skip(1)
                .all(|arg| arg.as_known().is_some_and(|word| VERSIONS.contains(&word)));
        let is_word = |arg: &Arg| arg.as_known().is_some_and(|word| !word.starts_with('-'));
        let has_subcommand = SUBCOMMANDS.contains(&program) && act.args.iter().skip(1).any(is_word);
        let is_known = READERS.contains(&program) || has_subcommand || is_version;
        is_known && !self.has_syntax && act.args.iter().skip(1).all(|arg| !is_path(arg))
    }
}

/// Whether an act is a reading sub-command of pnpm, by which this table goes though the workspace
/// may bring code that pnpm loads.
fn lists_packages(act: &Act) -> bool {
    const OPTIONS: [&str; 12] = [
        "--depth",
        "--json",
        "--parseable",
        "--long",
        "--prod",
        "-P",
        "--dev",
        "-D",
        "--recursive",
        "-r",
        "--global",
        "-g",
    ];
    let is_known = |arg: &Arg| {
        arg.as_known().is_some_and(|word| {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            !word.starts_with('-') || OPTIONS.contains(&name)
        })
    };
    let sub = act.args.get(1).and_then(Arg::as_known);
    act.program() == Some("pnpm")
        && sub.is_some_and(|sub| lists::PNPM_READERS.contains(&sub))
        && act.assignments.is_empty()
        && act.args.iter().skip(2).all(is_known)
}

/// Where what an act runs ends: those that stand behind it and were seen through it.
pub(super) fn runs_until(acts: &[Facts], at: usize) -> usize {
    let Some(outer) = acts.get(at).map(|facts| &facts.act) else { return at };
    let is_inner = |facts: &Facts| {
        let through = facts.act.via.strip_prefix(outer.via.as_slice());
        through.and_then(|through| through.first().copied()) == outer.base_name()
    };
    let begin = outer.inner.end.max(at + 1);
    let more = acts.get(begin..).unwrap_or_default();
    begin + more.iter().take_while(|facts| is_inner(facts)).count()
}

/// Whether every variable that is set for an act stands among its own words, as with `env`.
pub(super) fn names_assignments(act: &Act, words: &[&str]) -> bool {
    act.assignments.iter().all(|assigned| {
        let value = assigned.value.as_deref();
        value.is_some_and(|value| words.contains(&format!("{}={value}", assigned.name).as_str()))
    })
}

/// Whether an act only moves to a directory, which needs no pattern.
fn moves(facts: &Facts) -> bool {
    facts.act.kind == ActKind::Command && facts.act.program() == Some("cd") && facts.is_read_only
}

/// Whether a pattern names what an act does beyond its program's ordinary use.
fn names_extras(entry: &Listed, act: &Act) -> bool {
    entry.is_exact
        || act.extras.iter().all(|place| {
            let word = act.args.get(*place).and_then(Arg::as_known);
            word.is_some_and(|word| entry.pattern.split_whitespace().any(|named| named == word))
        })
}

/// Whether an argument is a file path: it begins like one, climbs, or is not known.
///
/// The shell takes the backslash of `C:\Users` away, so a capital needs no separator behind the colon.
pub(super) fn is_path(arg: &Arg) -> bool {
    let Some(text) = arg.as_written() else { return true };
    let value = text.strip_prefix('-').and_then(|option| option.split_once('='));
    let value = value.map_or(text, |(_, value)| value);
    let mut letters = value.chars();
    let drive = letters.next().filter(char::is_ascii_alphabetic);
    let has_drive = drive.is_some_and(|drive| {
        let is_named = |next| {
            matches!(next, '\\' | '/') || drive.is_ascii_uppercase() && next.is_ascii_alphanumeric()
        };
        letters.next() == Some(':') && letters.next().is_some_and(is_named)
    });
    value.starts_with('/')
        || value.starts_with("./")
        || value.starts_with("../")
        || value.starts_with('~')
        || has_drive
        || value.split('/').any(|part| part == "..")
}
