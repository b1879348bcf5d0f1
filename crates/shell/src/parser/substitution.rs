//! Command and process substitutions, and what a `$` begins.

use crate::dialect::Dialect;
use crate::lexer::{is_name_start, is_special_parameter};
use crate::parser::words::{Parts, push_literal};
use crate::parser::{Closer, Parsed, Parser};
use crate::span::Span;
use crate::tree::Script;
use crate::word::{CommandForm, Expansion, Part, PartKind, Place};

impl Parser<'_> {
    /// Reads what `$` begins; a `$` that begins nothing is literal.
    ///
    /// `quoted` says that quotes after it are not its own, as between double quotes.
    pub(crate) fn dollar(&mut self, parts: &mut Parts, quoted: bool, place: Place) -> Parsed<()> {
        let start = self.pos;
        let (next, at) = self.second();
        if at > start + 1 && !quoted && matches!(next, b'\'' | b'"') {
            return Err(self.unsupported(start, at + 1, "a line break between `$` and its quote"));
        }
        if place == Place::Delimiter {
            if matches!(next, b'(' | b'{' | b'[') {
                return Err(self.unsupported(start, at + 1, "an expansion in a delimiter"));
            }
            if !matches!(next, b'\'' | b'"') {
                self.pos += 1;
                push_literal(parts, start, start + 1);
                return Ok(());
            }
        }
        let is_quoted = self.is_quoted;
        self.is_quoted |= quoted;
        let part = match next {
            b'(' => self.deeper(|parser| parser.dollar_parenthesis(start, at))?,
            b'{' => {
                self.pos = at + 1;
                self.deeper(|parser| parser.braced(start, quoted))?
            }
            b'[' if self.reader.dialect == Dialect::Bash => {
                self.pos = at + 1;
                self.deeper(|parser| parser.dollar_bracket(start))?
            }
            b'[' => return Err(self.unsupported(start, at + 1, "`$[`")),
            b'\'' if !quoted => {
                self.only_beyond_sh(start, "`$'`")?;
                self.pos = at;
                self.ansi_quoted(start)?
            }
            b'"' if !quoted => {
                if self.reader.dialect != Dialect::Bash {
                    return Err(self.unsupported(start, at + 1, "`$\"`"));
                }
                self.pos = at;
                self.double_quoted(start, true)?
            }
            byte if is_name_start(byte) || byte.is_ascii_digit() || is_special_parameter(byte) => {
                self.plain_parameter(start, at)?
            }
            _ => {
                let is_own = matches!(next, b'=' | b'~' | b'^' | b'+') || next >= 0x80;
                if is_own && self.reader.dialect == Dialect::Zsh {
                    return Err(self.unsupported(start, at + 1, "this expansion"));
                }
                self.pos += 1;
                push_literal(parts, start, start + 1);
                self.is_quoted = is_quoted;
                return Ok(());
            }
        };
        self.is_quoted = is_quoted;
        parts.push(part);
        Ok(())
    }

    /// `$x`; `at` is where the name begins.
    fn plain_parameter(&mut self, start: usize, at: usize) -> Parsed<Part> {
        let mut end = at + 1;
        if is_name_start(self.byte(at)) {
            loop {
                let next = self.joined(end);
                if !crate::lexer::is_name(self.byte(next)) {
                    break;
                }
                if next != end {
                    let message = "a line break inside the name of a parameter";
                    return Err(self.unsupported(start, next, message));
                }
                end += 1;
            }
        }
        self.pos = end;
        if self.extglob
            && matches!(self.byte(at), b'*' | b'?' | b'@' | b'!')
            && self.byte(self.joined(end)) == b'('
        {
            return Err(self.unsupported(start, end + 1, "a pattern behind `$`"));
        }
        if self.reader.dialect == Dialect::Zsh {
            let after = self.joined(end);
            let next = self.byte(after);
            let is_modified = next == b'['
                || next == b'\'' && self.byte(at) == b'$'
                || next == b':' && self.byte(self.joined(after + 1)).is_ascii_alphabetic()
                || self.byte(at) == b'#' && (is_name_start(next) || next.is_ascii_digit());
            if is_modified {
                return Err(self.unsupported(start, end + 1, "this expansion"));
            }
        }
        let expansion = Expansion { name: Span::new(at, end), ..Expansion::default() };
        let kind = PartKind::Parameter(self.one(expansion));
        Ok(Part { span: Span::new(start, end), kind })
    }

    /// `$(…)` or `$((…))`; `at` is where the first parenthesis stands.
    fn dollar_parenthesis(&mut self, start: usize, at: usize) -> Parsed<Part> {
        let second = self.joined(at + 1);
        let end = match self.byte(second) {
            b'(' => Some(self.counted_end(second + 1, b'(', b')')?),
            _ => None,
        };
        if let Some(end) = end.filter(|&end| self.is_doubled(end)) {
            self.pos = second + 1;
            let unseen = self.unseen;
            let word = match self.doubled(start, end) {
                Err(_) if self.unseen != unseen => return Err(self.unseen_behind(start)),
                read => read?,
            };
            let expression = self.one(word);
            let kind = PartKind::Arithmetic { bracket: false, expression };
            return Ok(Part { span: Span::new(start, self.pos), kind });
        }
        if end.is_some() && self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(start, second + 1, "`$((` that is no arithmetic"));
        }
        self.pos = at + 1;
        let script = self.parenthesised(start, at + 1 - start, "`$(`")?;
        let kind = PartKind::Command { form: CommandForm::Dollar, script };
        Ok(Part { span: Span::new(start, self.pos), kind })
    }

    /// A script up to `)`, and the `)`.
    fn parenthesised(&mut self, start: usize, len: usize, what: &'static str) -> Parsed<Script> {
        // Behind a second parenthesis bash only counts brackets to find the end.
        let counted = match self.byte(self.joined(self.pos)) {
            b'(' => Some(self.counted_end(self.pos, b'(', b')')?),
            _ => None,
        };
        let unseen = self.unseen;
        self.opening = self.joined(self.pos);
        while matches!(self.byte(self.opening), b' ' | b'\t') {
            self.opening = self.joined(self.opening + 1);
        }
        let counted_place = if counted.is_some() { "behind two parentheses" } else { self.counted };
        let read = self.bracketed(counted_place, counted.unwrap_or(self.end), |parser| {
            let script = parser.nested(Closer::Parenthesis, Parser::script)?;
            parser.skip_blanks();
            if parser.here() == b')' {
                return Ok(script);
            }
            if parser.pos >= parser.end {
                return Err(parser.unclosed(start, len, what, ")"));
            }
            Err(parser.unexpected("`)`"))
        });
        let script = match read {
            Err(_) if counted.is_some() && self.unseen != unseen => {
                return Err(self.unseen_behind(start));
            }
            read => read?,
        };
        if let Some(counted) = counted {
            self.same_end(start, self.pos, counted)?;
        }
        if counted.is_some() && self.unseen != unseen {
            return Err(self.unseen_behind(start));
        }
        self.pos += 1;
        Ok(script)
    }

    /// `<(…)` or `>(…)`.
    pub(crate) fn process(&mut self) -> Parsed<Part> {
        let start = self.pos;
        let output = self.here() == b'>';
        let (_, at) = self.second();
        if self.reader.dialect == Dialect::Sh {
            return Err(self.unsupported(start, at + 1, "a process substitution"));
        }
        self.pos = at + 1;
        let script = self.parenthesised(start, at + 1 - start, "the process substitution")?;
        let kind = PartKind::Process { output, script };
        Ok(Part { span: Span::new(start, self.pos), kind })
    }

    /// `` `…` ``; between double quotes a backslash also frees a `"`.
    pub(crate) fn backtick(&mut self, quoted: bool) -> Parsed<Part> {
        let start = self.pos;
        let mut at = start + 1;
        let mut is_escaped = false;
        loop {
            match self.byte(at) {
                b'`' => break,
                b'\\' => {
                    is_escaped = true;
                    at += 1;
                }
                _ => {}
            }
            if at >= self.end {
                return Err(self.unclosed(start, 1, "the backtick", "`"));
            }
            at += 1;
        }
        self.has_bare_quote |= quoted && self.holds_bare_quote(start + 1, at);
        let (mut from, mut to) =
            if is_escaped { self.unescape(start + 1, at, quoted)? } else { (start + 1, at) };
        if from == to {
            // Nothing was made of it, so it has no place behind the text.
            (from, to) = (at, at);
        }
        let is_quoted = std::mem::take(&mut self.is_quoted);
        let script = self.late("between backticks", |parser| {
            parser.nested(Closer::End, |parser| parser.within(from, to, Parser::whole_script))
        })?;
        self.is_quoted = is_quoted;
        self.pos = at + 1;
        let kind = PartKind::Command { form: CommandForm::Backtick, script };
        Ok(Part { span: Span::new(start, at + 1), kind })
    }

    /// A script that is all there is.
    fn whole_script(&mut self) -> Parsed<Script> {
        let script = self.script()?;
        if self.pos < self.end {
            return Err(self.unexpected("a command"));
        }
        self.end_waiting()?;
        Ok(script)
    }

    /// Backticks between the braces of an expansion: there shells do not agree about `\"`.
    pub(crate) fn backtick_in_braces(&mut self, quoted: bool) -> Parsed<Part> {
        let start = self.pos;
        let part = self.backtick(false)?;
        let text = self.tree.text(part.span);
        let frees_quote = text.windows(2).any(|pair| pair == b"\\\"");
        if quoted && frees_quote && self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(start, self.pos, "`\\\"` in backticks in an expansion"));
        }
        Ok(part)
    }

    /// Whether a `"` without a backslash stands between two offsets.
    fn holds_bare_quote(&self, mut at: usize, end: usize) -> bool {
        while at < end && self.byte(at) != b'"' {
            at += if self.byte(at) == b'\\' { 2 } else { 1 };
        }
        at < end
    }

    /// Makes the body of backticks as the shell will read it, behind the text.
    fn unescape(&mut self, start: usize, end: usize, quoted: bool) -> Parsed<(usize, usize)> {
        self.derive(start, end - start)?;
        let from = self.tree.text.len();
        self.tree.origins.record(from, start);
        let mut at = start;
        while at < end {
            let byte = self.byte(at);
            let next = if at + 1 < end { self.byte(at + 1) } else { 0 };
            let frees = matches!(next, b'$' | b'`' | b'\\') || quoted && next == b'"';
            if byte == b'\\' && next == b'\n' {
                // The line goes on before anything between the backticks is read, quotes too.
                at += 2;
                let made = self.tree.text.len();
                self.tree.origins.record(made, at.min(end - 1));
            } else if byte == b'\\' && frees {
                let made = self.tree.text.len();
                self.tree.origins.record(made, at + 1);
                self.tree.text.push(next);
                at += 2;
            } else {
                self.tree.text.push(byte);
                at += 1;
            }
        }
        Ok((from, self.tree.text.len()))
    }

    /// `${ …;}` or `${| …;}`; the parser stands behind the brace.
    pub(crate) fn brace_substitution(&mut self, start: usize) -> Parsed<Part> {
        let mut form = CommandForm::Brace;
        if self.here() == b'|' {
            form = CommandForm::BraceReply;
            self.pos += 1;
        }
        // Bash before 5.3 takes it for a parameter that ends at the first brace.
        self.has_brace_command = true;
        let unseen = self.unseen;
        let script = self.late("in `${ …; }`", |parser| {
            let script = parser.nested(Closer::Brace, Parser::script)?;
            parser.skip_blanks();
            if parser.here() != b'}' {
                if parser.pos >= parser.end {
                    return Err(parser.unclosed(start, 2, "`${`", "}"));
                }
                return Err(parser.unexpected("`}` after `;` or a new line"));
            }
            Ok(script)
        })?;
        if self.unseen != unseen {
            let what = "a comment or here-document in `${ …; }`";
            return Err(self.unsupported(start, self.pos, what));
        }
        self.pos += 1;
        let kind = PartKind::Command { form, script };
        Ok(Part { span: Span::new(start, self.pos), kind })
    }
}
