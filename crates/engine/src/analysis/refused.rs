//! Text that was refused: what ran before the fault, and the words that may stand in the rest.

use portcullis_shell::{Reader, Refusal, RefusalKind, Span, Token, scan};

use super::{ACTS, Analysis, walk};
use crate::act::{Act, ActKind};
use crate::arg::{Arg, Text};

/// How many lines before a fault are tried as an end.
const TRIES: usize = 8;

/// How many words behind a program are kept for rules, and how many beyond the limit of acts.
const WORDS: usize = 16;
const FEW_WORDS: usize = 3;

impl Analysis<'_> {
    pub(super) fn refused(&mut self, text: &str, within: Option<Span>, refusal: Refusal) {
        let mut from = 0;
        if refusal.kind == RefusalKind::Syntax {
            from = self.before_the_fault(text, within, refusal.span);
        }
        let rest = text.get(from..).unwrap_or_default().to_owned();
        let via = self.via.clone();
        self.found.unread.push(Unread { text: rest, from, within, via, words: Words::InText });
        let span = within.unwrap_or(refusal.span);
        self.found.refusals.push(Refusal { span, ..refusal });
    }

    /// The shell runs the lines before the one it rejects; gives where they end.
    fn before_the_fault(&mut self, text: &str, within: Option<Span>, fault: Span) -> usize {
        let bytes = text.as_bytes();
        let mut end = (fault.start as usize).min(bytes.len());
        for _ in 0..TRIES {
            let Some(line) =
                bytes.get(..end).and_then(|head| head.iter().rposition(|&byte| byte == b'\n'))
            else {
                return 0;
            };
            if let Some(head) = text.get(..line)
                && let Ok(tree) = Reader::new(self.dialect).parse(head.as_bytes())
            {
                self.depth += 1;
                walk::script(self, &tree, head, within);
                self.depth -= 1;
                return line;
            }
            end = line;
        }
        0
    }
}

impl Analysis<'_> {
    /// A text that has more acts than are kept: its words still matter to rules.
    pub(super) fn unread_rest(&mut self, text: &str) {
        if self.found.is_cut {
            let (text, via) = (text.to_owned(), Vec::new());
            let words = Words::InText;
            self.found.unread.push(Unread { text, from: 0, within: None, via, words });
        }
    }
}

/// Text that was not read; its words matter only where a rule denies or asks.
#[derive(Clone, Debug)]
pub struct Unread {
    text: String,
    /// Where it begins in the text around it.
    from: usize,
    /// Where that stands if it is part of another.
    within: Option<Span>,
    via: Vec<&'static str>,
    words: Words,
}

/// A word as rules hear it: as it is written, and as it is known.
#[derive(Clone, Copy)]
pub(crate) struct Heard<'a> {
    pub(crate) written: Option<&'a str>,
    pub(crate) known: Option<&'a str>,
}

/// Where the words are that may be programs.
#[derive(Clone, Debug)]
enum Words {
    /// Somewhere in the text.
    InText,
    /// Each of these.
    Each(Vec<Arg>),
    /// The first of these.
    First(Vec<Arg>),
}

impl Unread {
    /// A text of another language in which commands may stand.
    pub(crate) fn of_text(text: &str, span: Span, via: &[&'static str]) -> Unread {
        let (text, via) = (text.to_owned(), via.to_vec());
        Unread { text, from: 0, within: Some(span), via, words: Words::InText }
    }

    /// Words of which each may be a program.
    pub(crate) fn of_words(words: Vec<Arg>, span: Span, via: &[&'static str]) -> Unread {
        Unread { words: Words::Each(words), ..Unread::of_text("", span, via) }
    }

    /// A command that may be meant.
    pub(crate) fn of_command(words: Vec<Arg>, span: Span, via: &[&'static str]) -> Unread {
        Unread { words: Words::First(words), ..Unread::of_text("", span, via) }
    }

    /// The text as code that names files, for rules about these.
    pub(crate) fn as_code(&self, directory: &str) -> Act {
        let text = match &self.words {
            Words::InText => self.text.clone(),
            Words::Each(words) | Words::First(words) => {
                let words: Vec<&str> = words.iter().map(Arg::written).collect();
                words.join(" ")
            }
        };
        Act {
            kind: ActKind::Scanned,
            span: self.within.unwrap_or_default(),
            via: self.via.clone(),
            code: vec![text],
            directory: Some(directory.into()),
            ..Act::default()
        }
    }

    /// Whether a name occurs in it at all.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        match &self.words {
            Words::InText => self.text.contains(name),
            Words::Each(words) | Words::First(words) => {
                words.iter().any(|word| word.written().contains(name))
            }
        }
    }

    /// An act for every word that may be a program and somebody cares about, where it stands.
    pub(crate) fn acts(&self, concerns: impl Fn(Heard<'_>, Span) -> bool) -> Vec<Act> {
        match &self.words {
            Words::InText => self.in_text(concerns),
            Words::Each(words) => self.each_of(words, usize::MAX, concerns),
            Words::First(words) => self.each_of(words, 1, concerns),
        }
    }

    fn in_text(&self, concerns: impl Fn(Heard<'_>, Span) -> bool) -> Vec<Act> {
        let tokens = scan(self.text.as_bytes());
        let shift = |span: Span| {
            let moved = Span::new(span.start as usize + self.from, span.end as usize + self.from);
            self.within.unwrap_or(moved)
        };
        // In most texts nobody cares about any word.
        let concern = |token: &Token| {
            let text = String::from_utf8_lossy(&token.text);
            concerns(Heard { written: Some(&text), known: Some(&text) }, shift(token.span))
        };
        if !tokens.iter().any(concern) {
            return Vec::new();
        }
        let most = |at: usize| if at < ACTS { WORDS } else { FEW_WORDS };
        let mut by_start: Vec<&Token> = tokens.iter().collect();
        by_start.sort_by_key(|token| token.span.start);
        let mut acts = Vec::new();
        for (at, token) in tokens.iter().enumerate().filter(|(_, token)| concern(token)) {
            let apart = runs_behind(&by_start, token, most(at));
            let in_order: Vec<&Token> = tokens.iter().skip(at).take(most(at)).collect();
            let is_same = apart == in_order;
            let act = |words: Vec<&Token>| {
                let words = words.into_iter().map(|token| {
                    let text = String::from_utf8_lossy(&token.text).into_owned();
                    Arg::new(Text::Known(text), shift(token.span))
                });
                let (args, via) = (words.collect(), self.via.clone());
                let (kind, span) = (ActKind::Scanned, shift(token.span));
                Act { kind, span, args, via, ..Act::default() }
            };
            acts.push(act(in_order));
            acts.extend((!is_same).then(|| act(apart)));
        }
        acts
    }

    fn each_of(
        &self,
        words: &[Arg],
        count: usize,
        concerns: impl Fn(Heard<'_>, Span) -> bool,
    ) -> Vec<Act> {
        let act = |(at, word): (usize, &Arg)| {
            // Far behind, a rule sees the program and little more.
            let most = if at < ACTS { WORDS } else { FEW_WORDS };
            let args: Vec<Arg> = words.iter().skip(at).take(most).cloned().collect();
            let span = self.within.unwrap_or(word.span);
            Act { kind: ActKind::Scanned, span, args, via: self.via.clone(), ..Act::default() }
        };
        let all = words.iter().enumerate().take(count);
        let concern = |(_, word): &(usize, &Arg)| {
            let heard = Heard { written: word.as_written(), known: word.as_known() };
            concerns(heard, self.within.unwrap_or(word.span))
        };
        all.filter(concern).map(act).collect()
    }
}

/// The words behind a word, so many at most, each from a run of its own: a run that is given in
/// pieces counts by the first of them.
fn runs_behind<'t>(by_start: &[&'t Token], first: &'t Token, most: usize) -> Vec<&'t Token> {
    let mut words = vec![first];
    while words.len() < most
        && let Some(end) = words.last().map(|word| word.span.end)
        && let Some(next) =
            by_start.get(by_start.partition_point(|token| token.span.start < end)).copied()
    {
        words.push(next);
    }
    words
}
