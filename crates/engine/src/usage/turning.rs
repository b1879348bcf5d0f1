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
    let own = own.enumerate().map(|(at, word)| (at, word.prefix()));
    let is_option = |at: usize, word: &str| word.starts_with('-') && turns_at(at, word);
    let takes_address = entry.turns.contains(&ADDRESS);
    let is_other =
        |at: usize, word: &str| takes_address && is_address(word) && !is_value(entry, words, at);
    own.filter(|(at, word)| is_option(*at, word) || is_other(*at, word)).map(|(at, _)| at).collect()
}

/// Among the options: an operand that is an address turns the program there.
const ADDRESS: &str = "://";

fn is_address(word: &str) -> bool {
    let scheme = word.split_once(ADDRESS).map(|(scheme, _)| scheme);
    word.starts_with("git@")
        || scheme.is_some_and(|scheme| {
            !scheme.is_empty()
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
        })
}

/// Whether a word belongs to the option before it, as far as is known.
fn is_value(entry: &Entry, words: &[Arg], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| words.get(at)).map(Arg::prefix);
    before
        .filter(|word| word.starts_with('-') && !word.contains('='))
        .is_some_and(|word| entry.option(word).is_none_or(|option| option.arity != Arity::None))
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
