//! Refusing: how each reason becomes a refusal with its kind, its place and its sentence.

use crate::dialect::Dialect;
use crate::parser::Parser;
use crate::refusal::{Refusal, RefusalKind};
use crate::span::Span;

impl Parser<'_> {
    /// A refusal of the text between two offsets.
    pub(crate) fn refuse(
        &self,
        kind: RefusalKind,
        start: usize,
        end: usize,
        mut message: String,
    ) -> Box<Refusal> {
        let is_unclosed = start >= self.end || message.contains(" is never closed");
        let unseen = match (self.unread, self.counted) {
            ("", counted) if !is_unclosed && !counted.is_empty() => counted,
            ("", _) if self.has_brace_command => "behind `${ …; }`",
            (unread, _) => unread,
        };
        if kind == RefusalKind::Syntax && !unseen.is_empty() {
            message = format!("{unseen}: {message}");
        }
        let is_seen = unseen.is_empty();
        // Other shells read some things that bash does not: what is not understood is not thereby
        // an error. A quote that never closes is one everywhere.
        let is_doubtful = kind == RefusalKind::Syntax
            && match self.reader.dialect {
                Dialect::Bash => !is_seen,
                Dialect::Sh => {
                    let is_whole = self.unread.is_empty() && self.counted.is_empty();
                    !is_whole || !message.contains(" quote is never closed")
                }
                Dialect::Zsh => true,
            };
        let kind = if is_doubtful { RefusalKind::Unsupported } else { kind };
        let span = self.tree.locate(Span::new(start.min(end), end));
        let len = crate::span::narrow(self.tree.origins.source_len());
        let (start, end) = (span.start.min(len), span.end.min(len));
        let span = Span { start, end: end.max(start) };
        Box::new(Refusal { kind, span, message })
    }

    /// A refusal of something that this dialect reads in a way of its own.
    pub(crate) fn unsupported(&self, start: usize, end: usize, what: &str) -> Box<Refusal> {
        let message = format!("{what} is not read in {}", self.reader.dialect.name());
        self.refuse(RefusalKind::Unsupported, start, end, message)
    }

    /// A refusal at the parser's place, where `wanted` should stand.
    pub(crate) fn unexpected(&self, wanted: &str) -> Box<Refusal> {
        let mut end = self.pos;
        if self.here() == b'\n' {
            let message = format!("unexpected end of line; expected {wanted}");
            return self.refuse(RefusalKind::Syntax, end, end + 1, message);
        }
        if end >= self.end {
            let message = format!("unexpected end of text; expected {wanted}");
            return self.refuse(RefusalKind::Syntax, end, end, message);
        }
        if crate::lexer::is_break(self.here()) {
            end += 1;
            if self.byte(end) == self.here() {
                end += 1;
            }
        } else {
            while end < self.pos + 40 && !crate::lexer::is_break(self.byte(end)) {
                end += 1;
            }
        }
        let found = String::from_utf8_lossy(self.tree.text(Span::new(self.pos, end))).into_owned();
        let message = format!("unexpected `{}`; expected {wanted}", found.escape_debug());
        self.refuse(RefusalKind::Syntax, self.pos, end, message)
    }

    /// A refusal of an opener that is never closed.
    pub(crate) fn unclosed(
        &self,
        start: usize,
        len: usize,
        what: &str,
        closer: &str,
    ) -> Box<Refusal> {
        let message = format!("{what} is never closed; expected `{closer}`");
        self.refuse(RefusalKind::Syntax, start, start + len, message)
    }
}
