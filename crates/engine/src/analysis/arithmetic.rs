//! Arithmetic: expressions whose names are evaluated, again and again.
//!
//! A variable in an expression may hold another expression, with a subscript that runs a command.
//! Only names that the script itself sets to numbers, everywhere, are certain.

use portcullis_shell::{Dialect, Word};

use super::walk::Walk;
use super::{counts, sets};

/// Variables of the shell that hold numbers whatever is done with them, or whose setting asks.
const NUMBERS: [&str; 11] = [
    "BASHPID",
    "EPOCHSECONDS",
    "EUID",
    "HISTCMD",
    "LINENO",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
    "UID",
];

/// Variables that the shell sets to numbers, and a script to anything.
const LEFT: [&str; 3] = ["COLUMNS", "LINES", "SHLVL"];

impl Walk<'_, '_> {
    /// Finds the variables that hold numbers, once for a script that asks.
    pub(super) fn know_numbers(&mut self) {
        let tree = self.tree;
        self.analysis.state.sets.get_or_insert_with(|| sets::of(tree));
    }

    /// A word that the shell evaluates as an expression.
    pub(super) fn arithmetic(&mut self, word: &Word) {
        let text = self.tree.text(word.span);
        let is_all = matches!(text, b"@" | b"*");
        if !is_all {
            self.know_numbers();
        }
        let sets = self.analysis.state.sets.as_ref();
        let is_bash = self.analysis.dialect == Dialect::Bash;
        let is_number = |name: &str| {
            NUMBERS.contains(&name)
                || LEFT.contains(&name) && self.is_left(name)
                || name == "BASH_VERSINFO" && is_bash
                || sets.is_some_and(|sets| sets.numbers.contains(name))
        };
        let is_counted = sets.is_some_and(|sets| sets.counts);
        if !is_all && !is_certain(text, is_counted, &is_number) {
            let span = self.span(word.span);
            self.analysis.push_unknown("arithmetic on values that are not known", span);
        }
        let text = String::from_utf8_lossy(text).into_owned();
        if text.contains('=') {
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            for name in text.split(|letter| !is_part(letter)) {
                if name.starts_with(|letter: char| letter.is_ascii_uppercase()) {
                    self.sets(name, None, word.span);
                }
            }
        }
    }
}

impl Walk<'_, '_> {
    /// Words that zsh evaluates where other shells take a number.
    pub(super) fn evaluated(&mut self, words: &[Word]) {
        if self.analysis.dialect != Dialect::Zsh {
            return;
        }
        let tree = self.tree;
        let is_before =
            |word: &&Word| matches!(tree.text(word.span), b"builtin" | b"command" | b"-");
        let mut words = words.iter().skip_while(is_before);
        let Some(name) = words.next() else { return };
        let rest: Vec<&Word> = match tree.text(name.span) {
            b"exit" | b"return" | b"break" | b"continue" | b"shift" | b"logout" | b"bye" => {
                words.collect()
            }
            b"printf" | b"print" => {
                let is_text = |word: &&Word| !tree.text(word.span).contains(&b'%');
                let mut words = words.skip_while(is_text);
                let Some(format) = words.next() else { return };
                let numbers = conversions(tree.text(format.span));
                let kinds = numbers.iter().cycle();
                words
                    .zip(kinds)
                    .filter(|(_, is_number)| **is_number)
                    .map(|(word, _)| word)
                    .collect()
            }
            b"test" | b"[" => {
                let is_terminal = |word: &&Word| tree.text(word.span) == b"-t";
                words.skip_while(|word| !is_terminal(word)).skip(1).take(1).collect()
            }
            b"read" => words.filter(|word| tree.text(word.span).contains(&b'[')).collect(),
            _ => return,
        };
        for word in rest {
            let text = tree.text(word.span);
            let is_computed = text.starts_with(b"$((") && text.ends_with(b"))");
            if !is_computed && !text.starts_with(b"-") {
                self.arithmetic(word);
            }
        }
    }
}

/// Which places of a format turn a word into a number.
fn conversions(format: &[u8]) -> Vec<bool> {
    let mut found = Vec::new();
    for piece in format.split(|byte| *byte == b'%').skip(1) {
        let is_sign = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'*';
        let signs = piece.iter().filter(is_sign);
        // A width that is given apart comes before what it is for.
        for sign in signs {
            found.push(!matches!(sign, b's' | b'b' | b'q' | b'c' | b'n'));
            if *sign != b'*' {
                break;
            }
        }
    }
    found
}

/// Whether an expression holds nothing but numbers, operators and names of numbers.
fn is_certain(text: &[u8], is_counted: bool, is_number: &dyn Fn(&str) -> bool) -> bool {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let signs = match rest {
            [b'$', b'{', b'#', ..] => 3,
            [b'$', b'{', ..] => 2,
            [b'$', ..] => 1,
            _ => 0,
        };
        if signs == 1 && matches!(rest.get(1), Some(b'#' | b'?' | b'$' | b'!')) {
            at += 2;
            continue;
        }
        // The first three elements of the shell's own version are numbers, and nobody sets them.
        if let [b'0'..=b'2', b']', b'}', ..] =
            rest.strip_prefix(b"${BASH_VERSINFO[").unwrap_or_default()
            && is_number("BASH_VERSINFO")
        {
            at += b"${BASH_VERSINFO[0]}".len();
            continue;
        }
        // What a command counts is a number.
        if is_counted
            && rest.starts_with(b"$(")
            && let Some(end) = rest.iter().position(|byte| *byte == b')')
            && counts::counts(&String::from_utf8_lossy(rest.get(..=end).unwrap_or_default()))
        {
            at += end + 1;
            continue;
        }
        let name_at = at + signs;
        let len = text.get(name_at..).unwrap_or_default().iter();
        let len = len.take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let is_name =
            text.get(name_at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
        if is_name {
            let name = text.get(name_at..name_at + len).unwrap_or_default();
            let name = std::str::from_utf8(name).unwrap_or_default();
            at = name_at + len;
            let is_length = signs == 3;
            // `${#list[@]}` says how many there are.
            if is_length && matches!(text.get(at..at + 3), Some(b"[@]" | b"[*]")) {
                at += 3;
            }
            if signs >= 2 {
                at += number_instead(text.get(at..).unwrap_or_default());
                if text.get(at) != Some(&b'}') {
                    return false;
                }
                at += 1;
            }
            if !is_length && !is_number(name) || text.get(at) == Some(&b'[') {
                return false;
            }
            continue;
        }
        if signs > 0 {
            return false;
        }
        // `0x1f` and `16#ff` are numbers.
        if byte.is_ascii_digit() {
            at += len.max(1);
            if text.get(at) == Some(&b'#') {
                at += 1;
                let digits = text.get(at..).unwrap_or_default().iter();
                at += digits.take_while(|byte| byte.is_ascii_alphanumeric()).count();
            }
            continue;
        }
        if !b" \t\n+-*/%()<>=!&|^~,?:\"".contains(&byte) {
            return false;
        }
        at += 1;
    }
    true
}

/// How long the number is that stands in for a variable without a value: `:-0` in `${n:-0}`.
fn number_instead(text: &[u8]) -> usize {
    let behind = text.strip_prefix(b":-").or_else(|| text.strip_prefix(b"-"));
    let digits = behind.unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    match behind {
        Some(behind) if digits > 0 && behind.get(digits) == Some(&b'}') => {
            text.len() - behind.len() + digits
        }
        Some(_) | None => 0,
    }
}
