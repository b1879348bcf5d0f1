//! Devices: paired with a token, listed and revoked.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use rusqlite::{Connection, named_params, params};

use super::Sqlite;
use super::chain::Group;
use super::reader::{all, first};
use crate::records::{DeviceRecord, PairingRecord};
use crate::{Devices, StoreError, rows};

const OFFER: &str = "INSERT INTO pairings (id, hash, key, agent, must_confirm, made_at, \
    expires_at) VALUES (:id, :hash, :key, :agent, :must_confirm, :made_at, :expires_at)";

// Tokens that nobody took are of no use behind their time.
const FORGET: &str = "DELETE FROM pairings WHERE expires_at < ?1";

const PAIR: &str = "INSERT INTO devices (id, hash, key, agent, about, paired_at, revoked_at) \
    VALUES (:id, :hash, :key, :agent, :about, :paired_at, :revoked_at)";

const REPLACE: &str = "UPDATE devices SET revoked_at = ?2 WHERE hash = ?1 AND revoked_at IS NULL";

const REVOKE: &str = "UPDATE devices SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";

/// How long a token is remembered behind its time, so that it is told from one that never was.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

#[async_trait]
impl Devices for Sqlite {
    async fn offer_pairing(
        &self,
        pairing: &PairingRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let pairing = pairing.clone();
        self.writer.run(move |group| offer(group, &pairing, &entries)).await
    }

    async fn take_pairing(&self, hash: [u8; 32]) -> Result<Option<PairingRecord>, StoreError> {
        self.writer.run(move |group| take(group, &hash)).await
    }

    async fn pair_device(
        &self,
        device: &DeviceRecord,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        let device = device.clone();
        self.writer.run(move |group| pair(group, &device, &entries)).await
    }

    async fn devices(&self) -> Result<Vec<DeviceRecord>, StoreError> {
        self.readers.read(list).await
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

/// Stores a token.
fn offer(
    group: &mut Group<'_>,
    pairing: &PairingRecord,
    entries: &[Entry],
) -> Result<(), StoreError> {
    let before = pairing.made_at.ms().saturating_sub(KEPT_MS);
    group.db.prepare_cached(FORGET)?.execute([before])?;
    group.db.prepare_cached(OFFER)?.execute(named_params! {
        ":id": pairing.id.as_bytes(),
        ":hash": pairing.hash,
        ":key": pairing.key.as_bytes(),
        ":agent": pairing.agent,
        ":must_confirm": pairing.must_confirm,
        ":made_at": pairing.made_at.ms(),
        ":expires_at": pairing.expires_at.ms(),
    })?;
    group.append(entries)
}

/// Takes a token away, whoever shows it and whenever.
fn take(group: &mut Group<'_>, hash: &[u8; 32]) -> Result<Option<PairingRecord>, StoreError> {
    let query = format!("DELETE FROM pairings WHERE hash = ?1 RETURNING {}", rows::PAIRING);
    first(group.db, &query, [hash], rows::pairing)
}

/// Stores a device; what was paired under the same id before counts no longer.
fn pair(group: &mut Group<'_>, device: &DeviceRecord, entries: &[Entry]) -> Result<(), StoreError> {
    let at = params![device.hash, device.paired_at.ms()];
    group.db.prepare_cached(REPLACE)?.execute(at)?;
    group.db.prepare_cached(PAIR)?.execute(named_params! {
        ":id": device.id.as_bytes(),
        ":hash": device.hash,
        ":key": device.key.as_bytes(),
        ":agent": device.agent,
        ":about": device.about,
        ":paired_at": device.paired_at.ms(),
        ":revoked_at": device.revoked_at.map(Moment::ms),
    })?;
    group.append(entries)
}

/// Every device, oldest first.
fn list(db: &Connection) -> Result<Vec<DeviceRecord>, StoreError> {
    let query = format!("SELECT {} FROM devices ORDER BY id", rows::DEVICE);
    all(db, &query, [], rows::device)
}
