//! Text that was refused: what ran before the fault, and the words that may stand in the rest.

use portcullis_shell::{Reader, Refusal, RefusalKind, Span, scan};

use super::{ACTS, Analysis, walk};
use crate::act::{Act, ActKind};
use crate::arg::{Arg, Text};

/// How many lines before a fault are tried as an end.
const TRIES: usize = 8;

/// How many words behind a program are kept for rules.
const WORDS: usize = 16;

impl Analysis<'_> {
    pub(super) fn refused(&mut self, text: &str, within: Option<Span>, refusal: Refusal) {
        let mut from = 0;
        if refusal.kind == RefusalKind::Syntax {
            from = self.before_the_fault(text, within, refusal.span);
        }
        self.scanned(text, from, within);
        let span = within.unwrap_or(refusal.span);
        self.found.refusals.push(Refusal { span, ..refusal });
    }

    /// The shell runs the lines before the one it rejects; gives where they end.
    fn before_the_fault(&mut self, text: &str, within: Option<Span>, fault: Span) -> usize {
        let bytes = text.as_bytes();
        let mut end = (fault.start as usize).min(bytes.len());
        for _ in 0..TRIES {
            let Some(line) =
                bytes.get(..end).and_then(|head| head.iter().rposition(|&byte| byte == b'\n'))
            else {
                return 0;
            };
            if let Some(head) = text.get(..line)
                && let Ok(tree) = Reader::new(self.dialect).parse(head.as_bytes())
            {
                self.depth += 1;
                walk::script(self, &tree, within);
                self.depth -= 1;
                return line;
            }
            end = line;
        }
        0
    }

    /// Every word may be a program: deny and ask rules look at all of them.
    fn scanned(&mut self, text: &str, from: usize, within: Option<Span>) {
        let rest = text.get(from..).unwrap_or_default();
        let tokens = scan(rest.as_bytes());
        let shift = |span: Span| {
            within.unwrap_or(Span::new(span.start as usize + from, span.end as usize + from))
        };
        for (at, token) in tokens.iter().enumerate() {
            if self.found.acts.len() >= ACTS {
                self.found.is_cut = true;
                return;
            }
            let words = tokens.iter().skip(at).take(WORDS);
            let args = words
                .map(|token| Arg {
                    text: Text::Known(String::from_utf8_lossy(&token.text).into_owned()),
                    span: shift(token.span),
                })
                .collect();
            let act = Act {
                kind: ActKind::Scanned,
                span: shift(token.span),
                args,
                via: self.via.clone(),
                ..Act::default()
            };
            self.push(act);
        }
    }
}
