//! Ids: `UUIDv7`, written in lower case with hyphens. They sort by time and carry no authority.

use std::fmt;
use std::str::FromStr;

use uuid::{Builder, Uuid, Version};

use crate::moment::Moment;

/// The id of an ask, a key or a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Uuid);

impl Id {
    /// An id of this moment; `chance` makes it unlike any other.
    #[must_use]
    pub fn new(at: Moment, chance: &[u8; 10]) -> Id {
        let ms = u64::try_from(at.ms()).unwrap_or(0);
        Id(Builder::from_unix_timestamp_millis(ms, chance).into_uuid())
    }

    /// The id with these 16 bytes, if they are one.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Id> {
        Uuid::from_slice(bytes).ok().and_then(Id::of)
    }

    /// The id as a number, if it is one.
    #[must_use]
    pub fn from_number(number: u128) -> Option<Id> {
        Id::of(Uuid::from_u128(number))
    }

    /// Its 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// It as a number.
    #[must_use]
    pub const fn as_number(&self) -> u128 {
        self.0.as_u128()
    }

    fn of(uuid: Uuid) -> Option<Id> {
        let is_ours = uuid.get_version() == Some(Version::SortRand)
            && uuid.get_variant() == uuid::Variant::RFC4122;
        is_ours.then_some(Id(uuid))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(out)
    }
}

/// The text is no `UUIDv7` in lower case with hyphens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct NotAnId;

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Id, NotAnId> {
        let id = Uuid::try_parse(text).ok().and_then(Id::of).ok_or(NotAnId)?;
        // Braces, capitals and the form without hyphens are other texts for the same number.
        if id.to_string() == text { Ok(id) } else { Err(NotAnId) }
    }
}
