//! Scripts, and-or lists and pipelines.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::Keyword;
use crate::parser::{Closer, Parsed, Parser};
use crate::span::Span;
use crate::tree::{Assigned, Assignment, Command, Item, Join, Kind, List, Pipeline, Script, Time};
use crate::word::{PartKind, Word};

impl Parser<'_> {
    /// Reads items up to something that cannot begin one: a closer, or the end.
    pub(crate) fn script(&mut self) -> Parsed<Script> {
        let start = self.pos;
        let mut items = Few::<Item, 2>::new();
        loop {
            self.skip_newlines()?;
            if self.is_at_script_end() {
                break;
            }
            let (item, is_separated) = self.item()?;
            items.push(item);
            if !is_separated {
                break;
            }
        }
        let span = Span::new(start, self.pos);
        Ok(Script { span, items: items.shelve(&mut self.tree) })
    }

    /// Reads a script that must hold a command.
    pub(crate) fn filled_script(&mut self) -> Parsed<Script> {
        let script = self.script()?;
        if script.items.is_empty() { Err(self.unexpected("a command")) } else { Ok(script) }
    }

    fn is_at_script_end(&self) -> bool {
        match self.here() {
            0 | b')' => true,
            b';' => matches!(self.second().0, b';' | b'&' | b'|'),
            b'}' if self.closer == Closer::Brace => true,
            b'}' | b'd'..=b'f' | b't' | b'\\' => {
                self.keyword().is_some_and(|(keyword, _)| keyword.is_closer())
            }
            _ => false,
        }
    }

    /// One item and whether a separator followed it.
    fn item(&mut self) -> Parsed<(Item, bool)> {
        let start = self.pos;
        let first = self.pipeline(Join::First)?;
        self.skip_blanks();
        let pipelines = match self.join() {
            None => self.one(first),
            Some(join) => self.joined_pipelines(first, join)?,
        };
        let (second, at) = self.second();
        let mut background = false;
        let is_separated = match self.here() {
            b';' if !matches!(second, b';' | b'&' | b'|') => {
                self.note_separator(true)?;
                self.pos += 1;
                true
            }
            b'&' => {
                if self.reader.dialect == Dialect::Zsh && matches!(second, b'|' | b'!') {
                    return Err(self.unsupported(self.pos, at + 1, "a job that is disowned"));
                }
                self.note_separator(false)?;
                if self.reader.dialect == Dialect::Zsh && self.only_assigns(pipelines) {
                    return Err(self.unsupported(start, self.pos + 1, "an assignment as a job"));
                }
                self.pos += 1;
                background = true;
                true
            }
            b'\n' => {
                // The newline token ends the item even where a here-document follows it.
                let end = self.pos;
                self.note_separator(false)?;
                self.newline()?;
                return Ok((Item { span: Span::new(start, end), pipelines, background }, true));
            }
            _ => false,
        };
        let span = Span::new(start, self.pos);
        Ok((Item { span, pipelines, background }, is_separated))
    }

    /// The operator between two pipelines, if one stands here.
    fn join(&self) -> Option<(Join, usize)> {
        let (second, at) = self.second();
        match (self.here(), second) {
            (b'&', b'&') => Some((Join::And, at + 1)),
            (b'|', b'|') => Some((Join::Or, at + 1)),
            _ => None,
        }
    }

    /// The pipelines of an and-or list; the parser stands before the first operator.
    fn joined_pipelines(
        &mut self,
        first: Pipeline,
        (mut join, mut after): (Join, usize),
    ) -> Parsed<List<Pipeline>> {
        let mut pipelines = Few::<Pipeline, 4>::new();
        pipelines.push(first);
        loop {
            self.note_separator(false)?;
            self.pos = after;
            self.skip_newlines()?;
            let pipeline = self.pipeline(join)?;
            pipelines.push(pipeline);
            self.skip_blanks();
            match self.join() {
                Some(next) => (join, after) = next,
                None => return Ok(pipelines.shelve(&mut self.tree)),
            }
        }
    }

    /// Whether some command is nothing but assignments.
    fn only_assigns(&self, pipelines: List<Pipeline>) -> bool {
        let pipelines = self.tree.list(pipelines);
        let commands = pipelines.iter().flat_map(|pipeline| self.tree.list(pipeline.commands));
        commands
            .map(|command| command.kind)
            .any(|kind| matches!(kind, Kind::Simple(simple) if simple.words.is_empty()))
    }

    fn pipeline(&mut self, join: Join) -> Parsed<Pipeline> {
        let start = self.pos;
        let mut is_first_word = false;
        let mut bangs = 0_u32;
        let mut time = None;
        loop {
            if self.here() == b'!' && self.accept(Keyword::Bang) {
                bangs = bangs.saturating_add(1);
            } else if matches!(self.here(), b't' | b'\\') && self.accept(Keyword::Time) {
                is_first_word |= start == self.opening && bangs == 0;
                let posix = self.time_option()? || time.is_some_and(|time: Time| time.posix);
                time = Some(Time { posix });
            } else {
                break;
            }
            self.skip_blanks();
        }
        if bangs > 1 && self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(start, self.pos, "`!` before `!`"));
        }
        // Directly behind `$(` bash does not know `time` when it looks for the end.
        let odd_time = "`time` at the start of a substitution";
        if is_first_word && !self.begins_simple() {
            return Err(self.unsupported(start, self.pos, odd_time));
        }
        let is_bare = (bangs > 0 || time.is_some()) && self.may_end_bare_prefix();
        if is_bare && self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(start, self.pos, "`!` or `time` without a command"));
        }
        let mut commands = List::default();
        if !is_bare {
            let first = self.command()?;
            if is_first_word && !self.reads_alike_as_arguments(&first) {
                return Err(self.unsupported(start, self.pos, odd_time));
            }
            self.skip_blanks();
            commands = if self.is_at_pipe() { self.piped(first)? } else { self.one(first) };
        }
        let span = Span::new(start, self.pos);
        Ok(Pipeline { span, join, bangs, time, commands })
    }

    fn is_at_pipe(&self) -> bool {
        self.here() == b'|' && self.second().0 != b'|'
    }

    /// The commands of a pipeline; the parser stands before the first `|`.
    fn piped(&mut self, first: Command) -> Parsed<List<Command>> {
        let mut commands = Few::<Command, 3>::new();
        commands.push(first);
        while self.is_at_pipe() {
            let (second, at) = self.second();
            self.note_separator(false)?;
            if second == b'&' {
                if self.reader.dialect == Dialect::Sh {
                    return Err(self.unsupported(self.pos, at + 1, "`|&`"));
                }
                if let Some(command) = commands.last_mut() {
                    command.pipes_errors = true;
                }
                self.pos = at;
            }
            self.pos += 1;
            self.skip_newlines()?;
            let command = self.command()?;
            commands.push(command);
            self.skip_blanks();
        }
        Ok(commands.shelve(&mut self.tree))
    }

    /// Whether a simple command or a function may begin here.
    fn begins_simple(&self) -> bool {
        match self.here() {
            0 | b'\n' | b';' | b'|' | b'(' | b')' => false,
            b'&' => self.second().0 == b'>',
            _ => self.keyword().is_none(),
        }
    }

    /// Whether a command reads alike where its words are the arguments of a program.
    fn reads_alike_as_arguments(&self, command: &Command) -> bool {
        let Kind::Simple(simple) = command.kind else { return false };
        let assigns_array = |assignment: &Assignment| {
            matches!(assignment.value, Assigned::Array(_)) || !assignment.subscript.is_empty()
        };
        let declares_array = |word: &Word| {
            let parts = self.tree.list(word.parts);
            parts.iter().any(|part| matches!(part.kind, PartKind::Array(_)))
        };
        !self.tree.list(simple.assignments).iter().any(assigns_array)
            && !self.tree.list(simple.words).iter().any(declares_array)
    }

    /// Whether a bare `!` or `time` may end here.
    fn may_end_bare_prefix(&self) -> bool {
        match self.here() {
            b'\n' => true,
            b';' => !matches!(self.second().0, b';' | b'&'),
            0 => self.pos >= self.end,
            _ => false,
        }
    }

    /// Reads `-p` and `--` behind `time`; says whether `-p` was there.
    fn time_option(&mut self) -> Parsed<bool> {
        self.skip_blanks();
        let is_word = |parser: &Self, word: &[u8]| {
            word.iter().enumerate().all(|(at, &byte)| parser.byte(parser.pos + at) == byte)
                && crate::lexer::is_break(parser.byte(parser.pos + word.len()))
        };
        if self.reader.dialect == Dialect::Zsh && self.here() == b'-' {
            return Err(self.unsupported(self.pos, self.pos + 1, "an option of `time`"));
        }
        if self.here() == b'-' && self.second().1 != self.pos + 1 {
            let what = "a line break inside an option of `time`";
            return Err(self.unsupported(self.pos, self.pos + 1, what));
        }
        let mut posix = false;
        if is_word(self, b"-p") {
            self.pos += 2;
            posix = true;
            self.skip_blanks();
        }
        if is_word(self, b"--") {
            self.pos += 2;
        }
        Ok(posix)
    }
}
