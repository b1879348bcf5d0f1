//! Hints: what tells at a glance that a name is none of a pattern's.
//!
//! There are many patterns and most names are none of them. A hint never says no to what fits.

use super::Access;
use super::overlap::LONGEST;

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
pub(crate) struct Hint {
    /// What its name demands: its last part, or that of the directory that is meant as a whole.
    letters: Letters,
    /// The first byte of that name, unless it is open.
    first: Option<u8>,
    is_directory: bool,
    reads: bool,
    writes: bool,
}

impl Hint {
    pub(crate) const fn new(name: &str, is_directory: bool, reads: bool, writes: bool) -> Hint {
        let first = match name.as_bytes() {
            [b'*' | b'?' | b'[', ..] | [] => None,
            [first, ..] => Some(*first),
        };
        Hint { letters: Letters::demanded(name), first, is_directory, reads, writes }
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
    pub(super) fn may_be_aimed_at(&self, aims: &Aims, access: Access) -> bool {
        if !self.concerns(access) {
            return false;
        }
        if self.is_directory {
            // Most begin with another letter than every part of the glob.
            return self.first.is_none_or(|first| aims.may_begin(first))
                && aims.parts.iter().any(|aim| aim.first.is_some() && aim.may_aim_at(self))
                || aims.open.iter().any(|demanded| self.letters.hold(*demanded));
        }
        aims.parts.last().is_some_and(|aim| aim.may_aim_at(self))
    }
}

/// The glance at all parts of a glob.
pub(super) struct Aims {
    parts: Vec<Aim>,
    /// The bytes that parts begin with, as bits; some bytes share one.
    firsts: u64,
    /// What parts demand that begin openly and say something of a name.
    open: Vec<Letters>,
}

impl Aims {
    pub(super) fn of(parts: &[&str]) -> Aims {
        let parts: Vec<Aim> = parts.iter().map(|part| Aim::of(part)).collect();
        let firsts = parts.iter().filter_map(|aim| aim.first);
        let firsts = firsts.fold(0, |bits, first| bits | 1 << (first & 63));
        let open = parts.iter().filter(|aim| aim.first.is_none() && aim.has_text);
        let open = open.map(|aim| aim.demanded).collect();
        Aims { parts, firsts, open }
    }

    /// The glances at each part.
    pub(super) fn parts(&self) -> &[Aim] {
        &self.parts
    }

    /// Whether a part may begin with this byte.
    const fn may_begin(&self, first: u8) -> bool {
        self.firsts & 1 << (first & 63) != 0
    }
}

/// The places of patterns by one byte of their names; those with open names are elsewhere.
#[derive(Debug)]
pub(super) struct ByByte {
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

    /// The places of all.
    pub(super) const fn all(&self) -> &'static [u16] {
        self.places
    }
}

/// Which plain names a part of a glob may aim at.
pub(super) enum Near {
    /// None but its own.
    Itself,
    /// Those that begin with a byte.
    Begins(u8),
    /// Those that end with one.
    Ends(u8),
    /// Any.
    Any,
    /// None at all.
    Nobody,
}

/// The glance at one part of a glob.
pub(super) struct Aim {
    /// Its first byte, and its last, unless that is open.
    first: Option<u8>,
    last: Option<u8>,
    /// Whether it is longer than a name can be, and therefore compared with less care.
    is_long: bool,
    demanded: Letters,
    /// Whether it is no pattern at all.
    is_plain: bool,
    /// Whether it says anything of a name.
    has_text: bool,
}

impl Aim {
    fn of(part: &str) -> Aim {
        let first = match part.as_bytes() {
            [b'\\', escaped, ..] => Some(*escaped),
            [b'*' | b'?' | b'[', ..] | [] => None,
            [first, ..] => Some(*first),
        };
        let open = |byte: &&u8| !matches!(**byte, b'*' | b'?' | b'[' | b']' | b'\\');
        let last = part.as_bytes().last().filter(open).copied();
        let has_text = first.is_some() || super::has_text(part);
        let (is_plain, is_long) = (!super::is_open(part), part.len() > LONGEST);
        Aim { first, last, is_long, demanded: Letters::demanded(part), is_plain, has_text }
    }

    /// Which plain names it may aim at.
    pub(super) const fn near(&self) -> Near {
        match (self.first, self.last) {
            _ if self.is_long => Near::Any,
            _ if !self.has_text => Near::Nobody,
            _ if self.is_plain => Near::Itself,
            (Some(first), _) => Near::Begins(first),
            (None, Some(last)) => Near::Ends(last),
            (None, None) => Near::Any,
        }
    }

    fn may_aim_at(&self, hint: &Hint) -> bool {
        match self.first {
            Some(first) if hint.first.is_some_and(|own| own != first) => false,
            Some(_) => !self.is_plain || self.demanded.hold(hint.letters),
            // What begins openly aims only at names that hold all it writes.
            None => self.has_text && hint.letters.hold(self.demanded),
        }
    }
}
