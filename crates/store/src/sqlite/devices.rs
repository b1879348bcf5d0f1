//! Devices: paired with a token, listed and revoked.

use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::chain::Group;
use crate::records::{DeviceRecord, PairingRecord};
use crate::{StoreError, rows};

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

/// Stores a token.
pub(super) fn offer(
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
pub(super) fn take(
    group: &mut Group<'_>,
    hash: &[u8; 32],
) -> Result<Option<PairingRecord>, StoreError> {
    let query = format!("DELETE FROM pairings WHERE hash = ?1 RETURNING {}", rows::PAIRING);
    Ok(group.db.prepare_cached(&query)?.query_row([hash], rows::pairing).optional()?)
}

/// Stores a device; what was paired under the same id before counts no longer.
pub(super) fn pair(
    group: &mut Group<'_>,
    device: &DeviceRecord,
    entries: &[Entry],
) -> Result<(), StoreError> {
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
pub(super) fn list(db: &Connection) -> Result<Vec<DeviceRecord>, StoreError> {
    let query = format!("SELECT {} FROM devices ORDER BY id", rows::DEVICE);
    let mut query = db.prepare_cached(&query)?;
    let found = query.query_map([], rows::device)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Revokes a device that still counts.
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
