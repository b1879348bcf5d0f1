//! Code: what inline text names, and words of frameworks that throw data away.

use super::{Findings, Scene};
use crate::act::Act;
use crate::effect::Effect;
use crate::lists;
use crate::place;
use crate::sensitive::{self, Access};

/// How many words of a program's text are held against the list.
const WORDS: usize = 4096;

pub(super) fn inspect(act: &Act, scene: &Scene<'_>, found: &mut Findings<'_>) {
    let runs = act.unknown.is_some() || found.effects.has_any(&[Effect::Execute, Effect::Unknown]);
    if runs && destroys(act) {
        found.add("lost_work", act.span, None);
    }
    let directory = act.directory.as_deref().unwrap_or("/");
    for text in &act.code {
        for word in names(text) {
            let home = scene.ground.home.as_deref();
            let Some(path) = place::absolute(word, directory, home) else { continue };
            if let Some(pattern) = sensitive::find(&path, Access::Write) {
                let guard = if pattern.denies { "self_protection" } else { "sensitive_path" };
                found.about(guard, &format!("names `{path}`: {}", pattern.why));
                return;
            }
        }
    }
}

/// The words of a program's text that may name files.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_break = |letter: char| match letter {
        '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '=' | '<' | '>'
        | '|' | '&' | '+' => true,
        _ => letter.is_whitespace(),
    };
    let words = text.split(is_break);
    let has_sign = |word: &str| word.bytes().any(|byte| matches!(byte, b'/' | b'.'));
    words.filter(move |word| word.len() > 3 && has_sign(word)).take(WORDS)
}

/// Those of them that stand there as names: between quotes, or with a directory. `entry.key` is
/// a part of a program and no file.
pub(crate) fn files(text: &str) -> impl Iterator<Item = &str> {
    let is_break = |letter: char| letter.is_whitespace() || "\"'`()[]{},;=<>|&+".contains(letter);
    let is_quote = |letter: char| matches!(letter, '"' | '\'' | '`');
    let mut before = ' ';
    let words = text.split_inclusive(is_break).filter_map(move |piece| {
        let end = piece.chars().next_back().filter(|letter| is_break(*letter)).unwrap_or(' ');
        let word = piece.strip_suffix(end).unwrap_or(piece);
        let is_quoted = is_quote(end) || is_quote(before) && !word.starts_with('.');
        before = end;
        let is_name = word.contains('/') || is_quoted && word.contains('.');
        (word.len() > 3 && is_name).then_some(word)
    });
    words.take(WORDS)
}

/// Words that throw a database away, in the commands of frameworks.
fn destroys(act: &Act) -> bool {
    let text = |at: usize| act.args.get(at)?.as_known();
    let word = |at: usize| {
        let text = text(at)?;
        let behind = text.bytes().rposition(|byte| byte == b'/').map_or(0, |at| at + 1);
        text.get(behind..)
    };
    let fits = |at: usize| {
        text(at).is_some_and(may_end)
            && word(at).is_some_and(may_destroy)
            && lists::DESTROYERS.iter().any(|words| {
                words.split('+').enumerate().all(|(behind, known)| word(at + behind) == Some(known))
            })
    };
    (0..act.args.len().min(16)).any(fits)
}

/// Whether some entry of the list begins with a word of this first letter and this length.
fn may_destroy(word: &str) -> bool {
    let lengths = word.bytes().next().and_then(|first| LENGTHS.get(usize::from(first)));
    lengths.is_some_and(|lengths| lengths & 1 << (word.len() % 64) != 0)
}

/// Whether some entry of the list begins with a word of this last letter.
fn may_end(word: &str) -> bool {
    let is_last = word.bytes().next_back().and_then(|last| LAST.get(usize::from(last)));
    is_last.copied().unwrap_or_default()
}

/// The bytes that the first words of the list end with.
static LAST: [bool; 256] = ends(lists::DESTROYERS);

#[expect(clippy::indexing_slicing, reason = "made by the compiler, which sees the bounds")]
const fn ends(mut list: &[&str]) -> [bool; 256] {
    let mut ends = [false; 256];
    while let [words, rest @ ..] = list {
        ends[words.as_bytes()[length(words) - 1] as usize] = true;
        list = rest;
    }
    ends
}

/// How long the first word of an entry is.
#[expect(clippy::indexing_slicing, reason = "made by the compiler, which sees the bounds")]
const fn length(words: &str) -> usize {
    let (mut length, bytes) = (0, words.as_bytes());
    while length < bytes.len() && bytes[length] != b'+' {
        length += 1;
    }
    length
}

/// How long the first words of the list are, as bits, by their first letters.
static LENGTHS: [u64; 256] = lengths(lists::DESTROYERS);

#[expect(clippy::indexing_slicing, reason = "made by the compiler, which sees the bounds")]
const fn lengths(mut list: &[&str]) -> [u64; 256] {
    let mut lengths = [0; 256];
    while let [words, rest @ ..] = list {
        lengths[words.as_bytes()[0] as usize] |= 1 << (length(words) % 64);
        list = rest;
    }
    lengths
}
