//! Places: where the stores of one test keep their data.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_store::{Sqlite, Store};
use tempfile::TempDir;

/// Where stores that share their data can be opened, any number of times.
pub trait Place: Send + Sync {
    /// A place without data.
    fn new() -> Self
    where
        Self: Sized;

    /// Opens the store as a node of this name.
    fn open_as(&self, node: &str) -> Arc<dyn Store>;

    /// Opens the store.
    fn open(&self) -> Arc<dyn Store> {
        self.open_as("here")
    }

    /// How another process finds the place.
    fn address(&self) -> String;
}

/// One file in a directory of its own.
pub struct OneFile {
    directory: TempDir,
}

impl OneFile {
    /// The file.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("portcullis.db")
    }
}

impl Place for OneFile {
    fn new() -> OneFile {
        OneFile { directory: TempDir::new().unwrap() }
    }

    fn open_as(&self, node: &str) -> Arc<dyn Store> {
        Arc::new(Sqlite::open(self.path(), node).unwrap())
    }

    fn address(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }
}
