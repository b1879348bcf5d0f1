//! Options as the C library's `getopt_long` reads them: bundles, values, unique abbreviations.
//!
//! Operands are not moved and not judged here; the caller goes on or stops at the first one.

use super::Word;

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// Glued to it, or the next argument.
    Value,
    /// Only if glued to it.
    MaybeValue,
}

/// One option of a program; `0` and `""` stand for no short and no long name.
pub(super) struct Spec<K> {
    pub(super) short: u8,
    pub(super) long: &'static str,
    pub(super) takes: Takes,
    pub(super) key: K,
}

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'a, K> {
    /// An option, with its value if it has one.
    Option(K, Option<Word<'a>>),
    /// An argument that is no option, and its index.
    Operand(usize),
    /// `--`: everything from this index on is an operand.
    Terminator(usize),
    /// An option this program does not have, or one that cannot be told.
    Unknown(&'static str),
}

/// Walks over arguments, option by option.
pub(super) struct Options<'a, K: 'static> {
    specs: &'static [Spec<K>],
    words: &'a [Word<'a>],
    at: usize,
    /// What is left of a bundle of short options.
    bundle: &'a [u8],
}

impl<'a, K: Copy + PartialEq> Options<'a, K> {
    pub(super) const fn new(specs: &'static [Spec<K>], words: &'a [Word<'a>]) -> Options<'a, K> {
        Options { specs, words, at: 0, bundle: &[] }
    }

    /// The index of the next argument that no option has taken.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The next option or operand, or `None` at the end.
    pub(super) fn next(&mut self) -> Option<Found<'a, K>> {
        if let Some((short, rest)) = self.bundle.split_first() {
            self.bundle = rest;
            return Some(self.read_short(*short));
        }
        let word = *self.words.get(self.at)?;
        self.at += 1;
        let Some(word) = word else {
            return Some(Found::Unknown("an argument that may be an option is not known"));
        };
        Some(match word {
            b"--" => Found::Terminator(self.at),
            [b'-', b'-', long @ ..] => self.read_long(long),
            [b'-', short, rest @ ..] => {
                self.bundle = rest;
                self.read_short(*short)
            }
            _ => Found::Operand(self.at - 1),
        })
    }

    fn read_short(&mut self, short: u8) -> Found<'a, K> {
        let Some(spec) = self.specs.iter().find(|spec| spec.short == short && short != 0) else {
            return Found::Unknown("an unknown option");
        };
        match (spec.takes, self.bundle) {
            (Takes::Nothing, _) | (Takes::MaybeValue, []) => Found::Option(spec.key, None),
            (Takes::Value, []) => self.take_value(spec.key),
            (Takes::Value | Takes::MaybeValue, glued) => {
                self.bundle = &[];
                Found::Option(spec.key, Some(Some(glued)))
            }
        }
    }

    fn read_long(&mut self, text: &'a [u8]) -> Found<'a, K> {
        let split = text.iter().position(|byte| *byte == b'=');
        let (name, glued) = match split {
            Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
            None => (text, None),
        };
        let Some(spec) = self.find_long(name) else {
            return Found::Unknown("an unknown or ambiguous option");
        };
        match (spec.takes, glued) {
            (Takes::Nothing, Some(_)) => Found::Unknown("an option with a value it does not take"),
            (Takes::Value, None) => self.take_value(spec.key),
            (_, glued) => Found::Option(spec.key, glued.map(Some)),
        }
    }

    /// The option of that name, or the only one that begins so.
    fn find_long(&self, name: &[u8]) -> Option<&'static Spec<K>> {
        let named = |spec: &&Spec<K>| !spec.long.is_empty();
        let exact = |spec: &&Spec<K>| spec.long.as_bytes() == name;
        if let Some(spec) = self.specs.iter().filter(named).find(exact) {
            return Some(spec);
        }
        let begins = |spec: &&Spec<K>| spec.long.as_bytes().starts_with(name);
        let mut candidates = self.specs.iter().filter(named).filter(begins);
        let first = candidates.next()?;
        candidates
            .all(|other| other.key == first.key && other.takes == first.takes)
            .then_some(first)
    }

    fn take_value(&mut self, key: K) -> Found<'a, K> {
        let Some(value) = self.words.get(self.at) else {
            return Found::Unknown("an option without its value");
        };
        self.at += 1;
        Found::Option(key, Some(*value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const SPECS: &[Spec<char>] = &[
        Spec { short: b'a', long: "all",       takes: Takes::Nothing,    key: 'a' },
        Spec { short: b'f', long: "file",      takes: Takes::Value,      key: 'f' },
        Spec { short: b'm', long: "maybe",     takes: Takes::MaybeValue, key: 'm' },
        Spec { short: 0,    long: "file-list", takes: Takes::Value,      key: 'l' },
        Spec { short: 0,    long: "maximum",   takes: Takes::Value,      key: 'x' },
        Spec { short: 0,    long: "every",     takes: Takes::Nothing,    key: 'a' },
        Spec { short: 0,    long: "each",      takes: Takes::Nothing,    key: 'a' },
    ];

    fn walk(words: &[Word]) -> String {
        let mut options = Options::new(SPECS, words);
        let mut seen = Vec::new();
        while let Some(found) = options.next() {
            seen.push(match found {
                Found::Option(key, None) => key.to_string(),
                Found::Option(key, Some(None)) => format!("{key}=?"),
                Found::Option(key, Some(Some(value))) => {
                    format!("{key}={}", String::from_utf8_lossy(value))
                }
                Found::Operand(index) => format!("@{index}"),
                Found::Terminator(index) => {
                    seen.push(format!("--{index}"));
                    break;
                }
                Found::Unknown(_) => {
                    seen.push("unknown".to_owned());
                    break;
                }
            });
        }
        seen.join(" ")
    }

    #[test]
    fn options_are_read_as_the_c_library_reads_them() {
        #[rustfmt::skip]
        let cases = [
            ("-a",               "a",           "a flag"),
            ("-aa -a",           "a a a",       "a bundle"),
            ("-fx",              "f=x",         "a glued value"),
            ("-f x",             "f=x",         "the next argument"),
            ("-f -a",            "f=-a",        "whatever it looks like"),
            ("-f --",            "f=--",        "even the terminator"),
            ("-af x",            "a f=x",       "the last of a bundle"),
            ("-m x",             "m @1",        "an optional value is glued"),
            ("-mx",              "m=x",         "or it is none"),
            ("-f=x",             "f==x",        "an equals sign belongs to a short value"),
            ("--file=x",         "f=x",         "a long value"),
            ("--file x",         "f=x",         "the next argument"),
            ("--file=",          "f=",          "an empty one"),
            ("--maybe x",        "m @1",        "an optional value is glued"),
            ("--maybe=x",        "m=x",         "with an equals sign"),
            ("--al",             "a",           "an abbreviation"),
            ("--file-",          "l=x",         "of the longer name"),
            ("--e",              "a",           "of two names for one thing"),
            ("--ma",             "unknown",     "ambiguous"),
            ("--nope",           "unknown",     "not an option"),
            ("-z",               "unknown",     "not an option"),
            ("--all=x",          "unknown",     "a value it does not take"),
            ("-f",               "unknown",     "no value"),
            ("- a -- -a",        "@0 @1 --3",   "a dash alone is an operand"),
            ("?",                "unknown",     "an unknown word may be an option"),
            ("-f ?",             "f=?",         "a value may be unknown"),
        ];
        for (text, want, why) in cases {
            let mut words: Vec<Word> =
                text.split(' ').map(|word| (word != "?").then_some(word.as_bytes())).collect();
            if text == "--file-" {
                words.push(Some(b"x"));
            }
            assert_eq!(walk(&words), want, "`{text}`: {why}");
        }
    }
}
