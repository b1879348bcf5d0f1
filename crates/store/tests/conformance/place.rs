//! Places: where the stores of one test keep their data.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_database::Database;
use portcullis_store::{Postgres, Sqlite, Store};
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
        format!("sqlite:{}", self.path().to_str().unwrap())
    }
}

/// A database where every law gets a place of its own.
pub struct House {
    database: Database,
}

impl House {
    /// Starts the database; nothing has to survive the machine here, only processes.
    pub fn start() -> House {
        House { database: Database::start(&["fsync=off"]).unwrap() }
    }

    /// Runs a law; whether it holds.
    pub fn run<F>(&self, name: &str, law: impl FnOnce(OneSchema) -> F + Send + 'static) -> bool
    where
        F: Future<Output = ()> + 'static,
    {
        let schema = name.replace("::", "_");
        let place = self.place(&schema);
        let began = std::time::Instant::now();
        // A law that breaks must not take the database with it.
        let done = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(4)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(law(place));
            runtime.shutdown_timeout(std::time::Duration::from_millis(100));
        });
        let is_held = done.join().is_ok();
        println!("{name}: {is_held} in {} ms", began.elapsed().as_millis());
        is_held
    }

    /// A schema of this name.
    pub fn place(&self, schema: &str) -> OneSchema {
        let schema: String = schema.chars().take(60).collect();
        self.database.sql(&format!("CREATE SCHEMA {schema}")).unwrap();
        OneSchema { address: self.database.address_of(&schema) }
    }

    /// Runs SQL.
    pub fn sql(&self, text: &str) {
        self.database.sql(text).unwrap();
    }

    /// The database.
    pub fn database(&mut self) -> &mut Database {
        &mut self.database
    }
}

/// One schema of a database.
pub struct OneSchema {
    address: String,
}

impl Place for OneSchema {
    fn new() -> OneSchema {
        panic!("a schema is made by its house")
    }

    fn open_as(&self, node: &str) -> Arc<dyn Store> {
        let opening = Postgres::open(&self.address, node);
        let opened =
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(opening));
        Arc::new(opened.unwrap())
    }

    fn address(&self) -> String {
        self.address.clone()
    }
}
