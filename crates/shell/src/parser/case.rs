//! `case` and its arms.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::Keyword;
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::{Arm, ArmEnd, Kind};
use crate::word::{Place, Word};

impl Parser<'_> {
    pub(super) fn case(&mut self, start: usize) -> Parsed<Kind> {
        self.skip_blanks();
        if crate::lexer::is_break(self.here()) && !self.is_at_process() {
            return Err(self.unexpected("a word"));
        }
        self.cases += 1;
        let subject = self.word(Place::Single)?;
        let subject = self.one(subject);
        self.skip_newlines()?;
        self.close(Keyword::In, start, "`case`", "in")?;
        if self.reader.dialect == Dialect::Zsh && self.here() == b'(' {
            return Err(self.unsupported(start, self.pos + 1, "a bracket directly behind `in`"));
        }
        let mut arms = Few::<Arm, 4>::new();
        loop {
            self.skip_newlines()?;
            if self.accept(Keyword::Esac) {
                self.cases -= 1;
                return Ok(Kind::Case { subject, arms: arms.shelve(&mut self.tree) });
            }
            let (arm, is_last) = self.arm(start)?;
            arms.push(arm);
            if is_last {
                self.close(Keyword::Esac, start, "`case`", "esac")?;
                self.cases -= 1;
                return Ok(Kind::Case { subject, arms: arms.shelve(&mut self.tree) });
            }
        }
    }

    /// One arm and whether it lacks a terminator, so that `esac` must follow.
    fn arm(&mut self, case: usize) -> Parsed<(Arm, bool)> {
        let start = self.pos;
        if self.here() == b'(' {
            if self.reader.dialect == Dialect::Zsh {
                return Err(self.unsupported(start, start + 1, "a bracket before a pattern"));
            }
            self.pos += 1;
            self.skip_blanks();
        }
        let mut patterns = Few::<Word, 4>::new();
        loop {
            if self.pos >= self.end {
                return Err(self.unclosed(case, 4, "`case`", "esac"));
            }
            if crate::lexer::is_break(self.here()) && !self.is_at_process() {
                return Err(self.unexpected("a pattern"));
            }
            let word = self.word(Place::Pattern)?;
            if self.reader.dialect == Dialect::Bash && self.plain(&word).as_ref() == b"}" {
                // Inside `{ … }` bash takes it for the closing one.
                let what = "a closing brace as a pattern";
                return Err(self.unsupported(self.pos - 1, self.pos, what));
            }
            patterns.push(word);
            self.skip_blanks();
            match self.here() {
                b'|' => {
                    self.pos += 1;
                    self.skip_blanks();
                }
                b')' => {
                    self.pos += 1;
                    break;
                }
                _ => return Err(self.unexpected("`)` after the pattern")),
            }
        }
        let patterns = patterns.shelve(&mut self.tree);
        let body = self.script()?;
        self.skip_blanks();
        let (second, at) = self.second();
        let mut end = ArmEnd::Break;
        let mut is_last = false;
        match (self.here(), second) {
            (b';', b';') => {
                self.pos = at + 1;
                let next = self.joined(self.pos);
                if self.byte(next) == b'&' {
                    self.pos = next + 1;
                    end = ArmEnd::TryNext;
                }
            }
            (b';', b'&') => {
                self.pos = at + 1;
                end = ArmEnd::FallThrough;
            }
            _ => is_last = true,
        }
        if end != ArmEnd::Break && self.reader.dialect == Dialect::Sh {
            return Err(self.unsupported(self.pos - 2, self.pos, "an arm that falls through"));
        }
        if end == ArmEnd::TryNext && self.reader.dialect == Dialect::Zsh {
            return Err(self.unsupported(self.pos - 2, self.pos, "`;;&`"));
        }
        Ok((Arm { span: Span::new(start, self.pos), patterns, body, end }, is_last))
    }
}
