//! Devices: paired with a token, listed and revoked.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use tokio_postgres::Row;

use super::Postgres;
use super::values::{Statement, values};
use super::writer::Done;
use crate::records::{DeviceRecord, PairingRecord};
use crate::{Devices, StoreError, rows};

// Tokens that nobody took are of no use behind their time.
const OFFER: &str = "WITH forgotten AS (DELETE FROM pairings WHERE expires_at < $8::bigint) \
    INSERT INTO pairings (id, hash, key, agent, must_confirm, made_at, expires_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7)";

// What is replaced is counted first, so that it is gone before the new one comes.
const PAIR: &str = "WITH replaced AS (UPDATE devices SET revoked_at = $6::bigint \
    WHERE hash = $2::bytea AND revoked_at IS NULL RETURNING 1) \
    INSERT INTO devices (id, hash, key, agent, about, paired_at, revoked_at) \
    SELECT $1::bytea, $2::bytea, $3::bytea, $4::text, $5::text, $6::bigint, $7::bigint \
    FROM (SELECT count(*) FROM replaced) AS done";

const REVOKE: &str =
    "UPDATE devices SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING 1";

/// How long a token is remembered behind its time, so that it is told from one that never was.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

#[async_trait]
impl Devices for Postgres {
    async fn offer_pairing(
        &self,
        pairing: &PairingRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let values = values![
            pairing.id,
            &pairing.hash,
            pairing.key,
            &pairing.agent,
            pairing.must_confirm,
            pairing.made_at,
            pairing.expires_at,
            pairing.made_at.ms().saturating_sub(KEPT_MS),
        ];
        self.writer.run(Some(Statement::new(OFFER, values)), entries, |_| Done::stands(())).await
    }

    async fn take_pairing(&self, hash: [u8; 32]) -> Result<Option<PairingRecord>, StoreError> {
        let text = format!("DELETE FROM pairings WHERE hash = $1 RETURNING {}", rows::PAIRING);
        let read = |found: &[Row]| {
            let answer = found.first().map(|row| rows::pairing(row)).transpose();
            Done { stands: false, entries: None, answer }
        };
        self.writer.run(Some(Statement::new(text, values![&hash])), Vec::new(), read).await
    }

    async fn pair_device(
        &self,
        device: &DeviceRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let values = values![
            device.id,
            &device.hash,
            device.key,
            &device.agent,
            &device.about,
            device.paired_at,
            device.revoked_at,
        ];
        self.writer.run(Some(Statement::new(PAIR, values)), entries, |_| Done::stands(())).await
    }

    async fn devices(&self) -> Result<Vec<DeviceRecord>, StoreError> {
        let query = format!("SELECT {} FROM devices ORDER BY id", rows::DEVICE);
        self.readers.all(Statement::new(query, Vec::new()), rows::device).await
    }

    async fn revoke_device(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        self.revoke(REVOKE, id, at, entries).await
    }
}
