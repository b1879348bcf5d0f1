//! What is known of the store from one group to the next: where the chain stands, and how many
//! asks of each key are pending. It counts as long as nobody else has written.

use std::collections::HashMap;

use portcullis_approval::audit::NOTHING;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::chain::{HEAD, newest};
use crate::StoreError;
use crate::rows::{integer, number};

/// Changes when another connection has written, of this process or another.
const VERSION: &str = "PRAGMA data_version";

/// The ends of other nodes' chains that stand in their last entry only.
const BEHIND: &str = "SELECT h.node, h.seq, h.hash, h.position FROM heads h JOIN chains c \
    USING (node) WHERE h.seq > c.seq AND h.node <> ?1";

const KEEP_HEAD: &str = "INSERT INTO chains (node, seq, hash, position) VALUES (?1, ?2, ?3, ?4) \
    ON CONFLICT (node) DO UPDATE SET seq = ?2, hash = ?3, position = ?4";

const PENDING_OF_KEY: &str = "SELECT count(*) FROM asks WHERE key = ?1 AND state = 'pending'";

/// Where a chain stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The number of its last entry, and its hash.
    pub(super) seq: u64,
    pub(super) hash: [u8; 32],
    /// The newest position of all nodes.
    pub(super) position: u64,
}

/// What is known.
pub(super) struct Memory {
    version: i64,
    /// Where the chain of this node stands.
    pub(super) place: Place,
    /// Whether `chains` names this node.
    is_listed: bool,
    /// Where the chain of the node stands that wrote last, if `chains` does not know it.
    other: Option<(String, Place)>,
    pending: HashMap<[u8; 16], u64>,
}

impl Memory {
    /// What was known, or what the store says where somebody else has written meanwhile. Asked
    /// inside a transaction that may write: until that ends nobody else does.
    pub(super) fn recall(
        kept: Option<Memory>,
        db: &Connection,
        node: &str,
    ) -> Result<Memory, StoreError> {
        let version = db.prepare_cached(VERSION)?.query_row([], |row| row.get(0))?;
        if let Some(kept) = kept.filter(|kept| kept.version == version) {
            return Ok(kept);
        }
        let mut head = db.prepare_cached(HEAD)?;
        let head: Option<(u64, [u8; 32])> =
            head.query_row([node], |row| Ok((number(row.get(0)?), row.get(1)?))).optional()?;
        let mut behind = db.prepare_cached(BEHIND)?;
        let other = behind.query_row([node], |row| Ok((row.get(0)?, place(row)?))).optional()?;
        let (seq, hash) = head.unwrap_or((0, NOTHING));
        Ok(Memory {
            version,
            place: Place { seq, hash, position: newest(db)? },
            is_listed: head.is_some(),
            other,
            pending: HashMap::new(),
        })
    }

    /// Makes up `chains` for entries that were appended: it must name this node, and know the ends
    /// of all other chains.
    pub(super) fn make_up(&mut self, db: &Connection, node: &str) -> Result<(), StoreError> {
        if let Some((other, place)) = self.other.take() {
            keep_head(db, &other, &place)?;
        }
        if !self.is_listed {
            keep_head(db, node, &self.place)?;
            self.is_listed = true;
        }
        Ok(())
    }

    /// How many asks of a key are pending.
    pub(super) fn pending(&mut self, db: &Connection, key: [u8; 16]) -> Result<u64, StoreError> {
        if let Some(known) = self.pending.get(&key) {
            return Ok(*known);
        }
        let mut count = db.prepare_cached(PENDING_OF_KEY)?;
        let counted = count.query_row([key], |row| row.get(0)).map(number)?;
        self.pending.insert(key, counted);
        Ok(counted)
    }

    /// One more ask of a key is pending.
    pub(super) fn one_more(&mut self, key: [u8; 16]) {
        if let Some(count) = self.pending.get_mut(&key) {
            *count += 1;
        }
    }

    /// One ask less of a key is pending.
    pub(super) fn one_less(&mut self, key: [u8; 16]) {
        if let Some(count) = self.pending.get_mut(&key) {
            *count = count.saturating_sub(1);
        }
    }

    /// Counts anew from now on: something was taken back.
    pub(super) fn recount(&mut self) {
        self.pending.clear();
    }
}

fn keep_head(db: &Connection, node: &str, place: &Place) -> Result<(), StoreError> {
    let Place { seq, hash, position } = place;
    let values = params![node, integer(*seq), hash, integer(*position)];
    db.prepare_cached(KEEP_HEAD)?.execute(values)?;
    Ok(())
}

fn place(row: &Row<'_>) -> rusqlite::Result<Place> {
    let (seq, position) = (number(row.get(1)?), number(row.get(3)?));
    Ok(Place { seq, hash: row.get(2)?, position })
}
