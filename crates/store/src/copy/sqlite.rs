//! A store in one file, read and written whole.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use tokio::sync::mpsc;

use super::tables::{Cell, TABLES, Table};
use super::{BATCH, Batch, not_empty};
use crate::{StoreError, broken};

/// Sends every row.
pub(super) fn read(path: &str, sender: &mpsc::Sender<Batch>) -> Result<(), StoreError> {
    let mut db = Connection::open(path)?;
    // One view of all tables, whoever writes meanwhile.
    let tx = db.transaction()?;
    for (number, table) in TABLES.iter().enumerate() {
        // Where chains end is whole only in the view.
        let name = if table.name == "chains" { "heads" } else { table.name };
        let text = format!("SELECT {} FROM {name} ORDER BY 1", table.names());
        let mut query = tx.prepare(&text)?;
        let mut rows = query.query([])?;
        let mut batch = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..table.columns.len()).map(|place| Ok(cell(row.get_ref(place)?)));
            batch.push(cells.collect::<Result<Vec<Cell>, StoreError>>()?);
            if batch.len() == BATCH {
                send(sender, (number, std::mem::take(&mut batch)))?;
            }
        }
        send(sender, (number, batch))?;
    }
    Ok(())
}

fn send(sender: &mpsc::Sender<Batch>, batch: Batch) -> Result<(), StoreError> {
    sender.blocking_send(batch).map_err(|_| broken("nobody takes the rows any more"))
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        // No column of ours holds a fraction.
        ValueRef::Null | ValueRef::Real(_) => Cell::Empty,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    }
}

/// Writes every row that comes, or nothing.
pub(super) fn write(path: &str, mut rows: mpsc::Receiver<Batch>) -> Result<(), StoreError> {
    let mut db = Connection::open(path)?;
    db.pragma_update(None, "synchronous", "FULL")?;
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for table in &TABLES {
        let text = format!("SELECT count(*) FROM {}", table.name);
        if tx.query_row(&text, [], |row| row.get::<_, i64>(0))? > 0 {
            return Err(not_empty(table.name));
        }
    }
    while let Some((number, batch)) = rows.blocking_recv() {
        let Some(table) = TABLES.get(number) else { return Err(broken("no such table")) };
        let mut insert = tx.prepare_cached(&insert(table))?;
        for row in batch {
            insert.execute(params_from_iter(row.into_iter().map(value)))?;
        }
    }
    tx.commit()?;
    Ok(())
}

fn insert(table: &Table) -> String {
    let marks = vec!["?"; table.columns.len()].join(", ");
    format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, table.names())
}

fn value(cell: Cell) -> Value {
    match cell {
        Cell::Empty => Value::Null,
        Cell::Integer(number) => Value::Integer(number),
        Cell::Text(text) => Value::Text(text),
        Cell::Bytes(bytes) => Value::Blob(bytes),
    }
}
