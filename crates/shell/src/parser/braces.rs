//! Brace expansion: which braces of a word expand, and to what.
//!
//! The shell decides this after reading the word, so it is done here on the parts: an open brace
//! expands if its closer is in the same word and a comma stands between them, or a sequence.

use crate::few::Few;
use crate::parser::words::{Parts, push_literal, push_part};
use crate::parser::{Parsed, Parser};
use crate::span::Span;
use crate::tree::List;
use crate::word::{Part, PartKind, Place, Word};

/// A word cut at its braces and commas.
#[derive(Clone, Copy)]
enum Token {
    Piece(Part),
    /// An open brace: its closer's place among the tokens, and whether a comma is between.
    Open {
        at: usize,
        closer: Option<usize>,
        has_comma: bool,
    },
    /// A comma: the place of the open brace it belongs to.
    Comma {
        at: usize,
        owner: Option<usize>,
    },
    Close {
        at: usize,
    },
}

impl Parser<'_> {
    /// Shelves the parts of a word with its brace expansions recognised.
    pub(crate) fn expand_braces(&mut self, parts: &Parts) -> Parsed<List<Part>> {
        let tokens = self.cut_at_braces(parts.as_slice());
        self.refuse_early_closer(&tokens)?;
        let mut read = self.braced_parts(&tokens, 0, tokens.len())?;
        Ok(read.shelve(&mut self.tree))
    }

    /// Refuses `{a}b,c}`, where bash takes the first closer for text.
    fn refuse_early_closer(&self, tokens: &[Token]) -> Parsed<()> {
        let early = tokens.iter().enumerate().find_map(|(at, token)| {
            let Token::Open { closer: Some(closer), has_comma: false, .. } = token else {
                return None;
            };
            let is_sequence = *closer == at + 2 && self.is_sequence_piece(tokens.get(at + 1));
            (!is_sequence).then_some(*closer)
        });
        let rest = early.and_then(|early| tokens.get(early + 1..)).unwrap_or_default();
        let comma = rest.iter().position(|token| matches!(token, Token::Comma { .. }));
        let behind = comma.and_then(|comma| rest.get(comma..)).unwrap_or_default();
        if behind.iter().any(|token| matches!(token, Token::Close { .. })) {
            let at = early.map_or(0, |early| position(tokens, early));
            return Err(self.unsupported(at, at + 1, "a closing brace before a comma"));
        }
        Ok(())
    }

    fn cut_at_braces(&self, parts: &[Part]) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut open = Vec::new();
        for &part in parts {
            if !matches!(part.kind, PartKind::Literal) {
                tokens.push(Token::Piece(part));
                continue;
            }
            let (start, end) = (part.span.start as usize, part.span.end as usize);
            let mut from = start;
            let piece = |from, to| {
                Token::Piece(Part { span: Span::new(from, to), kind: PartKind::Literal })
            };
            for at in start..end {
                let byte = self.tree.text.get(at).copied().unwrap_or(0);
                if !matches!(byte, b'{' | b',' | b'}') {
                    continue;
                }
                if from < at {
                    tokens.push(piece(from, at));
                }
                from = at + 1;
                let here = tokens.len();
                match byte {
                    b'{' => {
                        open.push(here);
                        tokens.push(Token::Open { at, closer: None, has_comma: false });
                    }
                    b',' => {
                        let owner = open.last().copied();
                        tokens.push(Token::Comma { at, owner });
                        if let Some(Token::Open { has_comma, .. }) =
                            owner.and_then(|owner| tokens.get_mut(owner))
                        {
                            *has_comma = true;
                        }
                    }
                    _ => {
                        tokens.push(Token::Close { at });
                        if let Some(Token::Open { closer, .. }) =
                            open.pop().and_then(|owner| tokens.get_mut(owner))
                        {
                            *closer = Some(here);
                        }
                    }
                }
            }
            if from < end {
                tokens.push(piece(from, end));
            }
        }
        tokens
    }

    fn braced_parts(&mut self, tokens: &[Token], from: usize, to: usize) -> Parsed<Parts> {
        let mut parts = Parts::new();
        let mut here = from;
        while here < to {
            let Some(&token) = tokens.get(here) else { break };
            here += 1;
            match token {
                Token::Piece(part) => self.push_piece(&mut parts, part, from > 0),
                Token::Open { at, closer: Some(closer), has_comma: true } if closer < to => {
                    let part = self.deeper(|parser| parser.brace(tokens, here - 1, at, closer))?;
                    parts.push(part);
                    here = closer + 1;
                }
                Token::Open { at, closer: Some(closer), has_comma: false }
                    if closer == here + 1 && self.is_sequence_piece(tokens.get(here)) =>
                {
                    let end = position(tokens, closer) + 1;
                    parts.push(Part { span: Span::new(at, end), kind: PartKind::Sequence });
                    here = closer + 1;
                }
                Token::Open { at, .. } | Token::Comma { at, .. } | Token::Close { at } => {
                    push_literal(&mut parts, at, at + 1);
                }
            }
        }
        Ok(parts)
    }

    /// Adds a piece; a `~` may be the first byte of a field once the braces are expanded.
    fn push_piece(&self, parts: &mut Parts, part: Part, is_alternative: bool) {
        let begins = match parts.as_slice().last() {
            None => is_alternative,
            Some(last) => matches!(last.kind, PartKind::Brace(_) | PartKind::Sequence),
        };
        let is_literal = matches!(part.kind, PartKind::Literal);
        if !begins || !is_literal || self.tree.text(part.span).first() != Some(&b'~') {
            push_part(parts, part);
            return;
        }
        let (start, end) = (part.span.start as usize, part.span.end as usize);
        parts.push(Part { span: Span::new(start, start + 1), kind: PartKind::Tilde });
        if start + 1 < end {
            push_literal(parts, start + 1, end);
        }
    }

    /// `{a,b}`; `open` and `closer` are places among the tokens.
    fn brace(&mut self, tokens: &[Token], open: usize, at: usize, closer: usize) -> Parsed<Part> {
        let mut alternatives = Few::<Word, 4>::new();
        let mut from = open + 1;
        let mut start = at + 1;
        let mut next = open + 1;
        while next <= closer {
            let here = next;
            next = match tokens.get(here) {
                // What stands between inner braces is read with them.
                Some(Token::Open { closer: Some(inner), .. }) => inner + 1,
                _ => here + 1,
            };
            let is_own_comma = matches!(tokens.get(here), Some(Token::Comma { owner, .. }) if *owner == Some(open));
            if !is_own_comma && here != closer {
                continue;
            }
            let mut parts = self.braced_parts(tokens, from, here)?;
            let end = position(tokens, here);
            let parts = parts.shelve(&mut self.tree);
            let span = Span::new(start, end);
            let word = Word::new(span, parts, Place::Alternative);
            alternatives.push(word);
            from = here + 1;
            start = end + 1;
        }
        let alternatives = alternatives.shelve(&mut self.tree);
        let span = Span::new(at, position(tokens, closer) + 1);
        Ok(Part { span, kind: PartKind::Brace(alternatives) })
    }

    fn is_sequence_piece(&self, token: Option<&Token>) -> bool {
        match token {
            Some(Token::Piece(Part { span, kind: PartKind::Literal })) => {
                crate::sequence::Sequence::read(self.tree.text(*span)).is_some()
            }
            _ => false,
        }
    }
}

fn position(tokens: &[Token], place: usize) -> usize {
    match tokens.get(place) {
        Some(Token::Open { at, .. } | Token::Comma { at, .. } | Token::Close { at }) => *at,
        Some(Token::Piece(part)) => part.span.start as usize,
        None => 0,
    }
}
