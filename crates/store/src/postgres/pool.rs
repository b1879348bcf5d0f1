//! Connections: a few are kept, and made anew with patience while the database is away.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio_postgres::Row;

use super::address::Address;
use super::values::Statement;
use crate::{StoreError, broken};

/// How long one reading or one group may take in all, the way there and back included.
pub(super) const PATIENCE: Duration = Duration::from_secs(6);

/// How long nobody tries again after a connection failed: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Connections to one database.
pub(super) struct Connections {
    pool: Pool,
    away: Mutex<Option<Away>>,
}

/// The database did not answer.
#[derive(Clone, Copy)]
struct Away {
    until: Instant,
    pause: Duration,
}

impl Connections {
    /// None is made before it is needed.
    pub(super) fn new(address: &Address, most: usize) -> Result<Connections, StoreError> {
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.config.clone(), address.tls.clone(), manager);
        let pool = Pool::builder(manager)
            .max_size(most)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .build()
            .map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        Ok(Connections { pool, away: Mutex::default() })
    }

    /// A connection. While the database is away this fails at once, and only now and then tries.
    pub(super) async fn get(&self) -> Result<Object, StoreError> {
        let away = *self.away.lock().unwrap_or_else(PoisonError::into_inner);
        if away.is_some_and(|away| Instant::now() < away.until) && !self.pool.is_closed() {
            return Err(broken("the database did not answer a moment ago"));
        }
        let found = self.pool.get().await;
        let mut known = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            Ok(client) => {
                *known = None;
                Ok(client)
            }
            Err(error) => {
                let pause = away.map_or(FIRST_PAUSE, |away| away.pause * 2).min(LONGEST_PAUSE);
                *known = Some(Away { until: Instant::now() + pause, pause });
                Err(StoreError::Unavailable(Box::new(error)))
            }
        }
    }

    /// The rows of a query.
    pub(super) async fn query(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let reading = async {
            // A connection that the database has ended meanwhile shows it at its first use.
            match self.try_query(&statement).await {
                Err(error) if is_lost(&error) => self.try_query(&statement).await,
                found => found,
            }
        };
        within(PATIENCE, reading).await
    }

    async fn try_query(&self, statement: &Statement) -> Result<Vec<Row>, StoreError> {
        let client = self.get().await?;
        let prepared = client.prepare_cached(&statement.text).await?;
        Ok(client.query(&prepared, &statement.parameters()).await?)
    }

    /// The rows of a query, each read.
    pub(super) async fn all<T>(
        &self,
        statement: Statement,
        read: impl Fn(&dyn crate::rows::Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.query(statement).await?.iter().map(|row| read(row)).collect()
    }

    /// The first row of a query, read.
    pub(super) async fn first<T>(
        &self,
        statement: Statement,
        read: impl Fn(&dyn crate::rows::Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.query(statement).await?.first().map(|row| read(row)).transpose()
    }

    /// Closes what is idle, and refuses what comes after.
    pub(super) fn close(&self) {
        self.pool.close();
    }
}

/// Whether a connection was found broken: what was to be read can be read over another.
fn is_lost(error: &StoreError) -> bool {
    let StoreError::Unavailable(cause) = error else { return false };
    cause.downcast_ref::<tokio_postgres::Error>().is_some_and(|error| {
        let ended = error.code().is_some_and(|code| code.code().starts_with("57P"));
        error.is_closed() || ended
    })
}

/// Waits so long and no longer.
pub(super) async fn within<T>(
    patience: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let done = tokio::time::timeout(patience, work).await;
    done.unwrap_or_else(|_| Err(broken("the database did not answer in time")))
}
