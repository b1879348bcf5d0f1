//! Retention: what is old goes, in steps that leave room for others.
//!
//! Of a chain only that goes which lies before a checkpoint. The checkpoint becomes its base in
//! one step; from then on what lies before it does not count any more, and is removed piece by
//! piece, now or by the next who comes. Any node may do it; two at once do it together.

use portcullis_approval::Moment;
use tokio_postgres::Row;

use super::pool::Connections;
use super::values::{Statement, Value, values};
use super::writer::{Done, Writer};
use crate::StoreError;
use crate::records::{Pruned, Retention};
use crate::rows::{integer, number};

/// How many rows are removed before others have their turn.
const STEP: i64 = 500;

/// How often what is too large is made smaller.
const ROUNDS: usize = 3;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

const ASKS: &str = "WITH old AS (DELETE FROM asks WHERE number IN (SELECT number FROM asks \
    WHERE id < $2 AND state <> 'pending' AND decided_at < $1 ORDER BY id LIMIT $3) RETURNING 1) \
    SELECT count(*) FROM old";

const RUNS: &str = "DELETE FROM runs WHERE ended_at < $1";

const SESSIONS: &str = "DELETE FROM sessions WHERE seen_at < $1";

const NOBODY: &str = "DELETE FROM pending WHERE asks <= 0";

// A grant for a session is over with it.
const GRANTS: &str = "WITH old AS (DELETE FROM grants WHERE id IN (SELECT id FROM grants g \
    WHERE revoked_at < $1 OR expires_at < $1 OR coalesce(used_at, made_at) < $1 AND (uses_left = 0 \
    OR reach = 'session' AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.session = g.reach_name \
    AND (g.key IS NULL OR s.key = g.key))) LIMIT $2) RETURNING 1) SELECT count(*) FROM old";

// The newest checkpoint of each chain that is old enough and says what the entry says.
const BASES: &str = "SELECT DISTINCT ON (c.node) c.node, p.seq, p.hash, e.position FROM chains c \
    JOIN checkpoints p ON p.node = c.node AND p.seq > coalesce(c.base_seq, 0) AND p.at < $1 \
    JOIN audit e ON e.node = c.node AND e.seq = p.seq AND e.hash = p.hash \
    AND e.position > c.base_position ORDER BY c.node, p.seq DESC";

const MOVE_BASE: &str = "UPDATE chains SET base_seq = $2, base_hash = $3, base_position = $4 \
    WHERE node = $1 AND coalesce(base_seq, 0) < $2";

const OLD_CHECKPOINTS: &str = "DELETE FROM checkpoints WHERE node = $1 AND seq < $2";

const ENTRIES: &str = "WITH old AS (DELETE FROM audit WHERE position IN (SELECT a.position \
    FROM audit a JOIN chains c ON c.node = a.node AND a.position <= c.base_position \
    ORDER BY a.position LIMIT $1) RETURNING 1) SELECT count(*) FROM old";

// What is removed frees no space at once; what is left counts as long as its texts are.
const IN_USE: &str = "SELECT ((SELECT coalesce(sum(400 + octet_length(input) \
    + octet_length(verdict) + octet_length(bound) + octet_length(offers)), 0) FROM ask_texts) \
    + (SELECT coalesce(sum(250 + octet_length(data)), 0) FROM audit))::bigint";

const SHARE: &str = "SELECT at FROM audit WHERE position >= \
    (SELECT min(position) + (max(position) - min(position)) * $1 / 100 FROM audit) \
    ORDER BY position LIMIT 1";

const SHARE_OF_ASKS: &str = "SELECT opened_at FROM asks WHERE number >= \
    (SELECT min(number) + (max(number) - min(number)) * $1 / 100 FROM asks) \
    ORDER BY number LIMIT 1";

/// Removes what is older or more than it may be.
pub(super) async fn prune(
    writer: &Writer,
    readers: &Connections,
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
        let Some(before) = too_much(readers, most).await? else { break };
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
    readers: &Connections,
    before: i64,
    pruned: &mut Pruned,
) -> Result<(), StoreError> {
    let earliest = || Some(earliest_id(before).to_vec());
    pruned.asks += in_steps(writer, ASKS, || values![before, earliest(), STEP]).await?;
    for (text, values) in
        [(RUNS, values![before]), (SESSIONS, values![before]), (NOBODY, Vec::new())]
    {
        execute(writer, text, values).await?;
    }
    pruned.grants += in_steps(writer, GRANTS, || values![before, STEP]).await?;
    for base in readers.query(Statement::new(BASES, values![before])).await? {
        let (node, seq): (String, i64) = (base.try_get(0)?, base.try_get(1)?);
        let (hash, position): (Vec<u8>, i64) = (base.try_get(2)?, base.try_get(3)?);
        execute(writer, MOVE_BASE, values![&node, seq, Some(hash), position]).await?;
        execute(writer, OLD_CHECKPOINTS, values![&node, seq]).await?;
    }
    pruned.entries += in_steps(writer, ENTRIES, || values![STEP]).await?;
    Ok(())
}

/// Runs a step until it finds nothing more.
async fn in_steps(
    writer: &Writer,
    text: &'static str,
    values: impl Fn() -> Vec<Value>,
) -> Result<u64, StoreError> {
    let mut all = 0;
    loop {
        let removed = execute(writer, text, values()).await?;
        all += removed;
        if removed < number(STEP) {
            return Ok(all);
        }
    }
}

/// Runs a statement; the number it says, if it says one.
async fn execute(
    writer: &Writer,
    text: &'static str,
    values: Vec<Value>,
) -> Result<u64, StoreError> {
    let read = |rows: &[Row]| {
        let count = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok());
        Done::nothing(number(count.unwrap_or(0)))
    };
    writer.run(Some(Statement::new(text, values)), Vec::new(), read).await
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

/// Before which moment things must go so that the store takes no more than `most` bytes.
async fn too_much(readers: &Connections, most: u64) -> Result<Option<i64>, StoreError> {
    let number_of = async |text: &'static str, values: Vec<Value>| {
        let found = readers.first(Statement::new(text, values), |row| row.integer(0)).await?;
        Ok::<_, StoreError>(found.flatten())
    };
    if most == 0 {
        return Ok(None);
    }
    let used = number(number_of(IN_USE, Vec::new()).await?.unwrap_or(0));
    if used <= most {
        return Ok(None);
    }
    // A little more than must be, so that it is not done again tomorrow.
    let share = 100 - integer(most.saturating_mul(90) / used.max(1)).clamp(0, 100);
    match number_of(SHARE, values![share]).await? {
        Some(moment) => Ok(Some(moment)),
        None => number_of(SHARE_OF_ASKS, values![share]).await,
    }
}
