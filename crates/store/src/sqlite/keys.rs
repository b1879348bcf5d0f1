//! Keys: made, listed and revoked.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Key, Moment};
use rusqlite::{Connection, named_params, params};

use super::Sqlite;
use super::chain::Group;
use super::reader::all;
use crate::records::KeyRecord;
use crate::{Keys, StoreError, rows};

const INSERT: &str = "INSERT INTO keys (id, role, name, owners, made_at, expires_at, revoked_at, \
    hash) VALUES (:id, :role, :name, :owners, :made_at, :expires_at, :revoked_at, :hash)";

const REVOKE_NAMED: &str = "UPDATE keys SET revoked_at = ?3 WHERE role = ?1 AND name = ?2 \
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?3)";

const REVOKE: &str = "UPDATE keys SET revoked_at = ?2 WHERE id = ?1 \
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)";

#[async_trait]
impl Keys for Sqlite {
    async fn add_key(
        &self,
        key: &Key,
        hash: [u8; 32],
        replaces: bool,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let key = key.clone();
        self.writer.run(move |group| add(group, &key, &hash, replaces, &entries)).await
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        self.readers.read(list).await
    }

    async fn revoke_key(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        self.revoke(REVOKE, id, at, entries).await
    }
}

/// Stores a key.
fn add(
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
fn list(db: &Connection) -> Result<Vec<KeyRecord>, StoreError> {
    all(db, &format!("SELECT {} FROM keys ORDER BY id", rows::KEY), [], rows::key)
}
