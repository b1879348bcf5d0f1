//! Parameter expansions in braces.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::{is_name_start, is_special_parameter};
use crate::parser::brackets::{Rules, Single};
use crate::parser::{Parsed, Parser};
use crate::refusal::RefusalKind;
use crate::span::Span;
use crate::word::{Action, Expansion, Part, PartKind, Place, Prefix, Word};

impl Parser<'_> {
    /// `${…}`; the parser stands behind the brace, `start` is at the `$`.
    pub(crate) fn braced(&mut self, start: usize, quoted: bool) -> Parsed<Part> {
        self.pos = self.joined(self.pos);
        if matches!(self.here(), b' ' | b'\t' | b'\n' | b'|') {
            if self.reader.dialect != Dialect::Bash {
                return Err(self.unsupported(start, self.pos + 1, "`${` with a command"));
            }
            return self.brace_substitution(start);
        }
        if self.reader.dialect == Dialect::Zsh
            && matches!(self.here(), b'(' | b'^' | b'=' | b'~' | b'+' | b':' | b'!')
        {
            return Err(self.unsupported(start, self.pos + 1, "this expansion"));
        }
        let prefix = self.prefix();
        if prefix == Prefix::Indirect {
            self.only_beyond_sh(start, "`${!`")?;
        }
        let mut expansion = Expansion { braced: true, prefix, ..Expansion::default() };
        expansion.name = self.parameter_name(start)?;
        if self.here() == b'[' && is_name_start(self.byte(expansion.name.start as usize)) {
            self.not_in_posix_expansion(start, "a subscript")?;
            expansion.subscript = self.subscript(true)?;
        }
        if expansion.prefix == Prefix::Indirect
            && expansion.subscript.is_empty()
            && is_name_start(self.byte(expansion.name.start as usize))
            && matches!(self.here(), b'*' | b'@')
            && self.byte(self.joined(self.pos + 1)) == b'}'
        {
            expansion.prefix = Prefix::Names;
            expansion.sign = Span::new(self.pos, self.pos + 1);
            self.pos += 1;
        } else {
            self.operator_and_arguments(start, quoted, &mut expansion)?;
        }
        self.pos = self.joined(self.pos);
        if self.pos < self.end && self.here() != b'}' && expansion.operator == Action::Transform {
            return Err(self.unsupported(start, self.pos + 1, "`@` without a letter"));
        }
        if self.here() != b'}' {
            return Err(self.bad_substitution(start));
        }
        self.pos += 1;
        let kind = PartKind::Parameter(self.one(expansion));
        Ok(Part { span: Span::new(start, self.pos), kind })
    }

    /// Reads `#` or `!` where it is a sign and not the parameter itself.
    fn prefix(&mut self) -> Prefix {
        let sign = self.here();
        let next = self.byte(self.joined(self.pos + 1));
        let after = self.byte(self.joined(self.joined(self.pos + 1) + 1));
        let names = is_name_start(next) || next.is_ascii_digit();
        let prefix = match sign {
            b'#' if names || is_special_parameter(next) && after == b'}' => Prefix::Length,
            b'!' if names => Prefix::Indirect,
            b'!' if matches!(next, b'@' | b'*' | b'#' | b'?')
                && b"}:-=?+#%/^,~@".contains(&after) =>
            {
                Prefix::Indirect
            }
            b'!' if matches!(next, b'-' | b'$' | b'!') && after == b'}' => Prefix::Indirect,
            _ => return Prefix::None,
        };
        self.pos = self.joined(self.pos + 1);
        prefix
    }

    fn parameter_name(&mut self, start: usize) -> Parsed<Span> {
        let at = self.pos;
        let first = self.here();
        if is_name_start(first) {
            self.pos = self.name_end(at);
            if self.joined(self.pos) != self.pos {
                let what = "a line break inside the name of a parameter";
                if crate::lexer::is_name(self.byte(self.joined(self.pos))) {
                    return Err(self.unsupported(start, self.pos, what));
                }
                let end = self.pos;
                self.pos = self.joined(self.pos);
                return Ok(Span::new(at, end));
            }
        } else if first.is_ascii_digit() {
            while self.here().is_ascii_digit() {
                self.pos += 1;
            }
        } else if is_special_parameter(first) {
            self.pos += 1;
        } else if self.pos >= self.end {
            return Err(self.unclosed(start, 2, "`${`", "}"));
        } else {
            return Err(self.bad_substitution(start));
        }
        Ok(Span::new(at, self.pos))
    }

    fn bad_substitution(&self, start: usize) -> Box<crate::refusal::Refusal> {
        if self.pos >= self.end {
            return self.unclosed(start, 2, "`${`", "}");
        }
        if self.here() >= 0x80 {
            // Where the locale has such letters they may be part of a name.
            return self.unsupported(start, self.pos + 1, "a letter beyond ASCII in an expansion");
        }
        let message = "this is no parameter expansion; the shell calls it a bad substitution";
        // It says so when it runs the command; those before have run by then.
        self.refuse(RefusalKind::Unsupported, start, self.pos + 1, message.into())
    }

    fn not_in_posix_expansion(&self, start: usize, what: &str) -> Parsed<()> {
        self.only_beyond_sh(start, what)
    }

    fn operator_and_arguments(
        &mut self,
        start: usize,
        quoted: bool,
        expansion: &mut Expansion,
    ) -> Parsed<()> {
        self.pos = self.joined(self.pos);
        let at = self.pos;
        let next = self.byte(self.joined(at + 1));
        let (action, len) = match (self.here(), next) {
            (b'}', _) => return Ok(()),
            (b':', b'-') => (Action::Default, 2),
            (b':', b'=') => (Action::Assign, 2),
            (b':', b'?') => (Action::Complain, 2),
            (b':', b'+') => (Action::Alternative, 2),
            (b':', _) => (Action::Slice, 1),
            (b'-', _) => (Action::Default, 1),
            (b'=', _) => (Action::Assign, 1),
            (b'?', _) => (Action::Complain, 1),
            (b'+', _) => (Action::Alternative, 1),
            (b'#', b'#') | (b'%', b'%') => (Action::Trim, 2),
            (b'#' | b'%', _) => (Action::Trim, 1),
            (b'/', b'/' | b'#' | b'%') => (Action::Replace, 2),
            (b'/', _) => (Action::Replace, 1),
            (b'^', b'^') | (b',', b',') | (b'~', b'~') => (Action::Case, 2),
            (b'^' | b',' | b'~', _) => (Action::Case, 1),
            (b'@', _) => (Action::Transform, 1),
            _ if expansion.prefix == Prefix::Indirect => {
                return Err(self.unsupported(start, at + 1, "this indirect expansion"));
            }
            _ => return Err(self.bad_substitution(start)),
        };
        expansion.operator = action;
        self.pos = if len == 2 { self.joined(at + 1) + 1 } else { at + 1 };
        expansion.sign = Span::new(at, self.pos);
        let is_posix = matches!(
            action,
            Action::Default
                | Action::Assign
                | Action::Complain
                | Action::Alternative
                | Action::Trim
        );
        if !is_posix {
            self.only_beyond_sh(start, "this expansion")?;
        }
        if self.reader.dialect == Dialect::Zsh {
            let is_shared = is_posix || action == Action::Replace;
            if !is_shared || matches!(self.here(), b'#' | b'%') && action == Action::Replace {
                return Err(self.unsupported(start, self.pos, "this expansion"));
            }
        }
        if action == Action::Transform {
            if self.pos < self.end && !self.here().is_ascii_alphabetic() {
                return Err(self.unsupported(start, self.pos + 1, "`@` without a letter"));
            }
            self.pos += 1;
            expansion.sign = Span::new(at, self.pos);
            return Ok(());
        }
        let mut arguments = Few::<Word, 2>::new();
        let word = self.argument(start, quoted, expansion, true)?;
        arguments.push(word);
        let has_second = action == Action::Replace && self.here() == b'/'
            || action == Action::Slice && self.here() == b':';
        if has_second {
            self.pos += 1;
            let word = self.argument(start, quoted, expansion, false)?;
            arguments.push(word);
        }
        expansion.arguments = arguments.shelve(&mut self.tree);
        Ok(())
    }

    /// Whether bash knows, where it looks for the end of a quoted substitution, that a pattern
    /// follows: it does not behind `~`, a parameter that is a sign, or signs in a subscript.
    fn keeps_quotes(&self, expansion: &Expansion) -> bool {
        let is_plain = |byte: &u8| crate::lexer::is_name(*byte) || matches!(byte, b'@' | b'*');
        let subscripts = self.tree.list(expansion.subscript).iter();
        self.tree.text(expansion.sign).first() != Some(&b'~')
            && self.tree.text(expansion.name).iter().all(is_plain)
            && subscripts
                .map(|word| self.tree.text(word.span))
                .all(|text| text.iter().all(is_plain))
    }

    /// One argument of an operator, up to `}` or, where two are allowed, the sign between them.
    fn argument(
        &mut self,
        start: usize,
        quoted: bool,
        expansion: &Expansion,
        is_first: bool,
    ) -> Parsed<Word> {
        let action = expansion.operator;
        let is_pattern = matches!(action, Action::Trim | Action::Case | Action::Replace);
        let (stops, place): (&'static [u8], Place) = match (action, is_first) {
            (Action::Replace, true) => (b"/}", Place::Pattern),
            (Action::Replace, false) => (b"}", Place::Value),
            (Action::Slice, true) => (b":}", Place::Arithmetic),
            (Action::Slice, false) => (b"}", Place::Arithmetic),
            _ if is_pattern => (b"}", Place::Pattern),
            _ if quoted => (b"}", Place::Single),
            _ => (b"}", Place::Argument),
        };
        let single = if action == Action::Slice || quoted && !is_pattern {
            Single::Hides
        } else {
            Single::Quotes
        };
        let nests = if action == Action::Slice { (b'(', b')') } else { (0, 0) };
        let rules = Rules {
            stops,
            nests,
            single,
            quoted,
            bares: !(is_pattern && self.keeps_quotes(expansion)),
            in_braces: true,
            opener: (start, 2, "`${`", "}"),
        };
        // `${x//}/y}`: the first byte of a pattern may be the sign itself.
        let word = if action == Action::Replace && is_first && self.here() == b'/' {
            self.argument_from_slash(&rules, place)?
        } else if action == Action::Slice && is_first {
            self.slice_offset(&rules, place)?
        } else {
            self.enclosed_word(&rules, place)?
        };
        Ok(word)
    }

    /// A pattern that begins with `/`, which is then part of it.
    fn argument_from_slash(&mut self, rules: &Rules, place: Place) -> Parsed<Word> {
        let rules = Rules { stops: b"/}", ..*rules };
        let start = self.pos;
        self.pos += 1;
        let rest = self.enclosed(&rules)?;
        let mut parts = crate::parser::words::Parts::new();
        crate::parser::words::push_literal(&mut parts, start, start + 1);
        for &part in rest.as_slice() {
            crate::parser::words::push_part(&mut parts, part);
        }
        let span = Span::new(start, self.pos);
        let parts = parts.shelve(&mut self.tree);
        Ok(Word::new(span, parts, place))
    }

    /// The offset of a slice, whose `? :` may hold a colon of its own.
    fn slice_offset(&mut self, rules: &Rules, place: Place) -> Parsed<Word> {
        let start = self.pos;
        let mut parts = crate::parser::words::Parts::new();
        let mut questions = 0_u32;
        loop {
            let read = self.enclosed(rules)?;
            for &part in read.as_slice() {
                if matches!(part.kind, PartKind::Glob) && self.tree.text(part.span) == b"?"
                    || matches!(part.kind, PartKind::Literal)
                        && self.tree.text(part.span).contains(&b'?')
                {
                    questions = questions.saturating_add(1);
                }
                parts.push(part);
            }
            if self.here() != b':' || questions == 0 {
                break;
            }
            questions -= 1;
            crate::parser::words::push_literal(&mut parts, self.pos, self.pos + 1);
            self.pos += 1;
        }
        let span = Span::new(start, self.pos);
        let parts = parts.shelve(&mut self.tree);
        Ok(Word::new(span, parts, place))
    }
}
