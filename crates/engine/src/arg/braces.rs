//! Braces beside what is not known: `~/.{a,b}`, `$x/{a,b}`.

use std::cell::Cell;
use std::collections::VecDeque;

use portcullis_shell::{Part, PartKind, Tree, Word};

use super::shape::{Braces, Shape};
use super::{Known, Text, lossless};

/// How many words are made of one.
const MOST_WORDS: usize = 256;

/// How many words the braces of one call may still stand for: each of them is held against the
/// lists by itself. None is left once some braces stood for too many.
#[derive(Debug)]
pub struct Budget(Cell<usize>);

impl Default for Budget {
    fn default() -> Budget {
        Budget(Cell::new(Budget::WORDS))
    }
}

impl Budget {
    /// How many words the braces of one call stand for at most.
    pub const WORDS: usize = 4096;

    /// Whether some braces stood for more words than were looked at.
    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    fn take(&self, words: usize) -> bool {
        self.0.set(self.0.get().saturating_sub(words));
        !self.is_spent()
    }

    fn spend(&self) {
        self.0.set(0);
    }
}

/// What is chosen of one pair of braces.
#[derive(Clone, Copy)]
pub(super) enum Member {
    /// One of the words in it.
    Word(Word),
    /// One letter of a sequence.
    Letter(char),
    /// One number of a sequence, whichever.
    Number,
}

/// What a word with braces stands for beside something that is not known or a pattern, so that
/// its members have no value of their own: each member with what it ends with. Where there are too
/// many nothing is known of it, and the budget is spent.
pub(super) fn texts(tree: &Tree, word: &Word, known: Known<'_>) -> Option<Vec<(Text, String)>> {
    let parts = tree.list(word.parts);
    if !parts.iter().any(|part| matches!(part.kind, PartKind::Brace(_))) {
        return None;
    }
    let is_open = |part: &Part| {
        matches!(
            part.kind,
            PartKind::Tilde
                | PartKind::Parameter(_)
                | PartKind::DoubleQuoted { .. }
                | PartKind::Command { .. }
                | PartKind::Glob
        )
    };
    let members = || {
        let words = |part: &Part| {
            if let PartKind::Brace(words) = part.kind { tree.list(words) } else { &[] }
        };
        parts.iter().flat_map(words)
    };
    let is_open_inside = |word: &Word| tree.list(word.parts).iter().any(is_open);
    if !parts.iter().any(is_open) && !members().any(is_open_inside) {
        return None;
    }
    let shape = |chosen: VecDeque<Member>| {
        let first = chosen.front().and_then(|member| match member {
            Member::Word(word) => Some(lossless(tree.text(word.span))),
            Member::Letter(letter) => Some(letter.to_string()),
            Member::Number => None,
        });
        let mut shape = Shape::new(tree, known);
        shape.braces = Braces::Members(chosen);
        let is_whole = shape.parts(parts, true).is_some();
        shape.is_guessed = false;
        let text = shape.text(is_whole, true).filter(|_| is_whole);
        match text {
            Some(text) => (text, String::new()),
            None => (Text::Any(String::new()), ending(tree, parts, first.as_deref())),
        }
    };
    let chosen = if known.budget.is_spent() { None } else { choices(tree, parts) };
    let Some(chosen) = chosen.filter(|chosen| known.budget.take(chosen.len())) else {
        known.budget.spend();
        return Some(vec![(Text::Any(String::new()), String::new())]);
    };
    Some(chosen.into_iter().map(shape).collect())
}

/// The members of a sequence such as `{a..e}`.
fn of_sequence(text: &[u8]) -> Vec<Vec<Member>> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut ends = text.trim_matches(['{', '}']).split("..");
    let mut letter = || {
        let mut letters = ends.next()?.chars();
        letters.next().filter(|letter| letter.is_ascii_alphabetic() && letters.next().is_none())
    };
    match letter().zip(letter()) {
        // What it steps over is looked at too.
        Some((from, to)) => {
            (from.min(to)..=from.max(to)).map(|letter| vec![Member::Letter(letter)]).collect()
        }
        None => vec![vec![Member::Number]],
    }
}

/// Every choice of one member for each pair, those inside a member behind it; none if there are
/// too many.
fn choices(tree: &Tree, parts: &[Part]) -> Option<Vec<VecDeque<Member>>> {
    let mut chosen: Vec<VecDeque<Member>> = vec![VecDeque::new()];
    for part in parts {
        let ways = if let PartKind::Brace(words) = part.kind {
            of_pair(tree, tree.list(words))?
        } else if matches!(part.kind, PartKind::Sequence) {
            of_sequence(tree.text(part.span))
        } else {
            continue;
        };
        if chosen.len() * ways.len() > MOST_WORDS {
            return None;
        }
        let with = |before: VecDeque<Member>| {
            ways.iter().map(move |way| before.iter().chain(way).copied().collect())
        };
        chosen = chosen.into_iter().flat_map(with).collect();
    }
    Some(chosen)
}

/// The members of a pair, each with every choice for the pairs in it.
fn of_pair(tree: &Tree, words: &[Word]) -> Option<Vec<Vec<Member>>> {
    let mut ways = Vec::new();
    for word in words.iter().take(MOST_WORDS + 1) {
        let inner = choices(tree, tree.list(word.parts))?;
        let with = |rest| [Member::Word(*word)].into_iter().chain(rest).collect();
        ways.extend(inner.into_iter().map(with));
    }
    Some(ways)
}

/// The text behind the last part that is not known, with a member in the place of the braces.
fn ending(tree: &Tree, parts: &[Part], member: Option<&str>) -> String {
    let mut ending = String::new();
    for part in parts.iter().rev() {
        match (part.kind, member) {
            (PartKind::Literal, _) => ending.insert_str(0, &lossless(tree.text(part.span))),
            (PartKind::Brace(_), Some(member)) => ending.insert_str(0, member),
            _ => break,
        }
    }
    ending
}
