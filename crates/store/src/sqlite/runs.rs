//! Runs and sessions: begun, changed and ended.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use rusqlite::{Connection, named_params, params};

use super::Sqlite;
use super::chain::Group;
use super::reader::{all, first};
use crate::records::{RunRecord, SessionRecord};
use crate::{Runs, StoreError, broken, rows};

/// A session that was seen within a day is kept anyway; writing that at each call would cost.
const SEEN_MS: i64 = 24 * 60 * 60 * 1000;

const BEGIN: &str = "INSERT INTO sessions (session, key, owner, root, policy, began_at, seen_at) \
    VALUES (:session, :key, :owner, :root, :policy, :at, :at) ON CONFLICT (session, key) \
    DO UPDATE SET seen_at = max(seen_at, :at), root = ifnull(root, :root)";

const SET_POLICY: &str = "UPDATE sessions SET policy = ?3 WHERE session = ?1 AND key = ?2";

const START: &str = "INSERT INTO runs (key, run, owner, session, about, started_at, ended_at) \
    VALUES (:key, :run, :owner, :session, :about, :started_at, :ended_at) ON CONFLICT (key, run) \
    DO UPDATE SET owner = :owner, session = :session, about = :about, started_at = :started_at, \
    ended_at = :ended_at WHERE runs.ended_at IS NOT NULL";

const CHANGE: &str = "UPDATE runs SET about = ?4 \
    WHERE key = ?1 AND run = ?2 AND about = ?3 AND ended_at IS NULL";

const END: &str = "UPDATE runs SET ended_at = ?3 WHERE key = ?1 AND run = ?2 AND ended_at IS NULL";

const END_GRANTS: &str = "UPDATE grants SET revoked_at = ?3 WHERE key = ?1 AND reach_name = ?2 \
    AND reach = 'run' AND revoked_at IS NULL";

#[async_trait]
impl Runs for Sqlite {
    async fn begin_session(&self, session: &SessionRecord) -> Result<SessionRecord, StoreError> {
        // Each call of a session comes by here; only its first has something to write.
        let asked = session.clone();
        let known = self.readers.read(move |db| known_session(db, &asked)).await?;
        if let Some(known) = known {
            return Ok(known);
        }
        let session = session.clone();
        self.writer.run(move |group| begin_session(group, &session)).await
    }

    async fn set_session_policy(
        &self,
        key: Id,
        session: &str,
        policy: Option<String>,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let session = session.to_owned();
        let job = move |group: &mut Group<'_>| {
            set_policy(group, key, &session, policy.as_deref(), &entries)
        };
        self.writer.run(job).await
    }

    async fn sessions(&self, session: &str) -> Result<Vec<SessionRecord>, StoreError> {
        let session = session.to_owned();
        self.readers.read(move |db| sessions(db, &session)).await
    }

    async fn start_run(&self, run: &RunRecord, entries: Vec<Entry>) -> Result<bool, StoreError> {
        let run = run.clone();
        self.writer.run(move |group| start(group, &run, &entries)).await
    }

    async fn end_run(
        &self,
        key: Id,
        run: &str,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let run = run.to_owned();
        self.writer.run(move |group| end(group, key, &run, at, &entries)).await
    }

    async fn change_run(
        &self,
        key: Id,
        run: &str,
        before: &str,
        after: String,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        let (run, before) = (run.to_owned(), before.to_owned());
        let changed = Change { key, run, before, after };
        self.writer.run(move |group| change(group, &changed, &entries)).await
    }

    async fn runs_named(&self, run: &str) -> Result<Vec<RunRecord>, StoreError> {
        let run = run.to_owned();
        self.readers.read(move |db| named(db, &run)).await
    }

    async fn runs(&self, with_ended: bool) -> Result<Vec<RunRecord>, StoreError> {
        self.readers.read(move |db| list(db, with_ended)).await
    }
}

/// The session of this name and key, if nothing about it has to be written.
fn known_session(
    db: &Connection,
    session: &SessionRecord,
) -> Result<Option<SessionRecord>, StoreError> {
    let query = format!(
        "SELECT {} FROM sessions WHERE session = ?1 AND key = ?2 AND seen_at > ?3 \
         AND (root IS NOT NULL OR ?4 IS NULL)",
        rows::SESSION
    );
    let since = session.began_at.ms().saturating_sub(SEEN_MS);
    let values = params![session.session, session.key.as_bytes(), since, session.root];
    first(db, &query, values, rows::session)
}

/// Begins a session, or finds it.
fn begin_session(
    group: &mut Group<'_>,
    session: &SessionRecord,
) -> Result<SessionRecord, StoreError> {
    group.db.prepare_cached(BEGIN)?.execute(named_params! {
        ":session": session.session,
        ":key": session.key.as_bytes(),
        ":owner": session.owner,
        ":root": session.root,
        ":policy": session.policy,
        ":at": session.began_at.ms(),
    })?;
    let query = format!("SELECT {} FROM sessions WHERE session = ?1 AND key = ?2", rows::SESSION);
    let values = params![session.session, session.key.as_bytes()];
    let begun = first(group.db, &query, values, rows::session)?;
    begun.ok_or_else(|| broken("a session that began is not there"))
}

/// Sets what the policy of a session says besides the files.
fn set_policy(
    group: &mut Group<'_>,
    key: Id,
    session: &str,
    policy: Option<&str>,
    entries: &[Entry],
) -> Result<bool, StoreError> {
    let values = params![session, key.as_bytes(), policy];
    group.change(SET_POLICY, values, entries)
}

/// The sessions of a name.
fn sessions(db: &Connection, name: &str) -> Result<Vec<SessionRecord>, StoreError> {
    let query =
        format!("SELECT {} FROM sessions WHERE session = ?1 ORDER BY began_at", rows::SESSION);
    all(db, &query, [name], rows::session)
}

/// Stores a run, unless it goes on already.
fn start(group: &mut Group<'_>, run: &RunRecord, entries: &[Entry]) -> Result<bool, StoreError> {
    let values = named_params! {
        ":key": run.key.as_bytes(),
        ":run": run.run,
        ":owner": run.owner,
        ":session": run.session,
        ":about": run.about,
        ":started_at": run.started_at.ms(),
        ":ended_at": run.ended_at.map(Moment::ms),
    };
    group.change(START, values, entries)
}

/// What is known about a run, before and after.
struct Change {
    key: Id,
    run: String,
    before: String,
    after: String,
}

/// Changes what is known about a run, unless somebody did so meanwhile.
fn change(group: &mut Group<'_>, change: &Change, entries: &[Entry]) -> Result<bool, StoreError> {
    let values = params![change.key.as_bytes(), change.run, change.before, change.after];
    group.change(CHANGE, values, entries)
}

/// The runs of a name.
fn named(db: &Connection, name: &str) -> Result<Vec<RunRecord>, StoreError> {
    let query = format!("SELECT {} FROM runs WHERE run = ?1 ORDER BY started_at", rows::RUN);
    all(db, &query, [name], rows::run)
}

/// Ends a run and its grants.
fn end(
    group: &mut Group<'_>,
    key: Id,
    run: &str,
    at: Moment,
    entries: &[Entry],
) -> Result<bool, StoreError> {
    let values = params![key.as_bytes(), run, at.ms()];
    let changed = group.db.prepare_cached(END)?.execute(values)?;
    if changed == 0 {
        return Ok(false);
    }
    group.db.prepare_cached(END_GRANTS)?.execute(values)?;
    group.append(entries)?;
    Ok(true)
}

/// Runs, oldest first.
fn list(db: &Connection, with_ended: bool) -> Result<Vec<RunRecord>, StoreError> {
    let which = if with_ended { "" } else { " WHERE ended_at IS NULL" };
    let query = format!("SELECT {} FROM runs{which} ORDER BY started_at, run", rows::RUN);
    all(db, &query, [], rows::run)
}
