//! What stands between brackets inside a word: operator arguments, subscripts, patterns.
//!
//! All of it is read by one loop, [`Parser::enclosed`], under [`Rules`] that say what ends it.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::parser::words::{Parts, push_literal};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::List;
use crate::word::{Part, PartKind, Place, Word};

/// How enclosed text is read.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// Bytes that end the text, outside quotes and nested brackets.
    pub(crate) stops: &'static [u8],
    /// A pair of brackets that nests; two zeros for none.
    pub(crate) nests: (u8, u8),
    /// What a single quote does.
    pub(crate) single: Single,
    /// Whether the text stands inside double quotes or a body.
    pub(crate) quoted: bool,
    /// Whether bash decodes `$'…'` here and forgets the quotes, in a quoted substitution.
    pub(crate) bares: bool,
    /// Whether a brace ends the expansion around it, whatever brackets are open.
    pub(crate) in_braces: bool,
    /// The opener: where it stands, its length, its name, and the closer that was wanted.
    pub(crate) opener: (usize, usize, &'static str, &'static str),
}

impl Rules {
    /// Whether bash reads a process substitution here and yet does not run it.
    fn is_odd_place(&self) -> bool {
        let is_slice = self.in_braces && self.nests.0 == b'(';
        self.quoted && self.stops.contains(&b'}') || self.nests.0 == b'[' || is_slice
    }
}

/// What a single quote does in enclosed text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Single {
    /// It quotes.
    Quotes,
    /// It hides the end from the shell but not what is expanded: `"${x:-'$(ls)'}"` runs `ls`.
    Hides,
}

impl Parser<'_> {
    /// Reads enclosed text as one word; ends before the byte that stops it.
    pub(crate) fn enclosed_word(&mut self, rules: &Rules, place: Place) -> Parsed<Word> {
        let start = self.pos;
        let mut parts = self.enclosed(rules)?;
        let span = Span::new(start, self.pos);
        if self.reader.dialect == Dialect::Zsh && !rules.quoted {
            self.refuse_zsh_word(start, parts.as_slice(), place)?;
        }
        let parts = parts.shelve(&mut self.tree);
        Ok(Word::new(span, parts, place))
    }

    /// Reads enclosed text; ends before the byte that stops it.
    pub(crate) fn enclosed(&mut self, rules: &Rules) -> Parsed<Parts> {
        let begin = self.pos;
        let mut parts = Parts::new();
        let mut depth = 0_u32;
        let mut hidden = None;
        let (open, close) = rules.nests;
        loop {
            let at = self.pos;
            let byte = self.here();
            if byte == 0 {
                let (start, len, what, closer) = rules.opener;
                return Err(self.unclosed(start, len, what, closer));
            }
            if hidden.is_none() {
                if depth == 0 && rules.stops.contains(&byte) {
                    return Ok(parts);
                }
                if rules.in_braces && byte == b'}' {
                    // Bash does not count these brackets and ends the expansion here.
                    let what = "a closing brace between brackets in an expansion";
                    return Err(self.unsupported(rules.opener.0, at + 1, what));
                }
                if byte == open {
                    depth = depth.saturating_add(1);
                } else if byte == close {
                    depth = depth.saturating_sub(1);
                }
            }
            match byte {
                b'\'' if rules.single == Single::Quotes => {
                    let part = self.single_quoted()?;
                    parts.push(part);
                }
                b'\'' => {
                    hidden = if hidden.is_some() { None } else { Some(at) };
                    self.pos += 1;
                    push_literal(&mut parts, at, at + 1);
                }
                b'$' | b'`' if hidden.is_some() && self.is_odd_expansion(rules) => {
                    // Bash reads over it here and expands it later, or not at all.
                    let what = "an expansion between single quotes in arithmetic";
                    return Err(self.unsupported(at, at + 1, what));
                }
                b'"' if hidden.is_some() => {
                    return Err(self.unsupported(
                        at,
                        at + 1,
                        "a double quote between these single quotes",
                    ));
                }
                b'"' => {
                    // Bash looks for braces before it knows that this quote is a nested one.
                    self.has_bare_quote |= rules.quoted;
                    let part = self.deeper(|parser| parser.double_quoted(at, false))?;
                    parts.push(part);
                }
                b'\\' => self.enclosed_backslash(&mut parts, rules, hidden.is_some())?,
                b'$' | b'`' if hidden.is_some() => self.hidden_expansion(&mut parts, rules)?,
                b'$' => self.enclosed_dollar(&mut parts, rules, false)?,
                b'`' => {
                    let part = self.backtick_in_braces(rules.quoted)?;
                    parts.push(part);
                }
                b'<' | b'>' if rules.is_odd_place() && self.second().0 == b'(' => {
                    // Bash does not run it there, yet reads it as one when it looks for the end.
                    let what =
                        "a process substitution in a quoted expansion, a subscript or a slice";
                    return Err(self.unsupported(at, at + 2, what));
                }
                b'<' | b'>' if self.is_process_in(rules) && self.is_behind_angle(begin) => {
                    // Bash takes every second one for text when it looks for the end.
                    let what = "a process substitution behind `<` or `>` in an expansion";
                    return Err(self.unsupported(at, at + 2, what));
                }
                b'<' | b'>' if self.is_process_in(rules) => {
                    let part = self.process()?;
                    parts.push(part);
                }
                b'*' | b'?' | b'[' if !rules.quoted && hidden.is_none() => {
                    self.pos += 1;
                    parts.push(Part { span: Span::new(at, at + 1), kind: PartKind::Glob });
                }
                b'~' if !rules.quoted && parts.len() == 0 => {
                    // Arguments of operators are expanded like words, their tildes too.
                    self.pos += 1;
                    parts.push(Part { span: Span::new(at, at + 1), kind: PartKind::Tilde });
                }
                _ => {
                    self.pos += 1;
                    push_literal(&mut parts, at, at + 1);
                }
            }
        }
    }

    fn enclosed_backslash(&mut self, parts: &mut Parts, rules: &Rules, hidden: bool) -> Parsed<()> {
        let at = self.pos;
        let next = self.byte(at + 1);
        if hidden || next == 0 {
            self.pos += 1;
            push_literal(parts, at, at + 1);
        } else if rules.quoted {
            self.quoted_special(parts, b"$`\"\\}")?;
            // A backslash hides the next byte from the shell even where it stays.
            if self.pos == at + 1 && self.here() != 0 {
                push_literal(parts, self.pos, self.pos + 1);
                self.pos += 1;
            }
        } else {
            self.pos += 2;
            if next != b'\n' {
                let kind = PartKind::Escaped(Span::new(at + 1, at + 2));
                parts.push(Part { span: Span::new(at, at + 2), kind });
            }
        }
        Ok(())
    }

    fn enclosed_dollar(&mut self, parts: &mut Parts, rules: &Rules, hidden: bool) -> Parsed<()> {
        let at = self.pos;
        if rules.bares && self.is_quoted && self.second().0 == b'\'' {
            let what = "`$'` between brackets in a quoted substitution";
            return Err(self.unsupported(at, at + 2, what));
        }
        let literal_quotes = rules.quoted && rules.single == Single::Hides;
        if literal_quotes && matches!(self.second().0, b'\'' | b'"') {
            // Bash decodes such a quote there and then expands what came out of it.
            let what = "`$'` or `$\"` in a quoted expansion";
            return Err(self.unsupported(at, at + 2, what));
        }
        self.dollar(parts, literal_quotes || hidden, Place::Pattern)
    }

    /// An expansion between single quotes that only hide the end: what is wrong in it the shell
    /// finds when it expands it.
    fn hidden_expansion(&mut self, parts: &mut Parts, rules: &Rules) -> Parsed<()> {
        self.late("between single quotes in an expansion", |parser| {
            if parser.here() == b'$' {
                return parser.enclosed_dollar(parts, rules, true);
            }
            let part = parser.backtick_in_braces(rules.quoted)?;
            parts.push(part);
            Ok(())
        })
    }

    /// Whether an expansion with brackets begins here, outside double quotes.
    fn is_odd_expansion(&self, rules: &Rules) -> bool {
        !rules.quoted && (self.here() == b'`' || matches!(self.second().0, b'(' | b'{' | b'['))
    }

    /// Whether a process substitution begins here; arithmetic and quotes have none.
    fn is_process_in(&self, rules: &Rules) -> bool {
        !rules.quoted && rules.single == Single::Quotes && self.second().0 == b'('
    }

    /// Whether `<` or `>` stands before the parser's place, in text that began at `begin`.
    fn is_behind_angle(&self, begin: usize) -> bool {
        let mut before = self.tree.text.get(begin..self.pos).unwrap_or_default();
        while let Some(rest) = before.strip_suffix(b"\\\n") {
            before = rest;
        }
        matches!(before.last(), Some(b'<' | b'>'))
    }

    /// `[ … ]` behind a name in command position: one run, blanks and operators included.
    /// (The parser stands before the bracket.)
    pub(crate) fn bracketed_run(&mut self, parts: &mut Parts) -> Parsed<()> {
        let start = self.pos;
        let inner = self.subscript_parts(Single::Quotes, false)?;
        let next = self.joined(self.pos + 1);
        let is_assigned = self.byte(next) == b'='
            || self.byte(next) == b'+' && self.byte(self.joined(next + 1)) == b'=';
        if is_assigned {
            // Looking ahead found no assignment, and yet one stands here.
            return Err(self.unsupported(start, next, "this subscript"));
        }
        parts.push(Part { span: Span::new(start, start + 1), kind: PartKind::Glob });
        for &part in inner.as_slice() {
            parts.push(part);
        }
        push_literal(parts, self.pos, self.pos + 1);
        self.pos += 1;
        Ok(())
    }

    /// A subscript; the parser stands before `[` and ends behind `]`.
    pub(crate) fn subscript(&mut self, in_braces: bool) -> Parsed<List<Word>> {
        let start = self.pos + 1;
        let mut parts = self.subscript_parts(Single::Hides, in_braces)?;
        let span = Span::new(start, self.pos);
        self.pos += 1;
        let parts = parts.shelve(&mut self.tree);
        let word = Word::new(span, parts, Place::Arithmetic);
        Ok(self.one(word))
    }

    fn subscript_parts(&mut self, single: Single, in_braces: bool) -> Parsed<Parts> {
        let start = self.pos;
        self.pos += 1;
        self.deeper(|parser| {
            parser.enclosed(&Rules {
                stops: b"]",
                nests: (b'[', b']'),
                single,
                quoted: false,
                bares: true,
                in_braces,
                opener: (start, 1, "the subscript", "]"),
            })
        })
    }

    /// `@(a|b)`; the parser stands before the operator.
    pub(crate) fn extended_glob(&mut self) -> Parsed<Part> {
        let start = self.pos;
        let operator = self.here();
        let (_, at) = self.second();
        self.pos = at + 1;
        let counted = self.counted_end(self.pos, b'(', b')')?;
        let unseen = self.unseen;
        let mut alternatives = Few::<Word, 4>::new();
        loop {
            let rules = Rules {
                stops: b"|)",
                nests: (b'(', b')'),
                single: Single::Quotes,
                quoted: false,
                bares: true,
                in_braces: false,
                opener: (start, 2, "the pattern", ")"),
            };
            let word = self.bracketed("in a pattern", counted, |parser| {
                parser.enclosed_word(&rules, Place::Pattern)
            })?;
            alternatives.push(word);
            self.pos += 1;
            if self.byte(self.pos - 1) == b')' {
                break;
            }
        }
        self.same_end(start, self.pos - 1, counted)?;
        if self.unseen != unseen {
            let what = "a comment or here-document in a pattern";
            return Err(self.unsupported(start, self.pos, what));
        }
        let alternatives = alternatives.shelve(&mut self.tree);
        let kind = PartKind::ExtendedGlob { operator, alternatives };
        Ok(Part { span: Span::new(start, self.pos), kind })
    }

    /// Whether zsh would read `(` here as qualifiers or alternatives of a pattern.
    pub(crate) fn is_zsh_qualifier(&self, parts: &[Part]) -> bool {
        self.reader.dialect == Dialect::Zsh
            && parts.iter().any(|part| matches!(part.kind, PartKind::Glob | PartKind::Tilde))
    }

    /// Refuses a word that zsh reads in its own way.
    pub(crate) fn refuse_zsh_word(&self, start: usize, parts: &[Part], place: Place) -> Parsed<()> {
        let is_braced = |&byte: &u8| matches!(byte, b'{' | b'}');
        if place == Place::Delimiter
            && self.tree.text(Span::new(start, self.pos)).iter().any(is_braced)
        {
            return Err(self.unsupported(start, self.pos, "a brace in a delimiter"));
        }
        if matches!(place, Place::Delimiter | Place::Body) {
            return Ok(());
        }
        let first = self.byte(start);
        let is_alone = self.pos == start + 1;
        if first == b'=' && !is_alone && matches!(place, Place::Argument | Place::Target) {
            return Err(self.unsupported(start, self.pos, "a word that begins with `=`"));
        }
        if is_alone && matches!(first, b'}' | b'{') && place == Place::Argument {
            return Err(self.unsupported(start, self.pos, "a brace as a word"));
        }
        if place == Place::Arithmetic {
            return Ok(());
        }
        let text = |part: &Part| self.tree.text(part.span);
        let turns =
            |part: &Part| matches!(part.kind, PartKind::Glob) && matches!(text(part), b"~" | b"^");
        // Behind a sign that may turn it around, only the end of a name is the same either way.
        let is_end = |part: &Part| {
            matches!(part.kind, PartKind::Literal | PartKind::Glob) && !text(part).contains(&b'/')
        };
        if !parts.iter().skip_while(|part| !turns(part)).all(is_end) {
            return Err(self.unsupported(start, self.pos, "`~` or `^` before the end of a name"));
        }
        for part in parts.iter().filter(|part| matches!(part.kind, PartKind::Literal)) {
            let text = self.tree.text(part.span);
            let (from, to) = (part.span.start as usize, part.span.end as usize);
            if text.iter().any(|byte| matches!(byte, b'^' | b'#')) || !holds_braces(text) {
                return Err(self.unsupported(from, to, "`^`, `#` or `}` in a word"));
            }
            let inside = text.get(usize::from(from == start)..).unwrap_or_default();
            if inside.contains(&b'~') {
                return Err(self.unsupported(from, to, "`~` inside a word"));
            }
        }
        Ok(())
    }
}

/// Whether every brace that closes here was opened here, and none of them expands: then they are
/// themselves in zsh, as in every other shell.
fn holds_braces(text: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut last = 0;
    for &byte in text {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return false,
            b'}' => depth -= 1,
            b',' if depth > 0 => return false,
            b'.' if depth > 0 && last == b'.' => return false,
            _ => {}
        }
        last = byte;
    }
    true
}
