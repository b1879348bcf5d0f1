//! How a program, an option and a sub-command are found by name.

use super::{Entry, NAMES, Name, OptionSpec, PROGRAMS, Program, STARTS, Sub};
use crate::shelf::{mark, shelf};

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
        named(self.options, name, |option| option.name)
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
            let found = named(self.subs_by_name, name, |(known, _)| *known);
            found.and_then(|(_, place)| self.subs.get(usize::from(*place)))
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

/// The row of this name in a table of one entry; few names share a mark.
fn named<'t, T>(table: &'t [T], name: &str, of: impl Fn(&T) -> Name) -> Option<&'t T> {
    let mark = mark(name.as_bytes());
    let mark_of = |row: &T| usize::from(of(row).mark);
    let from = table.partition_point(|row| mark_of(row) < mark);
    let mut near = table.iter().skip(from).take_while(|row| mark_of(row) == mark);
    near.find(|row| of(row).bytes() == name.as_bytes())
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
