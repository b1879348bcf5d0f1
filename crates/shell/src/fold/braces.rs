//! Folding braces: every alternative makes a field of each that stands before.

use crate::fold::Folder;
use crate::limits::Limits;
use crate::sequence::Sequence;
use crate::span::Span;
use crate::tree::List;
use crate::value::TaintKind;
use crate::word::Word;

impl Folder<'_, '_> {
    /// Braces come before splitting: behind a split constant their order is not followed.
    fn is_split_before(&mut self, span: Span) -> bool {
        let is_split = self.each().iter().any(|field| field.is_closed);
        if is_split {
            self.first.text = Span::default();
            self.overflow = Some(span);
        }
        is_split
    }

    pub(super) fn brace(&mut self, span: Span, alternatives: List<Word>) {
        if self.is_split_before(span) {
            return;
        }
        let before = self.each().to_vec();
        let begin = before.first().copied().unwrap_or_default();
        let mut after = Vec::new();
        for field in before {
            for at in alternatives.range() {
                let Some(word) = self.tree.words.get(at).copied() else { continue };
                self.fields.clear();
                self.first = field;
                self.parts(word.parts, false);
                after.extend_from_slice(self.each());
                if after.len() > Limits::FIELDS {
                    self.overflow = Some(span);
                }
                if self.overflow.is_some() {
                    self.first = begin;
                    return;
                }
            }
        }
        self.fields = after;
        self.check_size(span);
    }

    pub(super) fn sequence(&mut self, span: Span) {
        if self.is_split_before(span) {
            return;
        }
        let inner = Span { start: span.start.saturating_add(1), end: span.end.saturating_sub(1) };
        let Some(sequence) = Sequence::read(self.tree.text(inner)) else { return };
        if !sequence.is_plain() {
            self.taint(TaintKind::Brace, span, false);
            return;
        }
        let before = self.each().to_vec();
        if sequence.len().saturating_mul(before.len() as u64) > Limits::FIELDS as u64 {
            self.overflow = Some(span);
            return;
        }
        let texts: Vec<Vec<u8>> = sequence.texts().collect();
        self.fields.clear();
        for field in before {
            for text in &texts {
                let mut field = field;
                let added = self.tree.keep(text);
                field.append(self.tree, added);
                self.fields.push(field);
            }
        }
        self.check_size(span);
    }
}
