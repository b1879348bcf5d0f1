//! Tokens of an awk program.
//!
//! Where an operand may stand, a slash begins a regular expression; behind an operand it divides.
//! Which of the two it is follows from the token before it, and behind a parenthesis from what
//! opened that. Where awks disagree about it, the program is refused.

use super::super::cursor::Cursor;

/// What a token is, as far as the walk over them asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Number,
    String,
    Regex,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// A newline or semicolon that ends a statement.
    End,
    /// `,`, `&&`, `||`, `?` or `:`, behind which an operand begins anew.
    Join,
    /// `>` or `>>`.
    Greater,
    Less,
    /// `|` or `|&`.
    Pipe,
    At,
    Dollar,
    Assign,
    /// `++` or `--`.
    Increment,
    Operator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// The token as written; of a name in a namespace, the name alone.
    pub(super) text: &'t [u8],
}

impl Token<'_> {
    /// The value of a string, if it can be told.
    pub(super) fn value(&self) -> Option<Vec<u8>> {
        if self.kind != Kind::String {
            return None;
        }
        let inner = self.text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let mut value = Vec::with_capacity(inner.len());
        let mut bytes = inner.iter();
        while let Some(byte) = bytes.next() {
            value.push(match byte {
                b'\\' => match bytes.next()? {
                    byte @ (b'"' | b'\\' | b'/') => *byte,
                    b'n' => b'\n',
                    b't' => b'\t',
                    _ => return None,
                },
                byte => *byte,
            });
        }
        Some(value)
    }

    /// Whether an expression begins behind this token, so that nothing before is joined to it.
    pub(super) fn begins_expression(&self) -> bool {
        match self.kind {
            Kind::Open | Kind::End | Kind::Join | Kind::Assign => true,
            Kind::Close => self.text == b"}",
            Kind::Name => matches!(self.text, b"print" | b"printf" | b"else" | b"do" | b"return"),
            Kind::Number
            | Kind::String
            | Kind::Regex
            | Kind::Greater
            | Kind::Less
            | Kind::Pipe
            | Kind::At
            | Kind::Dollar
            | Kind::Increment
            | Kind::Operator => false,
        }
    }
}

/// Why a program could not be cut into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Every awk refuses the program before it runs.
    Broken(&'static str),
    /// Some awk may read on.
    Unsure(&'static str),
}

/// What brackets do to a slash in a regular expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brackets {
    /// `/[/]/` is one expression.
    Hide,
    /// It ends at the second slash.
    Show,
}

/// Cuts a program into tokens. `is_torn` is set where [`Brackets`] make a difference.
pub(super) fn tokens<'t>(
    program: &'t [u8],
    brackets: Brackets,
    is_torn: &mut bool,
) -> Result<Vec<Token<'t>>, Trouble> {
    let mut lexer = Lexer {
        cursor: Cursor::new(program),
        tokens: Vec::new(),
        open: Vec::new(),
        is_apart: false,
        brackets,
        is_torn,
    };
    lexer.read()?;
    Ok(lexer.tokens)
}

struct Lexer<'t, 'f> {
    cursor: Cursor<'t>,
    tokens: Vec<Token<'t>>,
    /// What is open, and whether a statement follows its end.
    open: Vec<(u8, bool)>,
    /// Whether a blank stood before the last token.
    is_apart: bool,
    brackets: Brackets,
    is_torn: &'f mut bool,
}

impl<'t> Lexer<'t, '_> {
    fn read(&mut self) -> Result<(), Trouble> {
        // Whether the last token closed the head of a statement: `if (…)`.
        let mut is_head = false;
        let mut end = 0;
        while let Some(byte) = self.cursor.peek() {
            let start = self.cursor.at();
            let was_head = std::mem::replace(&mut is_head, false);
            let kind = match byte {
                b' ' | b'\t' => {
                    self.cursor.bump();
                    is_head = was_head;
                    continue;
                }
                b'\\' if self.cursor.peek_at(1) == Some(b'\n') => {
                    self.cursor.skip(2);
                    is_head = was_head;
                    continue;
                }
                b'#' => {
                    self.cursor.take_while(|byte| byte != b'\n');
                    is_head = was_head;
                    continue;
                }
                b'\n' => {
                    self.cursor.bump();
                    if self.continues() {
                        continue;
                    }
                    Kind::End
                }
                b'"' => self.read_string()?,
                b'/' if self.divides(was_head)? => self.read_operator(),
                b'/' => self.read_regex()?,
                b'(' | b'[' | b'{' => self.read_open(byte),
                b')' | b']' | b'}' => {
                    is_head = self.read_close(byte)?;
                    Kind::Close
                }
                b'0'..=b'9' => self.read_number(),
                b'.' if self.cursor.peek_at(1).is_some_and(|next| next.is_ascii_digit()) => {
                    self.read_number()
                }
                _ if byte.is_ascii_alphabetic() || byte == b'_' => {
                    let text = self.read_name();
                    self.tokens.push(Token { kind: Kind::Name, text });
                    end = self.cursor.at();
                    continue;
                }
                b'+' | b'-' | b'*' | b'%' | b'^' | b'!' | b'=' | b'<' | b'>' | b'&' | b'|'
                | b'~' | b'?' | b':' | b',' | b';' | b'$' | b'@' => self.read_operator(),
                _ => return Err(Trouble::Unsure("a character that awk does not know")),
            };
            self.tokens.push(Token { kind, text: self.cursor.since(start) });
            self.is_apart = start != end;
            end = self.cursor.at();
        }
        if self.open.is_empty() {
            Ok(())
        } else {
            Err(Trouble::Broken("a bracket of the awk program is not closed"))
        }
    }

    /// Whether a newline here is inside a statement.
    fn continues(&self) -> bool {
        let Some(last) = self.tokens.last() else { return false };
        last.kind == Kind::Join || matches!(last.text, b"{" | b"do" | b"else")
    }

    /// Whether a slash divides.
    fn divides(&self, was_head: bool) -> Result<bool, Trouble> {
        let Some(last) = self.tokens.last() else { return Ok(false) };
        Ok(match last.kind {
            Kind::Number | Kind::String => true,
            // `x ++/2/` steps `x` or what follows, depending on the awk.
            Kind::Increment if !self.is_apart => true,
            Kind::Close => last.text != b"}" && !was_head,
            Kind::Name => match last.text {
                b"case" | b"delete" | b"do" | b"else" | b"exit" | b"in" | b"print" | b"printf"
                | b"return" => false,
                b"break" | b"continue" | b"for" | b"func" | b"function" | b"getline" | b"if"
                | b"length" | b"next" | b"nextfile" | b"switch" | b"while" => {
                    return Err(Trouble::Unsure("a slash where awks disagree"));
                }
                _ => true,
            },
            Kind::Regex | Kind::Dollar | Kind::Increment => {
                return Err(Trouble::Unsure("a slash where awks disagree"));
            }
            Kind::Open
            | Kind::End
            | Kind::Join
            | Kind::Greater
            | Kind::Less
            | Kind::Pipe
            | Kind::At
            | Kind::Assign
            | Kind::Operator => false,
        })
    }

    fn read_string(&mut self) -> Result<Kind, Trouble> {
        self.cursor.bump();
        loop {
            match self.cursor.bump() {
                Some(b'"') => return Ok(Kind::String),
                Some(b'\\') => {
                    self.cursor.bump();
                }
                Some(b'\n') | None => {
                    return Err(Trouble::Broken("a string of awk is not closed"));
                }
                Some(_) => {}
            }
        }
    }

    fn read_regex(&mut self) -> Result<Kind, Trouble> {
        self.cursor.bump();
        let mut had_stray = false;
        loop {
            match self.cursor.bump() {
                Some(b'/') => return Ok(Kind::Regex),
                Some(b'\\') if self.cursor.peek() == Some(b'\n') => {
                    return Err(Trouble::Unsure("a regular expression of awk over two lines"));
                }
                Some(b'\\') => {
                    self.cursor.bump();
                }
                Some(b']') => had_stray = true,
                Some(b'[') if self.brackets == Brackets::Hide => self.skip_bracket(had_stray)?,
                Some(b'\n') | None => {
                    return Err(Trouble::Broken("a regular expression of awk is not closed"));
                }
                Some(_) => {}
            }
        }
    }

    /// Passes a bracket expression. One that hides a slash must be one that all awks who know
    /// brackets end at the same place.
    fn skip_bracket(&mut self, had_stray: bool) -> Result<(), Trouble> {
        self.cursor.eat(b'^');
        self.cursor.eat(b']');
        let mut hides = false;
        let mut is_odd = had_stray;
        loop {
            match self.cursor.bump() {
                Some(b']') => break,
                Some(b'/') => hides = true,
                Some(b'[') if self.cursor.peek() == Some(b':') => {
                    self.cursor.bump();
                    self.cursor.take_while(|byte| byte.is_ascii_alphabetic());
                    if !self.cursor.eat_all(b":]") {
                        *self.is_torn = true;
                        return Err(Trouble::Unsure("a class of an awk expression is not closed"));
                    }
                }
                Some(b'[') => is_odd = true,
                Some(b'\\') if self.cursor.peek() == Some(b'\n') => is_odd = true,
                // Awks agree that a backslash hides the next byte, whatever POSIX says.
                Some(b'\\') => {
                    self.cursor.bump();
                }
                Some(b'\n') | None => {
                    // Whoever does not know brackets found the end of it before.
                    *self.is_torn = true;
                    return Err(Trouble::Unsure("a bracket of an awk expression is not closed"));
                }
                Some(_) => {}
            }
        }
        *self.is_torn |= hides;
        if hides && is_odd {
            return Err(Trouble::Unsure("a bracket in which awks find different ends"));
        }
        Ok(())
    }

    fn read_open(&mut self, byte: u8) -> Kind {
        let keyword = self.tokens.last().map(|token| token.text);
        let is_head = matches!(keyword, Some(b"if" | b"while" | b"for" | b"switch"));
        self.open.push((byte, byte == b'(' && is_head));
        self.cursor.bump();
        Kind::Open
    }

    /// Passes a closer, and tells whether it ends the head of a statement.
    fn read_close(&mut self, byte: u8) -> Result<bool, Trouble> {
        self.cursor.bump();
        match (self.open.pop(), byte) {
            (Some((b'(', is_head)), b')') => Ok(is_head),
            (Some((b'[', _)), b']') | (Some((b'{', _)), b'}') => Ok(false),
            _ => Err(Trouble::Broken("a bracket of the awk program is not opened")),
        }
    }

    fn read_number(&mut self) -> Kind {
        self.cursor.take_while(|byte| byte.is_ascii_digit() || byte == b'.');
        let sign = usize::from(matches!(self.cursor.peek_at(1), Some(b'+' | b'-')));
        if matches!(self.cursor.peek(), Some(b'e' | b'E'))
            && self.cursor.peek_at(1 + sign).is_some_and(|byte| byte.is_ascii_digit())
        {
            self.cursor.skip(1 + sign);
            self.cursor.take_while(|byte| byte.is_ascii_digit());
        }
        Kind::Number
    }

    /// A name, without the namespace that may stand before it.
    fn read_name(&mut self) -> &'t [u8] {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        loop {
            let name = self.cursor.take_while(is_part);
            let follows = self.cursor.peek_at(2).is_some_and(is_part);
            if !(follows && self.cursor.eat_all(b"::")) {
                return name;
            }
        }
    }

    fn read_operator(&mut self) -> Kind {
        let bytes = (self.cursor.peek(), self.cursor.peek_at(1), self.cursor.peek_at(2));
        let (length, kind) = match bytes {
            (Some(b'*'), Some(b'*'), Some(b'=')) => (3, Kind::Assign),
            (Some(b'+'), Some(b'+'), _) | (Some(b'-'), Some(b'-'), _) => (2, Kind::Increment),
            (Some(b'+' | b'-' | b'*' | b'/' | b'%' | b'^'), Some(b'='), _) => (2, Kind::Assign),
            (Some(b'=' | b'!' | b'<' | b'>'), Some(b'='), _)
            | (Some(b'*'), Some(b'*'), _)
            | (Some(b'!'), Some(b'~'), _) => (2, Kind::Operator),
            (Some(b'>'), Some(b'>'), _) => (2, Kind::Greater),
            (Some(b'&'), Some(b'&'), _) | (Some(b'|'), Some(b'|'), _) => (2, Kind::Join),
            (Some(b'|'), Some(b'&'), _) => (2, Kind::Pipe),
            (Some(b'='), ..) => (1, Kind::Assign),
            (Some(b'>'), ..) => (1, Kind::Greater),
            (Some(b'<'), ..) => (1, Kind::Less),
            (Some(b'|'), ..) => (1, Kind::Pipe),
            (Some(b'?' | b':' | b','), ..) => (1, Kind::Join),
            (Some(b';'), ..) => (1, Kind::End),
            (Some(b'$'), ..) => (1, Kind::Dollar),
            (Some(b'@'), ..) => (1, Kind::At),
            _ => (1, Kind::Operator),
        };
        self.cursor.skip(length);
        kind
    }
}
