//! One field of a word, while its parts are put together.

use crate::span::Span;
use crate::tree::Tree;
use crate::value::{Stored, TaintKind};

/// One field while it grows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Field {
    /// Its text so far, a span of the tree's text.
    pub(super) text: Span,
    /// What ended our knowledge of it.
    pub(super) end: Option<End>,
    /// Whether a quote keeps the field even if it is empty.
    pub(super) is_kept: bool,
    /// Whether a blank ended the field, so that what follows belongs to the next.
    pub(super) is_closed: bool,
}

impl Field {
    pub(super) fn is_filled(&self) -> bool {
        self.is_kept || self.end.is_some() || !self.text.is_empty()
    }

    /// Adds text, without a copy where it follows what is there.
    pub(super) fn append(&mut self, tree: &mut Tree, added: Span) {
        if self.end.is_some() || self.is_closed || added.is_empty() {
            return;
        }
        if self.text.is_empty() {
            self.text = added;
        } else if self.text.end == added.start {
            self.text.end = added.end;
        } else {
            if self.text.end as usize != tree.text.len() {
                self.text = tree.copy(self.text);
            }
            self.text.end = tree.copy(added).end;
        }
    }

    /// What is kept of it; `is_single` says that its word is one field wherever it stands.
    pub(super) fn store(self, is_single: bool) -> Stored {
        match self.end {
            None => Stored::Literal(self.text),
            Some(End::Pattern) => Stored::Pattern(self.text),
            Some(End::Taint { kind, span, one_field }) => {
                let one_field = one_field || is_single;
                Stored::Tainted { kind, span, prefix: self.text, one_field }
            }
        }
    }
}

/// Why the text of a field ends before the field does.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Pattern,
    Taint { kind: TaintKind, span: Span, one_field: bool },
}
