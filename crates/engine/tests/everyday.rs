//! Everyday work: the lists in `tests/everyday/*.txt` hold command lines that only look. Each is
//! allowed, or stands in `asked.toml` with the reason why it asks.
//!
//! A line is one command; `⏎` stands for a line break, a line that begins with `# ` is a remark.
//! After a change run with `PORTCULLIS_ACCEPT=1`, which writes `docs/security/everyday.md` anew.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_engine::world::WorldKind;
use portcullis_engine::{Call, Lexical, Outcome, Policy, PolicyText, Source, World, judge};
use serde_json::json;
use toml::{Table, Value};

/// Of a thousand lines that only look, so many may ask.
const FALSE_ASKS: usize = 20;

/// One reason for which lines ask.
struct Group {
    reason: String,
    /// Whether the question is due: the line runs something, leaves the machine or shows a secret.
    is_due: bool,
    commands: Vec<String>,
}

/// A disk with one workspace, whose names are ordinary.
struct Desk;

impl World for Desk {
    fn kind(&self) -> WorldKind {
        WorldKind::Recorded
    }

    fn resolve(&self, path: &str) -> Option<String> {
        Lexical.resolve(path)
    }

    fn is_shared(&self, _path: &str) -> bool {
        false
    }

    fn folds_case(&self, _path: &str) -> bool {
        false
    }

    fn names(&self, directory: &str) -> Option<Arc<[String]>> {
        let names = ["Cargo.toml", "README.md", "a.txt", "package.json", "scripts", "src", "tests"];
        let is_here = directory == "/home/dev/proj";
        is_here.then(|| names.iter().map(|name| (*name).to_owned()).collect())
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/everyday")
}

fn lists() -> BTreeMap<String, Vec<String>> {
    let mut lists = BTreeMap::new();
    for entry in fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "txt") {
            let text = fs::read_to_string(&path).unwrap();
            let is_command = |line: &&str| !line.is_empty() && !line.starts_with("# ");
            let lines = text.lines().filter(is_command).map(|line| line.replace('⏎', "\n"));
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            lists.insert(name, lines.collect());
        }
    }
    lists
}

fn groups() -> Vec<Group> {
    let text = fs::read_to_string(directory().join("asked.toml")).unwrap();
    let table: Table = text.parse().unwrap();
    let group = |value: &Value| Group {
        reason: value["reason"].as_str().unwrap().to_owned(),
        is_due: value["due"].as_bool().unwrap(),
        commands: value["commands"]
            .as_array()
            .unwrap()
            .iter()
            .map(|command| command.as_str().unwrap().replace('⏎', "\n"))
            .collect(),
    };
    table["group"].as_array().unwrap().iter().map(group).collect()
}

/// The lines that ask, with the first reason of each.
fn asked(lists: &BTreeMap<String, Vec<String>>) -> BTreeMap<String, String> {
    let text = PolicyText::from_json(&json!({})).unwrap();
    let policy = Policy::of_layers(&[(Source::User, text)]).unwrap();
    let mut asked = BTreeMap::new();
    for command in lists.values().flatten() {
        let mut call = Call::bash(command, "/home/dev/proj");
        call.home = Some("/home/dev".to_owned());
        let verdict = judge(&policy, &call, &Desk);
        if verdict.outcome != Outcome::Allow || !verdict.is_read_only {
            let reason = verdict.reasons.first();
            let told = reason.map(|reason| format!("{}: {}", reason.code, reason.message));
            asked.insert(command.clone(), told.unwrap_or_default());
        }
    }
    asked
}

#[test]
fn what_asks_stands_in_the_list_with_its_reason() {
    let lists = lists();
    let asked = asked(&lists);
    let mut known = BTreeSet::new();
    for command in groups().iter().flat_map(|group| &group.commands) {
        assert!(known.insert(command.clone()), "{command:?} stands in `asked.toml` twice");
    }
    let new = asked.iter().filter(|(command, _)| !known.contains(*command));
    let new: Vec<String> = new.map(|(command, why)| format!("{command:?}  {why}")).collect();
    assert!(new.is_empty(), "{} lines ask\n{}", new.len(), new.join("\n"));
    let gone: Vec<&String> = known.iter().filter(|known| !asked.contains_key(*known)).collect();
    assert!(gone.is_empty(), "{gone:?} no longer ask, or are in no list");
}

#[test]
fn everyday_work_seldom_asks() {
    let lists = lists();
    let all: BTreeSet<&String> = lists.values().flatten().collect();
    assert_eq!(all.len(), lists.values().map(Vec::len).sum::<usize>(), "a line stands twice");
    let count = |is_due: bool| -> usize {
        groups()
            .iter()
            .filter(|group| group.is_due == is_due)
            .map(|group| group.commands.len())
            .sum()
    };
    let looking = all.len() - count(true);
    assert!(looking >= 2000, "only {looking} lines are left");
    assert!(
        count(false) * 1000 <= looking * FALSE_ASKS,
        "{} of {looking} lines ask without need",
        count(false)
    );
}

#[test]
fn the_page_tells_what_asks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security/everyday.md");
    let page = page(&lists(), &groups());
    if std::env::var_os("PORTCULLIS_ACCEPT").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &page).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(known, page, "run with PORTCULLIS_ACCEPT=1 to write the page anew");
}

fn page(lists: &BTreeMap<String, Vec<String>>, groups: &[Group]) -> String {
    let all: usize = lists.values().map(Vec::len).sum();
    let count = |is_due: bool| -> usize {
        groups.iter().filter(|group| group.is_due == is_due).map(|group| group.commands.len()).sum()
    };
    let looking = all - count(true);
    let share = count(false) * 10_000 / looking;
    let mut out = String::from(
        "# Everyday work\n\n\
         Written by `cargo nextest run -p portcullis-engine everyday` with `PORTCULLIS_ACCEPT=1`; \
         the lists are in `crates/engine/tests/everyday`.\n\n",
    );
    let _ = writeln!(
        out,
        "{all} command lines as agents write them, in a workspace whose names are known.\n{} of them run code, leave the machine or show a secret, and ask for it.\n\
         Of the other {looking}, {} ask all the same: {}.{:02} %.\n",
        count(true),
        count(false),
        share / 100,
        share % 100
    );
    out.push_str("| List | Lines |\n| --- | --- |\n");
    for (name, lines) in lists {
        let _ = writeln!(out, "| {name} | {} |", lines.len());
    }
    out.push_str(&rounds());
    for (title, is_due) in
        [("Asks that are due", true), ("Asks that nobody needs, and why they stay", false)]
    {
        let _ = write!(out, "\n## {title}\n\n| Why | Lines | Such as |\n| --- | --- | --- |\n");
        for group in groups.iter().filter(|group| group.is_due == is_due) {
            let shown = group.commands.iter().filter(|command| !command.contains('\n'));
            let shown: Vec<String> = shown
                .take(3)
                .map(|command| format!("`` {} ``", command.replace('|', "\\|")))
                .collect();
            let (reason, len) = (&group.reason, group.commands.len());
            let _ = writeln!(out, "| {reason} | {len} | {} |", shown.join(", "));
        }
    }
    out
}

/// How many lines asked that nobody had judged before, when they were written and afterwards.
fn rounds() -> String {
    let text = fs::read_to_string(directory().join("rounds.toml")).unwrap();
    let table: Table = text.parse().unwrap();
    let mut out = String::from(
        "\n## Lines that were new\n\n\
         What asked without need when the lines were first judged is what to expect of unseen ones.\n\n\
         | Lines | Due | Without need, at first | Without need, now |\n| --- | --- | --- | --- |\n",
    );
    for round in table["round"].as_array().unwrap() {
        let count = |key: &str| round[key].as_integer().unwrap();
        let (lines, due) = (count("lines"), count("due"));
        let share = |asked: i64| {
            let share = asked * 10_000 / (lines - due);
            format!("{asked} ({}.{:02} %)", share / 100, share % 100)
        };
        let (first, now) = (share(count("first")), share(count("now")));
        let what = round["what"].as_str().unwrap();
        let _ = writeln!(out, "| {lines}: {what} | {due} | {first} | {now} |");
    }
    out
}
