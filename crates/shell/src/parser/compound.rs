//! Compound commands: everything that begins with a bracket or a reserved word.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::Keyword;
use crate::parser::{Closer, Parsed, Parser};
use crate::span::Span;
use crate::tree::{Branch, Command, Kind, List, Script};
use crate::word::{Place, Word};

impl Parser<'_> {
    /// Reads one command of a pipeline.
    pub(crate) fn command(&mut self) -> Parsed<Command> {
        self.count_command()?;
        let start = self.pos;
        if self.here() == b'(' {
            let kind = self.deeper(Parser::parenthesis)?;
            return self.finish_compound(start, kind);
        }
        let Some((keyword, after)) = self.keyword() else { return self.simple() };
        if keyword == Keyword::Time {
            return self.simple();
        }
        self.pos = after;
        if keyword == Keyword::Function {
            return self.deeper(|parser| parser.function_keyword(start));
        }
        if keyword == Keyword::Coproc {
            return self.deeper(|parser| parser.coproc(start));
        }
        let kind = self.deeper(|parser| parser.compound(keyword, start))?;
        self.finish_compound(start, kind)
    }

    /// Reads a compound command only, as a function's body must be one.
    fn compound_command(&mut self) -> Parsed<Command> {
        self.count_command()?;
        let start = self.pos;
        let kind = match (self.here(), self.keyword()) {
            (b'(', _) => self.deeper(Parser::parenthesis)?,
            (_, Some((keyword, after))) if keyword.is_compound() => {
                self.pos = after;
                self.deeper(|parser| parser.compound(keyword, start))?
            }
            _ => return Err(self.unexpected("the body of a function")),
        };
        self.finish_compound(start, kind)
    }

    fn finish_compound(&mut self, start: usize, kind: Kind) -> Parsed<Command> {
        let redirections = self.redirections()?;
        let span = Span::new(start, self.pos);
        Ok(Command { span, kind, redirections, pipes_errors: false })
    }

    fn compound(&mut self, keyword: Keyword, start: usize) -> Parsed<Kind> {
        match keyword {
            Keyword::OpenBrace => {
                let script = self.filled_script()?;
                self.close(Keyword::CloseBrace, start, "`{`", "}")?;
                Ok(Kind::Group(script))
            }
            Keyword::If => self.if_branches(start),
            Keyword::While => self.while_loop(start, "`while`").map(Kind::While),
            Keyword::Until => self.while_loop(start, "`until`").map(Kind::Until),
            Keyword::For => self.for_loop(start),
            Keyword::Select => {
                self.only_beyond_sh(start, "`select`")?;
                self.named_loop(start).map(Kind::Select)
            }
            Keyword::Case => self.case(start),
            Keyword::OpenTest => {
                self.only_beyond_sh(start, "`[[`")?;
                self.double_bracket(start)
            }
            Keyword::OnlyZsh => Err(self.unsupported(start, self.pos, "this reserved word")),
            Keyword::Bang
            | Keyword::CloseBrace
            | Keyword::CloseTest
            | Keyword::Coproc
            | Keyword::Do
            | Keyword::Done
            | Keyword::Elif
            | Keyword::Else
            | Keyword::Esac
            | Keyword::Fi
            | Keyword::Function
            | Keyword::In
            | Keyword::Then
            | Keyword::Time => {
                self.pos = start;
                Err(self.unexpected("a command"))
            }
        }
    }

    /// Refuses what POSIX does not have.
    pub(crate) fn only_beyond_sh(&self, start: usize, what: &str) -> Parsed<()> {
        if self.reader.dialect == Dialect::Sh {
            return Err(self.unsupported(start, self.pos, what));
        }
        Ok(())
    }

    pub(super) fn close(
        &mut self,
        closer: Keyword,
        start: usize,
        what: &str,
        text: &str,
    ) -> Parsed<()> {
        self.skip_blanks();
        if !self.follows_redirection() && self.accept(closer) {
            return Ok(());
        }
        if self.pos >= self.end {
            return Err(self.unclosed(start, what.len().saturating_sub(2), what, text));
        }
        Err(self.unexpected(&format!("`{text}`")))
    }

    /// Whether only blanks stand between the last redirection and the parser's place.
    fn follows_redirection(&self) -> bool {
        let between = self.tree.text.get(self.redirected..self.pos);
        between.is_some_and(|text| text.iter().all(|byte| matches!(byte, b' ' | b'\t')))
    }

    /// `( … )` or `(( … ))`.
    fn parenthesis(&mut self) -> Parsed<Kind> {
        let start = self.pos;
        let (second, at) = self.second();
        let mut counted = None;
        if second == b'(' {
            let end = self.counted_end(at + 1, b'(', b')')?;
            if self.is_doubled(end) {
                self.pos = at + 1;
                self.only_beyond_sh(start, "`((`")?;
                let unseen = self.unseen;
                let word = match self.doubled(start, end) {
                    // What counting does not see has shifted where it ends.
                    Err(_) if self.unseen != unseen => return Err(self.unseen_behind(start)),
                    read => read?,
                };
                return Ok(Kind::Arithmetic(self.one(word)));
            }
            if self.reader.dialect == Dialect::Zsh {
                return Err(self.unsupported(start, at + 1, "`((` that is no arithmetic"));
            }
            counted = Some(end);
            if self.byte(end + 1) == b'\n' || self.joined(end + 1) != end + 1 {
                // Bash looks for the second one on this line, by counting in its own way.
                self.pos = end + 1;
                return Err(self.unsupported(start, self.pos, "text whose brackets do not match"));
            }
        }
        self.pos += 1;
        let unseen = self.unseen;
        let script = match self.filled_script() {
            Err(_) if second == b'(' && self.unseen != unseen => {
                return Err(self.unseen_behind(start));
            }
            Err(refusal) => return Err(self.miscounted(start, counted, refusal)),
            Ok(script) => script,
        };
        self.skip_blanks();
        if second == b'(' && self.unseen != unseen {
            return Err(self.unseen_behind(start));
        }
        if self.here() != b')' {
            let refusal = if self.pos >= self.end {
                self.unclosed(start, 1, "`(`", ")")
            } else {
                self.unexpected("`)`")
            };
            return Err(self.miscounted(start, counted, refusal));
        }
        self.pos += 1;
        if let Some(counted) = counted {
            self.same_end(start, self.first_closer(script).unwrap_or(counted), counted)?;
        }
        Ok(Kind::Subshell(script))
    }

    /// Where the bracket closes with which the first command of a script begins.
    fn first_closer(&self, script: Script) -> Option<usize> {
        let item = self.tree.only(script.items)?;
        let pipeline = self.tree.only(item.pipelines)?;
        let command = self.tree.only(pipeline.commands)?;
        if let Kind::Arithmetic(word) = command.kind {
            return Some(self.tree.only(word)?.span.end as usize + 1);
        }
        let Kind::Subshell(inner) = command.kind else { return None };
        let mut at = self.joined(inner.span.end as usize);
        while matches!(self.byte(at), b' ' | b'\t') {
            at = self.joined(at + 1);
        }
        Some(at)
    }

    fn if_branches(&mut self, start: usize) -> Parsed<Kind> {
        let mut branches = Few::<Branch, 2>::new();
        loop {
            let condition = self.filled_script()?;
            self.close(Keyword::Then, start, "`if`", "then")?;
            let body = self.filled_script()?;
            branches.push(Branch { condition: Some(condition), body });
            self.skip_blanks();
            if self.follows_redirection() {
                return Err(self.unexpected("`;` or a new line"));
            }
            if self.accept(Keyword::Elif) {
                continue;
            }
            if self.accept(Keyword::Else) {
                let body = self.filled_script()?;
                branches.push(Branch { condition: None, body });
            }
            self.close(Keyword::Fi, start, "`if`", "fi")?;
            return Ok(Kind::If(branches.shelve(&mut self.tree)));
        }
    }

    /// `function name [()] body`
    fn function_keyword(&mut self, start: usize) -> Parsed<Command> {
        self.only_beyond_sh(start, "`function`")?;
        self.skip_blanks();
        if crate::lexer::is_break(self.here()) && !self.is_at_process() {
            return Err(self.unexpected("a function's name"));
        }
        let name = self.word(Place::Name)?;
        self.skip_blanks();
        if self.here() == b'(' {
            let (second, at) = self.second_after_blanks();
            let is_pair = second == b')';
            if self.reader.dialect == Dialect::Zsh && !(is_pair && at == self.pos + 1) {
                return Err(self.unsupported(start, at, "a function of this form"));
            }
            if is_pair {
                self.pos = at + 1;
            }
        }
        self.function_body(start, name, true)
    }

    /// The byte after this one and the blanks behind it.
    fn second_after_blanks(&self) -> (u8, usize) {
        let mut at = self.joined(self.pos + 1);
        while matches!(self.byte(at), b' ' | b'\t') {
            at = self.joined(at + 1);
        }
        (self.byte(at), at)
    }

    /// The body of a function whose name and `()` were read.
    pub(crate) fn function_body(
        &mut self,
        start: usize,
        name: Word,
        keyword: bool,
    ) -> Parsed<Command> {
        self.skip_newlines()?;
        if self.reader.dialect != Dialect::Bash {
            let is_plain = self.is_at(Keyword::OpenBrace) || self.here() == b'(';
            if !is_plain {
                return Err(self.unsupported(start, self.pos, "a function without braces"));
            }
        }
        let body = self.deeper(Parser::compound_command)?;
        let name = self.one(name);
        let body = self.one(body);
        let kind = Kind::Function { name, body, keyword };
        let span = Span::new(start, self.pos);
        Ok(Command { span, kind, redirections: List::default(), pipes_errors: false })
    }

    fn coproc(&mut self, start: usize) -> Parsed<Command> {
        if self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(start, self.pos, "`coproc`"));
        }
        if self.closer == Closer::Parenthesis {
            // Bash before 5.3 prints the command anew there and takes its program for a name.
            return Err(self.unsupported(start, self.pos, "`coproc` in a substitution"));
        }
        self.skip_blanks();
        let mut name = List::default();
        if !self.is_at_compound() {
            if self.is_at_reserved() {
                return Err(self.unexpected("a command"));
            }
            let after = self.plain_word_end();
            let begin = std::mem::replace(&mut self.pos, after);
            self.skip_blanks();
            let is_named = after > begin && self.is_at_compound();
            self.pos = begin;
            if is_named {
                let word = self.word(Place::Name)?;
                name = self.one(word);
                self.skip_blanks();
            }
        }
        let command = if self.is_at_compound() {
            self.deeper(Parser::compound_command)?
        } else {
            self.count_command()?;
            let command = self.coprocess()?;
            if matches!(command.kind, Kind::Function { .. }) {
                return Err(self.unsupported(start, self.pos, "a function as a coprocess"));
            }
            command
        };
        let kind = Kind::Coproc { name, command: self.one(command) };
        let span = Span::new(start, self.pos);
        Ok(Command { span, kind, redirections: List::default(), pipes_errors: false })
    }

    pub(crate) fn is_at_compound(&self) -> bool {
        self.here() == b'(' || self.keyword().is_some_and(|(keyword, _)| keyword.is_compound())
    }

    /// Whether a word that is reserved behind `coproc` begins here.
    pub(crate) fn is_at_reserved(&self) -> bool {
        self.keyword().is_some_and(|(found, _)| found != Keyword::Time)
    }

    /// The end of a word without expansions; the parser's place where there is none.
    fn plain_word_end(&self) -> usize {
        let mut at = self.pos;
        while !crate::lexer::is_break(self.byte(at)) {
            if matches!(self.byte(at), b'\\' | b'$' | b'`' | b'=' | b'[' | b'"' | b'\'') {
                return self.pos;
            }
            at += 1;
        }
        at
    }

    /// Whether a process substitution begins here.
    pub(crate) fn is_at_process(&self) -> bool {
        matches!(self.here(), b'<' | b'>') && self.second().0 == b'('
    }
}
