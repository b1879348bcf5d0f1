//! Arithmetic: `(( … ))`, `$(( … ))`, `$[ … ]` and the heads of `for (( … ))`.
//!
//! Operators are not looked at: names in an expression are evaluated again and again, so what an
//! expression does cannot be told from its text. What it expands and runs is read like any word.

use crate::dialect::Dialect;
use crate::parser::brackets::{Rules, Single};
use crate::parser::words::without_line_breaks;
use crate::parser::{Parsed, Parser};
use crate::refusal::{Refusal, RefusalKind};
use crate::span::Span;
use crate::word::{Part, PartKind, Place, Word};

impl Parser<'_> {
    /// Where the bracket that was opened before `at` closes for a shell that only counts brackets
    /// and knows quotes, as bash does before it reads what is between them. Arithmetic and the
    /// text behind `((` end there for bash, so whatever ends elsewhere for us is refused.
    pub(crate) fn counted_end(&mut self, at: usize, open: u8, close: u8) -> Parsed<usize> {
        let mut depth = 0_u32;
        let mut here = at;
        loop {
            self.look_ahead(at, 1)?;
            match self.byte(here) {
                0 => return Ok(self.end),
                b'\n' if self.unshelved > 0 || !self.waiting.is_empty() => {
                    let what = "a line break between brackets before the body of a here-document";
                    return Err(self.unsupported(at, here + 1, what));
                }
                byte if byte == open => depth = depth.saturating_add(1),
                byte if byte == close && depth == 0 => return Ok(here),
                byte if byte == close => depth -= 1,
                b'\\' => here += 1,
                quote @ (b'\'' | b'"' | b'`') => {
                    let end = self.closing_quote(here, quote);
                    self.look_ahead(at, end.saturating_sub(here))?;
                    here = end;
                }
                _ => {}
            }
            here += 1;
        }
    }

    /// Whether a `)` follows the one at `at`.
    pub(crate) fn is_doubled(&self, at: usize) -> bool {
        at >= self.end || self.byte(self.joined(at + 1)) == b')'
    }

    /// Refuses what ended elsewhere than counting brackets tells, and what counting spoils.
    pub(crate) fn same_end(&self, start: usize, ours: usize, counted: usize) -> Parsed<()> {
        let text = self.tree.text(Span::new(start, ours));
        if self.is_quoted && text.windows(2).any(|pair| pair == b"$'") {
            // Between double quotes bash decodes it and forgets the quotes.
            let what = "`$'` between brackets in a quoted substitution";
            return Err(self.unsupported(start, ours, what));
        }
        // A bracket in `${…}` counts for bash and one of a `case` does not: together they may
        // deceive our counting.
        if ours == counted && !holds(text, &[b"case", b"${"]) {
            return Ok(());
        }
        Err(self.unsupported(start, self.pos, "text whose brackets do not match"))
    }

    /// A refusal of what counting brackets does not see, though it may hold some.
    pub(crate) fn unseen_behind(&self, start: usize) -> Box<Refusal> {
        let what = "a comment or here-document behind two parentheses";
        self.unsupported(start, self.pos, what)
    }

    /// A refusal behind `((` that counting took for two brackets: a `case` in a substitution holds
    /// a bracket that bash does not count, so what is an error for us may be arithmetic for it.
    pub(crate) fn miscounted(
        &self,
        start: usize,
        counted: Option<usize>,
        refusal: Box<Refusal>,
    ) -> Box<Refusal> {
        let Some(end) = counted.filter(|_| refusal.kind == RefusalKind::Syntax) else {
            return refusal;
        };
        if holds(self.tree.text(Span::new(start, end)), &[b"case"]) {
            return self.unsupported(start, self.pos, "text whose brackets do not match");
        }
        refusal
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
        let word = self.arithmetic(b')', start, end, false)?;
        self.same_end(start, word.span.end as usize, end)?;
        self.pos += 2;
        Ok(word)
    }

    /// Reads an expression; ends before `closer` outside its parentheses. A closing `)` must be
    /// doubled, and counting brackets finds it at `end`. In the head of a loop `;` parts the
    /// expressions.
    pub(crate) fn arithmetic(
        &mut self,
        closer: u8,
        start: usize,
        end: usize,
        is_head: bool,
    ) -> Parsed<Word> {
        let rules = Rules {
            stops: if is_head { b";)" } else { b")" },
            nests: (b'(', b')'),
            single: Single::Hides,
            quoted: false,
            bares: true,
            in_braces: false,
            opener: (start, 2, "the arithmetic", "))"),
        };
        let word = self.bracketed("in arithmetic", end, |parser| {
            parser.enclosed_word(&rules, Place::Arithmetic)
        })?;
        let is_odd = |&byte: &u8| matches!(byte, b'[' | b']' | b'{' | b'}');
        if self.reader.dialect == Dialect::Zsh && self.tree.text(word.span).iter().any(is_odd) {
            return Err(self.unsupported(start, self.pos, "a bracket or brace in arithmetic"));
        }
        if self.reader.dialect != Dialect::Bash && !is_balanced(self.tree.text(word.span)) {
            // Other shells count brackets between quotes too.
            return Err(self.unsupported(
                start,
                self.pos,
                "a bracket between quotes in arithmetic",
            ));
        }
        let parts_here = |part: &Part| {
            matches!(part.kind, PartKind::Literal) && self.tree.text(part.span).contains(&b';')
        };
        if is_head && self.tree.list(word.parts).iter().any(parts_here) {
            // Bash parts the expressions inside brackets, too.
            let what = "`;` inside an expression of a loop";
            return Err(self.unsupported(start, self.pos, what));
        }
        if closer != self.here() && self.pos > end {
            return Err(self.unsupported(start, self.pos, "text whose brackets do not match"));
        }
        let head = self.tree.text(Span::new(start, self.pos));
        let is_short = closer == b';' && self.here() != b';';
        if is_short && head.split(|&byte| byte == b';').nth(2).is_some() {
            // Bash parts the expressions inside brackets, too.
            return Err(self.unsupported(start, self.pos, "`;` inside an expression of a loop"));
        }
        if closer != self.here() {
            return Err(self.unexpected("`;` between the expressions"));
        }
        if closer == b')' {
            let (second, at) = self.second();
            if second != b')' {
                return Err(self.unsupported(
                    start,
                    self.pos + 1,
                    "text whose brackets do not match",
                ));
            }
            if at != self.pos + 1 {
                let what = "a line break between two closing brackets";
                return Err(self.unsupported(start, at + 1, what));
            }
        }
        Ok(word)
    }

    /// `$[ … ]`; the parser stands behind the bracket.
    pub(crate) fn dollar_bracket(&mut self, start: usize) -> Parsed<Part> {
        let counted = self.counted_end(self.pos, b'[', b']')?;
        let rules = Rules {
            stops: b"]",
            nests: (b'[', b']'),
            single: Single::Hides,
            quoted: false,
            bares: true,
            in_braces: false,
            opener: (start, 2, "`$[`", "]"),
        };
        // Between double quotes bash looks for its end in a way of its own.
        let word =
            self.late("in `$[…]`", |parser| parser.enclosed_word(&rules, Place::Arithmetic))?;
        self.same_end(start, self.pos, counted)?;
        self.pos += 1;
        let expression = self.one(word);
        let kind = PartKind::Arithmetic { bracket: true, expression };
        Ok(Part { span: Span::new(start, self.pos), kind })
    }
}

/// Whether every parenthesis has its other, quoted or not.
fn is_balanced(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    text.iter().all(|byte| {
        let next = match byte {
            b'(' => depth.checked_add(1),
            b')' => depth.checked_sub(1),
            _ => Some(depth),
        };
        depth = next.unwrap_or(depth);
        next.is_some()
    }) && depth == 0
}

/// Whether all of `wanted` stand in the text once lines that go on are joined.
fn holds(text: &[u8], wanted: &[&[u8]]) -> bool {
    let all = |text: &[u8]| {
        wanted.iter().all(|wanted| text.windows(wanted.len()).any(|found| found == *wanted))
    };
    all(text) || text.windows(2).any(|pair| pair == b"\\\n") && all(&without_line_breaks(text))
}
