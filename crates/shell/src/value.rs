//! Values: what a word is worth before anything runs.

use crate::span::{Span, narrow};
use crate::tree::Tree;

/// What a word is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'t> {
    /// Exactly this text, as one field.
    Literal(&'t [u8]),
    /// Exactly these fields in this order, possibly none; no member is a set itself.
    Set(Vec<Value<'t>>),
    /// File names that begin with `prefix`, or the word as it stands where none matches.
    Pattern {
        /// The text before the first sign of a pattern.
        prefix: &'t [u8],
    },
    /// Not known before it runs.
    Tainted(Taint<'t>),
}

/// Why a value is not known, and what is known of it all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taint<'t> {
    /// What makes it unknown.
    pub kind: TaintKind,
    /// The part that does, in the tree's text; [`Tree::locate`] leads to the given one.
    pub span: Span,
    /// The first field, if there is one, begins with this text.
    pub prefix: &'t [u8],
    /// Whether it is exactly one field, whatever it holds.
    pub one_field: bool,
}

/// What makes a value unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaintKind {
    /// A parameter whose value is not known here.
    Parameter,
    /// The output of a command.
    Command,
    /// The name of a pipe to a process.
    Process,
    /// The result of arithmetic.
    Arithmetic,
    /// A home directory or another directory the shell knows.
    Tilde,
    /// The elements of an array.
    Array,
    /// More fields or bytes than are kept.
    TooMany,
    /// Braces, which some shells expand and others keep.
    Brace,
    /// A pattern under options that change what it matches.
    Pattern,
}

impl TaintKind {
    /// The kind's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TaintKind::Parameter => "parameter",
            TaintKind::Command => "command",
            TaintKind::Process => "process",
            TaintKind::Arithmetic => "arithmetic",
            TaintKind::Tilde => "tilde",
            TaintKind::Array => "array",
            TaintKind::TooMany => "too-many",
            TaintKind::Brace => "brace",
            TaintKind::Pattern => "pattern",
        }
    }
}

/// A value as the tree keeps it: places instead of texts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stored {
    Literal(Span),
    Set { start: u32, len: u32 },
    Pattern(Span),
    Tainted { kind: TaintKind, span: Span, prefix: Span, one_field: bool },
}

impl Default for Stored {
    /// Until it is folded a word is worth nothing that could be relied on.
    fn default() -> Stored {
        let nowhere = Span::default();
        Stored::Tainted {
            kind: TaintKind::Parameter,
            span: nowhere,
            prefix: nowhere,
            one_field: false,
        }
    }
}

impl Stored {
    pub(crate) const fn set(start: usize, len: usize) -> Stored {
        Stored::Set { start: narrow(start), len: narrow(len) }
    }

    pub(crate) fn view(self, tree: &Tree) -> Value<'_> {
        match self {
            Stored::Literal(text) => Value::Literal(tree.text(text)),
            Stored::Pattern(prefix) => Value::Pattern { prefix: tree.text(prefix) },
            Stored::Tainted { kind, span, prefix, one_field } => {
                Value::Tainted(Taint { kind, span, prefix: tree.text(prefix), one_field })
            }
            Stored::Set { start, len } => {
                let (start, len) = (start as usize, len as usize);
                let members = tree.sets.get(start..start.saturating_add(len)).unwrap_or_default();
                Value::Set(members.iter().map(|member| member.view(tree)).collect())
            }
        }
    }
}
