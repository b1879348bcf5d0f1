//! Other spellings of one command: what deny and ask rules see besides its words as written.
//!
//! A rule `docker compose down:*` means `docker compose -f a.yml down` too, `rm -rf:*` means
//! `rm -f x -r`, and `pip install:*` means `python -m pip install`. Only rules that deny or ask
//! are held against these; whatever an allow rule covers it must name.

use super::Bench;
use crate::act::Act;
use crate::arg::Arg;
use crate::catalog;
use crate::few::Few;
use crate::rule::{Rule, same};
use crate::usage;
use crate::verdict::Outcome;

/// How many words of a command are looked at.
const WORDS: usize = 64;

/// How an act is spelled: by which names, and with which words behind them.
pub(super) struct Spoken<'a> {
    names: [Option<&'a str>; 2],
    rest: Few<&'a str, 12>,
}

impl<'a> Spoken<'a> {
    pub(super) fn of(act: &'a Act) -> Spoken<'a> {
        let base = act.last_name();
        // What is not known stands for some word.
        let rest = act.args.iter().skip(1).take(WORDS);
        Spoken {
            names: [base, base.and_then(without_version)],
            rest: rest.map(|arg| arg.as_known().unwrap_or_default()).collect(),
        }
    }
}

impl<'a> Bench<'a> {
    /// The rule that speaks about an act in one of its other spellings.
    pub(super) fn speaking_of_same(
        &self,
        outcome: Outcome,
        act: &Act,
        spoken: &Spoken<'_>,
    ) -> Option<&'a Rule> {
        let mut names = spoken.names.into_iter().flatten();
        names.find_map(|name| {
            let begins = self.rules.begins_same(outcome, name);
            begins.then(|| self.speaking_of_named(outcome, act, name, &spoken.rest)).flatten()
        })
    }

    /// The same of a program by this name, with these words behind it.
    fn speaking_of_named(
        &self,
        outcome: Outcome,
        act: &Act,
        base: &str,
        rest: &[&str],
    ) -> Option<&'a Rule> {
        if !self.may_speak(outcome, base, rest) {
            return None;
        }
        let words: Vec<&str> = [base].into_iter().chain(rest.iter().copied()).collect();
        let has_rules = self.rules.begins(outcome, &[Some(base)]);
        let spelled = same::equivalents(&words).into_iter().chain(has_rules.then(|| words.clone()));
        let mut spelled = spelled.filter(|words| {
            let (program, rest) = words.split_first().unwrap_or((&base, &[]));
            same::is_listed(program) || self.rules.goes_on(outcome, program, rest)
        });
        spelled.find_map(|words| self.speaking_anyhow(outcome, &words, act))
    }

    /// A first look that takes nothing apart: whether a rule may begin with this program and words
    /// among these, with those of a command that is the same, or of one that is the same as that.
    /// The words of all of them are looked for at once.
    fn may_speak(&self, outcome: Outcome, base: &str, rest: &[&str]) -> bool {
        if !same::is_listed(base) {
            return self.rules.goes_on(outcome, base, rest);
        }
        let (mut programs, mut words) = (vec![base], rest.to_vec());
        for _ in 0..2 {
            let others = programs.iter().flat_map(|program| same::perhaps(program, &words));
            let others: Vec<_> = others.collect();
            for (program, behind) in others {
                if !programs.contains(&program) {
                    programs.push(program);
                }
                let new = behind.iter().filter(|word| !words.contains(word));
                let new: Vec<&str> = new.copied().collect();
                words.extend(new);
            }
        }
        programs.iter().any(|program| self.rules.goes_on(outcome, program, &words))
    }

    fn speaking_anyhow(&self, outcome: Outcome, words: &[&str], act: &Act) -> Option<&'a Rule> {
        let given = words.iter().skip(1).copied().filter(|word| is_option(word));
        let given = given.map(|word| word.split_once('=').map_or(word, |(name, _)| name));
        let options: Vec<&str> = given.chain(act.options.iter().copied()).collect();
        bare(words).iter().find_map(|bare| {
            let found = self.rules.speaks_anyhow(outcome, bare, &options);
            found.or_else(|| {
                let mut same = same::equivalents(bare).into_iter();
                same.find_map(|bare| self.rules.speaks_anyhow(outcome, &bare, &options))
            })
        })
    }
}

/// The name of a program without the version at its end, where it is the same program: of
/// `python3.11` that is `python`, of `clang-15` `clang`.
pub(super) fn without_version(base: &str) -> Option<&str> {
    // Few names end so.
    if !matches!(base.bytes().next_back(), Some(b'0'..=b'9' | b'.' | b'-')) {
        return None;
    }
    let plain = base.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    let plain = plain.strip_suffix('-').unwrap_or(plain);
    if plain.len() == base.len() {
        return None;
    }
    let (one, other) = (catalog::find(plain)?, catalog::find(base)?);
    std::ptr::eq(one.entry, other.entry).then_some(plain)
}

/// The words of a command without its options, in each way they can be told apart.
fn bare<'w>(words: &[&'w str]) -> Vec<Vec<&'w str>> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let mut all = Vec::new();
    let known = catalog::find(program).map(|program| {
        let args: Vec<Arg> = rest.iter().map(|word| Arg::known(word)).collect();
        usage::read(program.entry, &args)
    });
    let is_sure = known.as_ref().is_some_and(|usage| {
        usage.unknown.is_none() && !usage.entry.any_option && usage.command.is_none()
    });
    if let Some(usage) = &known {
        let mut places: Vec<usize> =
            usage.subs.iter().chain(usage.operands.iter()).copied().collect();
        places.sort_unstable();
        let words = places.iter().filter_map(|at| rest.get(*at).copied());
        all.push([*program].into_iter().chain(words).collect());
    }
    if !is_sure {
        let plain = |word: &&&str| !is_option(word);
        all.push([*program].into_iter().chain(rest.iter().filter(plain).copied()).collect());
        // A word behind an option may be its value.
        let mut words = vec![*program];
        let mut is_value = false;
        for word in rest {
            if is_option(word) {
                is_value = word.starts_with('-') && !word.contains('=');
            } else if !std::mem::take(&mut is_value) {
                words.push(word);
            }
        }
        all.push(words);
    }
    all
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}
