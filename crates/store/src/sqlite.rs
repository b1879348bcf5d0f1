//! The store in one file: `SQLite`, written by one thread and read beside it.
//!
//! A method that changes something is a job for the `writer`, which answers after the commit it
//! shares with others; a method that reads uses a connection of its own. Several processes may
//! have the file open at once.

use std::path::Path;

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use rusqlite::params;
use tokio::sync::watch;

use crate::records::{Pruned, Retention};
use crate::{Audit, Store, StoreError};
use presence::Presence;
use reader::Readers;
use writer::Writer;

mod asks;
mod audit;
mod chain;
mod conditions;
mod devices;
mod grants;
mod keys;
mod log;
mod memory;
mod pen;
mod presence;
mod prune;
mod reader;
mod runs;
mod schema;
mod tail;
mod writer;

/// A store in one file.
pub struct Sqlite {
    node: String,
    writer: Writer,
    readers: Readers,
    bell: watch::Receiver<u64>,
}

impl Sqlite {
    /// Opens the store in a file, which is made where there is none and brought to the shape this
    /// version knows. Nothing is loaded that grows with the data.
    ///
    /// # Errors
    /// The file cannot be used, or a newer version has written it.
    pub fn open(path: impl AsRef<Path>, node: &str) -> Result<Sqlite, StoreError> {
        let path = path.as_ref();
        let mut db = schema::writer(path)?;
        schema::migrate(&mut db)?;
        let (ring, bell) = watch::channel(chain::newest(&db)?);
        let writer = Writer::start(db, Presence::of(path)?, node.to_owned(), ring)?;
        Ok(Sqlite { node: node.to_owned(), writer, readers: Readers::new(path.to_owned()), bell })
    }

    /// Revokes what a statement names by its id and a moment; `false` where nothing still counts.
    async fn revoke(
        &self,
        text: &'static str,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let job = move |group: &mut chain::Group<'_>| {
            group.change(text, params![id.as_bytes(), at.ms()], &entries)
        };
        self.writer.run(job).await
    }
}

#[async_trait]
impl Store for Sqlite {
    async fn prune(&self, retention: &Retention, now: Moment) -> Result<Pruned, StoreError> {
        prune::prune(&self.writer, &self.readers, retention, now).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.writer.run(|group| group.touch()).await?;
        self.head().await.map(|_| ())
    }

    fn bell(&self) -> watch::Receiver<u64> {
        self.bell.clone()
    }

    fn newest_change(&self) -> u64 {
        self.writer.newest_change()
    }

    fn queued(&self) -> usize {
        self.writer.queued()
    }

    fn node(&self) -> &str {
        &self.node
    }

    async fn close(&self) {
        self.readers.close();
        self.writer.close().await;
    }
}
