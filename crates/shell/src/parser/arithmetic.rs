//! Arithmetic: `(( … ))`, `$(( … ))`, `$[ … ]` and the heads of `for (( … ))`.
//!
//! Operators are not looked at: names in an expression are evaluated again and again, so what an
//! expression does cannot be told from its text. What it expands and runs is read like any word.

use crate::parser::brackets::{Rules, Single};
use crate::parser::{Parsed, Parser};
use crate::refusal::RefusalKind;
use crate::span::Span;
use crate::word::{Part, PartKind, Place, Word};

impl Parser<'_> {
    /// Whether the text from `at` on, behind `((`, ends with `))` and so is arithmetic.
    /// Otherwise two subshells were opened.
    pub(crate) fn is_arithmetic(&mut self, at: usize) -> Parsed<bool> {
        let mut depth = 0_u32;
        let mut here = at;
        loop {
            if self.look_ahead == 0 {
                let message = "too many nested parentheses".into();
                return Err(self.refuse(RefusalKind::Limit, at, at + 1, message));
            }
            self.look_ahead -= 1;
            match self.byte(here) {
                0 => return Ok(true),
                b'(' => depth = depth.saturating_add(1),
                b')' if depth == 0 => return Ok(self.byte(self.joined(here + 1)) == b')'),
                b')' => depth -= 1,
                b'\\' => here += 1,
                quote @ (b'\'' | b'"' | b'`') => {
                    let close = self.closing_quote(here, quote);
                    self.look_ahead = self.look_ahead.saturating_sub(close.saturating_sub(here));
                    here = close;
                }
                _ => {}
            }
            here += 1;
        }
    }

    fn closing_quote(&self, open: usize, quote: u8) -> usize {
        let mut at = open + 1;
        loop {
            match self.byte(at) {
                0 => return self.end,
                b'\\' if quote != b'\'' => at += 1,
                byte if byte == quote => return at,
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads an expression; ends before `closer` outside its parentheses. A closing `)` must be
    /// doubled.
    pub(crate) fn arithmetic(&mut self, place: Place, closer: u8, start: usize) -> Parsed<Word> {
        let rules = Rules {
            stops: if closer == b';' { b";)" } else { b")" },
            nests: (b'(', b')'),
            single: Single::Hides,
            quoted: false,
            is_word: false,
            opener: (start, 2, "the arithmetic", "))"),
        };
        let word = self.enclosed_word(&rules, place)?;
        if closer != self.here() {
            return Err(self.unexpected("`;` between the expressions"));
        }
        if closer == b')' {
            let (second, at) = self.second();
            if second != b')' {
                return Err(self.unexpected("`))`"));
            }
            // The caller moves over two bytes; a line break between them is moved over here.
            self.pos = at - 1;
        }
        Ok(word)
    }

    /// `$[ … ]`; the parser stands behind the bracket.
    pub(crate) fn dollar_bracket(&mut self, start: usize) -> Parsed<Part> {
        let rules = Rules {
            stops: b"]",
            nests: (b'[', b']'),
            single: Single::Hides,
            quoted: false,
            is_word: false,
            opener: (start, 2, "`$[`", "]"),
        };
        let word = self.enclosed_word(&rules, Place::Arithmetic)?;
        self.pos += 1;
        let expression = self.one(word);
        let kind = PartKind::Arithmetic { bracket: true, expression };
        Ok(Part { span: Span::new(start, self.pos), kind })
    }
}
