//! Folding parameters: what a constant is worth where it stands, split where blanks part it.

use crate::dialect::Dialect;
use crate::fold::Folder;
use crate::fold::field::{End, Field};
use crate::limits::Limits;
use crate::span::Span;
use crate::tree::List;
use crate::value::TaintKind;
use crate::word::{Action, Expansion, Place, Prefix};

impl Folder<'_, '_> {
    pub(super) fn parameter(&mut self, span: Span, expansion: List<Expansion>, quoted: bool) {
        let value = self.tree.only(expansion).copied().and_then(|e| self.constant(e));
        match value {
            None => {
                let one_field = quoted && !self.is_list(expansion);
                self.taint(TaintKind::Parameter, span, one_field);
            }
            Some(value) if quoted || !self.splits => {
                self.append(value);
                self.check_size(span);
            }
            Some(value) => self.split(value, span),
        }
    }

    /// The value of an expansion that only reads a constant.
    fn constant(&self, expansion: Expansion) -> Option<Span> {
        // Braces are expanded as text, so a name without braces of its own may grow.
        let is_settled = expansion.braced || !self.has_braces;
        let is_plain =
            is_settled && expansion.prefix == Prefix::None && expansion.subscript.is_empty();
        if !is_plain {
            return None;
        }
        let value = self.known.get(self.tree, self.tree.text(expansion.name))?;
        let is_read = expansion.operator == Action::Read;
        (is_read || expansion.operator == Action::Default && !value.is_empty()).then_some(value)
    }

    /// A constant outside quotes: blanks part it into fields, and signs of patterns match files.
    fn split(&mut self, value: Span, span: Span) {
        let text = self.tree.text(value);
        let is_sign = |byte: &u8| matches!(byte, b'*' | b'?' | b'[' | b'\\' | b'(');
        if !self.known.splits_on_blanks || text.iter().any(is_sign) {
            self.taint(TaintKind::Parameter, span, false);
            return;
        }
        // Only bash splits the target of a redirection.
        let has_blank = text.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
        let is_doubtful = matches!(self.place, Place::Target | Place::AssignmentArgument);
        if has_blank && is_doubtful && self.tree.dialect != Dialect::Bash {
            self.taint(TaintKind::Parameter, span, false);
            return;
        }
        let mut after = Vec::new();
        for mut field in self.each().to_vec() {
            if field.end.is_some() || field.is_closed {
                // What is split off it makes another field of it.
                if let Some(End::Taint { one_field, .. }) = &mut field.end {
                    *one_field &= !has_blank;
                }
                after.push(field);
                continue;
            }
            let mut from = value.start;
            for at in value.start..value.end {
                let byte = self.tree.text.get(at as usize).copied().unwrap_or(0);
                if !matches!(byte, b' ' | b'\t' | b'\n') {
                    continue;
                }
                field.append(self.tree, Span { start: from, end: at });
                from = at + 1;
                if field.is_filled() {
                    after.push(Field { is_closed: true, ..field });
                    field = Field::default();
                }
                if after.len() > Limits::FIELDS {
                    self.overflow = Some(span);
                    return;
                }
            }
            field.append(self.tree, Span { start: from, end: value.end });
            after.push(field);
        }
        if after.len() > Limits::FIELDS {
            self.overflow = Some(span);
            return;
        }
        if let [only] = *after {
            self.first = only;
            self.fields.clear();
        } else {
            self.fields = after;
        }
        self.check_size(span);
    }
}
