//! Hints: what tells at a glance that a name is none of a pattern's.
//!
//! There are many patterns and most names are none of them. A hint never says no to what fits.

use std::cmp::Ordering;

use super::Access;
use super::overlap::{LONGEST, is_ending};

/// The bytes that a text holds, as bits; some bytes share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letters(u64);

impl Letters {
    /// The bytes that whatever fits a pattern must hold.
    pub(crate) const fn demanded(pattern: &str) -> Letters {
        let (mut bits, mut is_set, mut rest) = (0, false, pattern.as_bytes());
        while let [byte, behind @ ..] = rest {
            match *byte {
                b'[' => is_set = true,
                b']' => is_set = false,
                b'*' | b'?' | b'\\' => {}
                _ if is_set => {}
                byte => bits |= 1 << (byte & 63),
            }
            rest = behind;
        }
        Letters(bits)
    }

    /// The bytes of a plain text.
    pub(crate) fn of(text: &str) -> Letters {
        Letters(text.bytes().fold(0, |bits, byte| bits | 1 << (byte & 63)))
    }

    /// Whether all of the others are among them.
    pub(crate) const fn hold(self, others: Letters) -> bool {
        others.0 & !self.0 == 0
    }
}

/// The glance at one pattern of the list.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with one another")]
pub(crate) struct Hint {
    /// Its last part, or that of the directory that is meant as a whole.
    name: &'static str,
    /// What that name demands.
    letters: Letters,
    /// The first byte of that name, unless it is open.
    first: Option<u8>,
    /// Whether the directories above that name can tell it.
    is_told: bool,
    /// How many letters that name has, signs aside.
    size: usize,
    is_directory: bool,
    reads: bool,
    writes: bool,
}

impl Hint {
    /// The glance at a pattern of these segments.
    pub(crate) const fn of(segments: &'static [&'static str], reads: bool, writes: bool) -> Hint {
        let (named, is_directory) = match segments {
            [named @ .., last] if is_any(last) => (named, true),
            _ => (segments, false),
        };
        let (above, name) = match named {
            [above @ .., name] => (above, *name),
            [] => (named, "*"),
        };
        let first = match name.as_bytes() {
            [b'*' | b'?' | b'[', ..] | [] => None,
            [first, ..] => Some(*first),
        };
        let (letters, is_told) = (Letters::demanded(name), can_tell(above));
        Hint { name, letters, first, is_told, size: size(name), is_directory, reads, writes }
    }

    /// The name that it is about.
    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a path whose name has these letters may fit the pattern.
    pub(super) const fn may_fit(&self, name: Letters, access: Access) -> bool {
        self.concerns(access) && (self.is_directory || name.hold(self.letters))
    }

    const fn concerns(&self, access: Access) -> bool {
        match access {
            Access::Read => self.reads,
            Access::Write => self.writes,
        }
    }

    /// Whether some part of a glob may aim at the pattern: of a file the last, of a directory any.
    pub(super) fn may_be_aimed_at(&self, aims: &Aims<'_>, access: Access) -> bool {
        if !self.concerns(access) {
            return false;
        }
        if self.is_directory {
            // Most begin with another letter than every part of the glob.
            return (aims.has_open || self.first.is_none_or(|first| aims.may_begin(first)))
                && aims.parts.iter().any(|aim| aim.may_aim_at(self));
        }
        aims.parts.last().is_some_and(|aim| {
            // An ending alone aims at no name that is written out.
            (self.is_told || self.first.is_none() || !aim.is_ending) && aim.may_aim_at(self)
        })
    }
}

/// How many letters a name has beside the signs of a pattern.
const fn size(name: &str) -> usize {
    let (mut size, mut rest) = (0, name.as_bytes());
    while let [byte, behind @ ..] = rest {
        let is_inside = *byte & 0xc0 == 0x80;
        size += !(matches!(*byte, b'*' | b'?' | b'[' | b']') || is_inside) as usize;
        rest = behind;
    }
    size
}

/// Whether a segment stands for any number of directories.
const fn is_any(segment: &str) -> bool {
    matches!(segment.as_bytes(), b"**")
}

/// Whether directories can be enough to tell what lies there, as `overlap` asks it: some are
/// hidden, or all of them are known.
const fn can_tell(mut directories: &[&str]) -> bool {
    let is_rooted = matches!(directories, [first, _, ..] if !is_any(first));
    let mut is_hidden = false;
    while let [directory, rest @ ..] = directories {
        is_hidden = is_hidden || matches!(directory.as_bytes(), [b'.', ..] | b"library");
        directories = rest;
    }
    is_rooted || is_hidden
}

/// The glance at all parts of a glob.
pub(super) struct Aims<'g> {
    parts: Vec<Aim<'g>>,
    /// The bytes that parts begin with, as bits; some bytes share one.
    firsts: u64,
    /// Whether a part begins openly and says something of a name.
    has_open: bool,
}

impl<'g> Aims<'g> {
    pub(super) fn of(parts: &[&'g str]) -> Aims<'g> {
        let parts: Vec<Aim<'g>> = parts.iter().map(|part| Aim::of(part)).collect();
        let firsts = parts.iter().filter_map(|aim| aim.first);
        let firsts = firsts.fold(0, |bits, first| bits | 1 << (first & 63));
        let has_open = parts.iter().any(|aim| aim.first.is_none() && aim.has_text);
        Aims { parts, firsts, has_open }
    }

    /// The glances at each part.
    pub(super) fn parts(&self) -> &[Aim<'g>] {
        &self.parts
    }

    /// The byte that whatever fits ends with, where that is known.
    pub(super) fn last(&self) -> Option<u8> {
        self.parts.last().and_then(|aim| aim.tail.bytes().next_back())
    }

    /// Whether a part may begin with this byte.
    const fn may_begin(&self, first: u8) -> bool {
        self.firsts & 1 << (first & 63) != 0
    }
}

/// The places of patterns by one byte of their names; those with open names are elsewhere.
#[derive(Debug)]
pub(super) struct ByByte {
    // INVARIANT: places of one byte stand in the order of their names, read from that byte on.
    pub(super) places: &'static [u16],
    /// Where each byte begins, and where the last ends.
    pub(super) starts: &'static [u16],
}

impl ByByte {
    /// The places of names with this byte.
    pub(super) fn of(&self, byte: u8) -> &'static [u16] {
        let at = usize::from(byte);
        match self.starts.get(at..at + 2) {
            Some(&[from, to]) => self.places.get(from.into()..to.into()).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The places of names that begin so; those by their first byte are asked.
    pub(super) fn beginning(
        &self,
        head: &str,
        name: impl Fn(u16) -> &'static str,
    ) -> &'static [u16] {
        let names = head.bytes().next().map_or(self.places, |first| self.of(first));
        let bytes = |place: &u16| name(*place).bytes().take(head.len());
        between(names, |place| bytes(place).cmp(head.bytes()))
    }

    /// The places of names that end so; those by their last byte are asked.
    pub(super) fn ending(&self, tail: &str, name: impl Fn(u16) -> &'static str) -> &'static [u16] {
        let names = tail.bytes().next_back().map_or(self.places, |last| self.of(last));
        let bytes = |place: &u16| name(*place).bytes().rev().take(tail.len());
        between(names, |place| bytes(place).cmp(tail.bytes().rev()))
    }

    /// The places of all.
    pub(super) const fn all(&self) -> &'static [u16] {
        self.places
    }
}

/// The places, of a sorted list, that are what is looked for.
fn between(places: &'static [u16], compare: impl Fn(&u16) -> Ordering) -> &'static [u16] {
    let from = places.partition_point(|place| compare(place).is_lt());
    let rest = places.get(from..).unwrap_or_default();
    rest.get(..rest.partition_point(|place| compare(place).is_eq())).unwrap_or_default()
}

/// Which plain names a part of a glob may aim at.
pub(super) enum Near<'g> {
    /// None but its own.
    Itself,
    /// Those that begin so.
    Begins(&'g str),
    /// Those that end so.
    Ends(&'g str),
    /// Any.
    Any,
    /// None at all.
    Nobody,
}

/// The glance at one part of a glob.
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with one another")]
pub(super) struct Aim<'g> {
    /// Its first byte, unless that is open.
    first: Option<u8>,
    /// What it writes before its first sign, and behind its last.
    head: &'g str,
    tail: &'g str,
    /// Whether it is longer than a name can be, and therefore compared with less care.
    is_long: bool,
    demanded: Letters,
    /// Whether it is no pattern at all.
    is_plain: bool,
    /// Whether it says anything of a name.
    has_text: bool,
    /// Whether it says only how names end.
    is_ending: bool,
    /// How many letters it writes, signs aside, and whether both its ends are open.
    size: usize,
    is_loose: bool,
}

impl<'g> Aim<'g> {
    fn of(part: &'g str) -> Aim<'g> {
        let first = match part.as_bytes() {
            [b'\\', escaped, ..] => Some(*escaped),
            [b'*' | b'?' | b'[', ..] | [] => None,
            [first, ..] => Some(*first),
        };
        let is_sign = |byte: u8| matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\');
        let head =
            part.bytes().position(is_sign).map_or(part, |at| part.get(..at).unwrap_or_default());
        let tail = part
            .bytes()
            .rposition(is_sign)
            .map_or(part, |at| part.get(at + 1..).unwrap_or_default());
        let has_text = first.is_some() || super::has_text(part);
        let (is_plain, is_long) = (!super::is_open(part), part.len() > LONGEST);
        let demanded = Letters::demanded(part);
        let is_ending = is_ending(part);
        let (size, is_loose) = (size(part), part.starts_with('*') && part.ends_with('*'));
        Aim { first, head, tail, is_long, demanded, is_plain, has_text, is_ending, size, is_loose }
    }

    /// Which plain names it may aim at.
    pub(super) fn near(&self) -> Near<'g> {
        match (self.head, self.tail) {
            _ if self.is_long => Near::Any,
            _ if !self.has_text => Near::Nobody,
            _ if self.is_plain => Near::Itself,
            ("", "") => Near::Any,
            ("", tail) => Near::Ends(tail),
            (head, _) => Near::Begins(head),
        }
    }

    fn may_aim_at(&self, hint: &Hint) -> bool {
        match self.first {
            Some(first) if hint.first.is_some_and(|own| own != first) => false,
            Some(_) => !self.is_plain || self.demanded.hold(hint.letters),
            // What begins openly aims only at names that hold all it writes.
            None => {
                self.has_text
                    && hint.letters.hold(self.demanded)
                    && (hint.is_told || self.says_enough_of(hint))
            }
        }
    }

    /// Whether it writes the better part of a name.
    // INVARIANT: `overlap::comes_near` counts letters in the same way; a hint that counts fewer of
    // a pattern, or more of a name, would say no to what fits.
    const fn says_enough_of(&self, hint: &Hint) -> bool {
        let own = self.size * 2;
        own > hint.size || own == hint.size && !self.is_loose
    }
}
