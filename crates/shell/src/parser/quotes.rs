//! The two kinds of quotes, and bodies of here-documents, which read like double quotes.

use crate::parser::words::{Parts, push_literal};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::List;
use crate::word::{Part, PartKind, Place};

impl Parser<'_> {
    /// `'…'`
    pub(crate) fn single_quoted(&mut self) -> Parsed<Part> {
        let start = self.pos;
        let at = self.run(start + 1, |byte| byte != b'\'');
        if at >= self.end {
            return Err(self.unclosed(start, 1, "the single quote", "'"));
        }
        self.pos = at + 1;
        let inner = Span::new(start + 1, at);
        Ok(Part { span: Span::new(start, at + 1), kind: PartKind::SingleQuoted(inner) })
    }

    /// `"…"`; `start` is where the part begins, at the quote or the `$` before it.
    pub(crate) fn double_quoted(&mut self, start: usize, locale: bool) -> Parsed<Part> {
        let quote = self.pos;
        self.pos += 1;
        let parts = self.quoted_parts(quote)?;
        self.pos += 1;
        let span = Span::new(start, self.pos);
        Ok(Part { span, kind: PartKind::DoubleQuoted { parts, locale } })
    }

    /// What stands between double quotes; ends before the closing one.
    fn quoted_parts(&mut self, quote: usize) -> Parsed<List<Part>> {
        let mut parts = Parts::new();
        loop {
            let run = self.pos;
            self.pos = self.run(run, |byte| !matches!(byte, b'"' | b'\\' | b'$' | b'`'));
            if self.pos > run {
                push_literal(&mut parts, run, self.pos);
            }
            match self.here() {
                b'"' => return Ok(parts.shelve(&mut self.tree)),
                0 => return Err(self.unclosed(quote, 1, "the double quote", "\"")),
                _ => self.quoted_special(&mut parts, b"$`\"\\")?,
            }
        }
    }

    /// One special byte inside double quotes or a body; `escapes` are those a `\` works on.
    pub(crate) fn quoted_special(&mut self, parts: &mut Parts, escapes: &[u8]) -> Parsed<()> {
        let at = self.pos;
        match self.here() {
            b'\\' => {
                let next = self.byte(at + 1);
                if next == b'\n' {
                    self.pos += 2;
                } else if next != 0 && escapes.contains(&next) {
                    self.pos += 2;
                    let kind = PartKind::Escaped(Span::new(at + 1, at + 2));
                    parts.push(Part { span: Span::new(at, at + 2), kind });
                } else {
                    self.pos += 1;
                    push_literal(parts, at, at + 1);
                }
            }
            b'`' => {
                let quoted = escapes.contains(&b'"');
                let part =
                    if quoted { self.backtick(true)? } else { self.backtick_in_braces(true)? };
                parts.push(part);
            }
            _ => self.dollar(parts, true, Place::Argument)?,
        }
        Ok(())
    }

    /// The parts of a here-document's body, up to its end.
    pub(crate) fn body(&mut self) -> Parsed<List<Part>> {
        let mut parts = Parts::new();
        loop {
            let run = self.pos;
            self.pos = self.run(run, |byte| !matches!(byte, b'\\' | b'$' | b'`'));
            if self.pos > run {
                push_literal(&mut parts, run, self.pos);
            }
            if self.pos >= self.end {
                return Ok(parts.shelve(&mut self.tree));
            }
            self.quoted_special(&mut parts, b"$`\\")?;
        }
    }
}
