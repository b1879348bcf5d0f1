//! The write-ahead log: written back into the file when it has grown long.
//!
//! `SQLite` would do so within a commit, and again within each that follows as long as somebody
//! reads what is in the log, with two syncs every time. Here it is done beside those who write, by
//! a connection of its own, and tried again only when the log has grown as much once more. Nobody
//! writes only while the little is written back that came meanwhile.
//!
//! A file that grows is synced with its length, which is a write more wherever it is kept. So the
//! log is given room before it is needed: zeros are no page of a log, and end it.

use std::ffi::c_int;
use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rusqlite::hooks::Wal;
use rusqlite::{Connection, OpenFlags};

use super::schema::BUSY;
use crate::StoreError;

/// Bytes of the log after which it is written back: large enough that a burst pays for it rarely,
/// small enough to be read again at once after a crash.
const LONG: usize = 16 << 20;

/// So many bytes of room are made at a time.
const ROOM: usize = 4 << 20;

/// What the log says about each page.
const ABOUT: usize = 24;

/// How long the log waits for those who read in it to end, before it goes on growing.
const PATIENCE: Duration = Duration::from_millis(100);

/// The log of the connection that writes.
pub(super) struct Log {
    /// Its bytes behind the last commit.
    bytes: Arc<AtomicUsize>,
    /// Its bytes when it was last tried to write it back.
    tried: usize,
    path: PathBuf,
    /// For how many bytes there is room, as far as it was made here.
    room: usize,
}

impl Log {
    /// Watches how the log of a connection grows; from now on nobody else writes it back.
    pub(super) fn watch(db: &mut Connection, path: PathBuf) -> Result<Log, StoreError> {
        let page: u32 = db.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let page = usize::try_from(page).unwrap_or(usize::MAX).saturating_add(ABOUT);
        let bytes = Arc::new(AtomicUsize::new(0));
        let known = Arc::clone(&bytes);
        db.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
            let pages = usize::try_from(pages).unwrap_or(0);
            known.store(pages.saturating_mul(page), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Log { bytes, tried: 0, path, room: 0 })
    }

    /// Whether it will soon have to grow, and is not yet as long as it gets.
    pub(super) fn wants_room(&self) -> bool {
        self.room < LONG && self.bytes.load(Ordering::Relaxed) + ROOM / 2 > self.room
    }

    /// Makes room behind the log.
    // INVARIANT: whoever calls holds the lock of those who write, of this process and all others:
    // what is written behind the end while somebody appends there would be lost.
    pub(super) fn make_room(&mut self) {
        let wanted = self.bytes.load(Ordering::Relaxed).saturating_add(ROOM);
        // Where there is no space it grows as it is written: that is tried once.
        self.room = wanted.max(self.room.saturating_add(ROOM));
        let _ = lengthen(&self.path, self.room);
    }

    /// Whether it has grown long since it was last tried to write it back.
    pub(super) fn is_long(&mut self) -> bool {
        let bytes = self.bytes.load(Ordering::Relaxed);
        if bytes < self.tried {
            self.tried = 0;
        }
        bytes >= self.tried.saturating_add(LONG)
    }

    /// Whether it should be written back now: asked once each time it has grown long.
    pub(super) fn begins(&mut self) -> bool {
        let is_long = self.is_long();
        if is_long {
            self.tried = self.bytes.load(Ordering::Relaxed);
        }
        is_long
    }
}

/// Writes back what stands in the log of a database, beside whoever writes and reads.
pub(super) fn write_back(database: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(database, flags)?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
    Ok(())
}

/// Writes the rest back and lets the log begin anew.
pub(super) fn begin_anew(db: &Connection) {
    // What fails here is tried again later, and lost is nothing: the log itself is durable.
    let _ = db.busy_timeout(PATIENCE);
    let _ = db.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()));
    let _ = db.busy_timeout(BUSY);
}

/// Writes zeros behind a file up to a length: all, or none where the disk is full.
fn lengthen(path: &Path, length: usize) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let end = file.seek(SeekFrom::End(0))?;
    let missing = usize::try_from(end).map_or(0, |end| length.saturating_sub(end));
    if missing == 0 {
        return Ok(());
    }
    let written = file.write_all(&vec![0; missing]).and_then(|()| file.sync_all());
    if written.is_err() {
        file.set_len(end)?;
    }
    written
}
