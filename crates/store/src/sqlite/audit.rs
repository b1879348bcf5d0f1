//! The audit as it is read, and the checkpoints.

use async_trait::async_trait;
use portcullis_approval::audit::Checkpoint;
use rusqlite::{Connection, params, params_from_iter};

use super::Sqlite;
use super::chain::{self, Group, newest};
use super::conditions::Conditions;
use super::reader::all;
use crate::records::VERDICT;
use crate::records::{AuditFilter, AuditRecord, Head};
use crate::rows::integer;
use crate::{Audit, StoreError, rows};

const ADD_CHECKPOINT: &str = "INSERT INTO checkpoints (node, seq, hash, at, key, signature) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

// What lies before the base of its chain is about to be removed and does not count any more.
const HIDDEN: &str = "SELECT node, base_position FROM chains \
    WHERE base_position >= (SELECT min(position) FROM audit)";

#[async_trait]
impl Audit for Sqlite {
    async fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError> {
        let filter = filter.clone();
        let is_at_hand = self.bell.borrow().saturating_sub(filter.after) <= AT_HAND;
        let list = move |db: &Connection| list(db, &filter);
        if is_at_hand { self.readers.glance(list).await } else { self.readers.read(list).await }
    }

    async fn news(&self, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError> {
        match self.writer.recorded(filter) {
            Some(recorded) => Ok(recorded),
            None => self.audit(filter).await,
        }
    }

    async fn head(&self) -> Result<Head, StoreError> {
        let node = self.node.clone();
        self.readers.glance(move |db| chain::head(db, &node)).await
    }

    async fn add_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        let checkpoint = checkpoint.clone();
        self.writer.run(move |group| add_checkpoint(group, &checkpoint)).await
    }

    async fn checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        self.readers.read(checkpoints).await
    }
}

/// So few entries behind the newest are read where they are asked for.
const AT_HAND: u64 = 64;

/// So many entries are looked through one by one rather than found by their kind.
const NEAR: u64 = 2048;

/// The entries a filter names: in order, or from the newest where it says before what.
fn list(db: &Connection, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError> {
    // One view of the tables for all queries.
    let tx = db.unchecked_transaction()?;
    let found = match filter.kinds.as_slice() {
        [] => of_kind(&tx, filter, None)?,
        // Whoever keeps up with the newest entries finds them at the end of the table.
        kinds if newest(&tx)?.saturating_sub(filter.after) <= NEAR => near(&tx, filter, kinds)?,
        [kind] => of_kind(&tx, filter, Some(kind))?,
        // Each kind is read in order by its index; all kinds at once would have to be sorted.
        kinds => {
            let mut found = Vec::new();
            for kind in kinds {
                found.extend(of_kind(&tx, filter, Some(kind))?);
            }
            found.sort_unstable_by_key(|record| record.position);
            found.dedup_by_key(|record| record.position);
            if filter.before.is_some() {
                found.reverse();
            }
            found.truncate(filter.limit);
            found
        }
    };
    Ok(found)
}

fn of_kind(
    db: &Connection,
    filter: &AuditFilter,
    kind: Option<&String>,
) -> Result<Vec<AuditRecord>, StoreError> {
    select(db, filter, of_one_kind(kind))
}

/// Entries of one kind, if it says which: by their index, which knows no verdicts.
fn of_one_kind(kind: Option<&String>) -> Conditions {
    let mut conditions = Conditions::default();
    if kind.is_some_and(|kind| kind != VERDICT) {
        // Said in the text, so that the index is seen to fit.
        conditions.plain(&format!("kind <> '{VERDICT}'"));
    }
    conditions.maybe("kind =", kind.cloned());
    conditions
}

/// Entries near the end, of several kinds.
fn near(
    db: &Connection,
    filter: &AuditFilter,
    kinds: &[String],
) -> Result<Vec<AuditRecord>, StoreError> {
    let mut conditions = Conditions::default();
    // The sign keeps the index of kinds out of it: the table itself is in order.
    conditions.one_of("+kind", kinds);
    select(db, filter, conditions)
}

fn select(
    db: &Connection,
    filter: &AuditFilter,
    mut conditions: Conditions,
) -> Result<Vec<AuditRecord>, StoreError> {
    conditions.with("position >", integer(filter.after));
    conditions.maybe("position <", filter.before.map(integer));
    conditions.owners("owner", &filter.owners);
    conditions.maybe("at >=", filter.since.map(portcullis_approval::Moment::ms));
    conditions.maybe("subject =", filter.subject.clone());
    for (node, position) in hidden(db)? {
        conditions.beyond(node, position);
    }
    let select = format!("SELECT {} FROM audit", rows::ENTRY);
    let order = if filter.before.is_some() { "position DESC" } else { "position" };
    let (text, values) = conditions.query(&select, order, filter.limit);
    all(db, &text, params_from_iter(values), rows::entry)
}

fn hidden(db: &Connection) -> Result<Vec<(String, i64)>, StoreError> {
    let mut query = db.prepare_cached(HIDDEN)?;
    let found = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Keeps a signed statement about a chain.
fn add_checkpoint(group: &mut Group<'_>, checkpoint: &Checkpoint) -> Result<(), StoreError> {
    let Checkpoint { node, seq, hash, at, key, signature } = checkpoint;
    let values = params![node, integer(*seq), hash, at.ms(), key, signature];
    group.db.prepare_cached(ADD_CHECKPOINT)?.execute(values)?;
    Ok(())
}

/// Every kept statement, oldest first.
fn checkpoints(db: &Connection) -> Result<Vec<Checkpoint>, StoreError> {
    let query = format!("SELECT {} FROM checkpoints ORDER BY number", rows::CHECKPOINT);
    all(db, &query, [], rows::checkpoint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::schema;

    fn plan(kind: Option<&str>) -> String {
        let mut db = Connection::open_in_memory().unwrap();
        schema::migrate(&mut db).unwrap();
        let kind = kind.map(str::to_owned);
        let mut conditions = of_one_kind(kind.as_ref());
        conditions.with("position >", 7_i64);
        let (text, values) =
            conditions.query("EXPLAIN QUERY PLAN SELECT data FROM audit", "position", 10);
        let mut query = db.prepare(&text).unwrap();
        let steps = query.query_map(params_from_iter(values), |row| row.get::<_, String>(3));
        steps.unwrap().map(Result::unwrap).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn entries_of_a_kind_are_found_by_the_index_and_verdicts_by_where_they_stand() {
        let settled = plan(Some("ask.settled"));
        assert!(settled.contains("USING INDEX audit_kind"), "{settled}");
        assert!(!settled.contains("TEMP B-TREE"), "{settled}");
        for kind in [Some(VERDICT), None] {
            let all = plan(kind);
            assert!(all.contains("INTEGER PRIMARY KEY"), "{all}");
            assert!(!all.contains("TEMP B-TREE"), "{all}");
        }
    }
}
