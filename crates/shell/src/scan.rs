//! Scanning text that was refused.
//!
//! Nothing is known about refused text, but rules that deny must still bite in it. The scan
//! therefore finds too much rather than too little: every run of bytes between blanks and
//! operators is a token, with quotes, escapes and continuations taken off; runs glued together by
//! braces, commas, `=` and the like are also given in pieces. Where a quote, a comment or a
//! backtick around it would change what a run says, both readings are given.

use std::collections::BTreeSet;

use crate::span::{Span, narrow};

/// A word that may stand in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The word without quotes and escapes.
    pub text: Vec<u8>,
    /// Where it stands.
    pub span: Span,
    /// Whether a command may begin here. Every token may be a program; these more likely are.
    pub begins: bool,
}

/// How many bytes a word is looked at for whose quotes are read one by one.
const LONGEST: usize = 256;

/// Every word that may stand in a text.
///
/// The result grows with the text, times the depth of backticks that its backslashes allow.
#[must_use]
pub fn scan(text: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut layer = Layer { text: text.to_vec(), places: None };
    // The texts found so far; none until there is a second reading.
    let mut known: Option<BTreeSet<Vec<u8>>> = None;
    loop {
        for reading in Reading::of(&layer.text) {
            let mut scan = Scan::new(&layer.text, reading);
            let mut found = Vec::new();
            while let Some(token) = scan.token() {
                scan.push_broken(&token, &mut found);
                push_pieces(&token, &mut found);
                found.push(token);
            }
            if reading.decodes {
                scan.push_quoted(&mut found);
            }
            if tokens.is_empty() {
                tokens = found;
                for token in &mut tokens {
                    token.span = layer.locate(token.span);
                }
                continue;
            }
            let texts = |token: &Token| token.text.clone();
            let known = known.get_or_insert_with(|| tokens.iter().map(texts).collect());
            for mut token in found {
                if known.insert(token.text.clone()) {
                    token.span = layer.locate(token.span);
                    tokens.push(token);
                }
            }
        }
        if !layer.peel() {
            return tokens;
        }
    }
}

/// The text as one more pair of backticks around it would leave it.
struct Layer {
    text: Vec<u8>,
    /// Where each byte stands in the text as given; nothing for that text itself.
    places: Option<Vec<u32>>,
}

impl Layer {
    /// Takes off the backslashes that backticks take off, and joins the lines that they join, in
    /// quotes too; false where there are none.
    fn peel(&mut self) -> bool {
        let is_freed = |pair: &[u8]| matches!(pair, [b'\\', b'\\' | b'`' | b'$' | b'"' | b'\n']);
        if !self.text.windows(2).any(is_freed) {
            return false;
        }
        let (mut text, mut places) = (Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(&byte) = self.text.get(at) {
            let frees = self.text.get(at..at + 2).is_some_and(is_freed);
            at += usize::from(frees);
            if frees && self.text.get(at) == Some(&b'\n') {
                at += 1;
                continue;
            }
            text.push(self.text.get(at).copied().unwrap_or(byte));
            places.push(self.place(at));
            at += 1;
        }
        (self.text, self.places) = (text, Some(places));
        true
    }

    fn place(&self, at: usize) -> u32 {
        match &self.places {
            None => narrow(at),
            Some(places) => places.get(at).copied().unwrap_or_default(),
        }
    }

    fn locate(&self, span: Span) -> Span {
        if self.places.is_none() || span.is_empty() {
            let start = self.place(span.start as usize);
            return Span { start, end: start.saturating_add(narrow(span.len())) };
        }
        let last = self.place(span.end as usize - 1);
        Span { start: self.place(span.start as usize), end: last.saturating_add(1) }
    }
}

/// One way to read what depends on what stands before it.
#[derive(Clone, Copy)]
struct Reading {
    /// Whether `$'…'` is decoded: not where a quote is open already.
    decodes: bool,
    /// Whether `#` begins a comment, in which no line is continued.
    comments: bool,
}

impl Reading {
    /// The readings that differ for this text.
    fn of(text: &[u8]) -> Vec<Reading> {
        let has = |wanted: &[u8]| text.windows(wanted.len()).any(|found| found == wanted);
        let mut readings = vec![Reading { decodes: true, comments: false }];
        if has(b"$'") {
            readings.push(Reading { decodes: false, comments: false });
        }
        if has(b"#") && has(b"\\\n") {
            for at in 0..readings.len() {
                let reading =
                    readings.get(at).map(|&reading| Reading { comments: true, ..reading });
                readings.extend(reading);
            }
        }
        readings
    }
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    begins: bool,
    reading: Reading,
    /// Whether a comment has begun and its line has not ended.
    in_comment: bool,
    /// Where line breaks were taken out of the last token.
    breaks: Vec<usize>,
}

impl<'t> Scan<'t> {
    fn new(text: &'t [u8], reading: Reading) -> Scan<'t> {
        Scan { text, at: 0, begins: true, reading, in_comment: false, breaks: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn token(&mut self) -> Option<Token> {
        loop {
            match self.peek(0)? {
                b' ' | b'\t' | b'\r' => {}
                b'\\' if self.peek(1) == Some(b'\n') => {
                    self.at += 1;
                    self.begins |= std::mem::take(&mut self.in_comment);
                }
                byte if is_operator(byte) => {
                    self.begins = true;
                    self.in_comment &= byte != b'\n';
                }
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        let begins = std::mem::take(&mut self.begins);
        self.in_comment |= self.reading.comments && self.peek(0) == Some(b'#');
        let mut text = Vec::new();
        self.breaks.clear();
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' => break,
                _ if is_operator(byte) => break,
                b'\'' | b'"' => self.at += 1,
                b'$' if self.reading.decodes && self.peek(1) == Some(b'\'') => {
                    self.at += 2;
                    self.ansi(&mut text);
                }
                b'$' if self.peek(1) == Some(b'"') => self.at += 2,
                b'\\' if self.in_comment && self.peek(1) == Some(b'\n') => break,
                b'\\' => {
                    self.at += 1;
                    match self.peek(0) {
                        None => {}
                        Some(b'\n') => {
                            self.breaks.push(text.len());
                            self.at += 1;
                        }
                        Some(escaped) => {
                            text.push(escaped);
                            self.at += 1;
                        }
                    }
                }
                _ => {
                    // Most of a word means itself.
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    let plain = rest.iter().skip(1).position(|&byte| has_meaning(byte));
                    let plain = rest.get(..plain.map_or(rest.len(), |at| at + 1));
                    text.extend_from_slice(plain.unwrap_or_default());
                    self.at += plain.map_or(1, <[u8]>::len);
                }
            }
        }
        Some(Token { text, span: Span::new(start, self.at), begins })
    }

    /// Adds what stands between broken lines, which a comment does not join, and what stands
    /// behind `>&-` and `>& -`.
    fn push_broken(&self, token: &Token, tokens: &mut Vec<Token>) {
        let mut from = 0;
        for &at in self.breaks.iter().chain(&[token.text.len()]) {
            if !self.breaks.is_empty() && from < at {
                let text = token.text.get(from..at).unwrap_or_default().to_vec();
                tokens.push(Token { text, span: token.span, begins: true });
            }
            from = at;
        }
        // Blanks may stand between the operator and the dash that closes, also broken lines.
        let between = |byte: &&u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\\' | b'\n');
        let before = self.text.get(..token.span.start as usize).unwrap_or_default();
        let before = before.iter().rev().find(between);
        if let (Some(b'&'), Some(rest)) = (before, token.text.strip_prefix(b"-")) {
            tokens.push(Token { text: rest.to_vec(), span: token.span, begins: true });
        }
    }

    /// Adds every word with a `$'…'` in it, read as if no quote were open where it begins.
    fn push_quoted(&mut self, tokens: &mut Vec<Token>) {
        let is_start = |byte: u8| is_operator(byte) || matches!(byte, b' ' | b'\t' | b'\r');
        let mut next = 0;
        for start in 0..self.text.len() {
            let before = start.checked_sub(1).and_then(|at| self.text.get(at));
            if before.is_some_and(|&byte| !is_start(byte)) {
                continue;
            }
            if next < start {
                next = start;
            }
            while next < self.text.len() && self.text.get(next..next + 2) != Some(b"$'") {
                next += 1;
            }
            if next >= self.text.len() {
                return;
            }
            if next - start < LONGEST {
                self.at = start;
                tokens.extend(self.quoted_word());
            }
        }
    }

    /// The word that begins here, its quotes taken off as outside all quotes; nothing where it has
    /// no end or is longer than any program's name.
    fn quoted_word(&mut self) -> Option<Token> {
        let start = self.at;
        let mut text = Vec::new();
        while let Some(byte) = self.peek(0) {
            if self.at - start > LONGEST {
                return None;
            }
            match byte {
                b' ' | b'\t' | b'\r' => break,
                _ if is_operator(byte) => break,
                b'\'' | b'"' => {
                    self.at += 1;
                    while self.peek(0)? != byte {
                        self.at += usize::from(byte == b'"' && self.peek(0) == Some(b'\\'));
                        text.push(self.peek(0)?);
                        self.at += 1;
                        if self.at - start > LONGEST {
                            return None;
                        }
                    }
                    self.at += 1;
                }
                b'$' if self.peek(1) == Some(b'\'') => {
                    self.at += 2;
                    self.ansi(&mut text);
                }
                b'$' if self.peek(1) == Some(b'"') => self.at += 1,
                b'\\' => {
                    if self.peek(1) != Some(b'\n') {
                        text.extend(self.peek(1));
                    }
                    self.at += 2;
                }
                _ => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        let end = self.at.min(self.text.len());
        Some(Token { text, span: Span::new(start, end), begins: true })
    }

    /// Decodes `$'…'` up to its quote or the end of the run.
    fn ansi(&mut self, text: &mut Vec<u8>) {
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\'' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.text.len());
        crate::parser::decode_ansi(self.text.get(start..self.at).unwrap_or_default(), text);
        self.at = (self.at + 1).min(self.text.len());
    }
}

const fn is_operator(byte: u8) -> bool {
    matches!(byte, b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`' | 0)
}

/// Whether a byte may end a word, or mean something else in it than itself.
const fn has_meaning(byte: u8) -> bool {
    is_operator(byte) || matches!(byte, b' ' | b'\t' | b'\r' | b'\'' | b'"' | b'$' | b'\\')
}

/// Adds what stands between the glue inside a token.
fn push_pieces(token: &Token, tokens: &mut Vec<Token>) {
    let is_glue = |byte: &u8| {
        matches!(
            byte,
            b'{' | b'}' | b',' | b'=' | b'$' | b':' | b'!' | b'[' | b']' | b' ' | b'\n' | b'\t'
        ) || matches!(byte, b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`' | b'\'' | b'"')
    };
    if !token.text.iter().any(is_glue) {
        return;
    }
    let pieces = token.text.split(is_glue).filter(|piece| !piece.is_empty());
    for piece in pieces {
        tokens.push(Token { text: piece.to_vec(), span: token.span, begins: true });
    }
}

#[cfg(test)]
mod tests {
    use super::scan;

    #[test]
    fn what_stands_behind_a_closing_dash_is_a_word_of_its_own() {
        for text in ["rm <&-a", "rm&<& -a", "rm >& \\\n -a"] {
            let tokens = scan(text.as_bytes());
            assert!(tokens.iter().any(|token| token.text == b"a"), "`{text}`: {tokens:?}");
        }
    }

    #[test]
    fn backticks_join_lines_in_quotes_and_before_escapes_work() {
        for text in ["`'r\\\nm' x`", "`r\\\\\\\n\nm x`"] {
            let tokens = scan(text.as_bytes());
            assert!(tokens.iter().any(|token| token.text == b"rm"), "`{text}`: {tokens:?}");
        }
    }
}
