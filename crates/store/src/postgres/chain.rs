//! The chain: each entry gets its number and the hash of the one before it.
//!
//! Where the chain stands is read under the lock that every writer takes, whichever node it is of.

use portcullis_approval::audit::{Entry, Link, NOTHING};
use tokio_postgres::Row;

use super::values::{Statement, values};
use crate::records::VERDICT;
use crate::rows::{integer, number};
use crate::{StoreError, broken};

/// One lock for all writers of this schema.
const LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtext('portcullis writer ' || current_schema()))";

const STANDS: &str = "SELECT c.seq, c.hash, (SELECT coalesce(max(position), 0) FROM chains) \
    FROM (SELECT $1::text AS node) n LEFT JOIN chains c ON c.node = n.node";

const APPEND: &str = "INSERT INTO audit (position, node, seq, at, kind, actor, subject, owner, \
    data, prev, hash) SELECT p, $2::text, s, a, k, w, b, o, d, v, h FROM unnest($1::bigint[], \
    $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], \
    $10::bytea[], $11::bytea[]) AS e (p, s, a, k, w, b, o, d, v, h)";

const KEEP_HEAD: &str = "INSERT INTO chains (node, seq, hash, position) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (node) DO UPDATE SET seq = $2, hash = $3, position = $4";

/// The newest position of all chains.
pub(super) const NEWEST: &str = "SELECT coalesce(max(position), 0) FROM chains";

/// How far a node has written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// Behind this position everything up to the newest is its own.
    pub(super) since: u64,
    /// Its newest entry.
    pub(super) newest: u64,
    /// Its newest entry that may be more than a verdict.
    pub(super) change: u64,
}

impl Written {
    /// Nothing yet, behind what was there.
    pub(super) const fn nothing(newest: u64) -> Written {
        Written { since: newest, newest, change: newest }
    }
}

/// A chain that is about to be written, by the name of its node.
pub(super) struct Chain<'a> {
    node: &'a str,
}

/// A chain as one transaction sees and continues it.
pub(super) struct Standing<'a> {
    node: &'a str,
    seq: u64,
    hash: [u8; 32],
    began: u64,
    position: u64,
    has_changes: bool,
    entries: Columns,
}

/// What is appended, column by column.
#[derive(Default)]
struct Columns {
    positions: Vec<i64>,
    seqs: Vec<i64>,
    ats: Vec<i64>,
    kinds: Vec<String>,
    actors: Vec<String>,
    subjects: Vec<String>,
    owners: Vec<Option<String>>,
    data: Vec<String>,
    prevs: Vec<Vec<u8>>,
    hashes: Vec<Vec<u8>>,
}

impl<'a> Chain<'a> {
    /// The chain of a node.
    pub(super) const fn begin(node: &'a str) -> Chain<'a> {
        Chain { node }
    }

    /// What is sent first: the lock, and the question where the chain stands.
    pub(super) fn opening(&self) -> [Statement; 2] {
        [Statement::new(LOCK, Vec::new()), Statement::new(STANDS, values![self.node])]
    }

    /// Where it stands, from the answers; the last one tells.
    pub(super) fn standing(self, answers: &[Vec<Row>]) -> Result<Standing<'a>, StoreError> {
        let row = answers.last().and_then(|rows| rows.first());
        let row = row.ok_or_else(|| broken("the chain stands nowhere"))?;
        let seq: Option<i64> = row.try_get(0)?;
        let hash: Option<Vec<u8>> = row.try_get(1)?;
        let hash = match hash {
            Some(hash) => hash.try_into().map_err(|_| broken("a hash that is none"))?,
            None => NOTHING,
        };
        let position = number(row.try_get(2)?);
        Ok(Standing {
            node: self.node,
            seq: number(seq.unwrap_or(0)),
            hash,
            began: position,
            position,
            has_changes: false,
            entries: Columns::default(),
        })
    }
}

impl Standing<'_> {
    /// Appends entries.
    pub(super) fn append(&mut self, entries: &[Entry]) {
        for entry in entries {
            let prev = self.hash;
            let link = Link { node: self.node, seq: self.seq + 1, prev };
            self.hash = entry.written().hash(&link);
            self.seq = link.seq;
            self.position += 1;
            self.has_changes |= entry.kind != VERDICT;
            let columns = &mut self.entries;
            columns.positions.push(integer(self.position));
            columns.seqs.push(integer(self.seq));
            columns.ats.push(entry.at.ms());
            columns.kinds.push(entry.kind.to_owned());
            columns.actors.push(entry.actor.clone());
            columns.subjects.push(entry.subject.clone());
            columns.owners.push(entry.owner.clone());
            columns.data.push(entry.data.clone().into());
            columns.prevs.push(prev.to_vec());
            columns.hashes.push(self.hash.to_vec());
        }
    }

    /// What writes it down; nothing where nothing was appended.
    pub(super) fn closing(&mut self) -> Vec<Statement> {
        let columns = std::mem::take(&mut self.entries);
        if columns.positions.is_empty() {
            return Vec::new();
        }
        let Columns { positions, seqs, ats, kinds, actors, subjects, owners, data, prevs, hashes } =
            columns;
        let entries = values![
            positions, self.node, seqs, ats, kinds, actors, subjects, owners, data, prevs, hashes
        ];
        let head = values![self.node, self.seq, &self.hash, self.position];
        vec![Statement::new(APPEND, entries), Statement::new(KEEP_HEAD, head)]
    }

    /// How far the node has written with it.
    pub(super) const fn written(&self, before: Written) -> Written {
        let is_own = self.began == before.newest;
        Written {
            since: if is_own { before.since } else { self.began },
            newest: self.position,
            change: if self.has_changes { self.position } else { before.change },
        }
    }
}
