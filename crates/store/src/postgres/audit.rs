//! The audit as it is read, and the checkpoints.

use async_trait::async_trait;
use portcullis_approval::audit::{Checkpoint, NOTHING};

use super::Postgres;
use super::values::{Conditions, Statement, values};
use super::writer::Done;
use crate::records::{AuditFilter, AuditRecord, Head};
use crate::rows::number;
use crate::{Audit, StoreError, broken, rows};

const HEAD: &str = "SELECT c.seq, c.hash, c.base_seq, c.base_hash, \
    (SELECT coalesce(max(position), 0) FROM chains) \
    FROM (SELECT $1::text AS node) n LEFT JOIN chains c ON c.node = n.node";

const ADD_CHECKPOINT: &str = "INSERT INTO checkpoints (node, seq, hash, at, key, signature) \
    VALUES ($1, $2, $3, $4, $5, $6)";

// What lies before the base of its chain is about to be removed and does not count any more.
const NOT_HIDDEN: &str = "NOT EXISTS (SELECT 1 FROM chains c WHERE c.node = audit.node \
    AND audit.position <= c.base_position)";

#[async_trait]
impl Audit for Postgres {
    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.with("position >", filter.after);
        conditions.maybe("position <", filter.before);
        conditions.owners("owner", &filter.owners);
        conditions.maybe("at >=", filter.since);
        conditions.maybe("subject =", filter.subject.as_ref());
        conditions.plain(NOT_HIDDEN);
        let order = if filter.before.is_some() { "position DESC" } else { "position" };
        let select = format!("SELECT {} FROM audit", rows::ENTRY);
        let statement = if filter.kinds.is_empty() {
            conditions.query(&select, order, filter.limit)
        } else {
            // Each kind is read in order by its index; all kinds at once would have to be sorted.
            conditions.plain("kind = k.kind");
            let limit = conditions.take(filter.limit);
            let kinds = conditions.take(filter.kinds.clone());
            let text = format!(
                "SELECT f.* FROM (SELECT DISTINCT kind FROM unnest({kinds}::text[]) AS u (kind)) k \
                 CROSS JOIN LATERAL ({select}{} ORDER BY {order} LIMIT{limit}) f \
                 ORDER BY {order} LIMIT{limit}",
                conditions.text()
            );
            conditions.statement(text)
        };
        self.readers.all(statement, rows::entry).await
    }

    async fn head(&self) -> Result<Head, StoreError> {
        let query = Statement::new(HEAD, values![self.node.as_str()]);
        let read = |row: &dyn rows::Row| {
            let hash = |bytes: Vec<u8>| bytes.try_into().map_err(|_| broken("no hash"));
            let (seq, base) = (row.integer(0)?, row.integer(2)?);
            let base = match (base, row.bytes(3)?) {
                (Some(seq), Some(bytes)) => Some((number(seq), hash(bytes)?)),
                _ => None,
            };
            Ok(Head {
                seq: number(seq.unwrap_or(0)),
                hash: row.bytes(1)?.map_or(Ok(NOTHING), hash)?,
                position: number(row.integer(4)?.unwrap_or(0)),
                base,
            })
        };
        self.readers.first(query, read).await?.ok_or_else(|| broken("the chain stands nowhere"))
    }

    async fn add_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let Checkpoint { node, seq, hash, at, key, signature } = checkpoint;
        let values = values![node, *seq, hash, *at, key, signature];
        let statement = Statement::new(ADD_CHECKPOINT, values);
        self.writer.run(Some(statement), Vec::new(), |_| Done::nothing(())).await
    }

    async fn checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        let query = format!("SELECT {} FROM checkpoints ORDER BY number", rows::CHECKPOINT);
        self.readers.all(Statement::new(query, Vec::new()), rows::checkpoint).await
    }
}
