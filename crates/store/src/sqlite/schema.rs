//! How a connection is set up, and which shape the tables have.
//!
//! Migrations go forward only. To change the tables, add a file under `migrations/sqlite` and a
//! line to [`MIGRATIONS`]; never change one that was released.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::{StoreError, broken};

/// Each brings the tables from one version to the next; the version is how many have run.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001_asks.sql"),
    include_str!("../../migrations/sqlite/0002_devices.sql"),
    include_str!("../../migrations/sqlite/0003_runs.sql"),
    include_str!("../../migrations/sqlite/0004_audit_kind.sql"),
    include_str!("../../migrations/sqlite/0005_fewer_pages.sql"),
];

/// Marks the file as ours: `pcls`.
const APPLICATION: i64 = 0x7063_6c73;

/// How long another process may hold the lock: the CLI writes for a moment.
pub(super) const BUSY: Duration = Duration::from_secs(5);

/// Statements kept ready in each connection.
const STATEMENTS: usize = 96;

/// Bytes of a page of a new file; one that is there keeps its own.
///
/// A write changes a few bytes each of a dozen pages, and all of each is hashed and written to the
/// log: with half of what `SQLite` would take, half of that.
const PAGE: i64 = 2048;

/// Kibibytes of pages kept in memory, by the writer and by each reader.
///
/// A reader's are the one piece that each connection begins with (`.cargo/config.toml`), so that
/// what readers hold does not grow with what they have read.
const WRITER_CACHE: i64 = 16 * 1024;
const READER_CACHE: i64 = 2 * 1024;

/// The connection that writes; the file is made where there is none.
pub(super) fn writer(path: &Path) -> Result<Connection, StoreError> {
    make_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    keep_statements(&db)?;
    db.pragma_update(None, "page_size", PAGE)?;
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(broken("the file system cannot keep a write-ahead log"));
    }
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    db.pragma_update(None, "cache_size", -WRITER_CACHE)?;
    Ok(db)
}

/// A connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    keep_statements(&db)?;
    db.pragma_update(None, "cache_size", -READER_CACHE)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(db)
}

/// Lets statements be prepared once: with each new value a plan that may depend on it would be
/// made again.
fn keep_statements(db: &Connection) -> Result<(), StoreError> {
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Brings the tables to the shape this version knows, in one transaction.
pub(super) fn migrate(db: &mut Connection) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if version(db)? == known && is_ours(db)? {
        return Ok(());
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read again: another process may have been first.
    let found = version(&tx)?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    let tables: i64 = tx.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && !is_ours(&tx)? {
        return Err(broken("the file is a database of another program"));
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION)?;
    tx.pragma_update(None, "user_version", known)?;
    tx.commit()?;
    Ok(())
}

fn version(db: &Connection) -> Result<i64, StoreError> {
    Ok(db.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

fn is_ours(db: &Connection) -> Result<bool, StoreError> {
    let id: i64 = db.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    Ok(id == APPLICATION)
}

/// Makes the file so that nobody else can read it; `SQLite` gives its log the same mode.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::Unavailable(Box::new(error))),
    }
}
