//! Cuts SQL text into statements and the commands of the client between them.

use super::super::cursor::Cursor;
use super::SqlDialect;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword or an identifier without quotes.
    Word,
    /// An identifier in quotes, without them.
    Quoted,
    /// A string, without its quotes and with its escapes as written.
    Text,
    Number,
    /// One byte of punctuation.
    Symbol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t [u8],
}

impl Token<'_> {
    /// Whether this is that keyword, in any case.
    pub(super) fn is(&self, word: &[u8]) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_symbol(&self, byte: u8) -> bool {
        self.kind == Kind::Symbol && self.text == [byte]
    }
}

/// A part of the text.
pub(super) enum Piece<'t> {
    Statement(Vec<Token<'t>>),
    /// A command of the client, without its newline.
    Command(&'t [u8]),
}

/// The text cannot be cut with certainty.
#[derive(Debug)]
pub(super) struct Trouble;

pub(super) struct Lexer<'t> {
    cursor: Cursor<'t>,
    dialect: SqlDialect,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(text: &'t [u8], dialect: SqlDialect) -> Lexer<'t> {
        Lexer { cursor: Cursor::new(text), dialect }
    }

    /// The next statement or command, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'t>>, Trouble> {
        let mut tokens = Vec::new();
        loop {
            let Some(byte) = self.cursor.peek() else {
                return Ok((!tokens.is_empty()).then_some(Piece::Statement(tokens)));
            };
            match byte {
                b';' => {
                    self.cursor.bump();
                    if !tokens.is_empty() {
                        return Ok(Some(Piece::Statement(tokens)));
                    }
                }
                b'\\' => {
                    if !tokens.is_empty() && !self.is_terminator() {
                        // A command amid a statement; the statement goes on behind it.
                        return Err(Trouble);
                    }
                    if !tokens.is_empty() {
                        return Ok(Some(Piece::Statement(tokens)));
                    }
                    return self.read_backslash().map(Some);
                }
                b'.' if tokens.is_empty() && self.has_dot_commands() => {
                    if self.cursor.at() > 0
                        && !self.cursor.since(self.cursor.at() - 1).ends_with(b"\n")
                    {
                        return Err(Trouble);
                    }
                    return Ok(Some(Piece::Command(self.cursor.take_line())));
                }
                _ => {
                    if let Some(token) = self.read_token(byte)? {
                        tokens.push(token);
                    }
                }
            }
        }
    }

    const fn has_dot_commands(&self) -> bool {
        matches!(self.dialect, SqlDialect::Sqlite | SqlDialect::DuckDb)
    }

    /// Whether a backslash command here only sends the statement: `\g`, `\G`, `\gx`.
    fn is_terminator(&self) -> bool {
        matches!(self.cursor.peek_at(1), Some(b'g' | b'G'))
            && matches!(self.dialect, SqlDialect::Postgres | SqlDialect::MySql)
    }

    fn read_backslash(&mut self) -> Result<Piece<'t>, Trouble> {
        match self.dialect {
            SqlDialect::Postgres => Ok(Piece::Command(self.cursor.take_line())),
            SqlDialect::MySql => {
                // The client's short commands take the rest of the line, `\g` and `\G` do not.
                let start = self.cursor.at();
                if self.is_terminator() {
                    self.cursor.skip(2);
                } else {
                    self.cursor.take_line();
                }
                Ok(Piece::Command(self.cursor.since(start)))
            }
            SqlDialect::Sqlite | SqlDialect::DuckDb | SqlDialect::ClickHouse => Err(Trouble),
        }
    }

    /// The token that begins here, or nothing for a blank or a comment.
    fn read_token(&mut self, byte: u8) -> Result<Option<Token<'t>>, Trouble> {
        use SqlDialect::{ClickHouse, DuckDb, MySql, Postgres, Sqlite};
        let next = self.cursor.peek_at(1);
        let token = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 11 | 12 => {
                self.cursor.bump();
                return Ok(None);
            }
            b'-' if next == Some(b'-') && self.dashes_comment() => return self.skip_comment(),
            b'#' if self.dialect == MySql => return self.skip_comment(),
            b'#' if matches!(self.dialect, Sqlite | ClickHouse) => return Err(Trouble),
            b'/' if next == Some(b'*') => return self.skip_long_comment(),
            b'\'' => self.read_quoted(b'\'', Kind::Text)?,
            b'"' if self.dialect == MySql => self.read_quoted(b'"', Kind::Text)?,
            b'"' => self.read_quoted(b'"', Kind::Quoted)?,
            b'`' if matches!(self.dialect, MySql | Sqlite | ClickHouse) => {
                self.read_quoted(b'`', Kind::Quoted)?
            }
            b'`' => return Err(Trouble),
            b'[' if self.dialect == Sqlite => {
                self.cursor.bump();
                let text = self.cursor.take_while(|byte| byte != b']');
                if !self.cursor.eat(b']') {
                    return Err(Trouble);
                }
                Token { kind: Kind::Quoted, text }
            }
            b'$' if matches!(self.dialect, Postgres | DuckDb | ClickHouse) => self.read_dollar()?,
            // The client puts the text of a variable here.
            b':' if self.dialect == Postgres && next != Some(b':') && is_variable(next) => {
                return Err(Trouble);
            }
            b':' if next == Some(b':') => {
                self.cursor.skip(2);
                Token { kind: Kind::Symbol, text: b":" }
            }
            b'0'..=b'9' => self.read_number()?,
            _ if is_word_start(byte) => self.read_word()?,
            _ => {
                let start = self.cursor.at();
                self.cursor.bump();
                Token { kind: Kind::Symbol, text: self.cursor.since(start) }
            }
        };
        Ok(Some(token))
    }

    /// `MySQL` wants a blank behind the dashes.
    fn dashes_comment(&self) -> bool {
        self.dialect != SqlDialect::MySql
            || self.cursor.peek_at(2).is_none_or(|byte| byte <= b' ' || byte == 127)
    }

    fn skip_comment(&mut self) -> Result<Option<Token<'t>>, Trouble> {
        let comment = self.cursor.take_line();
        // A carriage return ends the comment for some.
        let comment = comment.strip_suffix(b"\r").unwrap_or(comment);
        if comment.contains(&b'\r') { Err(Trouble) } else { Ok(None) }
    }

    fn skip_long_comment(&mut self) -> Result<Option<Token<'t>>, Trouble> {
        self.cursor.skip(2);
        // MySQL runs what stands in such a comment.
        if self.cursor.peek() == Some(b'!') || self.cursor.rest().starts_with(b"M!") {
            return Err(Trouble);
        }
        loop {
            match self.cursor.bump() {
                Some(b'*') if self.cursor.eat(b'/') => return Ok(None),
                // Comments inside comments end at different places for different dialects.
                Some(b'/') if self.cursor.peek() == Some(b'*') => return Err(Trouble),
                Some(_) => {}
                None => return Err(Trouble),
            }
        }
    }

    /// Text in quotes, in which a doubled quote stands for one.
    fn read_quoted(&mut self, quote: u8, kind: Kind) -> Result<Token<'t>, Trouble> {
        let escapes =
            quote != b'`' && matches!(self.dialect, SqlDialect::MySql | SqlDialect::ClickHouse);
        self.cursor.bump();
        let start = self.cursor.at();
        loop {
            match self.cursor.bump() {
                Some(byte) if byte == quote => {
                    if !self.cursor.eat(quote) {
                        let text = self.cursor.since(start);
                        let text = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
                        return Ok(Token { kind, text });
                    }
                }
                Some(b'\\') if escapes => {
                    self.cursor.bump();
                }
                // Whether this escapes the quote depends on a setting of the server.
                Some(b'\\') if self.cursor.peek() == Some(quote) => return Err(Trouble),
                Some(_) => {}
                None => return Err(Trouble),
            }
        }
    }

    /// `$tag$ … $tag$`, or a parameter.
    fn read_dollar(&mut self) -> Result<Token<'t>, Trouble> {
        let start = self.cursor.at();
        self.cursor.bump();
        let is_parameter = self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit());
        self.cursor.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte > 127);
        if is_parameter || !self.cursor.eat(b'$') {
            return Ok(Token { kind: Kind::Symbol, text: b"$" });
        }
        let tag = self.cursor.since(start);
        let inside = self.cursor.at();
        loop {
            self.cursor.take_while(|byte| byte != b'$');
            if self.cursor.peek().is_none() {
                return Err(Trouble);
            }
            let end = self.cursor;
            if self.cursor.eat_all(tag) {
                return Ok(Token { kind: Kind::Text, text: end.since(inside) });
            }
            self.cursor.bump();
        }
    }

    fn read_number(&mut self) -> Result<Token<'t>, Trouble> {
        let start = self.cursor.at();
        if self.cursor.eat_all(b"0x") || self.cursor.eat_all(b"0X") {
            self.cursor.take_while(|byte| byte.is_ascii_hexdigit());
        } else {
            self.cursor.take_while(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'_');
            let sign = usize::from(matches!(self.cursor.peek_at(1), Some(b'+' | b'-')));
            if matches!(self.cursor.peek(), Some(b'e' | b'E'))
                && self.cursor.peek_at(1 + sign).is_some_and(|byte| byte.is_ascii_digit())
            {
                self.cursor.skip(1 + sign);
                self.cursor.take_while(|byte| byte.is_ascii_digit());
            }
        }
        // Letters behind a number are a name for some and a word of their own for others.
        if self.cursor.peek().is_some_and(is_word_start) {
            return Err(Trouble);
        }
        Ok(Token { kind: Kind::Number, text: self.cursor.since(start) })
    }

    fn read_word(&mut self) -> Result<Token<'t>, Trouble> {
        let word = self
            .cursor
            .take_while(|byte| is_word_start(byte) || byte.is_ascii_digit() || byte == b'$');
        match (word, self.cursor.peek(), self.cursor.peek_at(1)) {
            // A string with escapes of its own.
            (b"e" | b"E", Some(b'\''), _) => self.read_escaped(),
            (b"u" | b"U", Some(b'&'), Some(b'\'' | b'"')) => Err(Trouble),
            _ => Ok(Token { kind: Kind::Word, text: word }),
        }
    }

    fn read_escaped(&mut self) -> Result<Token<'t>, Trouble> {
        if !matches!(self.dialect, SqlDialect::Postgres | SqlDialect::DuckDb) {
            return Err(Trouble);
        }
        self.cursor.bump();
        let start = self.cursor.at();
        loop {
            match self.cursor.bump() {
                Some(b'\'') if !self.cursor.eat(b'\'') => {
                    let text = self.cursor.since(start);
                    return Ok(Token { kind: Kind::Text, text });
                }
                Some(b'\\') => {
                    self.cursor.bump();
                }
                Some(_) => {}
                None => return Err(Trouble),
            }
        }
    }
}

const fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte > 127
}

/// Whether what stands behind a colon names a variable.
fn is_variable(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| is_word_start(byte) || matches!(byte, b'\'' | b'"' | b'{'))
}
