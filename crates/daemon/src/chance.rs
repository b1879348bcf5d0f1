//! Chance: ids, secrets and codes that nobody can guess.

use portcullis_approval::{Id, Moment};

/// Bytes of the operating system's generator.
///
/// # Errors
/// It gives none; nothing may then be made that must not be guessed.
pub fn bytes<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// A new id of this moment. Ids carry no authority, so that a generator that fails costs order,
/// not safety: the store refuses an id that exists.
#[must_use]
pub fn id(at: Moment) -> Id {
    Id::new(at, &bytes().unwrap_or_default())
}
