//! sed scripts: what they read, write and run.
//!
//! The script is read as GNU sed reads it, command by command. Where another sed ends a label or
//! a regular expression elsewhere, both readings count; where they differ in a way that cannot be
//! followed (what stands behind `a\` and a blank, delimiters outside ASCII), it is unknown.

use self::delimited::Inside;
use super::cursor::Cursor;
use super::{Facts, Run, is_stream};

mod delimited;
#[cfg(test)]
mod tests;

/// Reads the scripts of one sed call: each `-e`, or the first operand.
///
/// `_extended` (`-E`, `-r`) changes what a regular expression matches, never where it ends.
#[must_use]
pub fn sed(scripts: &[&[u8]], _extended: bool) -> Facts {
    match scripts {
        [script] => read_script(script),
        _ => read_script(&scripts.join(&b'\n')),
    }
}

/// Why reading stopped.
#[derive(Clone, Copy)]
enum Trouble {
    /// Every sed refuses the script.
    Broken(&'static str),
    /// Some sed may go on in another way.
    Unsure(&'static str),
}

type Parsed<T> = Result<T, Trouble>;

/// In what the seds of this world differ, as far as it moves the end of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// GNU sed.
    Gnu,
    /// The first `]` ends a bracket expression: `[[:alpha:]/]` does not hide its `/`.
    ShortBrackets,
    /// A label takes the whole line.
    LongLabels,
}

fn read_script(script: &[u8]) -> Facts {
    // sed reads characters of the locale; a broken one may hide the delimiter behind it.
    if std::str::from_utf8(script).is_err() {
        return Facts::of_unknown("the sed script is not UTF-8");
    }
    let mut reader = Reader::new(script, Variant::Gnu);
    let end = reader.read();
    let Reader { mut facts, has_torn_bracket, has_torn_label, .. } = reader;
    if let Err(Trouble::Broken(reason) | Trouble::Unsure(reason)) = end {
        facts.doubt(reason);
    }
    let others =
        [(has_torn_bracket, Variant::ShortBrackets), (has_torn_label, Variant::LongLabels)];
    for (_, variant) in others.into_iter().filter(|(is_torn, _)| *is_torn) {
        let mut other = Reader::new(script, variant);
        // What such a sed refuses altogether it does not run.
        if let Err(Trouble::Unsure(reason)) = other.read() {
            other.facts.doubt(reason);
        }
        facts.merge(other.facts);
    }
    facts
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    facts: Facts,
    variant: Variant,
    blocks: usize,
    /// A delimiter stood where [`Variant::ShortBrackets`] ends the expression.
    has_torn_bracket: bool,
    /// Something stood behind a label on its line.
    has_torn_label: bool,
}

impl<'t> Reader<'t> {
    fn new(script: &'t [u8], variant: Variant) -> Reader<'t> {
        Reader {
            cursor: Cursor::new(script),
            facts: Facts::default(),
            variant,
            blocks: 0,
            has_torn_bracket: false,
            has_torn_label: false,
        }
    }

    fn read(&mut self) -> Parsed<()> {
        loop {
            self.cursor.take_while(|byte| byte == b';' || byte.is_ascii_whitespace() || byte == 11);
            if self.cursor.peek().is_none() {
                break;
            }
            self.read_command()?;
        }
        if self.blocks == 0 { Ok(()) } else { Err(Trouble::Broken("a block of sed is not closed")) }
    }

    fn read_command(&mut self) -> Parsed<()> {
        let is_addressed = self.read_addresses()?;
        if self.cursor.eat(b'!') {
            self.skip_blanks();
        }
        match self.cursor.bump() {
            Some(b'#') if !is_addressed => {
                self.cursor.take_line();
                Ok(())
            }
            Some(b'{') => {
                self.blocks += 1;
                Ok(())
            }
            Some(b'}') if !is_addressed && self.blocks > 0 => {
                self.blocks -= 1;
                self.end_command()
            }
            Some(byte) if b"=dDFgGhHnNpPxz".contains(&byte) => self.end_command(),
            Some(b'l' | b'L' | b'q' | b'Q') => {
                self.skip_blanks();
                self.cursor.take_while(|byte| byte.is_ascii_digit());
                self.end_command()
            }
            Some(b':') if !is_addressed => match self.take_label()? {
                b"" => Err(Trouble::Broken("a label of sed has no name")),
                _ => Ok(()),
            },
            Some(b'b' | b't' | b'T' | b'v') => {
                self.take_label()?;
                Ok(())
            }
            Some(b'a' | b'i' | b'c') => {
                self.skip_blanks();
                self.take_text().map(|_| ())
            }
            Some(b'e') => self.read_execute(),
            Some(b'r' | b'R') => {
                let name = self.take_file_name()?;
                if !is_stream(name) {
                    self.facts.reads.push(Some(name.to_vec()));
                }
                Ok(())
            }
            Some(b'w' | b'W') => self.read_write(),
            Some(b's') => {
                self.read_delimited_pair(Inside::Expression)?;
                self.read_flags()
            }
            Some(b'y') => {
                self.read_delimited_pair(Inside::Text)?;
                self.end_command()
            }
            _ => Err(Trouble::Unsure("an unknown sed command")),
        }
    }

    /// Passes up to two addresses and tells whether there was one.
    fn read_addresses(&mut self) -> Parsed<bool> {
        if !self.read_address()? {
            return Ok(false);
        }
        self.skip_blanks();
        if self.cursor.eat(b',') {
            self.skip_blanks();
            if !self.read_address()? {
                return Err(Trouble::Broken("the second address of a sed command is missing"));
            }
            self.skip_blanks();
        }
        Ok(true)
    }

    fn read_address(&mut self) -> Parsed<bool> {
        match self.cursor.peek() {
            Some(b'/') => self.read_regular_expression()?,
            Some(b'\\') => {
                self.cursor.bump();
                self.read_regular_expression()?;
            }
            Some(b'$') => {
                self.cursor.bump();
            }
            Some(b'0'..=b'9') => {
                self.take_number();
                let mark = self.cursor;
                self.skip_blanks();
                if self.cursor.eat(b'~') {
                    self.take_step()?;
                } else {
                    self.cursor = mark;
                }
            }
            Some(b'+' | b'~') => {
                self.cursor.bump();
                self.take_step()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// An address between delimiters with its flags.
    fn read_regular_expression(&mut self) -> Parsed<()> {
        let delimiter = self.take_delimiter()?;
        self.skip_to(delimiter, Inside::Expression)?;
        loop {
            let mark = self.cursor;
            self.skip_blanks();
            if !self.cursor.eat(b'I') && !self.cursor.eat(b'M') {
                self.cursor = mark;
                return Ok(());
            }
        }
    }

    fn take_number(&mut self) -> &'t [u8] {
        self.cursor.take_while(|byte| byte.is_ascii_digit())
    }

    /// The number behind `~` or `+`, without which GNU sed reads whatever byte stands there.
    fn take_step(&mut self) -> Parsed<()> {
        self.skip_blanks();
        match self.take_number() {
            b"" => Err(Trouble::Unsure("a sed address has no number")),
            _ => Ok(()),
        }
    }

    /// What stands behind `s/…/…/`.
    fn read_flags(&mut self) -> Parsed<()> {
        loop {
            match self.cursor.peek() {
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9' | b' ' | b'\t') => {
                    self.cursor.bump();
                }
                Some(b'e') => {
                    self.cursor.bump();
                    self.facts.runs.push(Run::Unknown);
                }
                Some(b'w') => {
                    self.cursor.bump();
                    return self.read_write();
                }
                Some(b'\r') if self.cursor.peek_at(1) == Some(b'\n') => {
                    self.cursor.skip(2);
                    return Ok(());
                }
                Some(b'\n' | b';' | b'}' | b'#') | None => return Ok(()),
                Some(_) => return Err(Trouble::Broken("an unknown flag of a sed substitution")),
            }
        }
    }

    fn read_write(&mut self) -> Parsed<()> {
        let name = self.take_file_name()?;
        if !is_stream(name) {
            self.facts.writes.push(Some(name.to_vec()));
        }
        Ok(())
    }

    /// A file name is the rest of the line, braces and semicolons included.
    fn take_file_name(&mut self) -> Parsed<&'t [u8]> {
        self.skip_blanks();
        match self.cursor.take_line() {
            b"" => Err(Trouble::Broken("a sed command lacks its file name")),
            name => Ok(name),
        }
    }

    fn read_execute(&mut self) -> Parsed<()> {
        self.skip_blanks();
        let run = match self.cursor.peek() {
            // Without a command it runs the line it stands on.
            Some(b'\n') | None => Run::Unknown,
            Some(_) => {
                let text = self.take_text()?;
                if text.contains(&b'\\') { Run::Unknown } else { Run::Shell(text.to_vec()) }
            }
        };
        self.facts.runs.push(run);
        Ok(())
    }

    /// The text of `a`, `i`, `c` and `e`: lines up to one that no backslash continues.
    fn take_text(&mut self) -> Parsed<&'t [u8]> {
        if self.cursor.peek().is_none() {
            return Err(Trouble::Broken("a sed command lacks its text"));
        }
        if self.cursor.eat(b'\\') && !self.cursor.eat(b'\n') {
            let mark = self.cursor;
            self.skip_blanks();
            if self.cursor.peek() == Some(b'\n') && self.cursor.at() != mark.at() {
                return Err(Trouble::Unsure("blanks between a backslash and the text of sed"));
            }
            self.cursor = mark;
        }
        let start = self.cursor.at();
        loop {
            match self.cursor.peek() {
                Some(b'\n') | None => return Ok(self.cursor.since(start)),
                Some(b'\\') => self.cursor.skip(2),
                Some(_) => self.cursor.skip(1),
            }
        }
    }

    /// A label ends at a blank, a semicolon or a brace.
    fn take_label(&mut self) -> Parsed<&'t [u8]> {
        self.skip_blanks();
        let label = match self.variant {
            Variant::LongLabels => self.cursor.take_while(|byte| byte != b'\n'),
            Variant::Gnu | Variant::ShortBrackets => self.cursor.take_while(|byte| {
                !byte.is_ascii_whitespace() && !matches!(byte, b';' | b'}' | 11)
            }),
        };
        match self.cursor.peek() {
            Some(b'\n') | None => {}
            // Some seds take these into the label.
            Some(b'\r' | 11 | 12) => return Err(Trouble::Unsure("an odd blank behind a label")),
            Some(_) => self.has_torn_label = true,
        }
        Ok(label)
    }

    fn end_command(&mut self) -> Parsed<()> {
        self.skip_blanks();
        match self.cursor.peek() {
            Some(b'\n' | b';' | b'}' | b'#') | None => Ok(()),
            Some(_) => Err(Trouble::Broken("extra characters behind a sed command")),
        }
    }

    fn skip_blanks(&mut self) {
        self.cursor.take_while(|byte| matches!(byte, b' ' | b'\t'));
    }
}
