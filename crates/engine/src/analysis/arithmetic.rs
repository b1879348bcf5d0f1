//! Arithmetic: expressions whose names are evaluated, again and again.
//!
//! A variable in an expression may hold another expression, with a subscript that runs a command.
//! Only names that the script itself sets to numbers, everywhere, are certain.

use std::collections::BTreeSet;
use std::rc::Rc;

use portcullis_shell::{Assigned, Command, Kind, List, PartKind, Place, Prefix, Tree, Value, Word};

use super::walk::Walk;

/// Variables of the shell that always hold numbers.
const NUMBERS: [&str; 14] = [
    "BASHPID",
    "COLUMNS",
    "EPOCHSECONDS",
    "EUID",
    "HISTCMD",
    "LINENO",
    "LINES",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "UID",
];

impl Walk<'_, '_> {
    /// Finds the variables that hold numbers, once for a script that asks.
    pub(super) fn know_numbers(&mut self) {
        let tree = self.tree;
        self.analysis.state.numbers.get_or_insert_with(|| Rc::new(numbers(tree)));
    }

    /// A word that the shell evaluates as an expression.
    pub(super) fn arithmetic(&mut self, word: &Word) {
        let text = self.tree.text(word.span);
        let is_all = matches!(text, b"@" | b"*");
        if !is_all {
            self.know_numbers();
        }
        let names = self.analysis.state.numbers.as_ref();
        let is_number =
            |name: &str| NUMBERS.contains(&name) || names.is_some_and(|names| names.contains(name));
        if !is_all && !is_certain(text, &is_number) {
            let span = self.span(word.span);
            self.analysis.push_unknown("arithmetic on values that are not known", span);
        }
        let text = lossless(text);
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

/// Whether an expression holds nothing but numbers, operators and names of numbers.
fn is_certain(text: &[u8], is_number: &dyn Fn(&str) -> bool) -> bool {
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
            if signs >= 2 {
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

/// The variables that a script sets to numbers wherever it sets them.
fn numbers(tree: &Tree) -> BTreeSet<String> {
    let mut found = Numbers { tree, set: BTreeSet::new(), other: BTreeSet::new(), is_lost: false };
    for command in tree.commands() {
        found.command(command);
    }
    for word in tree.words() {
        found.word(word);
    }
    if found.is_lost {
        return BTreeSet::new();
    }
    found.set.difference(&found.other).cloned().collect()
}

struct Numbers<'t> {
    tree: &'t Tree,
    set: BTreeSet<String>,
    other: BTreeSet<String>,
    /// Whether anything may be set to anything.
    is_lost: bool,
}

impl Numbers<'_> {
    fn command(&mut self, command: &Command) {
        match command.kind {
            Kind::Simple(simple) => {
                for assignment in self.tree.list(simple.assignments) {
                    let name = lossless(self.tree.text(assignment.name));
                    let is_number = match assignment.value {
                        Assigned::Word(word) => self.are_numbers(word),
                        Assigned::Array(_) => false,
                    };
                    self.note(name, is_number && assignment.subscript.is_empty());
                }
                self.program(self.tree.list(simple.words));
            }
            Kind::For(each) => {
                let is_number = each.words.is_some_and(|words| self.are_numbers(words));
                self.names(each.name, is_number);
            }
            Kind::Select(each) => self.names(each.name, false),
            Kind::Coproc { name, .. } => self.names(name, false),
            Kind::Subshell(_)
            | Kind::Group(_)
            | Kind::If(_)
            | Kind::While(_)
            | Kind::Until(_)
            | Kind::ArithmeticFor { .. }
            | Kind::Case { .. }
            | Kind::Function { .. }
            | Kind::Test(_)
            | Kind::Arithmetic(_) => {}
        }
    }

    /// Builtins that set variables.
    fn program(&mut self, words: &[Word]) {
        let Some((program, words)) = words.split_first() else { return };
        let Value::Literal(program) = self.tree.value(program) else {
            self.is_lost = true;
            return;
        };
        match program {
            b"eval" | b"source" | b"." | b"builtin" | b"command" => self.is_lost = true,
            b"read" | b"mapfile" | b"readarray" | b"getopts" | b"printf" | b"wait" | b"unset" => {
                for word in words {
                    self.note(lossless(self.tree.text(word.span)), false);
                }
            }
            b"declare" | b"local" | b"typeset" | b"export" | b"readonly" | b"let" => {
                for word in words {
                    let text = lossless(self.tree.text(word.span));
                    if text.starts_with('-') && text.contains('n') {
                        self.is_lost = true;
                    }
                    match text.split_once('=') {
                        Some((name, value)) => {
                            self.note(name.trim_end_matches('+').to_owned(), is_integer(value));
                        }
                        None => self.note(text, false),
                    }
                }
            }
            _ => {}
        }
    }

    fn word(&mut self, word: &Word) {
        if word.place == Place::Arithmetic {
            self.expression(&lossless(self.tree.text(word.span)));
        }
        for part in self.tree.list(word.parts) {
            if let PartKind::Parameter(expansions) = part.kind {
                for expansion in self.tree.list(expansions) {
                    if expansion.operator == portcullis_shell::Action::Assign {
                        self.note(lossless(self.tree.text(expansion.name)), false);
                    }
                }
            }
        }
    }

    /// Names that an expression sets: what it sets them to is a number.
    fn expression(&mut self, text: &str) {
        let mut rest = text;
        while let Some(start) =
            rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        {
            rest = rest.get(start..).unwrap_or_default();
            let len = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (name, behind) =
                rest.split_at_checked(len.unwrap_or(rest.len())).unwrap_or((rest, ""));
            let next = behind.trim_start();
            if next.starts_with('=') && !next.starts_with("==") {
                self.note(name.to_owned(), true);
            }
            rest = behind;
        }
    }

    fn names(&mut self, names: List<Word>, is_number: bool) {
        for name in self.tree.list(names) {
            self.note(lossless(self.tree.text(name.span)), is_number);
        }
    }

    fn note(&mut self, name: String, is_number: bool) {
        let into = if is_number { &mut self.set } else { &mut self.other };
        into.insert(name);
    }

    fn are_numbers(&self, words: List<Word>) -> bool {
        self.tree.list(words).iter().all(|word| self.is_number(word))
    }

    fn is_number(&self, word: &Word) -> bool {
        match self.tree.value(word) {
            Value::Literal(text) => is_integer(&lossless(text)),
            Value::Set(members) => members.iter().all(|member| match member {
                Value::Literal(text) => is_integer(&lossless(text)),
                Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => false,
            }),
            Value::Pattern { .. } => false,
            Value::Tainted(_) => match self.tree.list(word.parts) {
                [part] => match part.kind {
                    PartKind::Arithmetic { .. } => true,
                    PartKind::Command { .. } => counts(&lossless(self.tree.text(part.span))),
                    PartKind::Parameter(expansions) => {
                        let all = self.tree.list(expansions);
                        all.iter().all(|expansion| expansion.prefix == Prefix::Length)
                    }
                    PartKind::DoubleQuoted { .. }
                    | PartKind::Literal
                    | PartKind::Escaped(_)
                    | PartKind::SingleQuoted(_)
                    | PartKind::AnsiC(_)
                    | PartKind::Process { .. }
                    | PartKind::Glob
                    | PartKind::ExtendedGlob { .. }
                    | PartKind::Brace(_)
                    | PartKind::Sequence
                    | PartKind::Tilde
                    | PartKind::Array(_) => false,
                },
                _ => false,
            },
        }
    }
}

/// Whether a command prints one number: the last of its pipeline counts what it gets.
fn counts(text: &str) -> bool {
    let inner = text.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
    let Some(inner) = inner.filter(|inner| !inner.contains([';', '&', '`', '\n', '(', '{'])) else {
        return false;
    };
    let last = inner.rsplit('|').next().unwrap_or_default();
    let words: Vec<&str> = last.split('<').next().unwrap_or_default().split_whitespace().collect();
    match words.as_slice() {
        ["nproc"] | ["date", "+%s" | "+%Y"] | ["id", "-u" | "-g"] => true,
        ["wc", option] => matches!(*option, "-l" | "-c" | "-w" | "-m"),
        _ => false,
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn lossless(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
