//! How a program, an option and a sub-command are found by name.

use super::{Entry, NAMES, Name, OptionSpec, PROGRAMS, Program, STARTS, Sub};
use crate::shelf::shelf;

/// Every program of the catalog.
#[must_use]
pub fn programs() -> &'static [Program] {
    PROGRAMS
}

/// The names of all programs.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// The program of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Program> {
    let mut near = shelf(NAMES, STARTS, name.as_bytes()).iter();
    let (_, place) = near.find(|(known, _)| *known == name)?;
    PROGRAMS.get(usize::from(*place))
}

impl Entry {
    /// The option of exactly this name.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&'static OptionSpec> {
        // Names are sorted by length: most are told apart by that alone.
        let order = |option: &OptionSpec| {
            let by_length = usize::from(option.name.len).cmp(&name.len());
            by_length.then_with(|| match (option.name.bytes(), name.as_bytes()) {
                ([known, letter], [own, wanted]) => (known, letter).cmp(&(own, wanted)),
                (known, name) => known.cmp(name),
            })
        };
        let place = self.options.binary_search_by(order).ok()?;
        self.options.get(place)
    }

    /// The long option that this text abbreviates, if it can only be one.
    #[must_use]
    pub fn abbreviated(&self, text: &str) -> Option<&'static OptionSpec> {
        if text.len() < 3 {
            return None;
        }
        let mut found = self.options.iter().filter(|option| option.name().starts_with(text));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The sub-command of this name: exact names first, then the longest pattern.
    #[must_use]
    pub fn sub(&self, name: &str) -> Option<&'static Sub> {
        let exact = if self.fold {
            let is_same = |known: &&str| known.eq_ignore_ascii_case(name);
            self.subs.iter().find(|sub| sub.names.iter().any(is_same))
        } else {
            let order = |(known, _): &(Name, u16)| {
                let by_length = usize::from(known.len).cmp(&name.len());
                by_length.then_with(|| known.bytes().cmp(name.as_bytes()))
            };
            let place = self.subs_by_name.binary_search_by(order).ok();
            place.and_then(|place| self.subs.get(usize::from(self.subs_by_name.get(place)?.1)))
        };
        exact.or_else(|| {
            let fitting = |sub: &&'static Sub| {
                let fits = sub.names.iter().filter(|pattern| matches_verb(pattern, name));
                fits.map(|pattern| pattern.len()).max()
            };
            let open = self.open_subs.iter().filter_map(|place| self.subs.get(usize::from(*place)));
            open.filter(|sub| fitting(sub).is_some()).max_by_key(fitting)
        })
    }
}

/// Whether a name fits a pattern with at most one `*`.
fn matches_verb(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => false,
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
    }
}
