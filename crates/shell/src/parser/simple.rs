//! Simple commands and function definitions of the form `name () …`.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::{Class, class};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::{Assigned, Command, Kind, List, Redirection, Simple};
use crate::word::{Part, PartKind, Place, Word};

/// Options that change what a pattern matches, or let it vanish.
const GLOB_OPTIONS: [&[u8]; 6] =
    [b"dotglob", b"failglob", b"globstar", b"nocaseglob", b"noglob", b"nullglob"];

/// Builtins whose arguments may be assignments, arrays included.
const DECLARATIONS: [&[u8]; 8] =
    [b"alias", b"declare", b"eval", b"export", b"let", b"local", b"readonly", b"typeset"];

impl Parser<'_> {
    /// Reads assignments, words and redirections up to the end of the command.
    pub(crate) fn simple(&mut self) -> Parsed<Command> {
        // The common case first: a program of bytes that stand for themselves.
        let start = self.pos;
        let end = self.run(start, |byte| class(byte) == Class::Plain && byte != b'=');
        let is_alone = match self.byte(end) {
            b' ' | b'\t' => false,
            0 | b'\n' | b';' | b'|' | b')' => true,
            b'&' if self.byte(self.joined(end + 1)) != b'>' => true,
            _ => return self.simple_command(None, false),
        };
        if end == start || self.here() == b'#' || self.reader.dialect == Dialect::Zsh {
            return self.simple_command(None, false);
        }
        self.pos = end;
        let span = Span::new(start, end);
        let parts = self.one(Part { span, kind: PartKind::Literal });
        let program = Word::new(span, parts, Place::Argument);
        if !is_alone {
            return self.simple_command(Some(program), false);
        }
        let words = self.one(program);
        let kind = Kind::Simple(Simple { words, ..Simple::default() });
        Ok(Command { span, kind, ..Command::default() })
    }

    /// Reads the simple command of a coprocess, whose second word stands where a command begins.
    pub(crate) fn coprocess(&mut self) -> Parsed<Command> {
        self.simple_command(None, true)
    }

    /// Reads a simple command from its start on, or from behind its program where that was read.
    fn simple_command(&mut self, program: Option<Word>, is_coprocess: bool) -> Parsed<Command> {
        let start = program.map_or(self.pos, |word| word.span.start as usize);
        let marks = (self.assignments.mark(), self.words.mark(), self.redirections.mark());
        let mut declares = false;
        let mut may_be_array = false;
        // Redirections before the first assignment; a later one ends where arrays may stand.
        let mut first_redirections = 0;
        let mut end = self.pos;
        if let Some(word) = program {
            declares = self.is_declaration(&word);
            may_be_array = true;
            self.words.push(word);
        }
        loop {
            self.skip_blanks();
            let assigned = self.assignments.len(marks.0);
            let words = self.words.len(marks.1);
            let redirected = self.redirections.len(marks.2);
            match self.here() {
                0 | b'\n' | b';' | b'|' | b')' => break,
                b'&' if self.second().0 != b'>' => break,
                b'(' => {
                    let is_name = words == 1 && assigned + redirected == 0;
                    if is_coprocess {
                        let what = "this second word of a coprocess";
                        return Err(self.unsupported(start, self.pos + 1, what));
                    }
                    let Some(name) = self.words.first(marks.1).filter(|_| is_name) else {
                        return Err(self.unexpected("a word"));
                    };
                    self.words.discard(marks.1);
                    return self.function(start, name);
                }
                _ => {}
            }
            let may_redirect = matches!(self.here(), b'<' | b'>' | b'&' | b'{' | b'0'..=b'9');
            if may_redirect && let Some(redirection) = self.redirection()? {
                self.redirections.push(redirection);
                may_be_array = false;
            } else if is_coprocess && words < 2 && redirected > 0 {
                let what = "a redirection before the words of a coprocess";
                return Err(self.unsupported(start, self.pos, what));
            } else if words == 0 {
                let keeps_place = assigned == 0 || redirected == first_redirections;
                if !keeps_place && self.byte(self.name_end(self.pos)) == b'[' {
                    let what = "a subscript behind a redirection";
                    return Err(self.unsupported(start, self.pos + 1, what));
                }
                if let Some(assignment) = self.assignment(keeps_place)? {
                    let is_array = matches!(assignment.value, Assigned::Array(_));
                    if is_coprocess && is_array && assigned > 0 {
                        let what = "this second word of a coprocess";
                        return Err(self.unsupported(start, self.pos, what));
                    }
                    if assigned == 0 {
                        first_redirections = redirected;
                    }
                    self.assignments.push(assignment);
                } else {
                    let word = self.program()?;
                    declares = self.is_declaration(&word);
                    may_be_array = keeps_place;
                    self.words.push(word);
                }
            } else {
                if is_coprocess && words == 1 && assigned + redirected == 0 {
                    self.second_of_coprocess()?;
                }
                if self.here() == b'{' && self.is_odd_brace(marks.1) {
                    let what = "`{` behind a letter beyond ASCII";
                    return Err(self.unsupported(start, self.pos + 1, what));
                }
                // A process substitution is read as an operator, behind which no array stands.
                may_be_array &= !self.is_at_process();
                let word = if declares {
                    self.declared(may_be_array)?
                } else {
                    self.word(Place::Argument)?
                };
                self.words.push(word);
            }
            end = self.pos;
        }
        let assignments = self.assignments.shelve(marks.0, &mut self.tree);
        let words = self.words.shelve(marks.1, &mut self.tree);
        let redirections = self.redirections.shelve(marks.2, &mut self.tree);
        if assignments.is_empty() && words.is_empty() && redirections.is_empty() {
            return Err(self.unexpected("a command"));
        }
        let is_bare = words.is_empty() && !redirections.is_empty();
        if is_bare && self.reader.dialect == Dialect::Zsh {
            // Zsh runs a program of its own choice there.
            return Err(self.unsupported(start, end, "a redirection without a command"));
        }
        self.note_options(words, start)?;
        self.await_heredocs(redirections);
        let kind = Kind::Simple(Simple { assignments, words });
        Ok(Command { span: Span::new(start, end), kind, redirections, pipes_errors: false })
    }

    /// Reads the word in command position, where zsh and history have readings of their own.
    fn program(&mut self) -> Parsed<Word> {
        let is_by_text = self.extglob && !self.reader.extglob;
        if is_by_text && self.here() == b'!' && self.second().0 == b'(' {
            // Whether this negates a subshell or matches files depends on what ran before.
            return Err(self.unsupported(self.pos, self.pos + 2, "`!(` after `shopt -s extglob`"));
        }
        let is_reserved = self.here() == b'{' || self.keyword().is_some();
        if self.reader.dialect == Dialect::Zsh && is_reserved {
            return Err(self.unsupported(self.pos, self.pos + 1, "this word as a program"));
        }
        if self.reader.dialect == Dialect::Zsh && matches!(self.here(), b'-' | b'!') {
            let (second, _) = self.second();
            if crate::lexer::is_break(second) {
                return Err(self.unsupported(self.pos, self.pos + 1, "this sign as a program"));
            }
        }
        self.word_with_subscript(Place::Argument)
    }

    /// Whether a `{` here is a word by itself, behind a program that bash takes for a letter of
    /// another width and so for no program.
    fn is_odd_brace(&self, mark: usize) -> bool {
        let program = self.words.first(mark).map_or(Span::default(), |word| word.span);
        crate::lexer::is_break(self.second().0) && !self.tree.text(program).is_ascii()
    }

    /// Refuses what would be reserved or assigned behind the first word of a coprocess.
    fn second_of_coprocess(&mut self) -> Parsed<()> {
        if self.keyword().is_some_and(|(keyword, _)| keyword.is_closer()) {
            // It closes what stands around the coprocess, without a separator.
            let what = "this second word of a coprocess";
            return Err(self.unsupported(self.pos, self.pos + 1, what));
        }
        if self.is_at_reserved() && !self.is_at_compound() {
            return Err(self.unexpected("a command"));
        }
        let mut end = self.name_end(self.pos);
        while end > self.pos && crate::lexer::is_name(self.byte(self.joined(end))) {
            end = self.joined(end) + 1;
        }
        let is_assigned =
            end > self.pos && matches!(self.byte(self.joined(end)), b'=' | b'+' | b'[');
        if is_assigned || self.is_at_compound() {
            let what = "this second word of a coprocess";
            return Err(self.unsupported(self.pos, end, what));
        }
        Ok(())
    }

    fn is_declaration(&self, word: &Word) -> bool {
        DECLARATIONS.contains(&self.plain(word).as_ref())
    }

    /// `name () body`; the parser stands before `(`.
    fn function(&mut self, start: usize, name: Word) -> Parsed<Command> {
        self.pos += 1;
        if self.reader.dialect == Dialect::Zsh && self.here() != b')' {
            return Err(self.unsupported(start, self.pos, "a function of this form"));
        }
        self.skip_blanks();
        if self.here() != b')' {
            return Err(self.unexpected("`)`"));
        }
        self.pos += 1;
        let end = name.span.end as usize;
        let is_name = self.name_end(start) == end;
        if !is_name && self.reader.dialect != Dialect::Bash {
            return Err(self.unsupported(start, end, "a function of this name"));
        }
        let name = Word { place: Place::Name, ..name };
        self.deeper(|parser| parser.function_body(start, name, false))
    }

    /// Heeds options that change how the text after them is read.
    fn note_options(&mut self, words: List<Word>, start: usize) -> Parsed<()> {
        let Some((program, rest)) = self.tree.list(words).split_first() else { return Ok(()) };
        if rest.is_empty() || self.reader.dialect == Dialect::Zsh {
            return Ok(());
        }
        let program = self.spelled(program);
        // `sh` may be bash, which then knows this option too.
        let any = |is_wanted: &dyn Fn(&[u8]) -> bool| {
            rest.iter().any(|word| is_wanted(&self.spelled(word)))
        };
        let takes_keywords = program.as_ref() == b"set"
            && any(&|text| text == b"keyword" || text.starts_with(b"-") && text.contains(&b'k'));
        if takes_keywords {
            return Err(self.unsupported(start, self.pos, "`set -k`"));
        }
        if self.reader.dialect != Dialect::Bash {
            return Ok(());
        }
        let sets_options = matches!(program.as_ref(), b"set" | b"shopt" | b"builtin" | b"command");
        if !sets_options {
            let is_option = |word: &Word| {
                self.ends_like_option(word) && GLOB_OPTIONS.contains(&self.plain(word).as_ref())
            };
            let changes_patterns = rest.iter().any(is_option);
            self.tree.patterns_are_doubtful |= changes_patterns;
            return Ok(());
        }
        let changes_patterns = any(&|text| GLOB_OPTIONS.contains(&text));
        // `set +B` keeps braces as they are, even in what runs later from before it.
        let changes_braces = program.as_ref() == b"set"
            && any(&|text| {
                text == b"braceexpand" || text.starts_with(b"+") && text.contains(&b'B')
            });
        let mut extglob = self.extglob;
        if program.as_ref() == b"shopt" && any(&|text| text == b"extglob") {
            match rest.first().map(|word| self.spelled(word)).as_deref() {
                Some(b"-s") => extglob = true,
                Some(b"-u") => extglob = self.reader.extglob,
                _ => {}
            }
        }
        self.extglob = extglob;
        self.tree.patterns_are_doubtful |= changes_patterns;
        self.tree.braces_are_doubtful |= changes_braces;
        Ok(())
    }

    /// Whether a word may be the name of an option, by its last byte: most are not.
    fn ends_like_option(&self, word: &Word) -> bool {
        let last = self.tree.text.get((word.span.end as usize).saturating_sub(1));
        matches!(last, Some(b'b' | b'r' | b'\n'))
    }

    /// The text of a word that is nothing but literal; empty for any other. Lines that go on are
    /// joined.
    pub(super) fn plain(&self, word: &Word) -> Cow<'_, [u8]> {
        let parts = self.tree.list(word.parts);
        if let [Part { span, kind: PartKind::Literal }] = parts {
            return Cow::Borrowed(self.tree.text(*span));
        }
        if parts.iter().any(|part| !matches!(part.kind, PartKind::Literal)) {
            return Cow::Borrowed(b"");
        }
        Cow::Owned(parts.iter().flat_map(|part| self.tree.text(part.span)).copied().collect())
    }

    /// The text of a word without its quotes, as far as it is known from its spelling.
    fn spelled(&self, word: &Word) -> Cow<'_, [u8]> {
        if let [Part { span, kind: PartKind::Literal }] = self.tree.list(word.parts) {
            return Cow::Borrowed(self.tree.text(*span));
        }
        Cow::Owned(self.without_quotes(word))
    }

    /// The redirections behind a compound command.
    pub(crate) fn redirections(&mut self) -> Parsed<List<Redirection>> {
        let mut redirections = Few::<Redirection, 2>::new();
        loop {
            let end = self.pos;
            self.skip_blanks();
            let Some(redirection) = self.redirection()? else {
                self.pos = end;
                return Ok(self.shelve_redirections(&mut redirections));
            };
            redirections.push(redirection);
            self.redirected = self.pos;
        }
    }
}
