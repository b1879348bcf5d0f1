//! The parser: from bytes to the tree, by recursive descent.
//!
//! It never guesses and never recovers: text that is not understood to the last byte is refused.
//! Lists are read by loops and openers by recursion, which [`Limits::nesting`] bounds. Compound
//! commands, words, expansions and the rest have a file each under `parser/`.

#![expect(
    clippy::unnecessary_box_returns,
    reason = "refusals are rare and large; a box keeps every result small"
)]

mod ansi;
pub(crate) use ansi::decode as decode_ansi;
mod arithmetic;
mod assignment;
mod braces;
mod brackets;
mod case;
mod compound;
mod expansion;
mod heredoc;
mod loops;
mod quotes;
mod redirection;
mod refusing;
mod script;
mod simple;
mod substitution;
mod test;
mod words;

use crate::dialect::Dialect;
use crate::few::{Few, Stack, shelve_one};
use crate::limits::Limits;
use crate::origin::Origins;
use crate::reader::Reader;
use crate::refusal::{Refusal, RefusalKind};
use crate::tree::{Assignment, List, Redirection, Shelved, Tree};
use crate::word::Word;

/// What reading a piece of text gives.
pub(crate) type Parsed<T> = Result<T, Box<Refusal>>;

/// The state of reading one text.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the place by itself")]
pub(crate) struct Parser<'r> {
    pub(crate) reader: &'r Reader,
    pub(crate) tree: Tree,
    /// The next byte to read.
    pub(crate) pos: usize,
    /// The end of the text being read, which may be a body inside the whole.
    pub(crate) end: usize,
    /// Whether `@(` and its kin are patterns.
    pub(crate) extglob: bool,
    /// The words, assignments and redirections of the simple commands being read.
    words: Stack<Word>,
    assignments: Stack<Assignment>,
    redirections: Stack<Redirection>,
    depth: u32,
    commands: u32,
    look_ahead: usize,
    derived: usize,
    /// Here-documents whose bodies come after the next newline: places on their shelf.
    waiting: Vec<usize>,
    /// Behind the last line continuation inside a word; 0 before the first.
    last_break: usize,
    /// How many comments and here-documents were read, which counting brackets does not see.
    pub(crate) unseen: usize,
    /// How many here-documents of the command being read do not wait yet.
    unshelved: usize,
    /// What ends the script being read.
    closer: Closer,
    /// Where the last redirection ended; a reserved word right behind it is none.
    redirected: usize,
    /// How many `case` are open.
    cases: usize,
    /// How many arrays in substitutions were read.
    inner_arrays: usize,
    /// Where the first command of the last `$(…)` or `<(…)` begins.
    opening: usize,
    /// What is being read that the shell looks into only when it runs it; empty for none.
    unread: &'static str,
    /// Whether `${ …; }` was read, which bash before 5.3 ends at the first brace.
    has_brace_command: bool,
    /// What is being read in which the shell only looks for the end; empty for none.
    counted: &'static str,
    /// What a here-document has done to the substitution being read.
    reprint: Reprint,
    /// Whether an expansion between double quotes is being read.
    is_quoted: bool,
    /// Whether double quotes of the word being read hold quotes of their own, in backticks or `${`.
    has_bare_quote: bool,
}

/// What ends a script that is read as a text of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closer {
    /// The end of the text.
    End,
    /// The `)` of a substitution.
    Parenthesis,
    /// The `}` of a substitution.
    Brace,
}

/// Bash before 5.3 prints the script of a substitution anew and runs what it printed. After a
/// here-document it forgets the next `;`, unless that one belongs to the here-document's command.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Reprint {
    #[default]
    Faithful,
    /// A here-document was just read; its own `;` may follow.
    AfterHeredoc,
    /// The next `;` would be lost.
    LosesSemicolon,
}

impl<'r> Parser<'r> {
    pub(crate) fn new(reader: &'r Reader, text: &[u8]) -> Parser<'r> {
        let mut tree =
            Tree { dialect: reader.dialect, origins: Origins::new(text.len()), ..Tree::default() };
        // Where `sh` is bash it expands braces, elsewhere it keeps them.
        tree.braces_are_doubtful = reader.dialect == Dialect::Sh;
        // Folded values stand behind the text; a short text rarely needs more than its own length.
        tree.text.reserve_exact(text.len() + text.len() / 2 + 16);
        tree.text.extend_from_slice(text);
        tree.parts.reserve(text.len() / 6 + 4);
        tree.words.reserve(text.len() / 8 + 4);
        Parser {
            reader,
            tree,
            pos: 0,
            end: text.len(),
            extglob: reader.extglob,
            words: Stack::with_capacity(8),
            assignments: Stack::default(),
            redirections: Stack::default(),
            depth: 0,
            commands: 0,
            look_ahead: Limits::look_ahead(text.len()),
            derived: Limits::derived(text.len()),
            waiting: Vec::new(),
            last_break: 0,
            unseen: 0,
            unshelved: 0,
            closer: Closer::End,
            redirected: usize::MAX,
            cases: 0,
            inner_arrays: 0,
            unread: "",
            has_brace_command: false,
            counted: "",
            opening: usize::MAX,
            reprint: Reprint::default(),
            is_quoted: false,
            has_bare_quote: false,
        }
    }

    /// Reads the whole text.
    pub(crate) fn read(mut self) -> Parsed<Tree> {
        let root = self.script()?;
        if self.pos < self.end {
            return Err(self.unexpected("a command"));
        }
        self.end_waiting()?;
        self.tree.root = root;
        Ok(self.tree)
    }

    /// Reads something one level deeper.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.reader.limits.nesting {
            let message = format!("nested deeper than {} levels", self.reader.limits.nesting);
            return Err(self.refuse(RefusalKind::Limit, self.pos, self.pos + 1, message));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Counts one more command against the limit.
    pub(crate) fn count_command(&mut self) -> Parsed<()> {
        if self.commands >= self.reader.limits.commands {
            let message = format!("more than {} commands", self.reader.limits.commands);
            return Err(self.refuse(RefusalKind::Limit, self.pos, self.pos + 1, message));
        }
        self.commands += 1;
        Ok(())
    }

    /// Reads a nested script up to its closer, with here-documents of its own.
    pub(crate) fn nested<T>(
        &mut self,
        closer: Closer,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let waiting = std::mem::take(&mut self.waiting);
        let outer = std::mem::replace(&mut self.closer, closer);
        let reprint = std::mem::take(&mut self.reprint);
        let unshelved = std::mem::take(&mut self.unshelved);
        let start = self.pos;
        let read = self.deeper(read)?;
        self.reprint = reprint;
        self.unshelved = unshelved;
        self.closer = outer;
        if self.waiting.is_empty() || closer == Closer::End {
            self.end_waiting()?;
            self.waiting = waiting;
        } else {
            let what = "a here-document whose substitution ends before its body";
            return Err(self.unsupported(start, self.pos, what));
        }
        Ok(read)
    }

    /// Reads `text[start..end]` as if it were all there is, then returns to where it was.
    pub(crate) fn within<T>(
        &mut self,
        start: usize,
        end: usize,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let (pos, outer, last_break) = (self.pos, self.end, self.last_break);
        self.pos = start;
        self.end = end;
        let read = read(self)?;
        self.pos = pos;
        self.end = outer;
        self.last_break = last_break;
        Ok(read)
    }

    /// Reads what the shell looks into only when it runs it: whatever is wrong there, it accepts
    /// the text and runs what stands before.
    pub(crate) fn late<T>(
        &mut self,
        what: &'static str,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.unread, what);
        let read = read(self)?;
        self.unread = outer;
        Ok(read)
    }

    /// Reads what the shell only looks for the end of, which it sees at `end`: it does not see
    /// what is wrong before.
    pub(crate) fn bracketed<T>(
        &mut self,
        what: &'static str,
        end: usize,
        read: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> Parsed<T> {
        if end < self.end {
            return self.late(what, read);
        }
        let outer = std::mem::replace(&mut self.counted, what);
        let read = read(self)?;
        self.counted = outer;
        Ok(read)
    }

    /// Spends look-ahead, of which a text has a multiple of its length.
    pub(crate) fn look_ahead(&mut self, at: usize, bytes: usize) -> Parsed<()> {
        match self.look_ahead.checked_sub(bytes) {
            Some(rest) => {
                self.look_ahead = rest;
                Ok(())
            }
            None => Err(self.refuse(
                RefusalKind::Limit,
                at,
                at + 1,
                "too many brackets that need looking ahead".into(),
            )),
        }
    }

    /// Notes that `len` more bytes are made from the text.
    pub(crate) fn derive(&mut self, at: usize, len: usize) -> Parsed<()> {
        match self.derived.checked_sub(len) {
            Some(rest) => {
                self.derived = rest;
                Ok(())
            }
            None => Err(self.refuse(
                RefusalKind::Limit,
                at,
                at + 1,
                "escapes nested in escapes make too much text".into(),
            )),
        }
    }

    /// Shelves redirections and lets their here-documents wait for the next newline.
    pub(crate) fn shelve_redirections<const N: usize>(
        &mut self,
        few: &mut Few<Redirection, N>,
    ) -> List<Redirection> {
        let list = few.shelve(&mut self.tree);
        self.await_heredocs(list);
        list
    }

    /// Lets the here-documents of shelved redirections wait for the next newline.
    pub(crate) fn await_heredocs(&mut self, list: List<Redirection>) {
        for at in list.range() {
            let shelved = self.tree.redirections.get(at);
            if shelved.is_some_and(|redirection| redirection.heredoc.is_some()) {
                self.unshelved = self.unshelved.saturating_sub(1);
                self.waiting.push(at);
            }
        }
    }

    /// Notes a here-document, after which the script around it may be printed anew wrongly.
    pub(crate) fn note_heredoc(&mut self) {
        if self.closer == Closer::Parenthesis && self.reader.dialect == Dialect::Bash {
            self.reprint = Reprint::AfterHeredoc;
        }
    }

    /// Notes a separator between commands.
    pub(crate) fn note_separator(&mut self, is_semicolon: bool) -> Parsed<()> {
        match self.reprint {
            Reprint::AfterHeredoc => self.reprint = Reprint::LosesSemicolon,
            Reprint::LosesSemicolon if is_semicolon => {
                let what = "`;` behind a here-document in a substitution";
                return Err(self.unsupported(self.pos, self.pos + 1, what));
            }
            Reprint::Faithful | Reprint::LosesSemicolon => {}
        }
        Ok(())
    }

    /// Shelves a single node.
    pub(crate) fn one<T: Shelved>(&mut self, node: T) -> List<T> {
        shelve_one(&mut self.tree, node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    /// A text that spends it all is longer than one that is judged, so the count itself is tried.
    #[test]
    fn bytes_made_from_the_text_end_at_their_limit() {
        let text = b"echo `a`";
        for (more, want) in [(-1, true), (0, true), (1, false)] {
            let reader = Reader::new(Dialect::Bash);
            let mut parser = Parser::new(&reader, text);
            let most = Limits::derived(text.len());
            assert!(parser.derive(0, 100).is_ok());
            let made = parser.derive(5, (most - 100).saturating_add_signed(more));
            assert_eq!(made.is_ok(), want, "{more} beyond {most}");
            if let Err(refusal) = made {
                assert_eq!((refusal.kind, refusal.span), (RefusalKind::Limit, Span::new(5, 6)));
            }
        }
    }
}
