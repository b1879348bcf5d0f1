//! Commands that are the same in other words: `pip` and `python -m pip`, `npm i` and `npm install`.
//!
//! The pairs are data (`same_commands` in `data/lists.toml`); each is read in both directions.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::keyed::Keyed;
use crate::lists;

/// A command and what it is the same as.
type Pair = (Vec<&'static str>, Vec<&'static str>);

/// The pairs that begin with one program.
#[derive(Default)]
struct Pairs {
    /// All of them.
    all: Vec<Pair>,
    /// The places of those by the word that stands behind the program; nothing where none does.
    by_word: HashMap<&'static str, Vec<usize>, Keyed>,
    /// The programs that the others begin with, each once: many pairs lead to the same few.
    programs: Vec<&'static str>,
}

static SAME: LazyLock<HashMap<&'static str, Pairs, Keyed>> = LazyLock::new(|| {
    let mut same: HashMap<_, Pairs, Keyed> = HashMap::default();
    for (one, other) in lists::SAME_COMMANDS.iter().filter_map(|pair| pair.split_once('=')) {
        let (one, other): (Vec<_>, Vec<_>) = (one.split(':').collect(), other.split(':').collect());
        for (from, to) in [(one.clone(), other.clone()), (other, one)] {
            let mut words = from.iter().copied();
            let (program, word) = (words.next().unwrap_or_default(), words.next());
            let pairs = same.entry(program).or_default();
            pairs.by_word.entry(word.unwrap_or_default()).or_default().push(pairs.all.len());
            let other = to.first().copied().unwrap_or_default();
            if !pairs.programs.contains(&other) {
                pairs.programs.push(other);
            }
            pairs.all.push((from, to));
        }
    }
    same
});

fn pairs(program: &str) -> &'static [Pair] {
    SAME.get(program).map(|pairs| pairs.all.as_slice()).unwrap_or_default()
}

/// Whether a program has other words for something.
pub(crate) fn is_listed(program: &str) -> bool {
    SAME.contains_key(program)
}

/// The same command in each of the other words that there are for it.
pub(crate) fn equivalents<'w>(words: &[&'w str]) -> Vec<Vec<&'w str>> {
    let pairs = words.first().map(|program| pairs(program)).unwrap_or_default();
    let meant = pairs.iter().filter(|(from, _)| words.starts_with(from));
    let other = meant.map(|(from, to)| {
        let rest = words.get(from.len()..).unwrap_or_default();
        to.iter().copied().chain(rest.iter().copied()).collect()
    });
    other.collect()
}

/// The programs, each with the words behind it, that are the same as this one with some of these
/// words, in whatever order.
pub(crate) fn perhaps(
    program: &str,
    words: &[&str],
) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let pairs = SAME.get(program);
    let seconds = [""].into_iter().chain(words.iter().copied());
    let places = seconds.filter_map(move |word| pairs?.by_word.get(word)).flatten();
    let begun = places.filter_map(move |place| pairs?.all.get(*place));
    let meant = begun.filter(|(from, _)| from.iter().skip(2).all(|word| words.contains(word)));
    meant.filter_map(|(_, to)| to.split_first().map(|(program, words)| (*program, words)))
}

/// What is the same as this program with words behind it: those words, the other program, and the
/// first word behind that.
pub(super) fn others(
    program: &str,
) -> impl Iterator<Item = (&'static [&'static str], &'static str, Option<&'static str>)> {
    pairs(program).iter().filter_map(|(from, to)| {
        let (other, behind) = to.split_first()?;
        Some((from.get(1..).unwrap_or_default(), *other, behind.first().copied()))
    })
}

/// The programs that may be the same as this one, or as one that may be the same as that.
pub(super) fn neighbours(program: &str) -> impl Iterator<Item = &'static str> {
    let next = |program: &str| {
        let pairs = SAME.get(program);
        pairs.map(|pairs| pairs.programs.as_slice()).unwrap_or_default().iter().copied()
    };
    next(program).flat_map(move |one| [one].into_iter().chain(next(one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_in_both_directions() {
        assert_eq!(equivalents(&["pip3", "install", "x"]), [["pip", "install", "x"]]);
        assert!(equivalents(&["pip", "list"]).contains(&vec!["python", "-m", "pip", "list"]));
        assert!(equivalents(&["ls", "-l"]).is_empty());
    }

    #[test]
    fn what_may_be_the_same_holds_what_is() {
        for words in [&["npm", "i", "x"][..], &["python3", "-m", "pip"], &["docker-compose", "up"]]
        {
            let (program, rest) = words.split_first().unwrap();
            for same in equivalents(words) {
                let known: Vec<_> = perhaps(program, rest).collect();
                assert!(
                    known.iter().any(|(program, _)| *program == same[0]),
                    "{words:?}: {same:?}"
                );
                assert!(neighbours(program).any(|program| program == same[0]), "{words:?}");
            }
        }
    }
}
