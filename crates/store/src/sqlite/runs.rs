//! Runs and sessions: begun, changed and ended.

use portcullis_approval::audit::Entry;
use portcullis_approval::{Id, Moment};
use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::chain::Group;
use crate::records::{RunRecord, SessionRecord};
use crate::{StoreError, rows};

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

/// The session of this name and key, if nothing about it has to be written.
pub(super) fn known_session(
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
    Ok(db.prepare_cached(&query)?.query_row(values, rows::session).optional()?)
}

/// Begins a session, or finds it.
pub(super) fn begin_session(
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
    Ok(group.db.prepare_cached(&query)?.query_row(values, rows::session)?)
}

/// Sets what the policy of a session says besides the files.
pub(super) fn set_policy(
    group: &mut Group<'_>,
    key: Id,
    session: &str,
    policy: Option<&str>,
    entries: &[Entry],
) -> Result<bool, StoreError> {
    let values = params![session, key.as_bytes(), policy];
    let changed = group.db.prepare_cached(SET_POLICY)?.execute(values)?;
    if changed > 0 {
        group.append(entries)?;
    }
    Ok(changed > 0)
}

/// The sessions of a name.
pub(super) fn sessions(db: &Connection, name: &str) -> Result<Vec<SessionRecord>, StoreError> {
    let query =
        format!("SELECT {} FROM sessions WHERE session = ?1 ORDER BY began_at", rows::SESSION);
    let mut query = db.prepare_cached(&query)?;
    let found = query.query_map([name], rows::session)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Stores a run, unless it goes on already.
pub(super) fn start(
    group: &mut Group<'_>,
    run: &RunRecord,
    entries: &[Entry],
) -> Result<bool, StoreError> {
    let changed = group.db.prepare_cached(START)?.execute(named_params! {
        ":key": run.key.as_bytes(),
        ":run": run.run,
        ":owner": run.owner,
        ":session": run.session,
        ":about": run.about,
        ":started_at": run.started_at.ms(),
        ":ended_at": run.ended_at.map(Moment::ms),
    })?;
    if changed > 0 {
        group.append(entries)?;
    }
    Ok(changed > 0)
}

/// What is known about a run, before and after.
pub(super) struct Change {
    pub(super) key: Id,
    pub(super) run: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// Changes what is known about a run, unless somebody did so meanwhile.
pub(super) fn change(
    group: &mut Group<'_>,
    change: &Change,
    entries: &[Entry],
) -> Result<bool, StoreError> {
    let values = params![change.key.as_bytes(), change.run, change.before, change.after];
    let changed = group.db.prepare_cached(CHANGE)?.execute(values)?;
    if changed > 0 {
        group.append(entries)?;
    }
    Ok(changed > 0)
}

/// The runs of a name.
pub(super) fn named(db: &Connection, name: &str) -> Result<Vec<RunRecord>, StoreError> {
    let query = format!("SELECT {} FROM runs WHERE run = ?1 ORDER BY started_at", rows::RUN);
    let mut query = db.prepare_cached(&query)?;
    let found = query.query_map([name], rows::run)?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Ends a run and its grants.
pub(super) fn end(
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
pub(super) fn list(db: &Connection, with_ended: bool) -> Result<Vec<RunRecord>, StoreError> {
    let which = if with_ended { "" } else { " WHERE ended_at IS NULL" };
    let query = format!("SELECT {} FROM runs{which} ORDER BY started_at, run", rows::RUN);
    let mut query = db.prepare_cached(&query)?;
    let found = query.query_map([], rows::run)?;
    Ok(found.collect::<Result<_, _>>()?)
}
