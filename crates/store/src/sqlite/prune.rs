//! Retention: what is old goes, in steps that leave room for others.
//!
//! Of a chain only that goes which lies before a checkpoint. The checkpoint becomes its base in
//! one step; from then on what lies before it does not count any more, and is removed piece by
//! piece, now or by the next who comes.

use portcullis_approval::Moment;
use rusqlite::{Connection, OptionalExtension, Params, params};

use super::chain::Group;
use super::reader::Readers;
use super::writer::Writer;
use crate::StoreError;
use crate::records::{Pruned, Retention};
use crate::rows::{integer, number};

/// How many rows are removed before others have their turn.
const STEP: i64 = 500;

/// How often what is too large is made smaller.
const ROUNDS: usize = 3;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

const ASKS: &str = "DELETE FROM asks WHERE number IN (SELECT number FROM asks WHERE id < ?2 \
    AND state <> 'pending' AND decided_at < ?1 ORDER BY id LIMIT ?3)";

const RUNS: &str = "DELETE FROM runs WHERE ended_at < ?1";

const SESSIONS: &str = "DELETE FROM sessions WHERE seen_at < ?1";

// A grant for a session is over with it.
const GRANTS: &str = "DELETE FROM grants WHERE id IN (SELECT id FROM grants g \
    WHERE revoked_at < ?1 OR expires_at < ?1 OR ifnull(used_at, made_at) < ?1 AND (uses_left = 0 \
    OR reach = 'session' AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.session = g.reach_name \
    AND (g.key IS NULL OR s.key = g.key))) LIMIT ?2)";

const CHAINS: &str = "SELECT node, ifnull(base_seq, 0), base_position FROM chains";

const CHECKPOINTS: &str = "SELECT seq, hash FROM checkpoints WHERE node = ?1 AND seq > ?2 \
    AND at < ?3 ORDER BY seq DESC";

const ENTRY: &str = "SELECT position, hash FROM audit WHERE node = ?1 AND seq = ?2 \
    AND position > ?3 ORDER BY position LIMIT 1";

// The last entry of a chain may go too: then its end is known by its base.
const MOVE_BASE: &str = "UPDATE chains SET base_seq = ?2, base_hash = ?3, base_position = ?4, \
    hash = iif(seq < ?2, ?3, hash), position = max(position, ?4), seq = max(seq, ?2) \
    WHERE node = ?1 AND ifnull(base_seq, 0) < ?2";

const OLD_CHECKPOINTS: &str = "DELETE FROM checkpoints WHERE node = ?1 AND seq < ?2";

const ENTRIES: &str = "DELETE FROM audit WHERE position IN (SELECT position FROM audit \
    WHERE node = ?1 AND position <= ?2 ORDER BY position LIMIT ?3)";

// What half of the rows is not needed for: the moment a share of the audit lies before.
const SHARE: &str = "SELECT at FROM audit WHERE position >= \
    (SELECT min(position) + (max(position) - min(position)) * ?1 / 100 FROM audit) \
    ORDER BY position LIMIT 1";

const SHARE_OF_ASKS: &str = "SELECT opened_at FROM asks WHERE number >= \
    (SELECT min(number) + (max(number) - min(number)) * ?1 / 100 FROM asks) \
    ORDER BY number LIMIT 1";

/// Where a chain can begin anew.
struct Base {
    node: String,
    seq: i64,
    hash: [u8; 32],
    position: i64,
}

/// Removes what is older or more than it may be.
pub(super) async fn prune(
    writer: &Writer,
    readers: &Readers,
    retention: &Retention,
    now: Moment,
) -> Result<Pruned, StoreError> {
    let mut pruned = Pruned::default();
    if retention.days > 0 {
        let age = integer(retention.days.saturating_mul(DAY_MS));
        remove(writer, readers, now.ms().saturating_sub(age), &mut pruned).await?;
    }
    let most = retention.megabytes.saturating_mul(1024 * 1024);
    for _ in 0..ROUNDS {
        let Some(before) = readers.read(move |db| too_much(db, most)).await? else { break };
        let so_far = pruned;
        remove(writer, readers, before, &mut pruned).await?;
        if pruned == so_far {
            break;
        }
    }
    Ok(pruned)
}

async fn remove(
    writer: &Writer,
    readers: &Readers,
    before: i64,
    pruned: &mut Pruned,
) -> Result<(), StoreError> {
    pruned.asks += in_steps(writer, move |group| {
        execute(group, ASKS, params![before, earliest_id(before), STEP])
    })
    .await?;
    writer
        .run_long(move |group| {
            execute(group, RUNS, [before])?;
            execute(group, SESSIONS, [before])
        })
        .await?;
    pruned.grants +=
        in_steps(writer, move |group| execute(group, GRANTS, params![before, STEP])).await?;

    for base in readers.read(move |db| bases(db, before)).await? {
        writer
            .run_long(move |group| {
                let values = params![base.node, base.seq, base.hash, base.position];
                execute(group, MOVE_BASE, values)?;
                execute(group, OLD_CHECKPOINTS, params![base.node, base.seq])
            })
            .await?;
    }
    for (node, _, position) in readers.read(chains).await? {
        let step = move |group: &mut Group<'_>| {
            execute(group, ENTRIES, params![node.as_str(), position, STEP])
        };
        pruned.entries += in_steps(writer, step).await?;
    }
    Ok(())
}

/// Runs a step until it finds nothing more.
async fn in_steps<F>(writer: &Writer, step: F) -> Result<u64, StoreError>
where
    F: Fn(&mut Group<'_>) -> Result<u64, StoreError> + Clone + Send + 'static,
{
    let mut all = 0;
    loop {
        let removed = writer.run_long(step.clone()).await?;
        all += removed;
        if removed < number(STEP) {
            return Ok(all);
        }
    }
}

fn execute(group: &Group<'_>, text: &str, values: impl Params) -> Result<u64, StoreError> {
    let changed = group.db.prepare_cached(text)?.execute(values)?;
    Ok(u64::try_from(changed).unwrap_or(u64::MAX))
}

/// The least id of a moment: ids begin with it.
fn earliest_id(ms: i64) -> [u8; 16] {
    let mut id = [0; 16];
    let ms = number(ms).to_be_bytes();
    for (byte, ms) in id.iter_mut().zip(ms.into_iter().skip(2)) {
        *byte = ms;
    }
    id
}

fn chains(db: &Connection) -> Result<Vec<(String, i64, i64)>, StoreError> {
    let mut query = db.prepare_cached(CHAINS)?;
    let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// The newest checkpoint of each chain that is old enough and says what the entry says.
fn bases(db: &Connection, before: i64) -> Result<Vec<Base>, StoreError> {
    let mut bases = Vec::new();
    for (node, base_seq, base_position) in chains(db)? {
        let mut checkpoints = db.prepare_cached(CHECKPOINTS)?;
        let mut entry = db.prepare_cached(ENTRY)?;
        let mut rows = checkpoints.query(params![node, base_seq, before])?;
        while let Some(row) = rows.next()? {
            let (seq, hash): (i64, [u8; 32]) = (row.get(0)?, row.get(1)?);
            let values = params![node, seq, base_position];
            let found: Option<(i64, [u8; 32])> =
                entry.query_row(values, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            if let Some((position, _)) = found.filter(|(_, real)| *real == hash) {
                bases.push(Base { node: node.clone(), seq, hash, position });
                break;
            }
        }
    }
    Ok(bases)
}

/// Before which moment things must go so that the store takes no more than `most` bytes.
fn too_much(db: &Connection, most: u64) -> Result<Option<i64>, StoreError> {
    let pragma = |name: &str| -> Result<u64, StoreError> {
        Ok(db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).map(number)?)
    };
    let used = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    let used = used.saturating_mul(pragma("page_size")?);
    if most == 0 || used <= most {
        return Ok(None);
    }
    // A little more than must be, so that it is not done again tomorrow.
    let share = 100 - integer(most.saturating_mul(90) / used.max(1)).clamp(0, 100);
    let moment = |query: &str| -> Result<Option<i64>, StoreError> {
        Ok(db.prepare_cached(query)?.query_row([share], |row| row.get(0)).optional()?)
    };
    Ok(match moment(SHARE)? {
        Some(moment) => Some(moment),
        None => moment(SHARE_OF_ASKS)?,
    })
}
