//! Sensitive paths: files whose reading or writing is a finding, whoever does it.
//!
//! The list is data (`data/sensitive_paths.toml`), compiled into a static table. To add a path,
//! add a line there with examples both ways; `tests/sensitive.rs` checks them.

mod fold;
mod hint;
mod overlap;
mod piece;

pub use overlap::{may_share, share_a_name};
pub use piece::{holds_a_name, is_in_a_name, may_end, may_meet};

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::glob;
use crate::shelf::shelf;
use fold::folded;
pub(crate) use hint::Letters;
use hint::{Aim, Aims, Hint, Near};

/// The compiled list.
mod table {
    use super::Pattern;
    use super::hint::{ByByte, Hint, Letters};

    include!(concat!(env!("OUT_DIR"), "/sensitive.rs"));
}

/// One entry of the list.
#[derive(Debug)]
pub struct Pattern {
    /// The pattern, in lower case.
    pub pattern: &'static str,
    /// Its segments.
    pub segments: &'static [&'static str],
    /// Whether reading it is a finding.
    pub reads: bool,
    /// Whether writing it is.
    pub writes: bool,
    /// Paths that fit and are ordinary after all.
    pub except: &'static [&'static str],
    /// Whether it belongs to Portcullis itself.
    pub denies: bool,
    /// What it is, for a person.
    pub why: &'static str,
    fits: &'static str,
    not: &'static str,
}

/// What is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its content is read.
    Read,
    /// It is written, removed, moved, linked to, or its mode is changed.
    Write,
}

/// Every entry of the built-in list.
#[must_use]
pub fn patterns() -> &'static [Pattern] {
    table::PATTERNS
}

/// The entry that fits an absolute path; those of Portcullis itself come first.
#[must_use]
pub fn find(path: &str, access: Access) -> Option<&'static Pattern> {
    let path = folded(path);
    let name = last(&path);
    let letters = Letters::of(name);
    let mut found: Option<&Pattern> = None;
    // Few paths come near any pattern.
    let parts: OnceCell<Vec<&str>> = OnceCell::new();
    let fits = |pattern: &&Pattern| {
        pattern.may_fit_name(name)
            && pattern.fits_path(parts.get_or_init(|| segments(&path).collect()))
    };
    let look = |place: &u16| {
        let place = usize::from(*place);
        table::HINTS.get(place).filter(|hint| hint.may_fit(letters, access))?;
        table::PATTERNS.get(place).filter(fits)
    };
    // Of several that are alike the last one on the way counts.
    for part in path.as_bytes().split(|byte| *byte == b'/') {
        for pattern in filed(part).iter().filter_map(look) {
            if found.is_none_or(|found| pattern.denies >= found.denies) {
                found = Some(pattern);
            }
        }
    }
    let of = |by_byte: &hint::ByByte, byte: Option<u8>| byte.map_or(&[][..], |at| by_byte.of(at));
    let ending = of(&table::ENDING, name.bytes().next_back());
    let beginning = of(&table::BEGINNING, name.bytes().next());
    let loose = table::LOOSE.iter().filter(|(demanded, _)| letters.hold(*demanded));
    let unfiled = ending.iter().chain(beginning).chain(loose.map(|(_, place)| place));
    let unfiled = unfiled.filter_map(|place| Some((look(place)?, *place)));
    let last = unfiled.max_by_key(|(pattern, place)| (pattern.denies, *place));
    last.map(|(pattern, _)| pattern)
        .filter(|pattern| found.is_none_or(|found| pattern.denies >= found.denies))
        .or(found)
}

/// So many parts of a glob are looked up one by one.
const FEW_PARTS: usize = 12;

/// The entry that some file of an absolute pattern may fit, if the pattern aims at it; where the
/// directory is not known (`is_anywhere`) only the name can tell.
#[must_use]
pub fn aimed_at(glob: &str, access: Access, is_anywhere: bool) -> Option<&'static Pattern> {
    let is_lower = glob.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    let lower = if is_lower { Cow::Borrowed(glob) } else { glob.to_lowercase().into() };
    let glob = glob::without_sets(&lower);
    // Whatever lies in a listed directory is listed, and that directory is written out.
    let (directory, open) = split_open(&glob);
    let below = [directory, "/-"].concat();
    if let Some(pattern) = find(&below, access).filter(|pattern| pattern.is_directory()) {
        return Some(pattern);
    }
    let has_text = has_text(open);
    let asks_for_hidden = open.split('/').any(|part| part.starts_with('.'));
    if !has_text && !asks_for_hidden {
        return None;
    }
    // How many directories and names behind the last unknown ones are written.
    let known = || glob.rsplit("**").next().map_or(0, |tail| segments(tail).count());
    let known = is_anywhere.then(known);
    let parts: Vec<&str> = segments(&glob).collect();
    let is_shared = |pattern: &Pattern| {
        known.is_none_or(|known| pattern.is_told_by(known))
            && pattern.concerns(access)
            && pattern.is_aimed_at(&parts)
    };
    let aims = Aims::of(&parts);
    // Each part has its own; beyond a few parts all are looked at, once.
    let is_wide = parts.len() > FEW_PARTS;
    let name = |place: u16| table::HINTS.get(usize::from(place)).map_or("", Hint::name);
    let of_part = |(part, aim): (&&str, &Aim<'_>)| match aim.near() {
        Near::Itself => filed(part.as_bytes()),
        Near::Begins(head) => table::FIRST.beginning(head, name),
        Near::Ends(tail) => table::LAST.ending(tail, name),
        Near::Any => table::FIRST.all(),
        Near::Nobody => &[],
    };
    let few = parts.iter().zip(aims.parts()).take(if is_wide { 0 } else { FEW_PARTS });
    let all = if is_wide { table::FIRST.all() } else { &[] };
    let near = few.flat_map(of_part).chain(all);
    // The nearest one is the shortest, and of those the first on the list.
    let nearness = |(place, pattern): &(usize, &Pattern)| {
        (!pattern.denies, pattern.pattern.len(), pattern.pattern, *place)
    };
    let ending = aims.last().map_or(table::OPEN_ENDING.all(), |last| table::OPEN_ENDING.of(last));
    near.chain(ending)
        .chain(table::OPEN)
        .map(|place| usize::from(*place))
        .filter(|place| {
            table::HINTS.get(*place).is_some_and(|hint| hint.may_be_aimed_at(&aims, access))
        })
        .filter_map(|place| Some((place, table::PATTERNS.get(place)?)))
        .filter(|(_, pattern)| is_shared(pattern))
        .min_by_key(nearness)
        .map(|(_, pattern)| pattern)
}

/// Whether a pattern writes out enough of a name of Portcullis' own, where only the name tells:
/// `p*` in some directory is about nothing of it.
fn says_own(parts: &[&str], own: &[&str]) -> bool {
    let (["**", name], Some(part)) = (own, parts.last()) else { return true };
    let plain = |text: &str| text.bytes().filter(|byte| !is_sign(*byte)).count();
    if let Some(own) = name.strip_suffix('*') {
        // What stands behind our part of the name says nothing.
        let half = own.len() / 2;
        let mut runs = part.split(['*', '?', '[', '\\']);
        return runs.any(|run| run.get(..half).is_some_and(|begun| own.contains(begun)));
    }
    plain(part) * 3 > plain(name)
}

/// The places of patterns that are filed under a segment.
fn filed(segment: &[u8]) -> &'static [u16] {
    let mut near = shelf(table::FILED, table::STARTS, segment).iter();
    near.find(|(known, _)| known.as_bytes() == segment).map_or(&[][..], |(_, places)| *places)
}

/// The last segment of a path.
fn last(path: &str) -> &str {
    let bytes = path.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let head = bytes.get(..end).unwrap_or_default();
    let start = head.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    path.get(start..end).unwrap_or_default()
}

/// Whether a path or a part of one is more than plain names.
pub(crate) fn is_open(path: &str) -> bool {
    path.bytes().any(is_sign)
}

/// Whether a byte of a pattern is more than itself.
const fn is_sign(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

/// What of Portcullis itself lies below a directory of a home.
#[must_use]
pub fn own_below(path: &str, home: &str) -> Option<&'static Pattern> {
    let (path, home) = (folded(path), folded(home));
    let below = path.strip_prefix(home.trim_end_matches('/'))?;
    let below: Vec<&str> = segments(below).collect();
    let mut own = table::PATTERNS.iter().filter(|own| own.denies && own.is_directory());
    own.find(|own| own.is_below(&below))
}

/// What is listed for writes somewhere below a hidden directory, wherever that lies.
#[must_use]
pub fn listed_below(path: &str) -> Option<&'static Pattern> {
    let path = folded(path);
    let (_, name) = path.rsplit_once('/')?;
    if !name.starts_with('.') {
        return None;
    }
    // What runs or configures something; a secret that is gone is not shown.
    table::PATTERNS.iter().filter(|pattern| pattern.writes && !pattern.reads).find(|pattern| {
        // Of `**/.a/b`, the directory `.a`.
        matches!(pattern.segments, ["**", first, _, ..] if *first == name)
    })
}

/// A secret that lies somewhere below a directory of the system, by the list.
#[must_use]
pub fn secret_in_system(path: &str) -> Option<&'static Pattern> {
    let path = folded(path);
    let directory: Vec<&str> = segments(&path).collect();
    let mut secrets = table::PATTERNS.iter().filter(|pattern| pattern.reads);
    secrets.find(|pattern| {
        let mut both = pattern.segments.iter().zip(&directory);
        pattern.segments.len() > directory.len()
            && !directory.is_empty()
            && both.all(|(listed, name)| listed == name || *listed == "*" && is_process(name))
    })
}

/// Whether a directory below `/proc` is that of a process.
fn is_process(name: &str) -> bool {
    matches!(name, "self" | "thread-self") || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// A secret that lies somewhere below a hidden directory of a home, by the list.
#[must_use]
pub fn secret_below(path: &str, home: &str) -> Option<&'static Pattern> {
    let (path, home) = (folded(path), folded(home));
    let below = path.strip_prefix(home.trim_end_matches('/'))?;
    let below: Vec<&str> = segments(below).collect();
    let first = below.first()?;
    if !first.starts_with('.') && *first != "library" {
        return None;
    }
    table::PATTERNS.iter().filter(|pattern| pattern.reads).find(|pattern| pattern.is_below(&below))
}

/// The directories below a home in which secrets lie by the list; the empty one is the home.
pub(crate) fn directories_of_secrets() -> BTreeSet<String> {
    let secrets = table::PATTERNS.iter().filter(|pattern| pattern.reads);
    let between = secrets.filter_map(|pattern| match pattern.segments {
        ["**", between @ .., _] => Some(between),
        _ => None,
    });
    let plain = between.filter(|names| !names.iter().any(|name| is_open(name)));
    plain.map(|names| names.join("/")).collect()
}

/// A pattern's directory up to the first sign, and the rest.
pub(crate) fn split_open(glob: &str) -> (&str, &str) {
    let open = glob.bytes().position(is_sign).unwrap_or(glob.len());
    let head = glob.get(..open).unwrap_or_default();
    let end = head.rfind('/').unwrap_or(0);
    (glob.get(..end).unwrap_or_default(), glob.get(end + 1..).unwrap_or_default())
}

/// Whether a pattern says anything of the names that it fits.
pub(crate) fn has_text(open: &str) -> bool {
    open.bytes().any(|byte| !matches!(byte, b'*' | b'?' | b'/' | b'[' | b']' | b'.'))
}

/// Whether a pattern tells the names that it fits from others: `*`, `?*`, `[a-z]*` and `*a*` fit
/// nearly any.
pub(crate) fn says_enough(glob: &str) -> bool {
    let glob = glob::without_sets(glob);
    let is_sign = |letter: char| "*?/[].\\+^$()|".contains(letter);
    let letters = glob.chars().filter(|letter| !is_sign(*letter)).count();
    let is_loose = glob.ends_with('*');
    letters > if is_loose { 2 } else { 0 }
}

impl Pattern {
    /// Paths that must fit.
    pub fn examples(&self) -> impl Iterator<Item = &'static str> {
        self.fits.split('\u{1f}').filter(|path| !path.is_empty())
    }

    /// Paths that must not.
    pub fn counterexamples(&self) -> impl Iterator<Item = &'static str> {
        self.not.split('\u{1f}').filter(|path| !path.is_empty())
    }

    /// Whether a pattern, by its parts, aims at what this one names.
    #[must_use]
    pub fn is_aimed_at(&self, parts: &[&str]) -> bool {
        (!self.denies || says_own(parts, self.segments)) && may_share(parts, self.segments)
    }

    fn concerns(&self, access: Access) -> bool {
        match access {
            Access::Read => self.reads,
            Access::Write => self.writes,
        }
    }

    /// Whether the last few segments of a path are enough to tell that it fits.
    fn is_told_by(&self, count: usize) -> bool {
        self.segments
            .split_first()
            .is_some_and(|(first, rest)| *first == "**" && rest.len() <= count)
    }

    /// Whether what it names lies further down in a directory of a home.
    fn is_below(&self, directory: &[&str]) -> bool {
        let named = self.segments.split_first().filter(|(first, _)| **first == "**");
        named.is_some_and(|(_, named)| {
            !directory.is_empty() && directory.len() < named.len() && named.starts_with(directory)
        })
    }

    /// Whether everything below it is meant.
    fn is_directory(&self) -> bool {
        self.segments.last() == Some(&"**")
    }

    /// Whether a path of this name may fit: most are told apart by it alone.
    fn may_fit_name(&self, name: &str) -> bool {
        self.segments.last().is_none_or(|last| *last == "**" || fits_name(last, name))
    }

    fn fits_path(&self, path: &[&str]) -> bool {
        fits_segments(self.segments, path)
            && !self.except.iter().any(|except| {
                let except: Vec<&str> = segments(except).collect();
                fits_segments(&except, path)
            })
    }
}

/// Whether an absolute path in lower case fits a pattern; `dir/**` fits the directory too.
#[must_use]
pub fn fits(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = segments(pattern).collect();
    let path: Vec<&str> = segments(path).collect();
    fits_segments(&pattern, &path)
}

fn segments(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    // Paths are short: looking at each byte is the quickest.
    path.split(['/']).filter(|segment| !segment.is_empty())
}

/// Whether all segments of a path fit those of a pattern.
fn fits_segments(pattern: &[&str], path: &[&str]) -> bool {
    let (mut at, mut here) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(at), path.get(here)) {
            // What ends so has everything below it, and itself.
            (Some(&"**"), _) if at + 1 == pattern.len() => return true,
            (Some(&"**"), _) => {
                star = Some((at + 1, here));
                at += 1;
            }
            (None, None) => return true,
            (Some(segment), Some(name)) if fits_name(segment, name) => {
                at += 1;
                here += 1;
            }
            _ => match star {
                Some((behind, taken)) if taken < path.len() => {
                    star = Some((behind, taken + 1));
                    at = behind;
                    here = taken + 1;
                }
                _ => return false,
            },
        }
    }
}

/// Most segments are plain names, and begin with another letter.
fn fits_name(segment: &str, name: &str) -> bool {
    let (first, own) = (segment.bytes().next(), name.bytes().next());
    (first == own || first.is_some_and(is_sign))
        && (segment == name || is_open(segment) && glob::matches(segment, name))
}
