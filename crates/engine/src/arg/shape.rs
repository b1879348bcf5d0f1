//! The shape of a word: what its parts tell beyond its value.

use std::collections::VecDeque;

use portcullis_shell::{Action, List, Part, PartKind, Prefix, Span, Tree};

use super::braces::Member;
use super::{Known, Text, escaped, lossless};
use crate::analysis::counts;
use crate::glob;

/// A set with more text than this is taken for anything.
const LONGEST_SET: usize = 512;

/// What the parts of a word tell, one after the other.
pub(super) struct Shape<'a> {
    tree: &'a Tree,
    known: Known<'a>,
    text: String,
    pattern: String,
    home: bool,
    signs: Signs,
    /// Whether a variable may since have got another value.
    pub(super) is_guessed: bool,
    /// The text before the first sign of a pattern.
    prefix: Option<String>,
    /// Where in the pattern a set was opened that is not closed yet.
    set: Option<usize>,
    pub(super) braces: Braces,
}

/// Which signs of a pattern were seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Signs {
    /// None.
    No,
    /// Ordinary ones.
    Plain,
    /// One that may turn around what follows: the pattern says nothing of that.
    Turning,
}

/// What braces stand for.
#[derive(Clone)]
pub(super) enum Braces {
    /// They are not looked into.
    Closed,
    /// Anything.
    Any,
    /// These members, one for each pair.
    Members(VecDeque<Member>),
}

impl<'a> Shape<'a> {
    pub(super) fn new(tree: &'a Tree, known: Known<'a>) -> Shape<'a> {
        let (text, pattern) = (String::new(), String::new());
        let (home, signs, is_guessed) = (false, Signs::No, false);
        Shape {
            tree,
            known,
            text,
            pattern,
            home,
            signs,
            is_guessed,
            prefix: None,
            set: None,
            braces: Braces::Closed,
        }
    }

    /// Takes parts up to one of which nothing is known; at their start a home may stand if they
    /// are open.
    pub(super) fn parts(&mut self, parts: &[Part], is_open: bool) -> Option<()> {
        for part in parts {
            match part.kind {
                PartKind::Literal => self.literal(&lossless(self.tree.text(part.span))),
                PartKind::Escaped(span) | PartKind::SingleQuoted(span) | PartKind::AnsiC(span) => {
                    self.push(&lossless(self.tree.text(span)));
                }
                PartKind::DoubleQuoted { parts, locale: false } => {
                    self.parts(self.tree.list(parts), false)?;
                }
                PartKind::Glob => self.glob(&lossless(self.tree.text(part.span))),
                PartKind::Tilde if is_open && self.text.is_empty() => {
                    self.home = true;
                    let written = lossless(self.tree.text(part.span));
                    self.push(&written);
                }
                PartKind::Parameter(expansions) => self.parameter(expansions)?,
                PartKind::Brace(_) | PartKind::Sequence => self.member(is_open)?,
                PartKind::Arithmetic { .. } if self.known.numbers.is_some() => self.push("1"),
                PartKind::Command { .. } if self.is_counted(part.span) => self.push("1"),
                PartKind::Command { .. } if self.is_here(part.span) => {
                    let directory = self.known.directory?;
                    self.push(directory);
                }
                PartKind::DoubleQuoted { .. }
                | PartKind::Command { .. }
                | PartKind::Process { .. }
                | PartKind::Arithmetic { .. }
                | PartKind::ExtendedGlob { .. }
                | PartKind::Tilde
                | PartKind::Array(_) => return None,
            }
        }
        Some(())
    }

    /// What a pair of braces stands for.
    fn member(&mut self, is_open: bool) -> Option<()> {
        match &mut self.braces {
            Braces::Closed => return None,
            Braces::Any => self.glob("*"),
            Braces::Members(members) => {
                let Some(member) = members.pop_front() else {
                    self.glob("*");
                    return Some(());
                };
                match member {
                    Member::Number => self.glob("*"),
                    Member::Letter(letter) => self.push(letter.encode_utf8(&mut [0; 4])),
                    // What was chosen for the braces inside it stands behind it.
                    Member::Word(word) => self.parts(self.tree.list(word.parts), is_open)?,
                }
            }
        }
        Some(())
    }

    /// Whether a command prints a number, where one is as good as another.
    fn is_counted(&self, span: Span) -> bool {
        let text = || lossless(self.tree.text(span));
        self.known.numbers.is_some_and(|sets| sets.counts && counts(&text()))
    }

    /// Whether a command prints nothing but the directory that is worked in, or the root of its
    /// repository, which is taken for the same place.
    fn is_here(&self, span: Span) -> bool {
        let text = lossless(self.tree.text(span));
        let inner = text.strip_prefix("$(").and_then(|text| text.strip_suffix(')'));
        let inner = inner.or_else(|| text.strip_prefix('`')?.strip_suffix('`'));
        let is_plain = self.known.directory.is_some_and(|path| !path.contains(char::is_whitespace));
        is_plain
            && self.text.is_empty()
            && matches!(inner.map(str::trim), Some("pwd" | "git rev-parse --show-toplevel"))
    }

    /// `$HOME`, `$PWD` and what was set below a home, at the start of a word.
    fn parameter(&mut self, expansions: List<portcullis_shell::Expansion>) -> Option<()> {
        let [expansion] = self.tree.list(expansions) else { return None };
        let is_plain = expansion.prefix == Prefix::None
            && expansion.operator == Action::Read
            && expansion.subscript.is_empty();
        let name = self.tree.text(expansion.name);
        let held = self.known.round.iter().find(|(held, _)| held.as_bytes() == name);
        if let Some((_, value)) = held.filter(|_| is_plain) {
            self.push(value);
            return Some(());
        }
        let numbers = self.known.numbers.filter(|_| is_plain);
        let is_number = |name| numbers.is_some_and(|sets| sets.numbers.contains(name));
        if std::str::from_utf8(name).is_ok_and(is_number) {
            self.push("1");
            return Some(());
        }
        if !is_plain || !self.text.is_empty() {
            return None;
        }
        match name {
            b"HOME" => {
                self.home = true;
                self.push("~");
            }
            b"PWD" => {
                let directory = self.known.directory?;
                self.push(directory);
            }
            name => {
                let value = self.known.homes.get(std::str::from_utf8(name).ok()?)?.clone();
                self.home = true;
                self.is_guessed = true;
                self.push(&value);
            }
        }
        Some(())
    }

    /// What its parts tell, all of them or up to one of which nothing is known; it is one argument
    /// or any number.
    pub(super) fn text(self, is_whole: bool, is_one: bool) -> Option<Text> {
        let Shape { text, pattern, home, signs, prefix, is_guessed, .. } = self;
        match (is_whole, home) {
            // What follows is not known, but it lies below a home.
            (_, true) if !is_whole || is_guessed => {
                Some(if is_one { Text::Begins(text) } else { Text::Any(text) })
            }
            (false, _) => None,
            (true, _) if signs != Signs::No => {
                Some(Text::Files { prefix: prefix.unwrap_or_default(), pattern })
            }
            (true, true) => Some(Text::Home(text)),
            (true, false) => Some(Text::Known(text)),
        }
    }

    /// Text outside quotes: in a set it is members, up to the bracket that closes it.
    pub(super) fn literal(&mut self, text: &str) {
        let mut letters = text.chars();
        while let Some(start) = self.set
            && let Some(letter) = letters.next()
        {
            self.text.push(letter);
            self.pattern.push(letter);
            let is_closed =
                letter == ']' && glob::set_end(self.pattern.as_bytes(), start).is_some();
            if is_closed || letter == '/' {
                self.set = None;
            } else if self.pattern.len() - start > LONGEST_SET {
                self.pattern.truncate(start);
                self.pattern.push('*');
                (self.set, self.signs) = (None, Signs::Turning);
            }
        }
        self.push(letters.as_str());
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.signs != Signs::Turning {
            self.pattern.push_str(&escaped(text));
        }
    }

    fn glob(&mut self, text: &str) {
        if self.prefix.is_none() {
            self.prefix = Some(self.text.clone());
        }
        self.text.push_str(text);
        if self.signs == Signs::Turning {
            return;
        }
        // What zsh may exclude or turn around fits more than what is written.
        let turns = matches!(text, "~" | "^");
        self.signs = if turns { Signs::Turning } else { Signs::Plain };
        if text == "[" && self.set.is_none() {
            self.set = Some(self.pattern.len());
        }
        self.pattern.push_str(if turns { "*" } else { text });
        if turns {
            self.set = None;
        }
    }
}
