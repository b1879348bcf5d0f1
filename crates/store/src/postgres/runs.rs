//! Runs and sessions: begun, changed and ended.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use tokio_postgres::Row;

use super::Postgres;
use super::values::{Statement, values};
use super::writer::Done;
use crate::records::{RunRecord, SessionRecord};
use crate::{Runs, StoreError, broken, rows};

/// A session that was seen within a day is kept anyway; writing that at each call would cost.
const SEEN_MS: i64 = 24 * 60 * 60 * 1000;

const BEGIN: &str = "INSERT INTO sessions (session, key, owner, root, policy, began_at, seen_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (session, key) DO UPDATE SET \
    seen_at = greatest(sessions.seen_at, excluded.seen_at), \
    root = coalesce(sessions.root, excluded.root)";

const SET_POLICY: &str =
    "UPDATE sessions SET policy = $3 WHERE session = $1 AND key = $2 RETURNING 1";

const START: &str = "INSERT INTO runs (key, run, owner, session, about, started_at, ended_at) \
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (key, run) DO UPDATE SET \
    owner = excluded.owner, session = excluded.session, about = excluded.about, \
    started_at = excluded.started_at, ended_at = excluded.ended_at \
    WHERE runs.ended_at IS NOT NULL RETURNING 1";

const CHANGE: &str = "UPDATE runs SET about = $4 \
    WHERE key = $1 AND run = $2 AND about = $3 AND ended_at IS NULL RETURNING 1";

const END: &str = "WITH ended AS (UPDATE runs SET ended_at = $3::bigint \
    WHERE key = $1 AND run = $2 AND ended_at IS NULL RETURNING 1), \
    over AS (UPDATE grants SET revoked_at = $3::bigint WHERE key = $1 AND reach_name = $2 \
    AND reach = 'run' AND revoked_at IS NULL AND EXISTS (SELECT 1 FROM ended)) \
    SELECT 1 FROM ended";

#[async_trait]
impl Runs for Postgres {
    async fn begin_session(&self, session: &SessionRecord) -> Result<SessionRecord, StoreError> {
        // Each call of a session comes by here; only its first has something to write.
        let query = format!(
            "SELECT {} FROM sessions WHERE session = $1 AND key = $2 AND seen_at > $3 \
             AND (root IS NOT NULL OR $4::text IS NULL)",
            rows::SESSION
        );
        let since = session.began_at.ms().saturating_sub(SEEN_MS);
        let values = values![&session.session, session.key, since, &session.root];
        if let Some(known) =
            self.readers.first(Statement::new(query, values), rows::session).await?
        {
            return Ok(known);
        }
        let values = values![
            &session.session,
            session.key,
            &session.owner,
            &session.root,
            &session.policy,
            session.began_at,
        ];
        let text = format!("{BEGIN} RETURNING {}", rows::SESSION);
        let read = |found: &[Row]| {
            let missing = || broken("a session that began is not there");
            let answer = found.first().ok_or_else(missing).and_then(|row| rows::session(row));
            Done { stands: false, entries: None, answer }
        };
        self.writer.run(Some(Statement::new(text, values)), Vec::new(), read).await
    }

    async fn set_session_policy(
        &self,
        key: Id,
        session: &str,
        policy: Option<String>,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let values = values![session, key, policy];
        self.writer.change(Statement::new(SET_POLICY, values), entries).await
    }

    async fn sessions(&self, session: &str) -> Result<Vec<SessionRecord>, StoreError> {
        let query =
            format!("SELECT {} FROM sessions WHERE session = $1 ORDER BY began_at", rows::SESSION);
        self.readers.all(Statement::new(query, values![session]), rows::session).await
    }

    async fn start_run(&self, run: &RunRecord, entries: Vec<Entry>) -> Result<bool, StoreError> {
        let values = values![
            run.key,
            &run.run,
            &run.owner,
            &run.session,
            &run.about,
            run.started_at,
            run.ended_at,
        ];
        self.writer.change(Statement::new(START, values), entries).await
    }

    async fn end_run(
        &self,
        key: Id,
        run: &str,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        self.writer.change(Statement::new(END, values![key, run, at]), entries).await
    }

    async fn change_run(
        &self,
        key: Id,
        run: &str,
        before: &str,
        after: String,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let values = values![key, run, before, after];
        self.writer.change(Statement::new(CHANGE, values), entries).await
    }

    async fn runs_named(&self, run: &str) -> Result<Vec<RunRecord>, StoreError> {
        let query = format!("SELECT {} FROM runs WHERE run = $1 ORDER BY started_at", rows::RUN);
        self.readers.all(Statement::new(query, values![run]), rows::run).await
    }

    async fn runs(&self, with_ended: bool) -> Result<Vec<RunRecord>, StoreError> {
        let which = if with_ended { "" } else { " WHERE ended_at IS NULL" };
        let query =
            format!("SELECT {} FROM runs{which} ORDER BY started_at, run COLLATE \"C\"", rows::RUN);
        self.readers.all(Statement::new(query, Vec::new()), rows::run).await
    }
}
