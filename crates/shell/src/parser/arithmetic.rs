//! Arithmetic: `(( … ))`, `$(( … ))`, `$[ … ]` and the heads of `for (( … ))`.
//!
//! Operators are not looked at: names in an expression are evaluated again and again, so what an
//! expression does cannot be told from its text. What it expands and runs is read like any word.

use crate::parser::brackets::{Rules, Single};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::word::{Part, PartKind, Place, Word};

impl Parser<'_> {
    /// Where the text from `at` on, behind `((`, ends with `))`, if it does and so is arithmetic.
    /// Otherwise two subshells were opened.
    ///
    /// Bash counts parentheses without regard to substitutions between them, and so does this.
    pub(crate) fn arithmetic_end(&mut self, at: usize) -> Parsed<Option<usize>> {
        let mut depth = 0_u32;
        let mut here = at;
        loop {
            self.look_ahead(at, 1)?;
            match self.byte(here) {
                0 => return Ok(Some(here)),
                b'(' => depth = depth.saturating_add(1),
                b')' if depth == 0 => {
                    let is_doubled = self.byte(self.joined(here + 1)) == b')';
                    return Ok(is_doubled.then_some(here));
                }
                b')' => depth -= 1,
                b'\\' => here += 1,
                quote @ (b'\'' | b'"') => {
                    let close = self.closing_quote(here, quote);
                    self.look_ahead(at, close.saturating_sub(here))?;
                    here = close;
                }
                _ => {}
            }
            here += 1;
        }
    }

    /// Where the quote that opens at `open` closes, or the end of the text.
    pub(crate) fn closing_quote(&self, open: usize, quote: u8) -> usize {
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

    /// Reads the expression of `((` or `$((` and the `))` behind it; `end` is where the shell,
    /// which only counts parentheses, sees it end.
    pub(crate) fn doubled(&mut self, start: usize, end: usize) -> Parsed<Word> {
        let word = self.arithmetic(b')', start, false)?;
        if word.span.end as usize != end {
            let what = "arithmetic whose parentheses do not match";
            return Err(self.unsupported(start, self.pos, what));
        }
        self.pos += 2;
        Ok(word)
    }

    /// Reads an expression; ends before `closer` outside its parentheses. A closing `)` must be
    /// doubled. In the head of a loop `;` parts the expressions.
    pub(crate) fn arithmetic(&mut self, closer: u8, start: usize, is_head: bool) -> Parsed<Word> {
        let rules = Rules {
            stops: if is_head { b";)" } else { b")" },
            nests: (b'(', b')'),
            single: Single::Hides,
            quoted: false,
            is_word: false,
            opener: (start, 2, "the arithmetic", "))"),
        };
        let word = self.enclosed_word(&rules, Place::Arithmetic)?;
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
