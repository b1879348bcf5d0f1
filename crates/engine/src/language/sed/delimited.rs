//! Text between delimiters: regular expressions, replacements, lists of characters.

use super::{Parsed, Reader, Trouble, Variant};

/// What stands between delimiters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
    /// A regular expression, in which brackets hide the delimiter.
    Expression,
    /// A replacement or a list of characters.
    Text,
}

impl Reader<'_> {
    /// Both halves of `s` and `y`.
    pub(super) fn read_delimited_pair(&mut self, inside: Inside) -> Parsed<()> {
        let delimiter = self.take_delimiter()?;
        self.skip_to(delimiter, inside)?;
        self.skip_to(delimiter, Inside::Text)
    }

    pub(super) fn take_delimiter(&mut self) -> Parsed<u8> {
        match self.cursor.bump() {
            Some(b'\n' | b'\\') | None => Err(Trouble::Unsure("sed text without a delimiter")),
            Some(byte) if !byte.is_ascii() => Err(Trouble::Unsure("a sed delimiter outside ASCII")),
            Some(byte) => Ok(byte),
        }
    }

    /// Passes everything up to the delimiter and the delimiter itself.
    pub(super) fn skip_to(&mut self, delimiter: u8, inside: Inside) -> Parsed<()> {
        loop {
            match self.cursor.bump() {
                Some(byte) if byte == delimiter => return Ok(()),
                Some(b'\\') => {
                    self.cursor.bump();
                }
                Some(b'[') if inside == Inside::Expression => self.skip_bracket(delimiter)?,
                Some(b'\n') | None => {
                    return Err(Trouble::Broken("sed text is not closed by its delimiter"));
                }
                Some(_) => {}
            }
        }
    }

    /// Passes a bracket expression, in which neither delimiter nor backslash is special.
    fn skip_bracket(&mut self, delimiter: u8) -> Parsed<()> {
        self.cursor.eat(b'^');
        self.cursor.eat(b']');
        let mut had_class = false;
        loop {
            match self.cursor.bump() {
                Some(b']') => return Ok(()),
                Some(b'\n') | None => {
                    return Err(Trouble::Broken("a bracket of a sed expression is not closed"));
                }
                Some(b'[') if self.variant != Variant::ShortBrackets => {
                    if let Some(kind @ (b'.' | b':' | b'=')) = self.cursor.peek() {
                        self.cursor.bump();
                        self.skip_class(kind, delimiter)?;
                        had_class = true;
                    }
                }
                Some(byte) if byte == delimiter && had_class => self.has_torn_bracket = true,
                Some(_) => {}
            }
        }
    }

    /// Passes `[:alpha:]`, `[.x.]` or `[=x=]` up to its end.
    fn skip_class(&mut self, kind: u8, delimiter: u8) -> Parsed<()> {
        loop {
            match self.cursor.bump() {
                Some(byte) if byte == kind && self.cursor.eat(b']') => return Ok(()),
                Some(byte) if byte == delimiter || byte == b']' => {
                    self.has_torn_bracket = true;
                }
                Some(b'\n') | None => {
                    return Err(Trouble::Broken("a class of a sed expression is not closed"));
                }
                Some(_) => {}
            }
        }
    }
}
