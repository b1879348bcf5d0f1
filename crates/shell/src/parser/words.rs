//! Words outside quotes.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::{Class, class};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::word::{Part, PartKind, Place, Word};

/// The parts of one word while it is read.
pub(crate) type Parts = Few<Part, 4>;

/// Adds literal text, to the last part where that is literal and ends here.
pub(crate) fn push_literal(parts: &mut Parts, start: usize, end: usize) {
    let span = Span::new(start, end);
    match parts.last_mut() {
        Some(Part { span: last, kind: PartKind::Literal }) if last.end == span.start => {
            last.end = span.end;
        }
        _ => parts.push(Part { span, kind: PartKind::Literal }),
    }
}

/// Adds a part, literal text as [`push_literal`] does.
pub(crate) fn push_part(parts: &mut Parts, part: Part) {
    if matches!(part.kind, PartKind::Literal) {
        push_literal(parts, part.span.start as usize, part.span.end as usize);
    } else {
        parts.push(part);
    }
}

impl Parser<'_> {
    /// Reads one word; the parser stands before its first byte.
    pub(crate) fn word(&mut self, place: Place) -> Parsed<Word> {
        self.word_from(place, false, false)
    }

    /// Reads a word in command position, where `name[ … ]` holds together blanks and all.
    pub(crate) fn word_with_subscript(&mut self, place: Place) -> Parsed<Word> {
        self.word_from(place, true, false)
    }

    /// Reads an element of an array, where a leading `[ … ]` holds together likewise.
    pub(crate) fn element(&mut self) -> Parsed<Word> {
        self.word_from(Place::Argument, true, true)
    }

    fn word_from(&mut self, place: Place, subscript: bool, is_element: bool) -> Parsed<Word> {
        let start = self.pos;
        if let Some(word) = self.plain_word(place) {
            return Ok(word);
        }
        let mut parts = Parts::new();
        let mut has_brace = false;
        let outer_quote = std::mem::take(&mut self.has_bare_quote);
        if subscript {
            let name_end = self.name_end(start);
            if self.byte(name_end) == b'[' && (name_end > start || is_element) {
                if self.reader.dialect != Dialect::Bash {
                    return Err(self.unsupported(start, name_end + 1, "a subscript"));
                }
                if name_end > start {
                    push_literal(&mut parts, start, name_end);
                }
                self.pos = name_end;
                self.bracketed_run(&mut parts)?;
            }
        }
        loop {
            // The common case first: a run of bytes that stand for themselves.
            let run = self.pos;
            self.pos = self.run(run, |byte| class(byte) == Class::Plain);
            if self.pos > run {
                push_literal(&mut parts, run, self.pos);
            }
            if class(self.here()) == Class::Break {
                if self.here() == b'(' && self.is_zsh_qualifier(parts.as_slice()) {
                    return Err(self.unsupported(self.pos, self.pos + 1, "a glob qualifier"));
                }
                break;
            }
            if !self.special(&mut parts, place, start, &mut has_brace)? {
                break;
            }
        }
        self.refuse_odd_braces(start)?;
        self.has_bare_quote |= outer_quote;
        self.finish_word(start, &mut parts, place, has_brace)
    }

    /// Refuses braces that bash would look for between quotes that pair up in another way.
    fn refuse_odd_braces(&self, start: usize) -> Parsed<()> {
        if !self.has_bare_quote {
            return Ok(());
        }
        // Bash looks for them once lines that go on are joined.
        let whole = without_line_breaks(self.tree.text(Span::new(start, self.pos)));
        // Brackets in a comment close nothing.
        let text = if may_comment(&whole) { whole } else { outside_substitutions(&whole) };
        let has_brace =
            text.windows(2).any(|pair| matches!(pair, [before, b'{'] if *before != b'$'));
        let has_list = text.contains(&b',') || text.windows(2).any(|pair| pair == b"..");
        if has_brace && has_list {
            let what = "braces beside quotes in backticks in quotes";
            return Err(self.unsupported(start, self.pos, what));
        }
        Ok(())
    }

    /// The common case first: a word of bytes that all stand for themselves.
    fn plain_word(&mut self, place: Place) -> Option<Word> {
        let start = self.pos;
        let end = self.run(start, |byte| class(byte) == Class::Plain);
        let is_plain =
            class(self.byte(end)) == Class::Break && self.byte(end) != b'(' && end > start;
        if !is_plain || self.reader.dialect == Dialect::Zsh {
            return None;
        }
        self.pos = end;
        let span = Span::new(start, end);
        let parts = self.one(Part { span, kind: PartKind::Literal });
        Some(Word::new(span, parts, place))
    }

    pub(crate) fn finish_word(
        &mut self,
        start: usize,
        parts: &mut Parts,
        place: Place,
        has_brace: bool,
    ) -> Parsed<Word> {
        if self.reader.dialect == Dialect::Zsh {
            self.refuse_zsh_word(start, parts.as_slice(), place)?;
        }
        if has_brace && self.unsettles_braces(parts.as_slice()) {
            let what = "braces beside `$`, `~` or an open brace in an expansion";
            return Err(self.unsupported(start, self.pos, what));
        }
        let ends_at_operator = matches!(self.here(), b'<' | b'>');
        if (has_brace || ends_at_operator) && self.has_line_break(start) {
            let what = "a line break inside a word with braces or before a redirection";
            return Err(self.unsupported(start, self.pos, what));
        }
        let braces_expand =
            matches!(place, Place::Argument | Place::AssignmentArgument | Place::Target);
        let parts = if has_brace && braces_expand {
            self.expand_braces(parts)?
        } else {
            parts.shelve(&mut self.tree)
        };
        Ok(Word::new(Span::new(start, self.pos), parts, place))
    }

    /// Whether braces are expanded, as text, into something that reads otherwise than its parts:
    /// a bare `$` joins what follows, a `~` comes to stand before a name, and a brace inside an
    /// expansion counts among those around it.
    fn unsettles_braces(&self, parts: &[Part]) -> bool {
        let balance = |text: &[u8]| {
            text.iter().fold(0_i64, |balance, byte| match byte {
                b'{' => balance + 1,
                b'}' => balance - 1,
                _ => balance,
            })
        };
        parts.iter().enumerate().any(|(at, part)| {
            let text = self.tree.text(part.span);
            let is_literal = matches!(part.kind, PartKind::Literal);
            is_literal && (text.contains(&b'$') || at == 0 && text.first() == Some(&b'~'))
                || matches!(part.kind, PartKind::Parameter(_))
                    && (balance(text) != 0 || may_comment(text))
        })
    }

    /// Whether a line continuation stands in the word that began at `start`.
    fn has_line_break(&self, start: usize) -> bool {
        self.last_break > start
    }

    /// Reads one part that needs a look; false where the word ends instead.
    pub(crate) fn special(
        &mut self,
        parts: &mut Parts,
        place: Place,
        start: usize,
        has_brace: &mut bool,
    ) -> Parsed<bool> {
        let at = self.pos;
        match self.here() {
            b'\\' => match self.byte(at + 1) {
                b'\n' => {
                    self.pos += 2;
                    self.last_break = self.pos;
                }
                0 => {
                    // Shells keep or drop it by what stands before it.
                    return Err(self.unsupported(at, at + 1, "a last backslash"));
                }
                _ => {
                    self.pos += 2;
                    let inner = Span::new(at + 1, at + 2);
                    let span = Span::new(at, at + 2);
                    parts.push(Part { span, kind: PartKind::Escaped(inner) });
                }
            },
            b'\'' => {
                let part = self.single_quoted()?;
                parts.push(part);
            }
            b'"' => {
                let part = self.double_quoted(at, false)?;
                parts.push(part);
            }
            b'$' => self.dollar(parts, false, place)?,
            b'`' => {
                if place == Place::Delimiter {
                    return Err(self.unsupported(at, at + 1, "a backtick in a delimiter"));
                }
                let part = self.backtick(false)?;
                parts.push(part);
            }
            b'<' | b'>' => {
                if self.second().0 != b'(' {
                    return Ok(false);
                }
                if place == Place::Delimiter {
                    return Err(self.unsupported(at, at + 1, "a process as a delimiter"));
                }
                let part = self.process()?;
                parts.push(part);
            }
            b'*' | b'?' if !self.is_extended_glob() => {
                self.pos += 1;
                let span = Span::new(at, at + 1);
                parts.push(Part { span, kind: PartKind::Glob });
            }
            b'[' => {
                self.pos += 1;
                let span = Span::new(at, at + 1);
                parts.push(Part { span, kind: PartKind::Glob });
            }
            b'*' | b'?' | b'+' | b'@' | b'!' if self.is_extended_glob() => {
                let part = self.deeper(Parser::extended_glob)?;
                parts.push(part);
            }
            b'~' if self.is_tilde(place, start) => self.tilde(parts)?,
            // In zsh they are themselves, or exclude and turn around where an option says so.
            b'~' | b'^' if self.reader.dialect == Dialect::Zsh && place.finds_files() => {
                self.pos += 1;
                let span = Span::new(at, at + 1);
                parts.push(Part { span, kind: PartKind::Glob });
            }
            b'~' if self.has_line_break(start) => {
                return Err(self.unsupported(at, at + 1, "`~` behind a line break"));
            }
            byte => {
                *has_brace |= byte == b'{';
                self.pos += 1;
                push_literal(parts, at, at + 1);
            }
        }
        Ok(true)
    }

    fn is_extended_glob(&self) -> bool {
        self.extglob && self.second().0 == b'('
    }

    /// Whether a `~` here is expanded.
    fn is_tilde(&self, place: Place, start: usize) -> bool {
        let before = self.pos.checked_sub(1).map_or(0, |at| self.byte(at));
        match place {
            Place::Value => self.pos == start || before == b':',
            Place::AssignmentArgument => self.pos == start || matches!(before, b':' | b'='),
            Place::Argument | Place::Target | Place::Pattern | Place::Single => {
                // Bash expands the tilde of `x=~` in any argument that reads like an assignment.
                self.pos == start
                    || place == Place::Argument
                        && matches!(before, b':' | b'=')
                        && self.reads_like_assignment(start)
            }
            Place::Alternative
            | Place::Delimiter
            | Place::Body
            | Place::Arithmetic
            | Place::Name => false,
        }
    }

    fn reads_like_assignment(&self, start: usize) -> bool {
        let end = self.name_end(start);
        let text = self.tree.text(Span::new(end, self.pos));
        end > start && matches!(text, [b'=', ..] | [b'+', b'=', ..] | [b'[', .., b']', b'=' | b':'])
            || end > start
                && text.first() == Some(&b'[')
                && text.windows(2).any(|pair| pair == b"]=")
    }

    fn tilde(&mut self, parts: &mut Parts) -> Parsed<()> {
        let start = self.pos;
        let mut at = start + 1;
        while matches!(self.byte(at), b'+' | b'-' | b'.' | b'_')
            || self.byte(at).is_ascii_alphanumeric()
        {
            at += 1;
        }
        let next = self.joined(at);
        // A quote or an expansion inside the login name keeps the tilde as it is.
        let is_whole =
            matches!(self.byte(next), b'/' | b':') || crate::lexer::is_break(self.byte(next));
        let is_pattern = self.extglob && self.byte(next) == b'(' && at > start + 1;
        if is_pattern || !is_whole && (next != at || self.reader.dialect == Dialect::Zsh) {
            return Err(self.unsupported(start, at, "`~` before this"));
        }
        if is_whole {
            self.pos = next;
            let span = Span::new(start, at);
            parts.push(Part { span, kind: PartKind::Tilde });
        } else {
            self.pos += 1;
            push_literal(parts, start, start + 1);
        }
        Ok(())
    }
}

/// Whether a comment may stand in the text of a word, in a substitution.
pub(crate) fn may_comment(text: &[u8]) -> bool {
    text.windows(2).any(|pair| matches!(pair, [before, b'#'] if crate::lexer::is_break(*before)))
}

/// A text with its lines joined that go on.
pub(crate) fn without_line_breaks(text: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\\\n") {
        let (before, after) = rest.split_at(at);
        joined.extend_from_slice(before);
        rest = after.get(2..).unwrap_or_default();
    }
    joined.extend_from_slice(rest);
    joined
}

/// A word's text without what stands in `$( … )`, where bash looks for no braces of the word.
fn outside_substitutions(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut depth = 0_u32;
    for (at, &byte) in text.iter().enumerate() {
        let before = |by: usize| at.checked_sub(by).and_then(|before| text.get(before));
        match byte {
            // Between backticks `\$(` is a substitution only once they run.
            b'(' if depth > 0 || before(1) == Some(&b'$') && before(2) != Some(&b'\\') => {
                depth += 1;
            }
            b')' if depth > 0 => depth -= 1,
            _ if depth == 0 => kept.push(byte),
            _ => {}
        }
    }
    kept
}
