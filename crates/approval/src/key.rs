//! Keys: the secrets programs show, and what each may do.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::id::Id;
use crate::moment::Moment;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Submits calls and waits for its own asks.
    Agent,
    /// Sees and answers asks of its owners.
    Approver,
    /// Everything.
    Admin,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 3] = [Role::Agent, Role::Approver, Role::Admin];

    /// The role's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Role::Agent => "agent",
            Role::Approver => "approver",
            Role::Admin => "admin",
        }
    }

    /// The role of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// Whose asks a key speaks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owners {
    /// Everybody's.
    All,
    /// These people's.
    Some(Vec<String>),
}

impl Owners {
    /// Whether this owner is among them.
    #[must_use]
    pub fn include(&self, owner: &str) -> bool {
        match self {
            Owners::All => true,
            Owners::Some(owners) => owners.iter().any(|one| one == owner),
        }
    }
}

/// A key as it is stored: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its id.
    pub id: Id,
    /// What it is for.
    pub role: Role,
    /// What people call it.
    pub name: String,
    /// Whose asks it speaks for; of an agent's key exactly one person's.
    pub owners: Owners,
    /// When it was made.
    pub made_at: Moment,
    /// From when on it counts no longer, if that was said.
    pub expires_at: Option<Moment>,
    /// Since when it counts no longer, if it was revoked.
    pub revoked_at: Option<Moment>,
}

impl Key {
    /// Whether it counts at this moment.
    #[must_use]
    pub fn counts_at(&self, now: Moment) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// The one owner of an agent's key.
    #[must_use]
    pub fn owner(&self) -> &str {
        match &self.owners {
            Owners::All => LOCAL,
            Owners::Some(owners) => owners.first().map_or(LOCAL, String::as_str),
        }
    }
}

/// The owner of whatever has no other.
pub const LOCAL: &str = "local";

/// The text of a key, shown once. It is never printed by accident: only [`Secret::reveal`] does.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A key's text from 32 bytes of chance.
    #[must_use]
    pub fn new(role: Role, chance: &[u8; 32]) -> Secret {
        Secret(format!("pcl_{}_{}", role.name(), URL_SAFE_NO_PAD.encode(chance)))
    }

    /// The text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

/// What is stored of a secret and looked up by: its SHA-256.
#[must_use]
pub fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// The SHA-256 of some bytes in lower-case hexadecimal.
#[must_use]
pub fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    push_hex(&mut out, bytes);
    out
}

/// Writes bytes in lower-case hexadecimal behind a text.
pub fn push_hex(out: &mut String, bytes: &[u8]) {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    // As many at once as a hash has: a text of its own is made of each piece, and no letter pushed.
    for piece in bytes.chunks(32) {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(piece) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        let written = digits.get(..piece.len() * 2).unwrap_or_default();
        out.push_str(str::from_utf8(written).unwrap_or_default());
    }
}
