//! Names in pieces: what several words that a script writes out name together.
//!
//! A word of two variables is not known before it runs, but what the variables may hold is kept
//! ([`names`]). Whatever of it makes a listed secret is handed to the command.

use std::collections::BTreeSet;

use portcullis_shell::{List, Part, PartKind, Word};

use super::decoded::decoded;
use super::names;
use super::walk::Walk;
use crate::arg::{Arg, Text};
use crate::effect::{EffectOn, Target};
use crate::place;
use crate::sensitive::{self, Access};

/// So many ways to put the pieces of one word together are tried.
const WAYS: usize = 4096;

/// So many pieces of listed names are held against one another, and so many three at a time.
const PIECES: usize = 64;
const FEW_PIECES: usize = 16;

/// No piece of a name is longer.
const LONGEST_PIECE: usize = 256;

/// So many names are looked up for one call.
pub(super) const LOOKS: usize = 1 << 16;

/// A name that is handed to a command counts as so many: it is judged besides.
const HANDED: usize = 4;

/// How many arguments of a function are held against one another.
const ARGUMENTS: usize = 16;

/// The secrets that two arguments of a function name together.
pub(super) fn of_arguments(args: &[Arg]) -> Vec<EffectOn> {
    let known: Vec<&str> = args.iter().take(ARGUMENTS).filter_map(Arg::as_known).collect();
    let pairs = known.iter().flat_map(|first| known.iter().map(move |second| (first, second)));
    let paths =
        pairs.flat_map(|(first, second)| [format!("{first}{second}"), format!("{first}/{second}")]);
    paths.filter(|path| is_secret(path)).map(names::of_path).collect()
}

/// The secrets among the words that commands may have told, and those that two or three of these
/// names and words make together, wherever a script joins them; any name once too much was looked
/// up.
pub(super) fn of_names(names: &[EffectOn], told: &[String], looks: &mut usize) -> Vec<EffectOn> {
    if !take(looks, HANDED * (names.len() + told.len())) || *looks == 0 {
        return vec![names::made()];
    }
    let mut paths: Vec<String> = told.to_vec();
    let told = told.iter().map(String::as_str).filter(|word| !word.contains(SIGNS));
    let texts: BTreeSet<&str> =
        names.iter().filter_map(text).chain(told).filter(|text| is_piece(text)).collect();
    let count = texts.len();
    let is_few = count <= FEW_PIECES;
    let ways = 2 * count * count + if is_few { count * count * count } else { 0 };
    if count > PIECES || !take(looks, ways) {
        return vec![names::made()];
    }
    let meet = |first: &str, second: &str| sensitive::may_meet(first, second);
    for first in &texts {
        if is_directory(first) {
            paths.extend(texts.iter().map(|second| format!("{first}/{second}")));
        }
        for second in &texts {
            if !meet(first, second) {
                continue;
            }
            let pair = format!("{first}{second}");
            let third = texts.iter().filter(|third| is_few && meet(second, third));
            paths.extend(third.map(|third| format!("{pair}{third}")));
            paths.push(pair);
        }
    }
    paths.into_iter().filter(|path| is_secret(path)).map(names::of_path).collect()
}

/// Takes so many looks, if there are as many left.
fn take(looks: &mut usize, count: usize) -> bool {
    let left = looks.checked_sub(count);
    *looks = left.unwrap_or_default();
    left.is_some()
}

fn text(name: &EffectOn) -> Option<&str> {
    match &name.target {
        Target::Path(text) => Some(text),
        Target::Pattern(_)
        | Target::Unknown(_)
        | Target::Host(_)
        | Target::Named(_)
        | Target::None => None,
    }
}

/// What is written in the words of a command which may print it and is a path, or a name in one:
/// `sed s/.*/.env/`, `stat -c .env x`; nothing once too much was looked up.
pub(super) fn of_words(args: &[Arg], looks: &mut usize) -> Vec<String> {
    let words: Vec<&str> = args.iter().skip(1).filter_map(Arg::as_known).collect();
    let read: Vec<String> = words.iter().filter_map(|word| decoded(word)).collect();
    let words = words.into_iter().chain(read.iter().map(String::as_str));
    let words = words.filter(|word| !word.starts_with(['!', ':']));
    let told =
        words.filter(|word| !["--exclude", "--ignore"].iter().any(|not| word.starts_with(not)));
    let is_sign = |letter: char| !letter.is_alphanumeric() && !"._-~/".contains(letter);
    let paths = told.flat_map(|word| word.split(is_sign));
    let names = paths.flat_map(|path| path.split('/').chain(path.contains('/').then_some(path)));
    let names = names.filter(|name| name.len() > 1 && name.len() <= LONGEST_PIECE);
    // What a pattern finds is printed as it is found.
    let found = args.iter().skip(1).filter_map(|arg| match &arg.text {
        Text::Files { pattern, .. } => Some(pattern.as_str()),
        Text::Known(_) | Text::Home(_) | Text::Begins(_) | Text::Any(_) => None,
    });
    let names: Vec<String> = names.chain(found).map(str::to_owned).collect();
    if take(looks, names.len()) { names } else { Vec::new() }
}

/// Whether a text may be a piece of a listed name: what is written of it is found in one.
fn is_piece(text: &str) -> bool {
    let written = text.trim_matches('/').split(SIGNS).filter(|part| !part.is_empty());
    text.len() <= LONGEST_PIECE && written.into_iter().all(sensitive::is_in_a_name)
}

/// Whether a text may be a directory of a listed path.
fn is_directory(text: &str) -> bool {
    let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    name.contains(SIGNS) || sensitive::is_in_a_name(&format!("{name}/"))
}

/// What makes a text a pattern.
const SIGNS: [char; 4] = ['*', '?', '[', ']'];

/// Whether the list of secrets has a path, wherever it begins, or a pattern aims at one.
fn is_secret(path: &str) -> bool {
    let path = place::normalise(path.trim_start_matches('~'), "/-");
    sensitive::find(&path, Access::Read).is_some()
        || path.contains(['*', '?', '['])
            && sensitive::aimed_at(&path, Access::Read, true).is_some()
}

impl Walk<'_, '_> {
    /// Hands over the secrets that words name whose pieces the script has written out.
    pub(super) fn hand_joined(&mut self, words: &[Word]) {
        for word in words {
            if word.parts.len() < 2 {
                continue;
            }
            let open = self.open_pieces(word.parts);
            if open == 0 {
                continue;
            }
            let mut pieces = Vec::new();
            self.pieces(word.parts, &mut pieces);
            let texts = names::paths(self.analysis.all_names());
            if texts.is_empty() {
                return;
            }
            let ways = u32::try_from(open).ok().and_then(|open| texts.len().checked_pow(open));
            let ways = ways.filter(|ways| *ways <= WAYS);
            if !ways.is_some_and(|ways| take(&mut self.analysis.looks, ways)) {
                self.hand(vec![names::made()]);
                continue;
            }
            let paths = together(&pieces, &texts);
            self.hand(
                paths.into_iter().filter(|path| is_secret(path)).map(names::of_path).collect(),
            );
        }
    }

    /// How many parts of a word are not known before it runs.
    fn open_pieces(&self, parts: List<Part>) -> usize {
        let open = self.tree.list(parts).iter().map(|part| match part.kind {
            PartKind::DoubleQuoted { parts, .. } => self.open_pieces(parts),
            PartKind::Parameter(_) | PartKind::Command { .. } => 1,
            PartKind::Literal
            | PartKind::Escaped(_)
            | PartKind::SingleQuoted(_)
            | PartKind::AnsiC(_)
            | PartKind::Glob
            | PartKind::Tilde
            | PartKind::Sequence
            | PartKind::Process { .. }
            | PartKind::Arithmetic { .. }
            | PartKind::ExtendedGlob { .. }
            | PartKind::Brace(_)
            | PartKind::Array(_) => 0,
        });
        open.sum()
    }

    /// What a word is made of: texts, and nothing for what is not known before it runs.
    fn pieces(&self, parts: List<Part>, pieces: &mut Vec<Option<String>>) {
        for part in self.tree.list(parts) {
            let text = match part.kind {
                PartKind::DoubleQuoted { parts, .. } => {
                    self.pieces(parts, pieces);
                    continue;
                }
                PartKind::Escaped(span) | PartKind::SingleQuoted(span) | PartKind::AnsiC(span) => {
                    Some(span)
                }
                PartKind::Literal | PartKind::Glob | PartKind::Tilde | PartKind::Sequence => {
                    Some(part.span)
                }
                PartKind::Parameter(_) | PartKind::Command { .. } => None,
                PartKind::Process { .. }
                | PartKind::Arithmetic { .. }
                | PartKind::ExtendedGlob { .. }
                | PartKind::Brace(_)
                | PartKind::Array(_) => Some(part.span),
            };
            let text = text.map(|span| String::from_utf8_lossy(self.tree.text(span)).into_owned());
            pieces.push(text);
        }
    }
}

/// Every way to put one of the texts into each open place.
fn together(pieces: &[Option<String>], texts: &[String]) -> Vec<String> {
    let mut ways = vec![String::new()];
    for piece in pieces {
        if let Some(text) = piece {
            for way in &mut ways {
                way.push_str(text);
            }
        } else {
            ways = ways
                .iter()
                .flat_map(|way| texts.iter().map(move |text| format!("{way}{text}")))
                .collect();
        }
    }
    ways
}
