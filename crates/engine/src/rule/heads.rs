//! Heads: how rules that deny or ask begin, for a first look at a command.
//!
//! Nearly all commands are of a program that no rule names, or have none of the words that its
//! rules go on with. Whoever looks here first walks no rule for them.

use std::collections::HashMap;

use super::keyed::Keyed;
use super::same;
use crate::pattern::words::WordPattern;

/// How often one command is taken for another that is the same.
const STEPS: usize = 2;

/// Some words, as bits: those of a word that is not among them may still be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Glance(u128);

impl Glance {
    /// These and one more.
    #[must_use]
    pub(crate) const fn with(self, word: &str) -> Glance {
        let letters = match word.as_bytes() {
            [] => 0,
            [only] => *only as usize,
            [first, .., last] => *first as usize * 5 + *last as usize * 11,
        };
        Glance(self.0 | 1 << ((word.len() * 3 + letters) % 128))
    }

    /// Whether some word may be among both.
    #[must_use]
    pub(super) const fn meets(self, other: Glance) -> bool {
        self.0 & other.0 != 0
    }
}

/// The first two words of rules about commands, and of commands that are the same in other words.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    /// Whether a rule begins with stars.
    is_open: bool,
    programs: HashMap<Box<str>, Head, Keyed>,
}

/// What may stand behind a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Head {
    /// Anything.
    is_open: bool,
    /// One of these words, anywhere.
    words: Glance,
    /// How many steps further the programs know it that may be the same.
    steps: usize,
}

impl Heads {
    /// Adds a rule's pattern.
    pub(super) fn insert(&mut self, pattern: &WordPattern) {
        if *pattern == WordPattern::Nothing {
            return;
        }
        let mut words = pattern.leading();
        let (program, word) = (words.next(), words.next());
        let Some(program) = program else {
            self.is_open = true;
            return;
        };
        // An option has other spellings, which no glance at the words tells.
        let word = word.filter(|word| !word.starts_with('-'));
        self.add(program, Head::of(Glance::default(), true, word), STEPS);
    }

    /// Adds what may stand behind a program, and behind those that may be the same.
    fn add(&mut self, program: &str, head: Head, steps: usize) {
        let known = self.programs.get(program).copied();
        let all = known.unwrap_or_default().and(Head { steps, ..head });
        if known == Some(all) {
            return;
        }
        self.programs.insert(program.into(), all);
        if steps == 0 {
            return;
        }
        for (words, other, first) in same::others(program) {
            let is_meant = all.is_open || words.iter().any(|word| all.may_have(word));
            self.add(other, Head::of(all.words, is_meant, first), steps - 1);
        }
    }

    /// Whether a rule may speak about a command of one of these names that has these words, in
    /// whatever order and spelling.
    pub(super) fn may_speak(&self, names: &[Option<&str>], words: impl Fn() -> Glance) -> bool {
        let mut heads = names.iter().flatten().filter_map(|name| self.programs.get(*name));
        self.is_open || heads.any(|head| head.is_open || head.words.meets(words()))
    }
}

impl Head {
    /// These words; where a command is meant also its first word, or anything if it has none.
    fn of(words: Glance, is_meant: bool, first: Option<&str>) -> Head {
        let is_open = is_meant && first.is_none();
        let words = first.filter(|_| is_meant).map_or(words, |first| words.with(first));
        Head { is_open, words, steps: 0 }
    }

    fn and(self, other: Head) -> Head {
        Head {
            is_open: self.is_open || other.is_open,
            words: Glance(self.words.0 | other.words.0),
            steps: self.steps.max(other.steps),
        }
    }

    const fn may_have(&self, word: &str) -> bool {
        self.words.meets(Glance(0).with(word))
    }
}

#[cfg(test)]
mod tests {
    use super::{Glance, Heads};
    use crate::pattern::words::WordPattern;

    #[test]
    fn a_first_look_passes_over_what_no_rule_goes_on_with() {
        #[rustfmt::skip]
        let cases = [
            ("git push:*",         "git push origin",       true,  "the second word is there"),
            ("git push:*",         "git -C x push",         true,  "wherever it stands"),
            ("git push:*",         "git status",            false, "another word"),
            ("git push:*",         "ls push",               false, "another program"),
            ("git *",              "git status",            true,  "anything may follow"),
            ("git",                "git status",            true,  "nothing follows"),
            ("* push",             "ls",                    true,  "any program"),
            ("rm -rf:*",           "rm x -r",               true,  "options have other spellings"),
            ("npm install:*",      "npm i x",               true,  "the same in other words"),
            ("npm run:*",          "npm test",              false, "the same program, another word"),
            ("pip install:*",      "python3 -m pip install x", true, "the same behind two words"),
            ("pip3 install:*",     "python -m pip install x", true, "the same by two steps"),
            ("pip install:*",      "python3 setup.py",      false, "a program that may be the same"),
            ("docker compose:*",   "docker-compose up",     true,  "a program for two words"),
        ];
        for (rule, command, want, why) in cases {
            let mut heads = Heads::default();
            heads.insert(&WordPattern::parse(rule));
            let mut words = command.split(' ');
            let program = words.next();
            let words = words.fold(Glance::default(), Glance::with);
            assert_eq!(heads.may_speak(&[program], || words), want, "`{rule}`, `{command}`: {why}");
        }
    }
}
