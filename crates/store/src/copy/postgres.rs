//! A store in a database, read and written whole.

use std::pin::pin;

use futures_util::TryStreamExt;
use tokio::sync::mpsc;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, IsolationLevel};

use super::tables::{Cell, Kind, TABLES, Table};
use super::{BATCH, Batch, not_empty};
use crate::postgres::values::{escaped, unescaped};
use crate::{Postgres, StoreError, broken};

const COUNT_PENDING: &str = "INSERT INTO pending (key, asks) SELECT key, count(*) FROM asks \
    WHERE state = 'pending' GROUP BY key ON CONFLICT (key) DO UPDATE SET asks = excluded.asks";

/// Sends every row.
pub(super) async fn read(address: &str, sender: mpsc::Sender<Batch>) -> Result<(), StoreError> {
    let mut client: Client = Postgres::connection(address).await?;
    // One view of all tables, whoever writes meanwhile.
    let tx = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead);
    let tx = tx.read_only(true).start().await?;
    for (number, table) in TABLES.iter().enumerate() {
        let text = format!("SELECT {} FROM {} ORDER BY 1", table.names(), table.name);
        let none: [&(dyn ToSql + Sync); 0] = [];
        let mut rows = pin!(tx.query_raw(&text, none).await?);
        let mut batch = Vec::new();
        while let Some(row) = rows.try_next().await? {
            let cells = table.columns.iter().enumerate().map(|(place, (_, kind))| {
                Ok(match kind {
                    Kind::Integer => row.try_get::<_, Option<i64>>(place)?.map(Cell::Integer),
                    Kind::Text => {
                        row.try_get::<_, Option<String>>(place)?.map(unescaped).map(Cell::Text)
                    }
                    Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(place)?.map(Cell::Bytes),
                }
                .unwrap_or(Cell::Empty))
            });
            batch.push(cells.collect::<Result<Vec<Cell>, StoreError>>()?);
            if batch.len() == BATCH {
                send(&sender, (number, std::mem::take(&mut batch))).await?;
            }
        }
        send(&sender, (number, batch)).await?;
    }
    Ok(())
}

async fn send(sender: &mpsc::Sender<Batch>, batch: Batch) -> Result<(), StoreError> {
    sender.send(batch).await.map_err(|_| broken("nobody takes the rows any more"))
}

/// Writes every row that comes, or nothing.
pub(super) async fn write(
    address: &str,
    mut rows: mpsc::Receiver<Batch>,
) -> Result<(), StoreError> {
    let mut client = Postgres::connection(address).await?;
    let tx = client.transaction().await?;
    for table in &TABLES {
        let text = format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", table.name);
        tx.batch_execute(&text).await?;
        let found = tx.query_opt(&format!("SELECT 1 FROM {} LIMIT 1", table.name), &[]).await?;
        if found.is_some() {
            return Err(not_empty(table.name));
        }
    }
    while let Some((number, batch)) = rows.recv().await {
        let Some(table) = TABLES.get(number) else { return Err(broken("no such table")) };
        let insert = tx.prepare(&insert(table)).await?;
        let columns = columns(table, batch);
        let values: Vec<&(dyn ToSql + Sync)> =
            columns.iter().map(|column| &**column as &(dyn ToSql + Sync)).collect();
        tx.execute(&insert, &values).await?;
    }
    for table in TABLES.iter().filter(|table| table.is_counted) {
        let name = table.name;
        tx.batch_execute(&format!(
            "SELECT setval(pg_get_serial_sequence('{name}', 'number'), \
             (SELECT coalesce(max(number), 0) + 1 FROM {name}), false)"
        ))
        .await?;
    }
    tx.batch_execute(COUNT_PENDING).await?;
    tx.commit().await?;
    Ok(())
}

fn insert(table: &Table) -> String {
    let arrays: Vec<String> = table
        .columns
        .iter()
        .enumerate()
        .map(|(place, (_, kind))| {
            let kind = match kind {
                Kind::Integer => "bigint",
                Kind::Text => "text",
                Kind::Bytes => "bytea",
            };
            format!("${}::{kind}[]", place + 1)
        })
        .collect();
    let overriding = if table.is_counted { " OVERRIDING SYSTEM VALUE" } else { "" };
    format!(
        "INSERT INTO {} ({}){overriding} SELECT * FROM unnest({})",
        table.name,
        table.names(),
        arrays.join(", ")
    )
}

/// The rows of a batch, column by column.
fn columns(table: &Table, batch: Vec<Vec<Cell>>) -> Vec<Box<dyn ToSql + Sync + Send>> {
    let mut columns: Vec<Vec<Cell>> = table.columns.iter().map(|_| Vec::new()).collect();
    for row in batch {
        for (column, cell) in columns.iter_mut().zip(row) {
            column.push(cell);
        }
    }
    let columns = table.columns.iter().zip(columns);
    columns.map(|((_, kind), cells)| array(*kind, cells)).collect()
}

fn array(kind: Kind, cells: Vec<Cell>) -> Box<dyn ToSql + Sync + Send> {
    let integer = |cell: Cell| if let Cell::Integer(number) = cell { Some(number) } else { None };
    let bytes = |cell: Cell| if let Cell::Bytes(bytes) = cell { Some(bytes) } else { None };
    let text = |cell: Cell| match cell {
        Cell::Text(text) => Some(escaped(&text).into_owned()),
        Cell::Empty | Cell::Integer(_) | Cell::Bytes(_) => None,
    };
    match kind {
        Kind::Integer => Box::new(cells.into_iter().map(integer).collect::<Vec<Option<i64>>>()),
        Kind::Text => Box::new(cells.into_iter().map(text).collect::<Vec<Option<String>>>()),
        Kind::Bytes => Box::new(cells.into_iter().map(bytes).collect::<Vec<Option<Vec<u8>>>>()),
    }
}
