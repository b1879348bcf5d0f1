//! Loops: `while`, `until`, `for` and `select`.

use crate::dialect::Dialect;
use crate::few::Few;
use crate::lexer::Keyword;
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::{Branch, Kind, List, Loop, Script};
use crate::word::{Place, Word};

impl Parser<'_> {
    pub(super) fn while_loop(&mut self, start: usize, what: &str) -> Parsed<Branch> {
        let condition = self.filled_script()?;
        self.close(Keyword::Do, start, what, "do")?;
        let body = self.filled_script()?;
        self.close(Keyword::Done, start, what, "done")?;
        Ok(Branch { condition: Some(condition), body })
    }

    pub(super) fn for_loop(&mut self, start: usize) -> Parsed<Kind> {
        self.skip_blanks();
        let (second, at) = self.second();
        if self.here() != b'(' || second != b'(' {
            return self.named_loop(start).map(Kind::For);
        }
        let is_joined = self.pos == start + b"for".len();
        let is_odd = match self.reader.dialect {
            Dialect::Bash => false,
            Dialect::Sh => true,
            // Without a blank it is a subshell in a subshell.
            Dialect::Zsh => is_joined,
        };
        if is_odd {
            return Err(self.unsupported(start, at + 1, "`for ((`"));
        }
        self.pos = at + 1;
        let counted = self.counted_end(self.pos, b'(', b')')?;
        let (arms, unseen) = (self.tree.arms.len(), self.unseen);
        let mut head = Few::<Word, 3>::new();
        for closer in [b';', b';', b')'] {
            let word = self.arithmetic(closer, start, counted, true)?;
            head.push(word);
            self.pos += 1;
        }
        let last = head.as_slice().last().map_or(0, |word| word.span.end as usize);
        self.same_end(start, last, counted)?;
        let text = self.tree.text(Span::new(at + 1, last));
        let is_odd = self.tree.arms.len() > arms || self.unseen != unseen;
        if is_odd || crate::parser::words::may_comment(text) {
            // Bash reads the head again, takes a `case` for open and `#` for a comment, and loses
            // the body of a here-document.
            let what = "`case`, `#` or a here-document in an expression of a loop";
            return Err(self.unsupported(start, self.pos, what));
        }
        self.pos += 1;
        self.skip_blanks();
        if self.here() == b';' {
            self.pos += 1;
        }
        self.skip_newlines()?;
        let head = head.shelve(&mut self.tree);
        let body = self.do_group(start)?;
        Ok(Kind::ArithmeticFor { head, body })
    }

    /// `name [in words] ; do … done`, for `for` and `select`.
    pub(super) fn named_loop(&mut self, start: usize) -> Parsed<Loop> {
        self.skip_blanks();
        if self.is_at_process() {
            // Bash finds out when it runs the loop.
            return Err(self.unsupported(start, self.pos + 2, "a process substitution as a name"));
        }
        if crate::lexer::is_break(self.here()) {
            return Err(self.unexpected("a name"));
        }
        let begin = self.pos;
        let name = self.word(Place::Name)?;
        if self.reader.dialect != Dialect::Bash && self.name_end(begin) != self.pos {
            return Err(self.unsupported(begin, self.pos, "a loop over this name"));
        }
        let name = self.one(name);
        self.skip_blanks();
        let mut words = None;
        if self.here() == b';' {
            self.pos += 1;
            self.skip_newlines()?;
        } else {
            let is_same_line = self.here() != b'\n';
            self.skip_newlines()?;
            if self.accept(Keyword::In) {
                if !is_same_line && self.cases > 0 && self.reader.dialect == Dialect::Bash {
                    // Bash takes it for the one of the `case`.
                    let what = "`in` on a line of its own inside `case`";
                    return Err(self.unsupported(start, self.pos, what));
                }
                words = Some(self.loop_words()?);
            } else if is_same_line && !self.is_at(Keyword::Do) {
                return Err(self.unexpected("`in`, `do` or `;`"));
            }
        }
        let body = self.do_group(start)?;
        Ok(Loop { name, words, body })
    }

    fn loop_words(&mut self) -> Parsed<List<Word>> {
        let mut words = Few::<Word, 6>::new();
        loop {
            self.skip_blanks();
            match self.here() {
                b';' => {
                    self.pos += 1;
                    break;
                }
                b'\n' => break,
                b'<' | b'>' if self.second().0 == b'(' => {}
                byte if crate::lexer::is_break(byte) => {
                    return Err(self.unexpected("a word, `;` or a new line"));
                }
                _ => {}
            }
            let word = self.word(Place::Argument)?;
            words.push(word);
        }
        self.skip_newlines()?;
        Ok(words.shelve(&mut self.tree))
    }

    /// `do … done` or `{ … }`.
    pub(super) fn do_group(&mut self, start: usize) -> Parsed<Script> {
        self.skip_blanks();
        if self.is_at(Keyword::OpenBrace) {
            if self.reader.dialect != Dialect::Bash {
                return Err(self.unsupported(start, self.pos + 1, "a loop with a body in braces"));
            }
            self.accept(Keyword::OpenBrace);
            let body = self.filled_script()?;
            self.close(Keyword::CloseBrace, start, "`for`", "}")?;
            return Ok(body);
        }
        self.close(Keyword::Do, start, "`for`", "do")?;
        let body = self.filled_script()?;
        self.close(Keyword::Done, start, "`for`", "done")?;
        Ok(body)
    }
}
