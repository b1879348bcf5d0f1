//! Redirections: descriptor, operator and target.

use crate::dialect::Dialect;
use crate::lexer::is_break;
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::{Descriptor, Heredoc, Operator, Redirection};
use crate::word::{Part, PartKind, Place, Word};

impl Parser<'_> {
    /// Reads a redirection if one begins here.
    pub(crate) fn redirection(&mut self) -> Parsed<Option<Redirection>> {
        let start = self.pos;
        let (descriptor, at) = match self.here() {
            b'<' | b'>' => (Descriptor::Default, start),
            b'&' => {
                let (second, _) = self.second();
                if second != b'>' {
                    return Ok(None);
                }
                return self.both(start).map(Some);
            }
            b'0'..=b'9' => match self.digits_before_operator() {
                Some(end) => {
                    self.refuse_odd_number(start, end)?;
                    (Descriptor::Number(Span::new(start, end)), self.joined(end))
                }
                None => return Ok(None),
            },
            b'{' => match self.variable_before_operator() {
                Some(end) => {
                    self.only_in_bash(start, end, "`{name}>`")?;
                    (Descriptor::Variable(Span::new(start + 1, end - 1)), self.joined(end))
                }
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let Some((operator, after)) = self.operator(at) else { return Ok(None) };
        self.pos = after;
        if operator == Operator::HereString {
            self.only_beyond_sh(start, "`<<<`")?;
        }
        self.target(start, descriptor, operator).map(Some)
    }

    fn only_in_bash(&self, start: usize, end: usize, what: &str) -> Parsed<()> {
        if self.reader.dialect == Dialect::Bash {
            return Ok(());
        }
        Err(self.unsupported(start, end, what))
    }

    /// Refuses numbers that dash or zsh take for arguments.
    fn refuse_odd_number(&self, start: usize, end: usize) -> Parsed<()> {
        let is_odd = match self.reader.dialect {
            Dialect::Bash => false,
            Dialect::Sh => end > start + 1,
            Dialect::Zsh => end > start + 1 || self.joined(end) != end,
        };
        if is_odd { Err(self.unsupported(start, end, "this descriptor")) } else { Ok(()) }
    }

    fn digits_before_operator(&self) -> Option<usize> {
        let mut at = self.pos;
        let mut number = 0_u32;
        while self.byte(at).is_ascii_digit() {
            let digit = u32::from(self.byte(at) - b'0');
            number = number.checked_mul(10)?.checked_add(digit).filter(|&n| n <= 0x7FFF_FFFF)?;
            at += 1;
        }
        self.stands_before_operator(at).then_some(at)
    }

    fn variable_before_operator(&self) -> Option<usize> {
        let mut at = self.name_end(self.pos + 1);
        if at == self.pos + 1 {
            return None;
        }
        if self.byte(at) == b'[' {
            let ends = |byte| is_break(byte) || matches!(byte, b']' | b'$' | b'`' | b'\'' | b'"');
            let close = self.run(at, |byte| !ends(byte));
            if close == at + 1 {
                return None;
            }
            at = close + 1;
        }
        (self.byte(at) == b'}' && self.stands_before_operator(at + 1)).then_some(at + 1)
    }

    fn stands_before_operator(&self, at: usize) -> bool {
        let at = self.joined(at);
        matches!(self.byte(at), b'<' | b'>') && self.byte(self.joined(at + 1)) != b'('
    }

    /// The operator at `at` and the offset behind it; none for a process substitution.
    fn operator(&self, at: usize) -> Option<(Operator, usize)> {
        let second = self.joined(at + 1);
        let third = self.joined(second + 1);
        let found = match (self.byte(at), self.byte(second), self.byte(third)) {
            (_, b'(', _) => return None,
            (b'<', b'<', b'<') => (Operator::HereString, third + 1),
            (b'<', b'<', b'-') => (Operator::HeredocTabs, third + 1),
            (b'<', b'<', _) => (Operator::Heredoc, third),
            (b'<', b'&', _) => (Operator::CopyIn, third),
            (b'<', b'>', _) => (Operator::ReadWrite, third),
            (b'<', _, _) => (Operator::Read, at + 1),
            (b'>', b'>', _) => (Operator::Append, third),
            (b'>', b'&', _) => (Operator::CopyOut, third),
            (b'>', b'|', _) => (Operator::Clobber, third),
            _ => (Operator::Write, at + 1),
        };
        Some(found)
    }

    /// `&>` and `&>>`; the parser stands before `&`.
    fn both(&mut self, start: usize) -> Parsed<Redirection> {
        let (_, at) = self.second();
        self.only_beyond_sh(start, "`&>`")?;
        let before = start.checked_sub(1).map_or(0, |at| self.byte(at));
        if before.is_ascii_digit() && self.reader.dialect == Dialect::Zsh {
            return Err(self.unsupported(start - 1, at + 1, "`&>` behind a number"));
        }
        let next = self.joined(at + 1);
        let operator = if self.byte(next) == b'>' {
            self.pos = next + 1;
            Operator::AppendBoth
        } else {
            self.pos = at + 1;
            Operator::WriteBoth
        };
        self.target(start, Descriptor::Default, operator)
    }

    fn target(
        &mut self,
        start: usize,
        descriptor: Descriptor,
        operator: Operator,
    ) -> Parsed<Redirection> {
        if self.reader.dialect == Dialect::Zsh && matches!(self.here(), b'!' | b'|') {
            return Err(self.unsupported(start, self.pos + 1, "this redirection"));
        }
        let copies = matches!(operator, Operator::CopyIn | Operator::CopyOut);
        let mut at = self.joined(self.pos);
        while self.reader.dialect == Dialect::Bash && matches!(self.byte(at), b' ' | b'\t') {
            at = self.joined(at + 1);
        }
        if copies && self.byte(at) == b'-' {
            // `>&-` is complete, also with a blank in it; what stands behind is the next word.
            self.pos = at + 1;
            let part = Part { span: Span::new(at, at + 1), kind: PartKind::Literal };
            let parts = self.one(part);
            let word = Word::new(part.span, parts, Place::Target);
            let target = self.one(word);
            let span = Span::new(start, self.pos);
            return Ok(Redirection { span, descriptor, operator, target, heredoc: None });
        }
        self.skip_blanks();
        if self.reader.dialect == Dialect::Zsh && self.is_at_process() {
            return Err(self.unsupported(start, self.pos + 1, "a process as a target"));
        }
        let is_descriptor = match self.here() {
            b'0'..=b'9' => {
                (!copies || self.reader.dialect != Dialect::Bash)
                    && self.digits_before_operator().is_some()
            }
            b'{' => self.variable_before_operator().is_some(),
            _ => is_break(self.here()) && !self.is_at_process(),
        };
        if is_descriptor {
            return Err(self.unexpected("a file or descriptor behind the redirection"));
        }
        let place = match operator {
            Operator::Heredoc | Operator::HeredocTabs => Place::Delimiter,
            Operator::HereString => Place::Value,
            Operator::Read
            | Operator::Write
            | Operator::Append
            | Operator::Clobber
            | Operator::ReadWrite
            | Operator::CopyIn
            | Operator::CopyOut
            | Operator::WriteBoth
            | Operator::AppendBoth => Place::Target,
        };
        let word = self.word(place)?;
        if self.reader.dialect == Dialect::Bash && self.plain(&word).as_ref() == b"{" {
            // Behind `f()` bash takes the first one for the body, wherever it stands.
            return Err(self.unsupported(start, self.pos, "`{` as a target"));
        }
        if place == Place::Delimiter {
            self.note_heredoc();
            self.unshelved += 1;
            self.unseen += 1;
        }
        let heredoc = (place == Place::Delimiter)
            .then(|| Heredoc { quoted: self.is_quoted(&word), ..Heredoc::default() });
        if copies && self.reader.dialect != Dialect::Bash {
            self.only_descriptors(&word)?;
        }
        let target = self.one(word);
        Ok(Redirection { span: Span::new(start, self.pos), descriptor, operator, target, heredoc })
    }

    /// `>&file` means something else in every shell, unless `file` is a descriptor.
    fn only_descriptors(&self, word: &Word) -> Parsed<()> {
        let text = self.tree.text(word.span);
        let is_descriptor = match text {
            [digit] => digit.is_ascii_digit(),
            _ => false,
        };
        if is_descriptor {
            return Ok(());
        }
        let (start, end) = (word.span.start as usize, word.span.end as usize);
        Err(self.unsupported(start, end, "a copied descriptor that is not one digit"))
    }

    fn is_quoted(&self, word: &Word) -> bool {
        self.tree.list(word.parts).iter().any(|part| {
            matches!(
                part.kind,
                PartKind::Escaped(_)
                    | PartKind::SingleQuoted(_)
                    | PartKind::AnsiC(_)
                    | PartKind::DoubleQuoted { .. }
            )
        })
    }
}
