//! What a script sets: its variables, looked up once for the whole tree.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use portcullis_shell::{
    Action, Assigned, Assignment, Command, Expansion, Kind, List, Part, PartKind, Place, Prefix,
    Tree, Value, Word,
};

use super::counts::{counts, is_integer};
use crate::catalog;

/// The variables of a script by how it sets them.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    /// Those that get a number wherever they are set.
    pub numbers: BTreeSet<String>,
    /// Those that are set at one place alone.
    pub once: BTreeSet<String>,
    /// All of them.
    pub all: BTreeSet<String>,
    /// Arrays that are written out at the one place that sets them.
    pub arrays: BTreeMap<String, Vec<String>>,
    /// Whether all that is set is known.
    pub is_told: bool,
    /// Whether programs that count are themselves: no function or alias stands in for one.
    pub counts: bool,
}

/// What a script sets; nothing if anything may be set to anything.
pub(super) fn of(tree: &Tree) -> Rc<Sets> {
    let (set, other, times) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
    let programs = BTreeSet::new();
    let copies = Vec::new();
    let counts = !tree.commands().any(|command| stands_in(tree, command));
    let tables = tree.commands().any(|command| makes_table(tree, command));
    let arrays = BTreeMap::new();
    let mut found = Numbers {
        tree,
        set,
        other,
        copies,
        times,
        programs,
        arrays,
        tables,
        counts,
        is_lost: false,
    };
    for command in tree.commands() {
        found.command(command);
    }
    for word in tree.words() {
        found.word(word);
    }
    // A program that a loop names is one of its words, if nobody else sets the variable.
    let is_looped = |name: &String| found.times.get(name) == Some(&1) && names_programs(tree, name);
    if found.is_lost || !found.programs.iter().all(is_looped) {
        return Rc::default();
    }
    found.follow_copies();
    let numbers = found.set.difference(&found.other).cloned().collect();
    let all = found.times.keys().cloned().collect();
    let once = found.times.into_iter().filter(|(_, times)| *times == 1);
    let once: BTreeSet<String> = once.map(|(name, _)| name).collect();
    let mut arrays = found.arrays;
    arrays.retain(|name, _| once.contains(name));
    Rc::new(Sets { numbers, once, all, arrays, is_told: true, counts })
}

struct Numbers<'t> {
    tree: &'t Tree,
    set: BTreeSet<String>,
    other: BTreeSet<String>,
    /// Those that get what another holds, with its name.
    copies: Vec<(String, String)>,
    /// How often each is set.
    times: BTreeMap<String, usize>,
    /// Those that stand where a program does.
    programs: BTreeSet<String>,
    /// Arrays that are written out somewhere.
    arrays: BTreeMap<String, Vec<String>>,
    /// Whether an array may have texts for its subscripts.
    tables: bool,
    /// Whether programs that count are themselves.
    counts: bool,
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
                        Assigned::Word(word) => {
                            let copied = copied(self.tree, word).filter(|_| !assignment.appends);
                            let is_copy = copied.is_some();
                            self.copies.extend(copied.map(|from| (name.clone(), from)));
                            is_copy || self.are_numbers(word)
                        }
                        Assigned::Array(elements) => {
                            if let Some(texts) = self.texts(elements) {
                                self.arrays.insert(name.clone(), texts);
                            }
                            false
                        }
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

    /// The elements of an array, if they are written out one after the other.
    fn texts(&self, elements: List<Assignment>) -> Option<Vec<String>> {
        let elements = self.tree.list(elements).iter();
        let text = |element: &Assignment| {
            let Assigned::Word(word) = element.value else { return None };
            let [word] = self.tree.list(word) else { return None };
            let Value::Literal(text) = self.tree.value(word) else { return None };
            element.subscript.is_empty().then(|| lossless(text))
        };
        elements.map(text).collect()
    }

    /// What repeats something else than a number is none.
    fn follow_copies(&mut self) {
        let mut count = None;
        while count != Some(self.other.len()) {
            count = Some(self.other.len());
            for (name, from) in &self.copies {
                if !self.set.contains(from) || self.other.contains(from) {
                    self.other.insert(name.clone());
                }
            }
        }
    }

    /// Builtins that set variables.
    fn program(&mut self, words: &[Word]) {
        let Some((first, words)) = words.split_first() else { return };
        let Value::Literal(program) = self.tree.value(first) else {
            let text = lossless(self.tree.text(first.span));
            let name = text.trim_matches('"').trim_start_matches(['$', '{']).trim_end_matches('}');
            self.programs.insert(name.to_owned());
            return;
        };
        match program {
            b"command" if self.only_looks(words) => {}
            b"eval" | b"source" | b"." | b"builtin" | b"command" => self.is_lost = true,
            b"read" | b"mapfile" | b"readarray" | b"getopts" | b"wait" | b"unset" => {
                for word in words {
                    self.named(word);
                }
            }
            b"printf" | b"print" => match words {
                [option, name, ..] if self.tree.text(option.span) == b"-v" => self.named(name),
                // What may be the option may name anything.
                [option, ..] => match self.tree.value(option) {
                    Value::Literal(text) => self.is_lost |= text.starts_with(b"-v"),
                    Value::Tainted(taint) if !taint.prefix.is_empty() => {}
                    Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => {
                        self.is_lost = true;
                    }
                },
                [] => {}
            },
            b"declare" | b"local" | b"typeset" | b"export" | b"readonly" => {
                for word in words {
                    self.declared(word);
                }
            }
            b"let" => {
                for word in words {
                    match self.tree.value(word) {
                        Value::Literal(text) => self.expression(&lossless(text)),
                        Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => {
                            self.is_lost = true;
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// A name that a builtin sets; one that is not known may be any.
    fn named(&mut self, word: &Word) {
        match self.tree.value(word) {
            Value::Literal(text) => self.note(lossless(text), false),
            Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => self.is_lost = true,
        }
    }

    /// `x=1`, or a name alone.
    fn declared(&mut self, word: &Word) {
        let text = match self.tree.value(word) {
            Value::Literal(text) => lossless(text),
            Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => {
                lossless(self.tree.text(word.span))
            }
        };
        if text.starts_with('-') && text.contains('n') {
            self.is_lost = true;
        }
        let (name, value) = text.split_once('=').unwrap_or((&text, ""));
        let name = name.trim_end_matches('+');
        // What is put together may be any name.
        self.is_lost |= name.contains(['$', '`', '"', '\'', '\\', '{']);
        self.note(name.to_owned(), is_integer(value));
    }

    /// `command -v x` runs nothing.
    fn only_looks(&self, words: &[Word]) -> bool {
        words.first().is_some_and(|word| matches!(self.tree.text(word.span), b"-v" | b"-V"))
    }

    fn word(&mut self, word: &Word) {
        if word.place == Place::Arithmetic {
            self.expression(&lossless(self.tree.text(word.span)));
        }
        for part in self.tree.list(word.parts) {
            if let PartKind::Parameter(expansions) = part.kind {
                for expansion in self.tree.list(expansions) {
                    if expansion.operator == Action::Assign {
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
            let before = rest.get(..start).unwrap_or_default().trim_end();
            let is_stepped = before.ends_with("++") || before.ends_with("--");
            rest = rest.get(start..).unwrap_or_default();
            let len = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let (name, behind) =
                rest.split_at_checked(len.unwrap_or(rest.len())).unwrap_or((rest, ""));
            let next = behind.trim_start();
            let signs = ["++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
            let is_set = next.starts_with('=') && !next.starts_with("==");
            if is_set || is_stepped || signs.iter().any(|sign| next.starts_with(sign)) {
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
        *self.times.entry(name.clone()).or_default() += 1;
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
            Value::Tainted(_) => self.are_number_parts(word.parts),
        }
    }

    fn are_number_parts(&self, parts: List<Part>) -> bool {
        match self.tree.list(parts) {
            [part] => match part.kind {
                PartKind::Arithmetic { .. } => true,
                PartKind::Command { .. } => {
                    self.counts && counts(&lossless(self.tree.text(part.span)))
                }
                PartKind::Parameter(expansions) => {
                    let is_key = |only: &Expansion| {
                        let mut keys = self.tree.list(only.subscript).iter();
                        only.prefix == Prefix::Indirect
                            && !self.tables
                            && only.operator == Action::Read
                            && keys.any(|key| matches!(self.tree.text(key.span), b"@" | b"*"))
                    };
                    let all = self.tree.list(expansions);
                    all.iter().all(|only| only.prefix == Prefix::Length || is_key(only))
                }
                PartKind::DoubleQuoted { parts, .. } => self.are_number_parts(parts),
                PartKind::Literal
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
        }
    }
}

/// Whether a command makes an array whose subscripts are texts.
fn makes_table(tree: &Tree, command: &Command) -> bool {
    let Kind::Simple(simple) = command.kind else { return false };
    let mut words = tree.list(simple.words).iter().map(|word| tree.text(word.span));
    let declares: [&[u8]; 5] = [b"declare", b"typeset", b"local", b"readonly", b"export"];
    words.next().is_none_or(|first| declares.contains(&first))
        && words
            .any(|word| !word.first().is_some_and(u8::is_ascii_alphabetic) && word.contains(&b'A'))
}

/// Whether a command makes another of a program: a function or an alias with a name that is known.
fn stands_in(tree: &Tree, command: &Command) -> bool {
    match command.kind {
        Kind::Function { name, .. } => {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let is_name = |name: &str| name.bytes().all(is_part);
            let names = tree.list(name).iter().map(|word| lossless(tree.text(word.span)));
            names.into_iter().any(|name| !is_name(&name) || catalog::find(&name).is_some())
        }
        Kind::Simple(simple) => {
            let first = tree.list(simple.words).first().map(|word| tree.value(word));
            matches!(first, Some(Value::Literal(b"alias" | b"enable" | b"hash" | b"unalias")))
        }
        Kind::For(_)
        | Kind::Select(_)
        | Kind::Coproc { .. }
        | Kind::Subshell(_)
        | Kind::Group(_)
        | Kind::If(_)
        | Kind::While(_)
        | Kind::Until(_)
        | Kind::ArithmeticFor { .. }
        | Kind::Case { .. }
        | Kind::Test(_)
        | Kind::Arithmetic(_) => false,
    }
}

/// Whether a loop sets a variable, and each of its words is a program and no builtin.
fn names_programs(tree: &Tree, name: &str) -> bool {
    tree.commands().any(|command| {
        let Kind::For(each) = command.kind else { return false };
        let is_it = |word: &Word| tree.text(word.span) == name.as_bytes();
        let is_program = |word: &Word| match tree.value(word) {
            Value::Literal(text) => {
                let text = lossless(text);
                let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                is_name && catalog::find(&text).is_some_and(|program| !program.is_builtin)
            }
            Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => false,
        };
        tree.list(each.name).iter().all(is_it)
            && each.words.is_some_and(|words| tree.list(words).iter().all(is_program))
    })
}

/// The variable that a value repeats: `x=$y`, `x="${y}"`.
pub(super) fn copied(tree: &Tree, value: List<Word>) -> Option<String> {
    let [word] = tree.list(value) else { return None };
    let text = lossless(tree.text(word.span));
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text);
    let name = text.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !name.is_empty()).then(|| name.to_owned())
}

pub(super) fn lossless(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
