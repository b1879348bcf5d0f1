//! Braces beside what is not known: `~/.{a,b}`, `$x/{a,b}`.

use std::collections::VecDeque;

use portcullis_shell::{Part, PartKind, Tree, Word};

use super::shape::{Braces, Shape};
use super::{Known, Text, lossless};

/// How many words are made of one.
const MOST_WORDS: usize = 64;

/// What a word with braces stands for beside something that is not known or a pattern, so that
/// its members have no value of their own: each member with what it ends with, or a pattern where
/// there are too many.
pub(super) fn texts(tree: &Tree, word: &Word, known: Known<'_>) -> Option<Vec<(Text, String)>> {
    let parts = tree.list(word.parts);
    let members = |part: &Part| {
        if let PartKind::Brace(words) = part.kind {
            return Some(tree.list(words));
        }
        matches!(part.kind, PartKind::Sequence).then_some(&[][..])
    };
    if parts.iter().all(|part| members(part).is_none()) {
        return None;
    }
    let pairs: Vec<&[Word]> = parts.iter().filter_map(members).collect();
    if pairs.iter().all(|members| members.is_empty()) {
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
    let members = || pairs.iter().copied().flatten();
    let is_open_inside = |word: &Word| tree.list(word.parts).iter().any(is_open);
    if !parts.iter().any(is_open) && !members().any(is_open_inside) {
        return None;
    }
    let shape = |braces: Braces| {
        let first = match &braces {
            Braces::Members(members) => members.front().map(|word| lossless(tree.text(word.span))),
            Braces::Any | Braces::Closed => None,
        };
        let mut shape = Shape::new(tree, known);
        shape.braces = braces;
        let is_whole = shape.parts(parts, true).is_some();
        shape.is_guessed = false;
        let text = shape.text(is_whole, true).filter(|_| is_whole);
        match text {
            Some(text) => (text, String::new()),
            None => (Text::Any(String::new()), ending(tree, parts, first.as_deref())),
        }
    };
    let chosen = choices(&pairs).unwrap_or_else(|| vec![Braces::Any]);
    Some(chosen.into_iter().map(shape).collect())
}

/// Every choice of one member for each pair, if there are not too many; of a pair without members
/// none is chosen.
fn choices(pairs: &[&[Word]]) -> Option<Vec<Braces>> {
    if pairs.iter().any(|members| members.is_empty()) {
        return None;
    }
    let mut chosen: Vec<VecDeque<Word>> = vec![VecDeque::new()];
    for members in pairs {
        let with = |before: VecDeque<Word>| {
            members.iter().map(move |word| {
                let mut choice = before.clone();
                choice.push_back(*word);
                choice
            })
        };
        chosen = chosen.into_iter().flat_map(with).take(MOST_WORDS + 1).collect();
    }
    let all = chosen.into_iter().map(Braces::Members).collect::<Vec<_>>();
    (all.len() <= MOST_WORDS).then_some(all)
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
