//! The chain: each entry gets its number and the hash of the one before it.
//!
//! Where it stands is looked up inside the transaction, because another process may have written
//! meanwhile, and kept through the group.

use portcullis_approval::audit::{Entry, Link, NOTHING};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, params};

use super::memory::{Memory, Place};
use crate::records::{AuditRecord, Head, VERDICT};
use crate::rows::{integer, number};
use crate::{StoreError, broken};

pub(super) const HEAD: &str = "SELECT seq, hash FROM heads WHERE node = ?1";

const BASE: &str =
    "SELECT base_seq, base_hash FROM chains WHERE node = ?1 AND base_seq IS NOT NULL";

const NEWEST: &str = "SELECT ifnull(max(position), 0) FROM heads";

const APPEND: &str = "INSERT INTO audit (position, node, seq, at, kind, actor, subject, owner, \
    data, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

const TOUCH: &str = "INSERT INTO chains (node, seq, hash, position) VALUES ('', 0, x'', 0)";

const UNTOUCH: &str = "DELETE FROM chains WHERE node = ''";

/// One transaction, as the jobs see it.
pub(super) struct Group<'a> {
    /// The connection it runs on.
    pub(super) db: &'a Connection,
    node: &'a str,
    began: Place,
    /// Where the chain stands now, and what else is known.
    pub(super) memory: Memory,
    /// What was appended beside verdicts.
    changes: Vec<AuditRecord>,
    /// The statements that its jobs have used, by where their text lies.
    statements: Vec<(&'static str, CachedStatement<'a>)>,
}

impl<'a> Group<'a> {
    /// Begins with what is known of the store.
    pub(super) fn begin(db: &'a Connection, node: &'a str, memory: Memory) -> Group<'a> {
        let began = memory.place;
        Group { db, node, began, memory, changes: Vec::new(), statements: Vec::new() }
    }

    /// Where the chain stands now.
    pub(super) const fn head(&self) -> Place {
        self.memory.place
    }

    /// Takes back what was appended since.
    pub(super) fn return_to(&mut self, place: Place) {
        self.memory.place = place;
        self.changes.retain(|entry| entry.position <= place.position);
    }

    /// A statement, which is looked up once for all jobs of the group.
    pub(super) fn statement(
        &mut self,
        text: &'static str,
    ) -> Result<&mut CachedStatement<'a>, StoreError> {
        let known = self.statements.iter().position(|(known, _)| std::ptr::eq(*known, text));
        let place = known.unwrap_or(self.statements.len());
        if known.is_none() {
            self.statements.push((text, self.db.prepare_cached(text)?));
        }
        let found = self.statements.get_mut(place).map(|(_, statement)| statement);
        found.ok_or_else(|| broken("a statement that was prepared is not there"))
    }

    /// Appends entries.
    pub(super) fn append(&mut self, entries: &[Entry]) -> Result<(), StoreError> {
        for entry in entries {
            let Place { seq, hash: prev, position } = self.memory.place;
            let node = self.node;
            let link = Link { node, seq: seq + 1, prev };
            let hash = entry.written().hash(&link);
            let place = Place { seq: link.seq, hash, position: position + 1 };
            self.memory.place = place;
            self.statement(APPEND)?.execute(params![
                integer(place.position),
                node,
                integer(place.seq),
                entry.at.ms(),
                entry.kind,
                entry.actor,
                entry.subject,
                entry.owner,
                &*entry.data,
                prev,
                hash,
            ])?;
            if entry.kind != VERDICT {
                self.changes.push(record(entry, &link, hash, place.position));
            }
        }
        Ok(())
    }

    /// Changes rows, and appends entries if there was something to change.
    pub(super) fn change(
        &mut self,
        text: &'static str,
        values: impl Params,
        entries: &[Entry],
    ) -> Result<bool, StoreError> {
        let changed = self.statement(text)?.execute(values)?;
        if changed > 0 {
            self.append(entries)?;
        }
        Ok(changed > 0)
    }

    /// Sees to it that the ends of all chains can be found; the newest position.
    pub(super) fn end(&mut self) -> Result<u64, StoreError> {
        if self.memory.place.seq != self.began.seq {
            self.memory.make_up(self.db, self.node)?;
        }
        Ok(self.memory.place.position)
    }

    /// Whether only verdicts were recorded since a position, which is where the group must have
    /// begun: what another process wrote meanwhile may be anything.
    pub(super) const fn is_quiet_since(&self, position: u64) -> bool {
        self.began.position == position && self.changes.is_empty()
    }

    /// Where it began, what was appended beside verdicts, and what is known from now on.
    pub(super) fn into_changes(self) -> (u64, Vec<AuditRecord>, Memory) {
        (self.began.position, self.changes, self.memory)
    }

    /// Writes something and takes it back: what is written as it was before, `SQLite` leaves.
    pub(super) fn touch(&self) -> Result<(), StoreError> {
        self.db.prepare_cached(TOUCH)?.execute([])?;
        self.db.prepare_cached(UNTOUCH)?.execute([])?;
        Ok(())
    }
}

/// An entry as it is read back.
fn record(entry: &Entry, link: &Link<'_>, hash: [u8; 32], position: u64) -> AuditRecord {
    AuditRecord {
        position,
        node: link.node.to_owned(),
        seq: link.seq,
        at: entry.at,
        kind: entry.kind.to_owned(),
        actor: entry.actor.clone(),
        subject: entry.subject.clone(),
        owner: entry.owner.clone(),
        data: entry.data.clone().into(),
        prev: link.prev,
        hash,
    }
}

/// The end of a node's chain, as it is kept.
pub(super) fn head(db: &Connection, node: &str) -> Result<Head, StoreError> {
    let (seq, hash) = read_head(db, node)?.unwrap_or((0, NOTHING));
    let base = db
        .prepare_cached(BASE)?
        .query_row([node], |row| Ok((number(row.get(0)?), row.get(1)?)))
        .optional()?;
    Ok(Head { seq, hash, position: newest(db)?, base })
}

/// The newest position of all nodes.
pub(super) fn newest(db: &Connection) -> Result<u64, StoreError> {
    Ok(db.prepare_cached(NEWEST)?.query_row([], |row| row.get(0)).map(number)?)
}

fn read_head(db: &Connection, node: &str) -> Result<Option<(u64, [u8; 32])>, StoreError> {
    let mut head = db.prepare_cached(HEAD)?;
    Ok(head.query_row([node], |row| Ok((number(row.get(0)?), row.get(1)?))).optional()?)
}
