//! xargs: its own options, and where the command begins that it runs.

use super::options::{Found, Options, Spec, Takes};
use super::{Facts, Word, owned};

/// A call of xargs, with the command it builds from its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Xargs {
    /// The index of the first argument that is no option of xargs, or the number of arguments.
    pub options_end: usize,
    /// The text that each line replaces in the command (`-I`, `-i`, `-J`).
    pub replace: Option<Vec<u8>>,
    /// The index at which the command begins; without one xargs runs `echo`.
    pub command: Option<usize>,
    /// The command and its first arguments; what a line replaces is `None`.
    pub argv: Vec<Option<Vec<u8>>>,
    /// Whether unknown arguments follow [`argv`](Xargs::argv).
    pub appends: bool,
    /// Whether blanks do not part what it gets: `-0`, `-d '\n'`, `-I`.
    pub by_line: bool,
    /// Files that `-a` reads, and whether the options could be read to the end.
    pub facts: Facts,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    ArgFile,
    Replace,
    /// The replaced text is an argument of its own, and several lines take its place.
    ReplaceWord,
    SlotVariable,
    Null,
    Delimiter,
    Harmless,
}

#[rustfmt::skip]
const SPECS: &[Spec<Key>] = &[
    Spec { short: b'0', long: "null",             takes: Takes::Nothing,    key: Key::Null },
    Spec { short: b'a', long: "arg-file",         takes: Takes::Value,      key: Key::ArgFile },
    Spec { short: b'd', long: "delimiter",        takes: Takes::Value,      key: Key::Delimiter },
    Spec { short: b'E', long: "",                 takes: Takes::Value,      key: Key::Harmless },
    Spec { short: b'e', long: "eof",              takes: Takes::MaybeValue, key: Key::Harmless },
    Spec { short: b'I', long: "",                 takes: Takes::Value,      key: Key::Replace },
    Spec { short: b'i', long: "replace",          takes: Takes::MaybeValue, key: Key::Replace },
    Spec { short: b'J', long: "",                 takes: Takes::Value,      key: Key::ReplaceWord },
    Spec { short: b'L', long: "",                 takes: Takes::Value,      key: Key::Harmless },
    Spec { short: b'l', long: "max-lines",        takes: Takes::MaybeValue, key: Key::Harmless },
    Spec { short: b'n', long: "max-args",         takes: Takes::Value,      key: Key::Harmless },
    Spec { short: b'o', long: "open-tty",         takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: b'P', long: "max-procs",        takes: Takes::Value,      key: Key::Harmless },
    Spec { short: b'p', long: "interactive",      takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: b'R', long: "",                 takes: Takes::Value,      key: Key::Harmless },
    Spec { short: b'r', long: "no-run-if-empty",  takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: b'S', long: "",                 takes: Takes::Value,      key: Key::Harmless },
    Spec { short: b's', long: "max-chars",        takes: Takes::Value,      key: Key::Harmless },
    Spec { short: b't', long: "verbose",          takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: b'x', long: "exit",             takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: 0,    long: "process-slot-var", takes: Takes::Value,      key: Key::SlotVariable },
    Spec { short: 0,    long: "show-limits",      takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: 0,    long: "help",             takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: 0,    long: "version",          takes: Takes::Nothing,    key: Key::Harmless },
];

/// Nobody marks a place with more bytes; it keeps the search for them linear.
const LONGEST_REPLACED: usize = 64;

/// Reads the arguments of xargs.
#[must_use]
pub fn xargs(arguments: &[Word]) -> Xargs {
    let mut xargs = Xargs { options_end: arguments.len(), appends: true, ..Xargs::default() };
    let mut options = Options::new(SPECS, arguments);
    while let Some(found) = options.next() {
        match found {
            Found::Option(Key::ArgFile, value) => match value.flatten() {
                Some(b"-") => {}
                file => xargs.facts.reads.push(owned(file)),
            },
            Found::Option(key @ (Key::Replace | Key::ReplaceWord), value) => {
                match value.unwrap_or(Some(b"{}")) {
                    Some(text) if (1..=LONGEST_REPLACED).contains(&text.len()) => {
                        xargs.replace = Some(text.to_vec());
                    }
                    _ => xargs
                        .facts
                        .doubt("the text that xargs replaces is not known, empty or too long"),
                }
                xargs.appends = key == Key::ReplaceWord;
                xargs.by_line |= key == Key::Replace;
            }
            Found::Option(Key::Null, _) => xargs.by_line = true,
            Found::Option(Key::Delimiter, value) => {
                xargs.by_line = matches!(value.flatten(), Some(b"\n" | b"\\n" | b"\\0"));
            }
            // The command finds its own variables changed; `PATH` is one of them.
            Found::Option(Key::SlotVariable, _) => {
                xargs.facts.doubt("xargs sets a variable of the command");
            }
            Found::Option(Key::Harmless, _) => {}
            Found::Operand(index) | Found::Terminator(index) => {
                xargs.options_end = index;
                break;
            }
            Found::Unknown(reason) => {
                xargs.facts.doubt(reason);
                break;
            }
        }
    }
    if xargs.facts.unknown.is_none() && xargs.options_end < arguments.len() {
        xargs.command = Some(xargs.options_end);
        let replace = xargs.replace.as_deref();
        xargs.argv = arguments
            .iter()
            .skip(xargs.options_end)
            .map(|word| word.filter(|word| !contains(word, replace)).map(<[u8]>::to_vec))
            .collect();
    }
    xargs
}

/// Whether `text` holds the replaced text, wherever it stands.
fn contains(text: &[u8], replace: Option<&[u8]>) -> bool {
    replace.is_some_and(|replace| text.windows(replace.len()).any(|window| window == replace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Xargs {
        let words: Vec<Word> = text
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(|word| (word != "?").then_some(word.as_bytes()))
            .collect();
        xargs(&words)
    }

    fn argv(xargs: &Xargs) -> String {
        let words = xargs.argv.iter().map(|word| match word {
            Some(word) => String::from_utf8_lossy(word).into_owned(),
            None => "?".to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_command_begins_behind_the_options() {
        #[rustfmt::skip]
        let cases = [
            ("rm",                        "rm",          true,  "a command alone"),
            ("-n1 -P4 rm -f --",          "rm -f --",    true,  "glued values"),
            ("-n 1 -P 4 rm",              "rm",          true,  "values of their own"),
            ("-0 rm",                     "rm",          true,  "a flag"),
            ("-0rtn1 rm",                 "rm",          true,  "a bundle"),
            ("-- rm -x",                  "rm -x",       true,  "behind the terminator"),
            ("-I{} rm {}",                "rm ?",        false, "a template"),
            ("-I % sh -c rm%x",           "sh -c ?",     false, "inside a word"),
            ("-I % % x",                  "? x",         false, "even the command"),
            ("-i touch {}",               "touch ?",     false, "the old form has no value"),
            ("-iX touch X {}",            "touch ? {}",  false, "or a glued one"),
            ("--replace touch {}",        "touch ?",     false, "the long form"),
            ("--repl=X touch X",          "touch ?",     false, "abbreviated"),
            ("-J % cp % dir",             "cp ? dir",    true,  "the form of BSD"),
            ("-l rm",                     "rm",          true,  "an optional value"),
            ("-L 1 rm",                   "rm",          true,  "a value"),
            ("-e rm",                     "rm",          true,  "an optional value"),
            ("-E eof rm",                 "rm",          true,  "a value"),
            ("-d , rm",                   "rm",          true,  "a delimiter"),
            ("--max-args=1 rm",           "rm",          true,  "a long option"),
            ("--max-a 1 rm",              "rm",          true,  "abbreviated"),
            ("-a list rm",                "rm",          true,  "a file of arguments"),
            ("grep ? -n",                 "grep ? -n",   true,  "an unknown argument of the command"),
            ("?",                         "",            true,  "an unknown word may be an option"),
            ("",                          "",            true,  "bare xargs runs echo"),
            ("-r",                        "",            true,  "bare xargs runs echo"),
        ];
        for (text, want, appends, why) in cases {
            let xargs = read(text);
            assert_eq!((argv(&xargs).as_str(), xargs.appends), (want, appends), "`{text}`: {why}");
            assert_eq!(xargs.command.is_some(), !want.is_empty(), "`{text}`: {why}");
        }
        assert_eq!(read("-0 -n 1 rm x").command, Some(3));
        assert_eq!(read("-0 -- rm x").options_end, 2);
    }

    #[test]
    fn files_and_doubts_are_named() {
        assert_eq!(read("-a list rm").facts.reads, [Some(b"list".to_vec())]);
        assert_eq!(read("--arg-file=list rm").facts.reads, [Some(b"list".to_vec())]);
        assert_eq!(read("-a ? rm").facts.reads, [None]);
        assert!(read("-a - rm").facts.is_harmless());
        for text in [
            "-q rm",
            "--nope rm",
            "--max rm",
            "-n",
            "-I",
            "-I ? rm",
            "--process-slot-var=PATH ls",
            "? rm",
        ] {
            assert!(read(text).facts.unknown.is_some(), "`{text}`");
            assert_eq!(read(text).command, None, "`{text}`");
        }
    }
}
