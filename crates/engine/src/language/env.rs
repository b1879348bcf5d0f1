//! env: what it changes for a command, and which command that is.

use self::split::split;
use super::options::{Found, Options, Spec, Takes};
use super::{Directory, Word, owned};

mod split;

/// A call of env.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Env {
    /// Whether the command starts with an empty environment (`-i`).
    pub clears: bool,
    /// Variables it sets, in order: name and value.
    pub assignments: Vec<(Vec<u8>, Vec<u8>)>,
    /// Variables it removes (`-u`).
    pub unsets: Vec<Option<Vec<u8>>>,
    /// The directory in which the command runs (`-C`).
    pub directory: Directory,
    /// The command and its arguments; if there is none, env prints the environment.
    pub argv: Vec<Option<Vec<u8>>>,
    /// The index at which the command begins, if it stands among the arguments as it is (and
    /// not inside a `-S` text).
    pub command: Option<usize>,
    /// Whether the command runs under another name, or is looked for elsewhere.
    pub is_disguised: bool,
    /// Whether it only prints its own help or version.
    pub is_help: bool,
    /// Why it could not be read to the end, if it could not.
    pub unknown: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Clear,
    Unset,
    Directory,
    Split,
    /// Another name or another search path for the command: it is not what it looks like.
    Disguise,
    Help,
    Harmless,
}

#[rustfmt::skip]
const SPECS: &[Spec<Key>] = &[
    Spec { short: b'i', long: "ignore-environment",   takes: Takes::Nothing,    key: Key::Clear },
    Spec { short: b'u', long: "unset",                takes: Takes::Value,      key: Key::Unset },
    Spec { short: b'C', long: "chdir",                takes: Takes::Value,      key: Key::Directory },
    Spec { short: b'S', long: "split-string",         takes: Takes::Value,      key: Key::Split },
    Spec { short: b'a', long: "argv0",                takes: Takes::Value,      key: Key::Disguise },
    Spec { short: b'P', long: "",                     takes: Takes::Value,      key: Key::Disguise },
    Spec { short: b'0', long: "null",                 takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: b'v', long: "debug",                takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: 0,    long: "block-signal",         takes: Takes::MaybeValue, key: Key::Harmless },
    Spec { short: 0,    long: "default-signal",       takes: Takes::MaybeValue, key: Key::Harmless },
    Spec { short: 0,    long: "ignore-signal",        takes: Takes::MaybeValue, key: Key::Harmless },
    Spec { short: 0,    long: "list-signal-handling", takes: Takes::Nothing,    key: Key::Harmless },
    Spec { short: 0,    long: "help",                 takes: Takes::Nothing,    key: Key::Help },
    Spec { short: 0,    long: "version",              takes: Takes::Nothing,    key: Key::Help },
];

/// A `-S` text may hold another `-S`; so many levels are opened.
const SPLIT_DEPTH: usize = 8;

/// Reads the arguments of env.
///
/// A word of which only a beginning is known may be given as that beginning if it holds a `=`
/// (`NAME=…`): it is an assignment whatever follows.
#[must_use]
pub fn env(arguments: &[Word]) -> Env {
    let mut env = Env::default();
    if let Err(reason) = env.read(arguments, 0) {
        env.unknown = Some(reason);
        env.argv.clear();
        env.command = None;
    }
    env
}

impl Env {
    fn read(&mut self, words: &[Word], depth: usize) -> Result<(), &'static str> {
        let mut options = Options::new(SPECS, words);
        let mut operands = words.len();
        while let Some(found) = options.next() {
            match found {
                Found::Option(Key::Clear, _) => self.clears = true,
                Found::Option(Key::Unset, value) => self.unsets.push(owned(value.flatten())),
                Found::Option(Key::Directory, value) => {
                    self.directory =
                        owned(value.flatten()).map_or(Directory::Unknown, Directory::Named);
                }
                Found::Option(Key::Split, value) => {
                    let rest = words.get(options.at()..).unwrap_or_default();
                    return self.read_split(value.flatten(), rest, depth);
                }
                Found::Option(Key::Disguise, _) => self.is_disguised = true,
                Found::Option(Key::Help, _) => self.is_help = true,
                Found::Option(Key::Harmless, _) => {}
                Found::Operand(index) | Found::Terminator(index) => {
                    operands = index;
                    break;
                }
                Found::Unknown(reason) => return Err(reason),
            }
        }
        self.read_operands(words, operands, depth)
    }

    /// Opens the text of `-S` and reads on with what it holds.
    fn read_split(&mut self, text: Word, rest: &[Word], depth: usize) -> Result<(), &'static str> {
        if depth == SPLIT_DEPTH {
            return Err("too many texts inside each other");
        }
        let pieces = split(text.ok_or("the text that env splits is not known")?)?;
        let mut words: Vec<Word> = pieces.iter().map(Option::as_deref).collect();
        words.extend_from_slice(rest);
        self.read(&words, depth + 1)
    }

    fn read_operands(
        &mut self,
        words: &[Word],
        start: usize,
        depth: usize,
    ) -> Result<(), &'static str> {
        let mut at = start;
        if words.get(at) == Some(&Some(b"-")) {
            self.clears = true;
            at += 1;
        }
        for word in words.iter().skip(at) {
            let word = word.ok_or("the command or variable that env is given is not known")?;
            let Some(equals) = word.iter().position(|byte| *byte == b'=') else { break };
            let (name, value) = word.split_at(equals);
            self.assignments.push((name.to_vec(), value.get(1..).unwrap_or_default().to_vec()));
            at += 1;
        }
        self.argv = words.iter().skip(at).map(|word| owned(*word)).collect();
        self.command = (depth == 0 && at < words.len()).then_some(at);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Env {
        let words: Vec<Word> =
            words.iter().map(|word| (*word != "?").then_some(word.as_bytes())).collect();
        env(&words)
    }

    fn argv(env: &Env) -> String {
        let words = env.argv.iter().map(|word| match word {
            Some(word) => String::from_utf8_lossy(word).into_owned(),
            None => "?".to_owned(),
        });
        words.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn the_command_stands_behind_options_and_variables() {
        #[rustfmt::skip]
        let cases: [(&[&str], &str, &str); 22] = [
            (&["rm", "x"],                          "rm|x",        "a command alone"),
            (&["-i", "A=1", "rm", "x"],             "rm|x",        "behind a variable"),
            (&["-", "A=1", "rm", "x"],              "rm|x",        "a mere dash empties the environment"),
            (&["-u", "A", "-C", "/tmp", "rm"],      "rm",          "behind options with values"),
            (&["-uA", "-C/tmp", "rm"],              "rm",          "behind glued values"),
            (&["-iuA", "rm"],                       "rm",          "behind a bundle"),
            (&["--unset=A", "--ch=/", "rm"],        "rm",          "behind long options"),
            (&["--ignore-env", "rm"],               "rm",          "behind an abbreviation"),
            (&["--block-signal", "INT", "rm"],      "INT|rm",      "a signal must be glued"),
            (&["--", "A=1", "rm", "-i"],            "rm|-i",       "behind the terminator"),
            (&["A=1", "-i", "rm"],                  "-i|rm",       "options end at the first variable"),
            (&["A=1", "B", "C=2"],                  "B|C=2",       "variables end at the command"),
            (&["A=1", "rm", "?"],                   "rm|?",        "an unknown argument of the command"),
            (&["-S", "rm -rf x"],                   "rm|-rf|x",    "a text is split"),
            (&["-S", "rm -rf", "x y"],              "rm|-rf|x y",  "the rest follows it"),
            (&["-Srm x"],                           "rm|x",        "glued"),
            (&["-vS", "rm x"],                      "rm|x",        "in a bundle"),
            (&["--split-string=rm x"],              "rm|x",        "the long form"),
            (&["--spl=rm x"],                       "rm|x",        "abbreviated"),
            (&["-S", "-i A=1 rm", "x"],             "rm|x",        "options and variables inside"),
            (&["-S", "-i", "-u", "A", "rm"],        "rm",          "options behind it"),
            (&["-S", "-S'rm x' y", "z"],            "rm|x|y|z",    "a text in a text"),
        ];
        for (words, want, why) in cases {
            let env = read(words);
            assert_eq!((argv(&env).as_str(), env.unknown), (want, None), "{words:?}: {why}");
        }
    }

    #[test]
    fn what_changes_for_the_command_is_named() {
        let env = read(&["-i", "-u", "X", "-u", "?", "-C", "/tmp", "PATH=.:a=b", "EMPTY=", "ls"]);
        assert!(env.clears && !env.is_help);
        assert_eq!(env.unsets, [Some(b"X".to_vec()), None]);
        assert_eq!(env.directory, Directory::Named(b"/tmp".to_vec()));
        let path = (b"PATH".to_vec(), b".:a=b".to_vec());
        assert_eq!(env.assignments, [path, (b"EMPTY".to_vec(), Vec::new())]);
        assert_eq!(env.command, Some(9));
        assert_eq!(read(&["-S", "ls"]).command, None, "it stands inside a text");
        assert_eq!(read(&["-C", "?", "ls"]).directory, Directory::Unknown);
        assert_eq!(read(&["-S", "A=1 ls"]).assignments, [(b"A".to_vec(), b"1".to_vec())]);
        assert!(read(&[]).argv.is_empty() && read(&["A=1"]).argv.is_empty());
        assert!(read(&["--version"]).is_help);
    }

    #[test]
    fn a_command_under_another_name_is_still_that_command() {
        for words in [["-P", "/tmp", "rm"], ["-a", "ls", "rm"]] {
            let env = read(&words);
            assert!(env.is_disguised && argv(&env) == "rm", "{words:?}: {env:?}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_unknown() {
        let deep =
            (0..10).fold("ls".to_owned(), |text, _| format!("-S{}", text.replace(' ', "\\_")));
        let cases: [&[&str]; 10] = [
            &["?"],
            &["?", "ls"],
            &["A=1", "?"],
            &["-S", "?"],
            &["-S", "'ls"],
            &["-S", "ls ${X}"],
            &["-S", "$X"],
            &["--nope", "ls"],
            &["-u"],
            &["-S", &deep],
        ];
        for words in cases {
            let env = read(words);
            assert!(env.unknown.is_some() && env.argv.is_empty(), "{words:?}: {env:?}");
        }
    }
}
