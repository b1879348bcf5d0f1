//! Moving everything from one store into another, of whichever kind, and proving that it arrived.
//!
//! The source is read in one snapshot, the destination is written in one transaction and must be
//! empty. Afterwards the destination is read again: as many rows, with the same content. To move
//! a new table, add it to [`tables::TABLES`].

use portcullis_approval::key::hash;
use tokio::sync::mpsc;

use crate::{Postgres, Sqlite, StoreError, broken, is_postgres};
use tables::{Cell, TABLES, Table};

mod postgres;
mod sqlite;
mod tables;

/// How many rows travel at once.
const BATCH: usize = 500;

/// How many batches may wait.
const WAITING: usize = 4;

/// Rows of one table on their way.
type Batch = (usize, Vec<Vec<Cell>>);

/// What a table holds: how many rows, and the sum of their hashes, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Content {
    rows: u64,
    sum: [u64; 4],
}

impl Content {
    fn add(&mut self, row: &[Cell]) {
        self.rows += 1;
        let text: String = row.iter().map(Cell::written).collect();
        for (sum, bytes) in self.sum.iter_mut().zip(hash(&text).as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_be_bytes(*bytes));
        }
    }
}

/// What was moved: each table with its rows.
pub type Moved = Vec<(&'static str, u64)>;

/// How far a move has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whether the rows are read again, after all have come.
    pub is_check: bool,
    /// The table they are of.
    pub table: &'static str,
    /// How many rows of all tables are through.
    pub rows: u64,
    /// How many there were when it began.
    pub of: u64,
}

/// Moves everything; `progress` hears how far it has come.
///
/// # Errors
/// A store cannot be used, the destination is not empty, or what arrived is not what was sent;
/// the destination is then as it was, unless only the last was found.
pub async fn copy(
    from: &str,
    to: &str,
    mut progress: impl FnMut(Progress) + Send,
) -> Result<Moved, StoreError> {
    // Both get the shape this version knows; nothing else is written to the source.
    close(from).await?;
    close(to).await?;
    let of = count(from).await?;
    let (sender, mut between) = mpsc::channel::<Batch>(WAITING);
    let (onwards, receiver) = mpsc::channel::<Batch>(WAITING);
    let reading = tokio::spawn(read(from.to_owned(), sender));
    let writing = tokio::spawn(write(to.to_owned(), receiver));
    let mut sent = [Content::default(); TABLES.len()];
    let mut through = 0;
    while let Some((table, rows)) = between.recv().await {
        if let (Some(content), Some(Table { name, .. })) = (sent.get_mut(table), TABLES.get(table))
        {
            for row in &rows {
                content.add(row);
            }
            through += u64::try_from(rows.len()).unwrap_or(0);
            progress(Progress { is_check: false, table: name, rows: through, of });
        }
        if onwards.send((table, rows)).await.is_err() {
            // The writer has given up; it knows why.
            drop(between);
            joined(writing.await)?;
            return Err(broken("the destination took no more rows"));
        }
    }
    // A reader that failed must not let what came before be committed.
    let read = joined(reading.await);
    if read.is_err() {
        writing.abort();
    }
    read?;
    drop(onwards);
    joined(writing.await)?;
    let arrived = content(to, through, &mut progress).await?;
    for (table, (sent, arrived)) in TABLES.iter().zip(sent.iter().zip(&arrived)) {
        if sent != arrived {
            return Err(broken(&format!(
                "of `{}` {} rows were sent and {} others arrived; the destination is of no use",
                table.name, sent.rows, arrived.rows
            )));
        }
    }
    Ok(TABLES.iter().zip(&sent).map(|(table, content)| (table.name, content.rows)).collect())
}

/// What a store holds now.
async fn content(
    address: &str,
    of: u64,
    progress: &mut (impl FnMut(Progress) + Send),
) -> Result<Vec<Content>, StoreError> {
    let (sender, mut rows) = mpsc::channel::<Batch>(WAITING);
    let reading = tokio::spawn(read(address.to_owned(), sender));
    let mut content = vec![Content::default(); TABLES.len()];
    let mut through = 0;
    while let Some((table, rows)) = rows.recv().await {
        if let (Some(content), Some(Table { name, .. })) =
            (content.get_mut(table), TABLES.get(table))
        {
            for row in &rows {
                content.add(row);
            }
            through += u64::try_from(rows.len()).unwrap_or(0);
            progress(Progress { is_check: true, table: name, rows: through, of });
        }
    }
    joined(reading.await)?;
    Ok(content)
}

/// How many rows a store holds.
async fn count(address: &str) -> Result<u64, StoreError> {
    let counts: Vec<String> =
        TABLES.iter().map(|table| format!("(SELECT count(*) FROM {})", table.name)).collect();
    let text = format!("SELECT {}", counts.join(" + "));
    let counted: i64 = if is_postgres(address) {
        Postgres::connection(address).await?.query_one(&text, &[]).await?.try_get(0)?
    } else {
        let db = rusqlite::Connection::open(Sqlite::path_of(address)?)?;
        db.query_row(&text, [], |row| row.get(0))?
    };
    Ok(u64::try_from(counted).unwrap_or(0))
}

async fn close(address: &str) -> Result<(), StoreError> {
    let store = crate::open(address, "local").await?;
    store.close().await;
    Ok(())
}

async fn read(address: String, sender: mpsc::Sender<Batch>) -> Result<(), StoreError> {
    if is_postgres(&address) {
        return postgres::read(&address, sender).await;
    }
    let path = Sqlite::path_of(&address)?.to_owned();
    joined(tokio::task::spawn_blocking(move || sqlite::read(&path, &sender)).await)
}

async fn write(address: String, receiver: mpsc::Receiver<Batch>) -> Result<(), StoreError> {
    if is_postgres(&address) {
        return postgres::write(&address, receiver).await;
    }
    let path = Sqlite::path_of(&address)?.to_owned();
    joined(tokio::task::spawn_blocking(move || sqlite::write(&path, receiver)).await)
}

fn joined(done: Result<Result<(), StoreError>, tokio::task::JoinError>) -> Result<(), StoreError> {
    done.map_err(|error| StoreError::Unavailable(Box::new(error)))?
}

/// Why nothing was written.
fn not_empty(table: &str) -> StoreError {
    broken(&format!("the destination is not empty: it has rows in `{table}`; name a new one"))
}

impl Sqlite {
    /// The file that an address names.
    fn path_of(address: &str) -> Result<&str, StoreError> {
        address.strip_prefix("sqlite:").ok_or_else(|| broken("no store of this kind"))
    }
}

impl Postgres {
    /// A connection of one's own to the database.
    async fn connection(address: &str) -> Result<tokio_postgres::Client, StoreError> {
        let address = crate::postgres::Address::read(address)?;
        let (client, connection) = address.config.connect(address.tls.clone()).await?;
        tokio::spawn(connection);
        client
            .batch_execute(
                "SET statement_timeout = 0; SET lock_timeout = 0; \
                 SET idle_in_transaction_session_timeout = 0",
            )
            .await?;
        Ok(client)
    }
}
