//! The store of several nodes: PostgreSQL, written by one task of each node in turn.
//!
//! A method that changes something is a job for the `writer`, which answers after the commit it
//! shares with others; a method that reads takes a connection of the pool. Any number of nodes may
//! have the database open at once; the `bell` tells each what the others did.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use tokio::sync::{oneshot, watch};

use crate::records::{Called, Pruned, Retention, Signing};
use crate::rows::number;
use crate::{Audit, Store, StoreError, broken};
pub(crate) use address::Address;
use pool::Connections;
use values::{Statement, values};
use writer::{Done, Writer};

mod address;
mod asks;
mod audit;
mod bell;
mod chain;
mod devices;
mod grants;
mod keys;
mod pool;
mod prune;
mod runs;
mod schema;
mod shared;
mod tls;
pub(crate) mod values;
mod writer;

/// How many connections of a node read at once.
const READERS: usize = 12;

/// Writes something and takes it back.
const TOUCH: &str = "WITH touched AS (INSERT INTO chains (node, seq, hash, position) \
    VALUES ('', 0, '', 0) ON CONFLICT DO NOTHING RETURNING 1) \
    SELECT count(*) FROM touched";

const UNTOUCH: &str = "DELETE FROM chains WHERE node = ''";

const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A store in a database.
pub struct Postgres {
    node: String,
    writer: Writer,
    readers: Connections,
    bell: watch::Receiver<u64>,
    changed: Arc<AtomicU64>,
    is_alone: bool,
    /// Ends the bell when it is dropped or sent.
    _stop: oneshot::Sender<()>,
}

impl Postgres {
    /// Opens the store at a `postgres://` address, whose tables are made where there are none and
    /// brought to the shape this version knows.
    ///
    /// # Errors
    /// The database cannot be reached or used, or a newer version has changed it.
    pub async fn open(address: &str, node: &str) -> Result<Postgres, StoreError> {
        let address = Address::read(address)?;
        let readers = Connections::new(&address, READERS)?;
        let (newest, is_alone) = {
            let mut client = readers.get().await?;
            schema::migrate(&mut client).await?;
            let newest: i64 = client.query_one(chain::NEWEST, &[]).await?.try_get(0)?;
            let others: i64 = client.query_one(bell::OTHERS, &[]).await?.try_get(0)?;
            (number(newest), others == 0)
        };
        let (ring, bell, changed) = bell::Bell::new(newest);
        let (wrote, written) = watch::channel(chain::Written::nothing(newest));
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(bell::tend(address.clone(), written, ring, stopped));
        let writer = Writer::start(Connections::new(&address, 1)?, node.to_owned(), wrote);
        let node = node.to_owned();
        Ok(Postgres { node, writer, readers, bell, changed, is_alone, _stop: stop })
    }

    /// Revokes what a statement names by its id and a moment; `false` where nothing still counts.
    async fn revoke(
        &self,
        text: &'static str,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        self.writer.change(Statement::new(text, values![id, at]), entries).await
    }
}

#[async_trait]
impl Store for Postgres {
    async fn prune(&self, retention: &Retention, now: Moment) -> Result<Pruned, StoreError> {
        prune::prune(&self.writer, &self.readers, retention, now).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        for text in [TOUCH, UNTOUCH] {
            let done = |_: &[tokio_postgres::Row]| Done::nothing(());
            self.writer.run(Some(Statement::new(text, Vec::new())), Vec::new(), done).await?;
        }
        self.head().await.map(|_| ())
    }

    async fn clock(&self) -> Result<Option<Moment>, StoreError> {
        let rows = self.readers.query(Statement::new(CLOCK, Vec::new())).await?;
        let row = rows.first().ok_or_else(|| broken("the database has no clock"))?;
        Ok(Some(Moment::from_ms(row.try_get(0)?)))
    }

    async fn policy(&self) -> Result<Option<String>, StoreError> {
        self.shared_policy().await
    }

    async fn set_policy(&self, text: &str) -> Result<(), StoreError> {
        self.share_policy(text).await
    }

    async fn signing_key(&self, own: [u8; 32]) -> Result<Signing, StoreError> {
        self.agree(own).await
    }

    async fn share_calls(&self, node: Id, own: &[Called]) -> Result<Vec<Called>, StoreError> {
        self.tell_calls(node, own).await
    }

    fn is_alone(&self) -> bool {
        self.is_alone
    }

    fn bell(&self) -> watch::Receiver<u64> {
        self.bell.clone()
    }

    fn newest_change(&self) -> u64 {
        self.changed.load(Ordering::Acquire)
    }

    fn queued(&self) -> usize {
        self.writer.queued()
    }

    fn node(&self) -> &str {
        &self.node
    }

    async fn close(&self) {
        self.writer.close().await;
        self.readers.close();
    }
}
