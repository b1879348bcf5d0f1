//! Scanning text that was refused.
//!
//! Nothing is known about refused text, but rules that deny must still bite in it. The scan
//! therefore finds too much rather than too little: every run of bytes between blanks and
//! operators is a token, with quotes, escapes and continuations taken off; runs glued together by
//! braces, commas, `=` and the like are also given in pieces.

use crate::span::Span;

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

/// Every word that may stand in a text.
///
/// The result is never longer than a small multiple of the text.
#[must_use]
pub fn scan(text: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    // Whether `$'` decodes depends on quotes before it, so both readings are given.
    let has_ansi = text.windows(2).any(|pair| pair == b"$'");
    for decodes in [true, false].into_iter().take(if has_ansi { 2 } else { 1 }) {
        let mut scan = Scan { text, at: 0, begins: true, decodes, breaks: Vec::new() };
        while let Some(token) = scan.token() {
            scan.push_broken(&token, &mut tokens);
            push_pieces(&token, &mut tokens);
            tokens.push(token);
        }
    }
    tokens
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    begins: bool,
    /// Whether `$'…'` is decoded.
    decodes: bool,
    /// Where line breaks were taken out of the last token.
    breaks: Vec<usize>,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn token(&mut self) -> Option<Token> {
        loop {
            match self.peek(0)? {
                b' ' | b'\t' | b'\r' => {}
                b'\\' if self.peek(1) == Some(b'\n') => self.at += 1,
                byte if is_operator(byte) => self.begins = true,
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        let begins = std::mem::take(&mut self.begins);
        let mut text = Vec::new();
        self.breaks.clear();
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' => break,
                _ if is_operator(byte) => break,
                b'\'' | b'"' => self.at += 1,
                b'$' if self.decodes && self.peek(1) == Some(b'\'') => {
                    self.at += 2;
                    self.ansi(&mut text);
                }
                b'$' if self.peek(1) == Some(b'"') => self.at += 2,
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
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        Some(Token { text, span: Span::new(start, self.at), begins })
    }

    /// Adds what stands between broken lines, which a comment does not join, and what stands
    /// behind `>&-`.
    fn push_broken(&self, token: &Token, tokens: &mut Vec<Token>) {
        let mut from = 0;
        for &at in self.breaks.iter().chain(&[token.text.len()]) {
            if !self.breaks.is_empty() && from < at {
                let text = token.text.get(from..at).unwrap_or_default().to_vec();
                tokens.push(Token { text, span: token.span, begins: true });
            }
            from = at;
        }
        let before = (token.span.start as usize).checked_sub(1).and_then(|at| self.text.get(at));
        if let (Some(b'&'), Some(rest)) = (before, token.text.strip_prefix(b"-")) {
            tokens.push(Token { text: rest.to_vec(), span: token.span, begins: true });
        }
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

/// Adds what stands between the glue inside a token.
fn push_pieces(token: &Token, tokens: &mut Vec<Token>) {
    let is_glue = |byte: &u8| {
        matches!(
            byte,
            b'{' | b'}' | b',' | b'=' | b'$' | b':' | b'!' | b'[' | b']' | b' ' | b'\n' | b'\t'
        ) || matches!(byte, b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' | b'`' | b'\'' | b'"')
    };
    if token.text.contains(&b'\\') {
        // Backticks take off one more backslash.
        let is_kept = |byte: &u8| !matches!(byte, b'\\' | b'`');
        let text = token.text.iter().copied().filter(is_kept).collect();
        tokens.push(Token { text, span: token.span, begins: true });
    }
    if !token.text.iter().any(is_glue) {
        return;
    }
    let pieces = token.text.split(is_glue).filter(|piece| !piece.is_empty());
    for piece in pieces {
        tokens.push(Token { text: piece.to_vec(), span: token.span, begins: true });
    }
}
