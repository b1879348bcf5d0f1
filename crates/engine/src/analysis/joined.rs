//! Names in pieces: what several words that a script writes out name together.
//!
//! A word of two variables is not known before it runs, but what the variables may hold is kept
//! ([`names`]). Whatever of it makes a listed secret is handed to the command.

use std::collections::BTreeSet;

use portcullis_shell::{List, Part, PartKind, Word};

use super::names;
use super::walk::Walk;
use crate::arg::Arg;
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

/// The secrets that two or three of these names make together, wherever a script joins them; any
/// name once too much was looked up.
pub(super) fn of_names(names: &[EffectOn], looks: &mut usize) -> Vec<EffectOn> {
    if !take(looks, names.len()) {
        return vec![names::made()];
    }
    let texts: BTreeSet<&str> =
        names.iter().filter_map(text).filter(|text| is_piece(text)).collect();
    let count = texts.len();
    let is_few = count <= FEW_PIECES;
    let ways = 2 * count * count + if is_few { count * count * count } else { 0 };
    if count > PIECES || !take(looks, ways) {
        return vec![names::made()];
    }
    let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    let mut paths = together(&[None, None], &texts);
    paths.extend(together(&[None, Some("/".to_owned()), None], &texts));
    if is_few {
        paths.extend(together(&[None, None, None], &texts));
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
        Target::Path(text) | Target::Pattern(text) => Some(text),
        Target::Unknown(_) | Target::Host(_) | Target::Named(_) | Target::None => None,
    }
}

/// The secrets, and the pieces of listed names, that are written anywhere in the words of a
/// command which may print them: `sed s/.*/.env/`, `stat -c .env x`.
pub(super) fn of_words(args: &[Arg], looks: &mut usize) -> Vec<EffectOn> {
    let words = args.iter().skip(1).filter_map(Arg::as_known);
    let words = words.filter(|word| !word.starts_with(['!', ':']));
    let told =
        words.filter(|word| !["--exclude", "--ignore"].iter().any(|not| word.starts_with(not)));
    let is_sign = |letter: char| !letter.is_alphanumeric() && !"._-~/".contains(letter);
    let paths = told.flat_map(|word| word.split(is_sign));
    let names = paths.flat_map(|path| path.split('/').chain([path]));
    let names: BTreeSet<&str> =
        names.filter(|name| name.len() > 1 && name.len() <= LONGEST_PIECE).collect();
    if !take(looks, names.len()) {
        return vec![names::made()];
    }
    let told = names.into_iter().filter(|name| is_piece(name) || is_secret(name));
    names::kept(told.map(|name| names::of_path(name.to_owned())))
}

/// Whether a text may be a piece of a listed name: it is found in one, or is a pattern.
fn is_piece(text: &str) -> bool {
    text.len() <= LONGEST_PIECE
        && (text.contains(['*', '?', '[']) || sensitive::is_in_a_name(text.trim_matches('/')))
}

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
            let open = self.open_pieces(word.parts);
            if open == 0 || word.parts.len() < 2 {
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
