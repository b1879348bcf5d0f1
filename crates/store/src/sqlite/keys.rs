//! Keys: made, listed and revoked.

use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Key, Moment};
use rusqlite::{Connection, named_params, params};

use super::chain::Group;
use crate::records::KeyRecord;
use crate::{StoreError, rows};

const INSERT: &str = "INSERT INTO keys (id, role, name, owners, made_at, expires_at, revoked_at, \
    hash) VALUES (:id, :role, :name, :owners, :made_at, :expires_at, :revoked_at, :hash)";

const REVOKE_NAMED: &str = "UPDATE keys SET revoked_at = ?3 WHERE role = ?1 AND name = ?2 \
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?3)";

const REVOKE: &str = "UPDATE keys SET revoked_at = ?2 WHERE id = ?1 \
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)";

/// Stores a key.
pub(super) fn add(
    group: &mut Group<'_>,
    key: &Key,
    hash: &[u8; 32],
    replaces: bool,
    entries: &[Entry],
) -> Result<(), StoreError> {
    let of_name = params![key.role.name(), key.name, key.made_at.ms()];
    let revoked = group.db.prepare_cached(REVOKE_NAMED)?.execute(of_name)?;
    if revoked > 0 && !replaces {
        // What was revoked goes back with this error.
        return Err(StoreError::NameTaken(key.name.clone()));
    }
    group.db.prepare_cached(INSERT)?.execute(named_params! {
        ":id": key.id.as_bytes(),
        ":role": key.role.name(),
        ":name": key.name,
        ":owners": rows::owners(&key.owners),
        ":made_at": key.made_at.ms(),
        ":expires_at": key.expires_at.map(Moment::ms),
        ":revoked_at": key.revoked_at.map(Moment::ms),
        ":hash": hash,
    })?;
    group.append(entries)
}

/// Every key, oldest first.
pub(super) fn list(db: &Connection) -> Result<Vec<KeyRecord>, StoreError> {
    let mut query = db.prepare_cached(&format!("SELECT {} FROM keys ORDER BY id", rows::KEY))?;
    let found = query.query_map([], rows::key)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Revokes a key that still counts.
pub(super) fn revoke(
    group: &mut Group<'_>,
    id: Id,
    at: Moment,
    entries: &[Entry],
) -> Result<bool, StoreError> {
    let changed = group.db.prepare_cached(REVOKE)?.execute(params![id.as_bytes(), at.ms()])?;
    if changed > 0 {
        group.append(entries)?;
    }
    Ok(changed > 0)
}
