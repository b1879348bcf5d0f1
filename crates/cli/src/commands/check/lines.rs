//! The lines of a stream, however long it is: each at most [`MOST_BYTES`], longer ones counted and
//! let go.

use std::io::{self, BufRead, ErrorKind, Read};

/// A line longer than this is not kept.
pub const MOST_BYTES: usize = 8 << 20;

/// So much is read at once.
const PIECE: usize = 256 << 10;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes.
    Whole(&'a [u8]),
    /// It is longer than what is kept.
    TooLong,
}

/// A stream, line by line.
pub struct Lines<R> {
    stream: R,
    buffer: Vec<u8>,
    /// What was read and not yet given out stands between these.
    start: usize,
    end: usize,
    /// Up to here no line end was found.
    searched: usize,
    is_skipping: bool,
    has_ended: bool,
}

impl<R: Read> Lines<R> {
    /// The lines of a stream.
    pub fn new(stream: R) -> Lines<R> {
        Lines {
            stream,
            buffer: vec![0; PIECE],
            start: 0,
            end: 0,
            searched: 0,
            is_skipping: false,
            has_ended: false,
        }
    }

    /// Whether the next line can be given out without waiting for the stream.
    pub fn has_line(&mut self) -> bool {
        self.has_ended || self.line_end().is_some()
    }

    /// The next line; waits for the stream where it must.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(at) = self.line_end() {
                let from = self.start;
                self.start = at + 1;
                self.searched = self.start;
                return Ok(Some(self.given(from, at)));
            }
            if self.has_ended {
                let (from, to) = (self.start, self.end);
                self.start = self.end;
                self.searched = self.end;
                let is_over = from == to && !self.is_skipping;
                return Ok((!is_over).then(|| self.given(from, to)));
            }
            self.read_on()?;
        }
    }

    /// The line between two places of the buffer.
    fn given(&mut self, from: usize, to: usize) -> Line<'_> {
        if std::mem::take(&mut self.is_skipping) || to - from > MOST_BYTES {
            return Line::TooLong;
        }
        Line::Whole(self.buffer.get(from..to).unwrap_or_default())
    }

    fn line_end(&mut self) -> Option<usize> {
        let fresh = self.buffer.get(self.searched..self.end).unwrap_or_default();
        // A stream of bytes in memory is searched many at a time, and never fails.
        let mut rest = fresh;
        let passed = rest.skip_until(b'\n').unwrap_or_default();
        let last = passed.checked_sub(1).filter(|last| fresh.get(*last) == Some(&b'\n'));
        let found = last.map(|at| at + self.searched);
        self.searched = found.unwrap_or(self.end);
        found
    }

    fn read_on(&mut self) -> io::Result<()> {
        // What is too long, or goes on being it, is let go.
        if self.is_skipping || self.end - self.start > MOST_BYTES {
            self.is_skipping = true;
            self.start = self.end;
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        self.searched = self.end;
        if self.buffer.len() - self.end < PIECE {
            self.buffer.resize(self.end + self.buffer.len().max(PIECE), 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        match self.stream.read(room) {
            Ok(0) => self.has_ended = true,
            Ok(count) => self.end += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(room.len()));
            room[..piece.len()].copy_from_slice(piece);
            self.0 = rest;
            Ok(piece.len())
        }
    }

    fn lengths(text: &[u8], piece: usize) -> Vec<Option<usize>> {
        let mut lines = Lines::new(Drops(text, piece));
        let mut lengths = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            lengths.push(match line {
                Line::Whole(line) => Some(line.len()),
                Line::TooLong => None,
            });
        }
        lengths
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        #[rustfmt::skip]
        let cases: &[(&[u8], &[usize])] = &[
            (b"",            &[]),
            (b"one",         &[3]),
            (b"one\n",       &[3]),
            (b"one\n\nthree", &[3, 0, 5]),
        ];
        for (text, want) in cases {
            for piece in [1, 2, 3, 100] {
                let want: Vec<_> = want.iter().copied().map(Some).collect();
                assert_eq!(lengths(text, piece), want, "{} by {piece}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn what_is_too_long_is_let_go() {
        let mut text = vec![b'x'; MOST_BYTES];
        text.extend_from_slice(b"\n");
        text.extend(vec![b'y'; MOST_BYTES + 1]);
        text.extend_from_slice(b"\nz\n");
        text.extend(vec![b'y'; 3 * MOST_BYTES]);
        let mut lines = Lines::new(&text[..]);
        let mut count = 0;
        while lines.next_line().unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 4);
        assert!(lines.buffer.len() <= 4 * MOST_BYTES, "{}", lines.buffer.len());
        assert_eq!(lengths(&text, PIECE), [Some(MOST_BYTES), None, Some(1), None]);
    }
}
