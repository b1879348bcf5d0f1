//! The text of `env -S`: its own quotes, escapes and variables.

use super::super::cursor::Cursor;

/// Splits a `-S` text into arguments; one that holds a variable is `None`.
///
/// An argument that is nothing but variables outside quotes vanishes if they are not set, so how
/// many arguments there are would not be known: that is refused, as is what env itself refuses.
pub(super) fn split(text: &[u8]) -> Result<Vec<Option<Vec<u8>>>, &'static str> {
    let mut splitter = Splitter { cursor: Cursor::new(text), pieces: Vec::new(), piece: None };
    splitter.read()?;
    Ok(splitter.pieces)
}

struct Splitter<'t> {
    cursor: Cursor<'t>,
    pieces: Vec<Option<Vec<u8>>>,
    piece: Option<Piece>,
}

/// The argument that is being read.
#[derive(Default)]
struct Piece {
    text: Vec<u8>,
    /// Something stands in it that is no variable.
    is_firm: bool,
    has_variable: bool,
}

impl Splitter<'_> {
    fn read(&mut self) -> Result<(), &'static str> {
        while let Some(byte) = self.cursor.bump() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 11 | 12 => self.end_piece()?,
                b'\'' => self.read_single()?,
                b'"' => self.read_double()?,
                b'#' if self.piece.is_none() => break,
                b'$' => self.read_variable()?,
                b'\\' => match self.cursor.peek() {
                    Some(b'_') => {
                        self.cursor.bump();
                        self.end_piece()?;
                    }
                    Some(b'c') => break,
                    _ => self.read_escape()?,
                },
                _ => self.push(byte),
            }
        }
        self.end_piece()
    }

    fn read_single(&mut self) -> Result<(), &'static str> {
        self.firm();
        loop {
            match self.cursor.bump() {
                Some(b'\'') => return Ok(()),
                Some(b'\\') => match self.cursor.peek() {
                    Some(escaped @ (b'\'' | b'\\')) => {
                        self.cursor.bump();
                        self.push(escaped);
                    }
                    _ => self.push(b'\\'),
                },
                Some(byte) => self.push(byte),
                None => return Err("a quote of the text that env splits is not closed"),
            }
        }
    }

    fn read_double(&mut self) -> Result<(), &'static str> {
        self.firm();
        loop {
            match self.cursor.bump() {
                Some(b'"') => return Ok(()),
                Some(b'$') => self.read_variable()?,
                Some(b'\\') => match self.cursor.peek() {
                    Some(b'_') => {
                        self.cursor.bump();
                        self.push(b' ');
                    }
                    _ => self.read_escape()?,
                },
                Some(byte) => self.push(byte),
                None => return Err("a quote of the text that env splits is not closed"),
            }
        }
    }

    /// The escapes that mean the same inside and outside double quotes.
    fn read_escape(&mut self) -> Result<(), &'static str> {
        let byte = match self.cursor.bump() {
            Some(byte @ (b'"' | b'#' | b'$' | b'\'' | b'\\')) => byte,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 11,
            _ => return Err("an escape that env does not know"),
        };
        self.push(byte);
        Ok(())
    }

    fn read_variable(&mut self) -> Result<(), &'static str> {
        const REASON: &str = "env expands `${NAME}` only";
        if !self.cursor.eat(b'{') || self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(REASON);
        }
        let name = self.cursor.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if name.is_empty() || !self.cursor.eat(b'}') {
            return Err(REASON);
        }
        self.piece.get_or_insert_default().has_variable = true;
        Ok(())
    }

    fn push(&mut self, byte: u8) {
        self.firm();
        self.piece.get_or_insert_default().text.push(byte);
    }

    fn firm(&mut self) {
        self.piece.get_or_insert_default().is_firm = true;
    }

    fn end_piece(&mut self) -> Result<(), &'static str> {
        let Some(piece) = self.piece.take() else { return Ok(()) };
        if !piece.is_firm {
            return Err("an argument of env vanishes if its variable is not set");
        }
        self.pieces.push((!piece.has_variable).then_some(piece.text));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        let pieces = split(text.as_bytes()).ok()?;
        let shown = pieces.iter().map(|piece| match piece {
            Some(piece) => format!("<{}>", String::from_utf8_lossy(piece)),
            None => "?".to_owned(),
        });
        Some(shown.collect())
    }

    #[test]
    fn texts_are_split_as_env_splits_them() {
        #[rustfmt::skip]
        let cases = [
            ("",                      "",                 "nothing"),
            ("  a \t b\nc\u{b}d\u{c}e\rf ", "<a><b><c><d><e><f>", "every kind of blank"),
            ("a 'b c' \"d e\"",       "<a><b c><d e>",    "quotes"),
            ("a'b'\"c\"d",            "<abcd>",           "quotes inside a word"),
            ("'' \"\"",               "<><>",             "empty arguments"),
            ("a#b #c",                "<a#b>",            "a comment begins a word"),
            ("#a",                    "",                 "nothing but a comment"),
            ("a\\_b",                 "<a><b>",           "an escaped blank separates"),
            ("\"a\\_b\"",             "<a b>",            "and is a blank in quotes"),
            ("\\_a\\_",               "<a>",              "at the ends too"),
            ("a\\cb c",               "<a>",              "the rest is left out"),
            ("\\#x \\$x \\\\ \\\" \\'", "<#x><$x><\\><\"><'>", "escapes"),
            ("a\\nb\\t",              "<a\nb\t>",         "control characters"),
            ("'a\\nb\\'c\\\\d\\c'",   "<a\\nb'c\\d\\c>",  "single quotes know two escapes"),
            ("\"\\#\\$\\\"\\'\\\\\"", "<#$\"'\\>",        "double quotes know more"),
            ("'${X}'",                "<${X}>",           "no variable in single quotes"),
            ("a${X}b \"${X}\" A=${X}", "???",             "arguments with variables"),
        ];
        for (text, want, why) in cases {
            assert_eq!(read(text).as_deref(), Some(want), "`{text}`: {why}");
        }
    }

    #[test]
    fn what_env_refuses_is_refused() {
        let texts = [
            "'a", "\"a", "a\\", "\\", "a\\q", "\"\\q\"", "\"a\\c\"", "$X", "${X", "${}", "${1X}",
            "a$", "${X}", "a ${X} b", "${X}${Y}",
        ];
        for text in texts {
            assert_eq!(read(text), None, "`{text}`");
        }
    }
}
