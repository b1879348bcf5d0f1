//! Names in pieces: what several words that a script writes out name together.
//!
//! A word of two variables is not known before it runs, but what the variables may hold is kept
//! ([`names`]). Whatever of it makes a listed secret is handed to the command.

use portcullis_shell::{List, Part, PartKind, Word};

use super::names;
use super::walk::Walk;
use crate::arg::Arg;
use crate::effect::EffectOn;
use crate::place;
use crate::sensitive::{self, Access};

/// So many ways to put the pieces of one word together are tried.
const WAYS: usize = 4096;

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
            if open < 2 {
                continue;
            }
            let mut pieces = Vec::new();
            self.pieces(word.parts, &mut pieces);
            let texts = names::paths(self.analysis.all_names());
            if texts.is_empty() {
                return;
            }
            let ways = u32::try_from(open).ok().and_then(|open| texts.len().checked_pow(open));
            if ways.is_none_or(|ways| ways > WAYS) {
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
