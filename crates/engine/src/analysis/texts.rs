//! Texts that a script holds: which of its variables may get one, looked up once for the tree.
//!
//! What a script writes out can be cut and joined to any name. What it finds in the world, by a
//! pattern or a command, is a name that is there.

use std::collections::BTreeSet;
use std::rc::Rc;

use portcullis_shell::{
    Assigned, Command, Kind, List, Operator, PartKind, Prefix, Span, Tree, Value, Word,
};

use super::sets::{copied, lossless};
use crate::catalog;

/// The variables of a script that may hold a text which it writes out.
#[derive(Debug, Default)]
pub struct Texts {
    names: BTreeSet<String>,
    /// Whether any variable may.
    is_lost: bool,
    /// Whether one of them may be several words.
    has_blanks: bool,
}

impl Texts {
    /// Whether a variable may hold one: parameters are whatever a caller writes.
    pub(super) fn may_be_in(&self, name: &str) -> bool {
        self.is_lost || is_parameter(name) || self.names.contains(name)
    }

    /// Whether a variable holds no more than one word, wherever it is set.
    pub(super) fn is_one_word(&self, name: &str) -> bool {
        !self.is_lost && !self.has_blanks && !is_parameter(name)
    }
}

/// The variables of this script.
pub(super) fn of(tree: &Tree) -> Rc<Texts> {
    let printers = tree.commands().filter(|command| prints_text(tree, command));
    let printers = printers.map(|command| tree.locate(command.span)).collect();
    let mut found = Search { tree, printers, texts: Texts::default(), copies: Vec::new() };
    for command in tree.commands() {
        found.command(command);
    }
    for word in tree.words() {
        found.defaults(word);
    }
    found.follow_copies();
    Rc::new(found.texts)
}

struct Search<'t> {
    tree: &'t Tree,
    /// Where something is printed that the script writes out.
    printers: Vec<Span>,
    texts: Texts,
    /// Variables that get what another holds, with its name.
    copies: Vec<(String, String)>,
}

impl Search<'_> {
    fn command(&mut self, command: &Command) {
        match command.kind {
            Kind::Simple(simple) => {
                for assignment in self.tree.list(simple.assignments) {
                    let name = lossless(self.tree.text(assignment.name));
                    match assignment.value {
                        Assigned::Word(words) => self.gets(name, words),
                        Assigned::Array(_) => self.holds_any(name),
                    }
                }
                self.program(self.tree.list(simple.words));
            }
            Kind::For(each) | Kind::Select(each) => {
                for name in self.tree.list(each.name) {
                    self.gets(lossless(self.tree.text(name.span)), each.words.unwrap_or_default());
                }
            }
            Kind::Coproc { .. }
            | Kind::Subshell(_)
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
        let Some((first, words)) = words.split_first() else { return };
        let Value::Literal(program) = self.tree.value(first) else { return };
        match program {
            b"command" | b"builtin" => self.program(words),
            b"eval" | b"source" | b"." => self.texts.is_lost = true,
            b"read" | b"mapfile" | b"readarray" => {
                // What they read may be printed anywhere.
                let reads_text = !self.printers.is_empty();
                for word in words.iter().filter(|_| reads_text) {
                    self.named(word);
                }
            }
            b"getopts" | b"printf" | b"print" | b"let" => {
                for word in words {
                    self.named(word);
                }
            }
            b"declare" | b"local" | b"typeset" | b"export" | b"readonly" => {
                for word in words {
                    self.declared(word);
                }
            }
            _ => {}
        }
    }

    /// A word that may be the name of a variable.
    fn named(&mut self, word: &Word) {
        match self.tree.value(word) {
            Value::Literal(text) => self.holds_any(lossless(text)),
            Value::Set(_) | Value::Pattern { .. } | Value::Tainted(_) => self.texts.is_lost = true,
        }
    }

    /// `x=text`.
    fn declared(&mut self, word: &Word) {
        let text = lossless(self.tree.text(word.span));
        let Some((name, value)) = text.split_once('=') else { return };
        let is_found = value.trim_start_matches('"').starts_with("$(") && !self.prints(word.span);
        if is_text(value) && !is_found {
            self.holds_any(name.trim_end_matches('+').to_owned());
        }
    }

    /// `${x:=text}`.
    fn defaults(&mut self, word: &Word) {
        for part in self.tree.list(word.parts) {
            let PartKind::Parameter(expansions) = part.kind else { continue };
            for expansion in self.tree.list(expansions) {
                if expansion.operator == portcullis_shell::Action::Assign {
                    self.holds_any(lossless(self.tree.text(expansion.name)));
                }
            }
        }
    }

    fn gets(&mut self, name: String, words: List<Word>) {
        if let Some(from) = copied(self.tree, words) {
            self.copies.push((name, from));
            return;
        }
        let words = self.tree.list(words);
        if !words.iter().all(|word| self.is_found(word)) {
            self.texts.has_blanks |= name == "IFS" || !words.iter().all(|word| self.is_one(word));
            self.holds(name);
        }
    }

    /// Whether a word is a text without blanks.
    fn is_one(&self, word: &Word) -> bool {
        let Value::Literal(text) = self.tree.value(word) else { return self.is_found(word) };
        !text.iter().any(u8::is_ascii_whitespace)
    }

    /// A variable gets a text that is not known here.
    fn holds_any(&mut self, name: String) {
        self.texts.has_blanks = true;
        self.holds(name);
    }

    fn holds(&mut self, name: String) {
        self.texts.names.insert(name);
    }

    /// Whether a word is a number, or stands for what is found in the world.
    fn is_found(&self, word: &Word) -> bool {
        if let Value::Literal(text) = self.tree.value(word) {
            return !is_text(&lossless(text));
        }
        let mut parts = self.tree.list(word.parts);
        if let [part] = parts
            && let PartKind::DoubleQuoted { parts: inner, .. } = part.kind
        {
            parts = self.tree.list(inner);
        }
        if parts.iter().any(|part| matches!(part.kind, PartKind::Glob)) {
            return true;
        }
        let [part] = parts else { return false };
        match part.kind {
            PartKind::Command { .. } => !self.prints(part.span),
            PartKind::Arithmetic { .. } | PartKind::Sequence => true,
            PartKind::Parameter(expansions) => {
                let mut all = self.tree.list(expansions).iter();
                all.all(|expansion| expansion.prefix == Prefix::Length)
            }
            PartKind::Literal
            | PartKind::Escaped(_)
            | PartKind::SingleQuoted(_)
            | PartKind::AnsiC(_)
            | PartKind::DoubleQuoted { .. }
            | PartKind::Process { .. }
            | PartKind::Glob
            | PartKind::ExtendedGlob { .. }
            | PartKind::Brace(_)
            | PartKind::Tilde
            | PartKind::Array(_) => false,
        }
    }

    /// Whether something at this place prints what the script writes out.
    fn prints(&self, span: Span) -> bool {
        let span = self.tree.locate(span);
        let is_inside = |inner: &Span| span.start <= inner.start && inner.end <= span.end;
        self.printers.iter().any(is_inside)
    }

    fn follow_copies(&mut self) {
        let mut count = None;
        while count != Some(self.texts.names.len()) {
            count = Some(self.texts.names.len());
            for (name, from) in &self.copies {
                if self.texts.may_be_in(from) {
                    self.texts.names.insert(name.clone());
                }
            }
        }
    }
}

/// Whether a command prints its words or a text that is written behind it; a function may.
fn prints_text(tree: &Tree, command: &Command) -> bool {
    let is_here = tree.list(command.redirections).iter().any(|redirection| {
        redirection.heredoc.is_some() || redirection.operator == Operator::HereString
    });
    let Kind::Simple(simple) = command.kind else { return is_here };
    let Some(first) = tree.list(simple.words).first() else { return is_here };
    let Value::Literal(program) = tree.value(first) else { return true };
    let found = catalog::find(&lossless(program));
    is_here || found.is_none_or(|found| found.entry.prints.repeats())
}

/// Whether a variable is a parameter of a script or a function.
pub(super) fn is_parameter(name: &str) -> bool {
    matches!(name, "@" | "*" | "_") || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text has letters that a name could be made of.
fn is_text(text: &str) -> bool {
    text.chars().any(char::is_alphabetic)
}
