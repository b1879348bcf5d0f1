//! Turning: options with which a program works for another host, repository, context or root.
//!
//! Which they are is data (`turns` in `data/commands/*.toml`). They are looked for among the words
//! themselves, because sub-commands accept many options that no table names, and a program of this
//! kind takes them before and behind its sub-command.

use super::{Usage, split_value};
use crate::arg::Arg;
use crate::catalog::{Arity, Entry, Style};

/// The shortest beginning of an option that is taken for all of it.
const ABBREVIATED: usize = 4;

/// The places of these options among the words behind the program.
pub(crate) fn places(usage: &Usage, words: &[Arg]) -> Vec<usize> {
    let entry = usage.entry;
    if entry.turns.is_empty() {
        return Vec::new();
    }
    let end = usage.command.unwrap_or(words.len());
    let first_sub = usage.subs.first().copied().unwrap_or(end);
    let turns_at = |at: usize, word: &str| {
        entry.turns.iter().any(|turn| match turn.strip_prefix('^') {
            Some(name) => at < first_sub && is_given(entry, name, word),
            None => is_given(entry, turn, word),
        })
    };
    let own = words.iter().take(end).take_while(|word| word.as_known() != Some("--"));
    let words = own.enumerate().map(|(at, word)| (at, word.prefix()));
    words
        .filter(|(at, word)| word.starts_with('-') && turns_at(*at, word))
        .map(|(at, _)| at)
        .collect()
}

/// Whether a word is this option, in whatever form it may be written.
fn is_given(entry: &Entry, name: &str, word: &str) -> bool {
    let (written, _) = split_value(word);
    if written == name {
        return true;
    }
    if entry.style == Style::Go {
        return written.trim_start_matches('-') == name.trim_start_matches('-');
    }
    if name.starts_with("--") {
        let abbreviates = matches!(entry.style, Style::Gnu | Style::Posix);
        return abbreviates
            && written.len() >= ABBREVIATED
            && name.starts_with(written)
            && entry.option(written).is_none();
    }
    let Some(letter) = name.strip_prefix('-') else { return false };
    let Some(body) = word.strip_prefix('-').filter(|body| !body.starts_with('-')) else {
        return false;
    };
    // Its value is attached, or flags stand before it in the same word.
    let Some((flags, _)) = body.split_once(letter) else { return false };
    let is_flag = |flag: char| {
        let known = entry.option(&format!("-{flag}"));
        known.is_some_and(|option| option.arity == Arity::None)
    };
    !is_whole(entry, written) && flags.chars().all(is_flag)
}

/// Whether a word behind one dash is an option of its own.
fn is_whole(entry: &Entry, written: &str) -> bool {
    written.len() > 2 && entry.option(written).is_some()
}
