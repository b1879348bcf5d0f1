//! Keys: made, listed and revoked.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Key, Moment};

use super::Postgres;
use super::values::{Statement, values};
use crate::records::KeyRecord;
use crate::{Keys, StoreError, rows};

const ADD: &str = "WITH named AS (SELECT id FROM keys WHERE role = $2 AND name = $3 \
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $5)), \
    replaced AS (UPDATE keys SET revoked_at = $5 WHERE id IN (SELECT id FROM named) \
    AND $9::bigint = 1) \
    INSERT INTO keys (id, role, name, owners, made_at, expires_at, revoked_at, hash) \
    SELECT $1::bytea, $2::text, $3::text, $4::text, $5::bigint, $6::bigint, $7::bigint, $8::bytea \
    WHERE $9::bigint = 1 OR NOT EXISTS (SELECT 1 FROM named) RETURNING 1";

const REVOKE: &str = "UPDATE keys SET revoked_at = $2 WHERE id = $1 \
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) RETURNING 1";

#[async_trait]
impl Keys for Postgres {
    async fn add_key(
        &self,
        key: &Key,
        hash: [u8; 32],
        replaces: bool,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let values = values![
            key.id,
            key.role.name(),
            &key.name,
            rows::owners(&key.owners),
            key.made_at,
            key.expires_at,
            key.revoked_at,
            &hash,
            replaces,
        ];
        let is_added = self.writer.change(Statement::new(ADD, values), entries).await?;
        if is_added { Ok(()) } else { Err(StoreError::NameTaken(key.name.clone())) }
    }

    async fn keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        let query = format!("SELECT {} FROM keys ORDER BY id", rows::KEY);
        self.readers.all(Statement::new(query, Vec::new()), rows::key).await
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
