//! A place in bytes that only moves forward.

/// Where a reader stands in its text. Copying it marks the place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Cursor<'t> {
    /// The beginning of `text`.
    pub(super) const fn new(text: &'t [u8]) -> Cursor<'t> {
        Cursor { text, at: 0 }
    }

    /// How many bytes lie behind.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The next byte.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The byte `ahead` of the next one; `peek_at(0)` is the next.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at.saturating_add(ahead)).copied()
    }

    /// Everything that is still ahead.
    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The bytes between an earlier place and this one.
    pub(super) fn since(&self, start: usize) -> &'t [u8] {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Takes the next byte.
    pub(super) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Passes `count` bytes, or fewer at the end.
    pub(super) fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.text.len());
    }

    /// Takes the next byte if it is `byte`.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        if is {
            self.at += 1;
        }
        is
    }

    /// Takes `bytes` if they come next.
    pub(super) fn eat_all(&mut self, bytes: &[u8]) -> bool {
        let are = self.rest().starts_with(bytes);
        if are {
            self.at += bytes.len();
        }
        are
    }

    /// Takes bytes as long as they fit.
    pub(super) fn take_while(&mut self, fits: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = self.rest();
        let length = rest.iter().position(|byte| !fits(*byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Takes everything up to the end of the line, and passes the newline.
    pub(super) fn take_line(&mut self) -> &'t [u8] {
        let line = self.take_while(|byte| byte != b'\n');
        self.eat(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_never_leaves_its_text() {
        let mut cursor = Cursor::new(b"ab\ncd");
        assert!(cursor.eat(b'a') && !cursor.eat(b'a'));
        assert_eq!(cursor.take_line(), b"b");
        assert_eq!(
            (cursor.peek(), cursor.peek_at(1), cursor.peek_at(2)),
            (Some(b'c'), Some(b'd'), None)
        );
        assert_eq!(cursor.since(1), b"b\n");
        assert!(cursor.eat_all(b"cd") && !cursor.eat_all(b"x"));
        cursor.skip(9);
        assert_eq!((cursor.bump(), cursor.at(), cursor.take_line()), (None, 5, &b""[..]));
    }
}
