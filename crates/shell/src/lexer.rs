//! The lexer: bytes, blanks, comments and reserved words.
//!
//! There are no tokens between the text and the tree: what a byte means depends on where the
//! parser stands, so the parser asks here for what comes next and moves on by itself.

use crate::dialect::Dialect;
use crate::parser::{Parsed, Parser};

/// Reserved words. They are reserved only where a command may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Bang,
    Case,
    CloseBrace,
    CloseTest,
    Coproc,
    Do,
    Done,
    Elif,
    Else,
    Esac,
    Fi,
    For,
    Function,
    If,
    In,
    OpenBrace,
    OpenTest,
    Select,
    Then,
    Time,
    Until,
    While,
    /// A word that only zsh reserves.
    OnlyZsh,
}

impl Keyword {
    fn find(word: &[u8], dialect: Dialect) -> Option<Keyword> {
        let found = match word {
            b"!" => Keyword::Bang,
            b"{" => Keyword::OpenBrace,
            b"}" => Keyword::CloseBrace,
            b"[[" => Keyword::OpenTest,
            b"]]" => Keyword::CloseTest,
            b"case" => Keyword::Case,
            b"coproc" => Keyword::Coproc,
            b"do" => Keyword::Do,
            b"done" => Keyword::Done,
            b"elif" => Keyword::Elif,
            b"else" => Keyword::Else,
            b"esac" => Keyword::Esac,
            b"fi" => Keyword::Fi,
            b"for" => Keyword::For,
            b"function" => Keyword::Function,
            b"if" => Keyword::If,
            b"in" => Keyword::In,
            b"select" => Keyword::Select,
            b"then" => Keyword::Then,
            b"time" if dialect != Dialect::Sh => Keyword::Time,
            b"until" => Keyword::Until,
            b"while" => Keyword::While,
            b"repeat" | b"foreach" | b"end" | b"nocorrect" if dialect == Dialect::Zsh => {
                Keyword::OnlyZsh
            }
            _ => return None,
        };
        Some(found)
    }

    /// Whether some dialect reserves the word.
    pub(crate) fn is_reserved(word: &[u8]) -> bool {
        Dialect::ALL.iter().any(|&dialect| Keyword::find(word, dialect).is_some())
    }

    /// Whether the word ends the script it stands in.
    pub(crate) const fn is_closer(self) -> bool {
        matches!(
            self,
            Keyword::CloseBrace
                | Keyword::Do
                | Keyword::Done
                | Keyword::Elif
                | Keyword::Else
                | Keyword::Esac
                | Keyword::Fi
                | Keyword::Then
        )
    }

    /// Whether the word begins a compound command.
    pub(crate) const fn is_compound(self) -> bool {
        matches!(
            self,
            Keyword::Case
                | Keyword::For
                | Keyword::If
                | Keyword::OpenBrace
                | Keyword::OpenTest
                | Keyword::Select
                | Keyword::Until
                | Keyword::While
        )
    }
}

/// What a byte may be in an unquoted word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Stands for itself.
    Plain,
    /// Ends the word.
    Break,
    /// Needs a look.
    Special,
}

#[expect(clippy::indexing_slicing, reason = "evaluated while compiling, where a slip is an error")]
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let breaks = b"\0 \t\n;&|()";
    let mut at = 0;
    while at < breaks.len() {
        classes[breaks[at] as usize] = Class::Break;
        at += 1;
    }
    let specials = b"\\'\"$`<>*?[{~^+@!";
    at = 0;
    while at < specials.len() {
        classes[specials[at] as usize] = Class::Special;
        at += 1;
    }
    classes
};

/// What `byte` may be in an unquoted word.
pub(crate) fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(Class::Special)
}

/// Whether a word ends before `byte`.
pub(crate) fn is_break(byte: u8) -> bool {
    class(byte) == Class::Break || byte == b'<' || byte == b'>'
}

/// Whether a reserved word may begin with `byte`.
const fn may_begin_keyword(byte: u8) -> bool {
    matches!(byte, b'!' | b'{' | b'}' | b'[' | b']' | b'\\' | b'c'..=b'f' | b'i' | b'n' | b'r'..=b'w')
}

/// Whether a name may begin with `byte`.
pub(crate) const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether `byte` may stand inside a name.
pub(crate) const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether `byte` alone names a parameter.
pub(crate) const fn is_special_parameter(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

impl Parser<'_> {
    /// The byte at `at`, or 0 behind the end; the text itself holds no 0.
    #[inline]
    pub(crate) fn byte(&self, at: usize) -> u8 {
        if at < self.end { self.tree.text.get(at).copied().unwrap_or(0) } else { 0 }
    }

    /// The byte the parser stands before.
    #[inline]
    pub(crate) fn here(&self) -> u8 {
        self.byte(self.pos)
    }

    /// The end of the run from `at` on of bytes that are `wanted`.
    #[inline]
    pub(crate) fn run(&self, at: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let rest = self.tree.text.get(at..self.end).unwrap_or_default();
        at + rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len())
    }

    /// Where the next byte stands once line continuations from `at` on are skipped.
    #[inline]
    pub(crate) fn joined(&self, mut at: usize) -> usize {
        while self.byte(at) == b'\\' && self.byte(at + 1) == b'\n' {
            at += 2;
        }
        at
    }

    /// The byte after the one the parser stands before, and where it stands.
    #[inline]
    pub(crate) fn second(&self) -> (u8, usize) {
        let at = self.joined(self.pos + 1);
        (self.byte(at), at)
    }

    /// Moves over blanks, continuations and a comment, up to a token or a newline.
    pub(crate) fn skip_blanks(&mut self) {
        loop {
            match self.here() {
                b' ' | b'\t' => self.pos += 1,
                b'\\' if self.byte(self.pos + 1) == b'\n' => self.pos += 2,
                b'#' => {
                    self.unseen += 1;
                    self.pos = self.run(self.pos, |byte| byte != b'\n');
                    return;
                }
                _ => return,
            }
        }
    }

    /// Moves over blanks, comments and newlines; newlines bring in waiting here-documents.
    pub(crate) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.here() != b'\n' {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// The reserved word at the parser's place and the offset behind it.
    pub(crate) fn keyword(&self) -> Option<(Keyword, usize)> {
        if !may_begin_keyword(self.here()) {
            return None;
        }
        let end = self
            .run(self.pos, |byte| matches!(byte, b'a'..=b'z' | b'!' | b'{' | b'}' | b'[' | b']'));
        match self.byte(end) {
            b'\\' if self.byte(end + 1) == b'\n' => return self.broken_keyword(),
            b'<' | b'>' if self.byte(self.joined(end + 1)) == b'(' => return None,
            b'(' if self.extglob && self.here() == b'!' => return None,
            byte if is_break(byte) => {}
            _ => return None,
        }
        let word = self.tree.text.get(self.pos..end)?;
        Keyword::find(word, self.reader.dialect).map(|keyword| (keyword, end))
    }

    /// A reserved word with a line break inside it.
    #[cold]
    fn broken_keyword(&self) -> Option<(Keyword, usize)> {
        let mut word = Vec::new();
        let mut at = self.pos;
        loop {
            at = self.joined(at);
            match self.byte(at) {
                byte @ (b'a'..=b'z' | b'!' | b'{' | b'}' | b'[' | b']') => word.push(byte),
                b'<' | b'>' if self.byte(self.joined(at + 1)) == b'(' => return None,
                b'(' if self.extglob && self.here() == b'!' => return None,
                byte if is_break(byte) => break,
                _ => return None,
            }
            at += 1;
        }
        Keyword::find(&word, self.reader.dialect).map(|keyword| (keyword, at))
    }

    /// Whether the parser stands before exactly this reserved word.
    pub(crate) fn is_at(&self, keyword: Keyword) -> bool {
        self.keyword().is_some_and(|(found, _)| found == keyword)
    }

    /// Moves over `keyword` if it is next.
    pub(crate) fn accept(&mut self, keyword: Keyword) -> bool {
        match self.keyword() {
            Some((found, after)) if found == keyword => {
                self.pos = after;
                true
            }
            _ => false,
        }
    }

    /// The end of the name that begins at `at`; `at` itself where none does.
    pub(crate) fn name_end(&self, at: usize) -> usize {
        if is_name_start(self.byte(at)) { self.run(at, is_name) } else { at }
    }
}
