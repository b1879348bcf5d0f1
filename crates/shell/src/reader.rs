//! The reader: the one way in.

use crate::dialect::Dialect;
use crate::fold;
use crate::hazard;
use crate::limits::Limits;
use crate::parser::Parser;
use crate::refusal::{Refusal, RefusalKind};
use crate::span::Span;
use crate::tree::Tree;

/// How a text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Whose grammar holds.
    pub dialect: Dialect,
    /// Whether bash's `extglob` is on from the start.
    pub extglob: bool,
    /// Whether the shell is interactive, so that `!` recalls history.
    pub interactive: bool,
    /// How much is read before the reader gives up.
    pub limits: Limits,
}

impl Reader {
    /// A reader for tool calls: not interactive, `extglob` off, [`Limits::JUDGING`].
    #[must_use]
    pub const fn new(dialect: Dialect) -> Reader {
        Reader { dialect, extglob: false, interactive: false, limits: Limits::JUDGING }
    }

    /// Reads a text to its last byte and folds its words, or says why not.
    ///
    /// # Errors
    /// A [`Refusal`] names the kind of reason, the place and a sentence for a person. A refused
    /// text is not harmless: a shell runs the lines before an error.
    pub fn parse(&self, text: &[u8]) -> Result<Tree, Refusal> {
        self.admit(text)?;
        let mut tree = Parser::new(self, text).read().map_err(|refusal| *refusal)?;
        fold::fold(&mut tree);
        Ok(tree)
    }

    /// Where an interactive shell may recall history: `!word` anywhere, `^old^new` on a line.
    fn recalls_history(&self, text: &[u8]) -> Option<usize> {
        if !self.interactive || self.dialect == Dialect::Sh {
            return None;
        }
        let recalls = |at: usize, byte: u8| match byte {
            b'!' => !matches!(text.get(at + 1), None | Some(b' ' | b'\t' | b'\n' | b'=' | b'(')),
            b'^' => at == 0 || text.get(at - 1) == Some(&b'\n'),
            _ => false,
        };
        text.iter().enumerate().find(|&(at, &byte)| recalls(at, byte)).map(|(at, _)| at)
    }

    /// Refuses what is not even looked at: too long, or with bytes no shell text has.
    fn admit(&self, text: &[u8]) -> Result<(), Refusal> {
        if text.len() > self.limits.bytes {
            return Err(Refusal {
                kind: RefusalKind::Limit,
                span: Span::new(self.limits.bytes, text.len()),
                message: format!("longer than {} bytes ({} in all)", self.limits.bytes, text.len()),
            });
        }
        if let Some(at) = self.recalls_history(text) {
            return Err(Refusal {
                kind: RefusalKind::Unsupported,
                span: Span::new(at, at + 1),
                message: "an interactive shell may put a line of its history here".into(),
            });
        }
        match hazard::first_control(text) {
            None => Ok(()),
            Some((at, byte)) => Err(Refusal {
                kind: RefusalKind::Hazard,
                span: Span::new(at, at + 1),
                message: format!("control character 0x{byte:02x} in the text"),
            }),
        }
    }
}
