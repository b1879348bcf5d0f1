//! Assignments, arrays, and arguments that read like assignments.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::parser::words::Parts;
use crate::parser::{Closer, Parsed, Parser};
use crate::span::Span;
use crate::tree::{Assigned, Assignment, Command, Kind, List};
use crate::word::{Part, PartKind, Place, Word};

/// What stands behind a name that may be assigned to.
enum Sign {
    /// `=` or `+=`: whether it appends, and the offset behind it.
    Equals(bool, usize),
    /// `[ … ]` with a sign behind it: the offset of the `]`.
    Subscript(usize),
    /// Nothing of the kind.
    None,
}

impl Parser<'_> {
    /// Reads an assignment if one begins here.
    ///
    /// `may_be_array` says whether `( … )` may be assigned here.
    pub(crate) fn assignment(&mut self, may_be_array: bool) -> Parsed<Option<Assignment>> {
        let start = self.pos;
        let end = self.assigned_name_end()?;
        if end == start {
            return Ok(None);
        }
        let (appends, after, subscript) = match self.sign(end)? {
            Sign::None => return Ok(None),
            Sign::Equals(appends, after) => (appends, after, List::default()),
            Sign::Subscript(close) => {
                if self.reader.dialect != Dialect::Bash {
                    return Err(self.unsupported(start, end + 1, "a subscript"));
                }
                self.pos = end;
                let subscript = self.assigned_subscript(start, close)?;
                let Sign::Equals(appends, after) = self.sign(self.pos)? else {
                    return Err(self.unsupported(start, self.pos, "this subscript"));
                };
                (appends, after, subscript)
            }
        };
        if appends {
            self.only_beyond_sh(start, "`+=`")?;
        }
        self.pos = after;
        if !may_be_array && self.byte(self.joined(self.pos)) == b'(' {
            return Err(self.unexpected("a word"));
        }
        let value = self.assigned(start)?;
        let name = Span::new(start, end);
        let span = Span::new(start, self.pos);
        Ok(Some(Assignment { span, name, subscript, appends, value }))
    }

    /// The end of the name that begins here, if an assignment can follow it.
    fn assigned_name_end(&self) -> Parsed<usize> {
        let end = self.name_end(self.pos);
        let joined = self.joined(end);
        if joined == end {
            return Ok(end);
        }
        // A broken line inside the name: read on to see whether it is an assignment at all.
        let mut at = joined;
        while crate::lexer::is_name(self.byte(at)) {
            at = self.joined(at + 1);
        }
        if end > self.pos && matches!(self.byte(at), b'=' | b'+' | b'[') {
            return Err(self.unsupported(self.pos, at + 1, "a line break inside an assignment"));
        }
        Ok(self.pos)
    }

    fn sign(&mut self, at: usize) -> Parsed<Sign> {
        let at = self.joined(at);
        let next = self.joined(at + 1);
        match (self.byte(at), self.byte(next)) {
            (b'=', _) => Ok(Sign::Equals(false, at + 1)),
            (b'+', b'=') => Ok(Sign::Equals(true, next + 1)),
            (b'[', _) => {
                let close = self.closing_subscript(at)?;
                Ok(close.map_or(Sign::None, Sign::Subscript))
            }
            _ => Ok(Sign::None),
        }
    }

    /// Reads a subscript that looking ahead saw end at `close`.
    fn assigned_subscript(&mut self, start: usize, close: usize) -> Parsed<List<Word>> {
        let unseen = self.unseen;
        let subscript = self.subscript(false)?;
        if self.pos != close + 1 || self.unseen != unseen {
            // A quote, comment or substitution holds a bracket that is none.
            return Err(self.unsupported(start, self.pos, "this subscript"));
        }
        Ok(subscript)
    }

    /// The `]` that closes the bracket at `at`, if `=` or `+=` follows it.
    fn closing_subscript(&mut self, at: usize) -> Parsed<Option<usize>> {
        let mut depth = 0_u32;
        let mut here = at;
        loop {
            self.look_ahead(at, 1)?;
            match self.byte(here) {
                0 => return Ok(None),
                b'[' => depth = depth.saturating_add(1),
                b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let next = self.joined(here + 1);
                        let is_assigned = self.byte(next) == b'='
                            || self.byte(next) == b'+' && self.byte(self.joined(next + 1)) == b'=';
                        return Ok(is_assigned.then_some(here));
                    }
                }
                b'\\' => here += 1,
                quote @ (b'\'' | b'"' | b'`') => {
                    let close = self.closing_quote(here, quote);
                    self.look_ahead(at, close - here)?;
                    here = close;
                }
                _ => {}
            }
            here += 1;
        }
    }

    /// What is assigned: an array or a word, possibly an empty one.
    fn assigned(&mut self, start: usize) -> Parsed<Assigned> {
        if self.byte(self.joined(self.pos)) == b'(' {
            self.pos = self.joined(self.pos);
            self.only_beyond_sh(start, "an array")?;
            return self.deeper(Parser::array).map(Assigned::Array);
        }
        let word = self.value_word()?;
        Ok(Assigned::Word(self.one(word)))
    }

    fn value_word(&mut self) -> Parsed<Word> {
        let at = self.pos;
        if crate::lexer::is_break(self.here()) && !self.is_at_process() {
            let span = Span::new(at, at);
            let parts = List::default();
            return Ok(Word::new(span, parts, Place::Value));
        }
        self.word(Place::Value)
    }

    /// `( … )`; the parser stands before the parenthesis.
    fn array(&mut self) -> Parsed<List<Assignment>> {
        let start = self.pos;
        self.pos += 1;
        self.inner_arrays += usize::from(self.closer == Closer::Parenthesis);
        let mut elements = Few::<Assignment, 4>::new();
        loop {
            self.skip_blanks();
            while self.here() == b'\n' {
                if self.unshelved > 0 || !self.waiting.is_empty() {
                    let what = "a here-document that begins inside an array";
                    return Err(self.unsupported(start, self.pos, what));
                }
                self.newline()?;
                self.skip_blanks();
            }
            let at = self.pos;
            if self.here() == b')' {
                self.pos += 1;
                if !crate::lexer::is_break(self.byte(self.joined(self.pos))) {
                    return Err(self.unsupported(start, self.pos + 1, "text behind an array"));
                }
                self.refuse_escapes(start)?;
                return Ok(elements.shelve(&mut self.tree));
            }
            if self.pos >= self.end {
                self.refuse_escapes(start)?;
                return Err(self.unclosed(start, 1, "the array", ")"));
            }
            if crate::lexer::is_break(self.here()) && !self.is_at_process() {
                self.refuse_escapes(start)?;
                return Err(self.unexpected("a word or `)`"));
            }
            let (inner_arrays, commands) = (self.inner_arrays, self.tree.commands.len());
            let mut element = Assignment { name: Span::new(at, at), ..Assignment::default() };
            let close = if self.here() == b'[' { self.closing_subscript(at)? } else { None };
            if let Some(close) = close {
                if self.reader.dialect != Dialect::Bash {
                    return Err(self.unsupported(at, at + 1, "a subscript"));
                }
                element.subscript = self.assigned_subscript(at, close)?;
                self.refuse_odd_commands(at, inner_arrays, commands)?;
                let Sign::Equals(appends, after) = self.sign(self.pos)? else {
                    return Err(self.unsupported(at, self.pos, "this subscript"));
                };
                element.appends = appends;
                self.pos = after;
                let word = self.value_word()?;
                element.value = Assigned::Word(self.one(word));
            } else {
                let word = match self.here() {
                    b'[' => self.element()?,
                    _ => self.word(Place::Argument)?,
                };
                element.value = Assigned::Word(self.one(word));
                if self.byte(at) == b'[' {
                    self.refuse_odd_commands(at, inner_arrays, commands)?;
                }
            }
            element.span = Span::new(at, self.pos);
            elements.push(element);
        }
    }

    /// Refuses commands in the brackets of an element that bash before 5.3 reads as it reads the
    /// words of the array: those read since there were so many arrays and commands.
    fn refuse_odd_commands(&self, at: usize, inner_arrays: usize, commands: usize) -> Parsed<()> {
        let inner = self.tree.commands.get(commands..).unwrap_or_default();
        let is_odd = |command: &Command| {
            !matches!(command.kind, Kind::Simple(_)) || self.tree.text(command.span).contains(&b'[')
        };
        if self.inner_arrays != inner_arrays || inner.iter().any(is_odd) {
            let what = "an array, bracket or compound command in a subscript of an array";
            return Err(self.unsupported(at, self.pos, what));
        }
        Ok(())
    }

    /// Refuses escaped operators in an array inside a substitution, where bash before 5.3 takes
    /// them for operators while it looks for the end.
    fn refuse_escapes(&self, start: usize) -> Parsed<()> {
        if self.closer != Closer::Parenthesis {
            return Ok(());
        }
        let mut bytes = self.tree.text(Span::new(start, self.pos)).iter();
        while let Some(byte) = bytes.next() {
            let is_odd = match byte {
                b'\\' => bytes.next().is_some_and(|byte| b"();&|<>\"'`".contains(byte)),
                byte => *byte == b'`',
            };
            if is_odd {
                let what = "an escaped operator or backtick in an array in a substitution";
                return Err(self.unsupported(start, self.pos, what));
            }
        }
        Ok(())
    }

    /// Reads an argument of `declare` and its kin, which may be an assignment; of an array only
    /// where no operator stands before it.
    pub(crate) fn declared(&mut self, may_be_array: bool) -> Parsed<Word> {
        let start = self.pos;
        let end = self.name_end(start);
        let is_assignment = end > start
            && (matches!(self.byte(end), b'=' | b'[')
                || self.byte(end) == b'+' && self.byte(end + 1) == b'=');
        let place = if is_assignment { Place::AssignmentArgument } else { Place::Argument };
        let word = self.word(place)?;
        let text = self.tree.text(Span::new(end, self.pos));
        if is_assignment && self.here() == b'(' && text.first() == Some(&b'[') {
            // An element cannot be an array, which bash finds when it assigns it.
            return Err(self.unsupported(start, self.pos + 1, "this subscript"));
        }
        let is_sign = matches!(text, b"=" | b"+=");
        if !is_assignment || self.here() != b'(' || !is_sign || !may_be_array {
            return Ok(word);
        }
        self.only_beyond_sh(start, "an array")?;
        let mut parts = Parts::new();
        for &part in self.tree.list(word.parts) {
            parts.push(part);
        }
        let begin = self.pos;
        let elements = self.deeper(Parser::array)?;
        let span = Span::new(begin, self.pos);
        parts.push(Part { span, kind: PartKind::Array(elements) });
        self.finish_word(start, &mut parts, Place::AssignmentArgument, false)
    }
}
