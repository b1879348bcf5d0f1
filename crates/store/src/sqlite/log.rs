//! The write-ahead log: written back into the file when it has grown long.
//!
//! `SQLite` would do so within a commit, and again within each that follows as long as somebody
//! reads what is in the log, with two syncs every time. Here it is done behind the answers, and
//! tried again only when the log has grown as much once more.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::schema::BUSY;
use crate::StoreError;

/// Pages of the log after which it is written back: large enough that a burst pays for it rarely,
/// small enough to be read again at once after a crash.
const LONG: usize = 4000;

/// How long the log waits for those who read in it to end, before it goes on growing.
const PATIENCE: Duration = Duration::from_millis(100);

/// The log of the connection that writes.
pub(super) struct Log {
    /// Its pages behind the last commit.
    pages: Arc<AtomicUsize>,
    /// Its pages when it was last tried to write it back.
    tried: usize,
}

impl Log {
    /// Watches how the log of a connection grows; from now on nobody else writes it back.
    pub(super) fn watch(db: &mut Connection) -> Result<Log, StoreError> {
        let pages = Arc::new(AtomicUsize::new(0));
        let known = Arc::clone(&pages);
        db.wal_hook(Some(move |_: &mut Wal, count: c_int| {
            known.store(usize::try_from(count).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Log { pages, tried: 0 })
    }

    /// Writes the log back if it is long, so that it begins anew.
    pub(super) fn tend(&mut self, db: &Connection) {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.tried {
            self.tried = 0;
        }
        if pages < self.tried.saturating_add(LONG) {
            return;
        }
        self.tried = pages;
        // What fails here is tried again later, and lost is nothing: the log itself is durable.
        let _ = db.busy_timeout(PATIENCE);
        let _ = db.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
        let _ = db.busy_timeout(BUSY);
    }
}
