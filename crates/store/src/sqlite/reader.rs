//! Read-only connections beside the writer: reading never waits for writing.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Params};
use tokio::sync::Semaphore;

use super::schema;
use crate::rows::Row;
use crate::{StoreError, broken};

/// How many read at once.
const READERS: usize = 4;

/// The connections.
pub(super) struct Readers {
    path: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    places: Arc<Semaphore>,
}

impl Readers {
    /// None is opened before it is needed.
    pub(super) fn new(path: PathBuf) -> Readers {
        Readers { path, idle: Arc::default(), places: Arc::new(Semaphore::new(READERS)) }
    }

    /// Reads on a thread where it may block. What was committed before is seen.
    pub(super) async fn read<F, T>(&self, read: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| broken("the store is closed"))?;
        let (idle, path) = (Arc::clone(&self.idle), self.path.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            read_with(&idle, &path, read)
        });
        reading.await.map_err(|error| StoreError::Unavailable(Box::new(error)))?
    }

    /// Reads one row where it is: a page or two out of memory cost less than the way to another
    /// thread. Where a connection must be opened first, that is done as [`Readers::read`] does.
    pub(super) async fn glance<F, T>(&self, read: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        T: Send + 'static,
    {
        if self.places.is_closed() {
            return Err(broken("the store is closed"));
        }
        let waiting = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(db) = waiting else { return self.read(read).await };
        let found = read(&db);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
        found
    }

    /// Closes what is idle, and refuses what comes after.
    pub(super) fn close(&self) {
        self.places.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The rows of a query.
pub(super) fn all<T>(
    db: &Connection,
    text: &str,
    values: impl Params,
    read: impl Fn(&dyn Row) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    db.prepare_cached(text)?.query_and_then(values, |row| read(row))?.collect()
}

/// The first row of a query.
pub(super) fn first<T>(
    db: &Connection,
    text: &str,
    values: impl Params,
    read: impl Fn(&dyn Row) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    db.prepare_cached(text)?.query_and_then(values, |row| read(row))?.next().transpose()
}

fn read_with<T>(
    idle: &Mutex<Vec<Connection>>,
    path: &Path,
    read: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let waiting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let db = match waiting {
        Some(db) => db,
        None => schema::reader(path)?,
    };
    let found = read(&db);
    idle.lock().unwrap_or_else(PoisonError::into_inner).push(db);
    found
}
