//! Variations: other commands made from those that are known to be read-only.
//!
//! A variation is a guess. Whether it only reads is for the engine to say, and only what it calls
//! read-only is run.

use portcullis_engine::Verdict;
use portcullis_engine::act::ActKind;
use portcullis_engine::catalog::{self, Arity, Entry, OptionSpec, Style};

use super::values;
use crate::chance::Chance;

/// Stands for a word that is not known before the command runs.
const UNKNOWN: &str = "UNKNOWN";

/// A command to begin with.
#[derive(Clone, Debug)]
pub struct Seed {
    /// The command.
    pub text: String,
    /// Its words, where it is one simple command whose words are all known.
    pub words: Option<Vec<String>>,
}

impl Seed {
    /// The command with what the engine knows of its words.
    pub fn new(text: &str, verdict: &Verdict) -> Seed {
        let words = match verdict.acts.as_slice() {
            [judged] if judged.act.kind == ActKind::Command && judged.act.via.is_empty() => {
                let act = &judged.act;
                let words = act.args.iter().map(|arg| arg.as_known().map(str::to_owned));
                words.collect::<Option<Vec<_>>>().filter(|_| act.assignments.is_empty())
            }
            _ => None,
        };
        Seed { text: text.to_owned(), words }
    }
}

/// A command made from the seeds.
pub fn vary(seeds: &[Seed], chance: &mut Chance) -> String {
    match chance.below(10) {
        0..6 => simple(seeds, chance),
        6 => wrapped(&simple(seeds, chance), chance),
        7 => wrapped(&any(seeds, chance), chance),
        _ => {
            let (one, other) = (simple(seeds, chance), any(seeds, chance));
            combined(&one, &other, chance)
        }
    }
}

fn any(seeds: &[Seed], chance: &mut Chance) -> String {
    seeds.get(chance.below(seeds.len())).map_or_else(String::new, |seed| seed.text.clone())
}

/// One simple command with other options and operands.
fn simple(seeds: &[Seed], chance: &mut Chance) -> String {
    if chance.once_in(25) {
        return values::search(chance);
    }
    for _ in 0..8 {
        let Some(seed) = seeds.get(chance.below(seeds.len())) else { break };
        let Some(words) = &seed.words else { continue };
        let Some(program) = words.first().and_then(|name| catalog::find(name)) else { continue };
        return changed(words, program.entry, chance);
    }
    any(seeds, chance)
}

fn changed(words: &[String], entry: &'static Entry, chance: &mut Chance) -> String {
    let mut words = words.to_vec();
    // Sub-commands stay where they are; what follows them may change.
    let (mut entry, mut kept) = (entry, 1);
    while let Some(sub) = words.get(kept).and_then(|word| entry.sub(word)) {
        entry = sub.entry;
        kept += 1;
    }
    for _ in 0..chance.between(1, 3) {
        match chance.below(9) {
            8 => {
                let place = chance.between(kept.min(words.len()), words.len());
                match words.get_mut(place) {
                    Some(word) if chance.once_in(2) => UNKNOWN.clone_into(word),
                    _ => words.insert(place, UNKNOWN.to_owned()),
                }
            }
            0 if words.len() > kept => {
                words.remove(chance.between(kept, words.len() - 1));
            }
            1 if words.len() > kept => {
                if let Some(tail) = words.get_mut(kept..) {
                    chance.shuffle(tail);
                }
            }
            2 => {
                let role = entry.operands.get(chance.below(entry.operands.len()));
                let kind = role.map_or(catalog::ValueKind::Read, |role| role.kind);
                let operand = values::value(kind, chance);
                let is_new = chance.once_in(2) || words.len() <= kept;
                let place = chance.between(kept, words.len() - usize::from(!is_new));
                match words.get_mut(place) {
                    Some(word) if !is_new => *word = operand,
                    _ => words.insert(place, operand),
                }
            }
            _ => {
                // Of an option that could do harm some spelling or value may be taken for harmless.
                let risky: Vec<_> = entry.options.iter().filter(|one| one.is_dangerous()).collect();
                let risky = risky.get(chance.below(risky.len())).copied();
                let any = entry.options.get(chance.below(entry.options.len()));
                let Some(option) = risky.filter(|_| chance.once_in(4)).or(any) else { continue };
                let place = chance.between(kept, words.len());
                for word in spelled(option, entry, chance).into_iter().rev() {
                    words.insert(place, word);
                }
            }
        }
    }
    let text = words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ");
    text.replace(UNKNOWN, &values::unknown(chance))
}

/// An option in one of the ways in which it can be written.
fn spelled(option: &OptionSpec, entry: &Entry, chance: &mut Chance) -> Vec<String> {
    let mut name = option.name().to_owned();
    let is_long = name.starts_with("--");
    if is_long && entry.style == Style::Gnu && chance.once_in(6) {
        let shorter = chance.between(3, name.len());
        name.truncate(shorter);
    }
    let mut given = || values::value(option.kind, chance);
    match option.arity {
        Arity::None => vec![name],
        Arity::Required => {
            let value = given();
            match (is_long, chance.once_in(2)) {
                (true, true) => vec![format!("{name}={value}")],
                (false, true) if entry.style != Style::Go => vec![name + &value],
                _ => vec![name, value],
            }
        }
        Arity::Optional => {
            let value = given();
            match (is_long, chance.below(3)) {
                (true, 0) => vec![format!("{name}={value}")],
                (false, 0) => vec![name + &value],
                (_, 1) => vec![name, value],
                _ => vec![name],
            }
        }
    }
}

/// The command inside a wrapper.
fn wrapped(text: &str, chance: &mut Chance) -> String {
    match chance.below(22) {
        0 => format!("env {text}"),
        1 => format!("env LC_ALL=C {text}"),
        2 => format!("timeout 2 {text}"),
        3 => format!("sh -c {}", quote(text)),
        4 => format!("bash -c {}", quote(text)),
        5 => format!("nice {text}"),
        6 => format!("time {text}"),
        7 => format!("command {text}"),
        8 => format!("echo \"$({text})\""),
        9 => format!("({text})"),
        10 => format!("{text} 2>/dev/null"),
        11 => format!("{text} 2>&1 | head -5"),
        12 => format!("for f in *.txt; do {text}; done"),
        13 => format!("echo {} | xargs {text}", values::file(chance)),
        14 => format!("find . -name '*.txt' | xargs -I@ {text}"),
        15 => format!("x=$({text}); echo \"$x\""),
        16 => format!("stdbuf -oL {text}"),
        17 => format!("if {text}; then echo yes; fi"),
        18 => format!("cd dash && {text} *"),
        19 => format!("{} | xargs {text}", values::harm(chance)),
        20 => format!("x={}; {text} $x", values::unknown(chance)),
        _ => format!("cd src && {text}"),
    }
}

/// Two commands together.
fn combined(one: &str, other: &str, chance: &mut Chance) -> String {
    match chance.below(11) {
        0 => format!("{one}; {other}"),
        1 => format!("{one} && {other}"),
        2 => format!("{one} || {other}"),
        3 | 4 => format!("{one} | {other}"),
        5 => format!("diff <({one}) <({other})"),
        6 => format!("{other} \"$({one})\""),
        7 => format!("{one} | while read -r line; do {other}; done"),
        8 => format!("{{ {one}; }} | {other}"),
        9 => format!("{other} <<< \"$({one})\""),
        _ => format!("{one} | xargs {other}"),
    }
}

/// The word in quotes where it needs them.
fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_must_be() {
        assert_eq!(quote("a.txt"), "a.txt");
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn the_same_chance_makes_the_same_command() {
        let words = ["sort", "-u", "a.txt"].map(str::to_owned).to_vec();
        let seeds = [Seed { text: "sort -u a.txt".to_owned(), words: Some(words) }];
        let made: Vec<_> = (0..50).map(|n| vary(&seeds, &mut Chance::split(1, n))).collect();
        let again: Vec<_> = (0..50).map(|n| vary(&seeds, &mut Chance::split(1, n))).collect();
        assert_eq!(made, again);
        assert!(made.iter().any(|text| text.contains("sort") && text.contains("--")));
    }
}
