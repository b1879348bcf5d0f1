//! Which shape the tables have.
//!
//! Migrations go forward only, and one node at a time runs them. To change the tables, add a file
//! under `migrations/postgres` and a line to [`MIGRATIONS`]; never change one that was released.
//! Nodes of two versions run side by side while a cluster is upgraded: a migration names the
//! oldest version that can still work with what it leaves.

use deadpool_postgres::Object;

use crate::{StoreError, broken};

/// One step from a version to the next; the version is how many have run.
struct Migration {
    text: &'static str,
    /// The oldest version that can still work then.
    oldest: i64,
}

const MIGRATIONS: &[Migration] = &[
    Migration { text: include_str!("../../migrations/postgres/0001_asks.sql"), oldest: 1 },
    Migration { text: include_str!("../../migrations/postgres/0002_runs.sql"), oldest: 1 },
    Migration { text: include_str!("../../migrations/postgres/0003_shared.sql"), oldest: 1 },
];

const VERSIONS: &str = "CREATE TABLE IF NOT EXISTS portcullis_schema \
    (version BIGINT PRIMARY KEY, oldest BIGINT NOT NULL)";

const FOUND: &str = "SELECT version, oldest FROM portcullis_schema ORDER BY version DESC LIMIT 1";

/// Brings the tables to the shape this version knows, in one transaction.
pub(super) async fn migrate(client: &mut Object) -> Result<(), StoreError> {
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let tx = client.transaction().await?;
    // A migration may take its time, and so may another node's.
    tx.batch_execute(
        "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
         SET LOCAL client_min_messages = warning; \
         SELECT pg_advisory_xact_lock(hashtext('portcullis schema ' || current_schema()))",
    )
    .await?;
    let is_ours = tx.query_one("SELECT to_regclass('portcullis_schema') IS NOT NULL", &[]).await?;
    let others = tx.query_one("SELECT to_regclass('asks') IS NOT NULL", &[]).await?;
    if !is_ours.try_get::<_, bool>(0)? && others.try_get::<_, bool>(0)? {
        return Err(broken("the database holds tables of another program"));
    }
    tx.batch_execute(VERSIONS).await?;
    let (found, oldest) = match tx.query_opt(FOUND, &[]).await? {
        Some(row) => (row.try_get(0)?, row.try_get(1)?),
        None => (0, 0),
    };
    if found > known {
        if oldest > known {
            return Err(StoreError::Newer { found, known });
        }
        tracing::warn!(
            "the database has schema {found} and this version knows {known}: \
             an upgrade is under way, and this node should follow"
        );
        return Ok(());
    }
    for (version, migration) in (1_i64..).zip(MIGRATIONS) {
        if version > found {
            tx.batch_execute(migration.text).await?;
            let values: [&(dyn tokio_postgres::types::ToSql + Sync); 2] =
                [&version, &migration.oldest];
            tx.execute("INSERT INTO portcullis_schema VALUES ($1, $2)", &values).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}
