//! Grants: made, used, listed and revoked.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::{Grant, Granted, Id, Moment, Reply};
use rusqlite::{Connection, named_params, params, params_from_iter};

use super::Sqlite;
use super::chain::Group;
use super::conditions::Conditions;
use super::reader::all;
use crate::records::{GrantFilter, GrantRecord};
use crate::{Grants, StoreError, rows};

// What is granted for a run that has ended meanwhile is over before it begins: another run may
// get the same name.
const INSERT: &str = "INSERT INTO grants (id, owner, key, agent, rule, tool, input, cwd, reply, \
    reach, reach_name, expires_at, uses_left, made_by, made_at, ask, profile, revoked_at) VALUES \
    (:id, :owner, :key, :agent, :rule, :tool, :input, :cwd, :reply, :reach, :reach_name, \
    :expires_at, :uses_left, :made_by, :made_at, :ask, :profile, CASE WHEN :reach = 'run' THEN \
    (SELECT ended_at FROM runs WHERE runs.key = :key AND runs.run = :reach_name) END)";

const USE: &str = "UPDATE grants SET used = used + 1, used_at = ?2, uses_left = uses_left - 1 \
    WHERE id = ?1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2) \
    AND (uses_left IS NULL OR uses_left > 0)";

const REVOKE: &str = "UPDATE grants SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL \
    AND (expires_at IS NULL OR expires_at > ?2) AND (uses_left IS NULL OR uses_left > 0)";

#[async_trait]
impl Grants for Sqlite {
    async fn record(
        &self,
        entries: Vec<Entry>,
        used: Vec<Id>,
        at: Moment,
    ) -> Result<(), StoreError> {
        if used.is_empty() {
            // Given back, so that they are freed where they were made: what one thread takes and
            // another lets go costs both a lock.
            let job = move |group: &mut Group<'_>| group.append(&entries).map(|()| entries);
            return self.writer.run_plain(job).await.map(drop);
        }
        self.writer.run(move |group| record(group, &entries, &used, at)).await
    }

    async fn make_grant(&self, grant: &Grant, entries: Vec<Entry>) -> Result<(), StoreError> {
        let grant = grant.clone();
        let job = move |group: &mut Group<'_>| {
            insert(group.db, &grant)?;
            group.append(&entries)
        };
        self.writer.run(job).await
    }

    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRecord>, StoreError> {
        let filter = filter.clone();
        self.readers.read(move |db| list(db, &filter)).await
    }

    async fn revoke_grant(
        &self,
        id: Id,
        at: Moment,
        entries: Vec<Entry>,
    ) -> Result<bool, StoreError> {
        self.revoke(REVOKE, id, at, entries).await
    }
}

/// Takes one use from each grant and appends entries, all or nothing.
fn record(
    group: &mut Group<'_>,
    entries: &[Entry],
    used: &[Id],
    at: Moment,
) -> Result<(), StoreError> {
    for id in used {
        let changed = group.db.prepare_cached(USE)?.execute(params![id.as_bytes(), at.ms()])?;
        if changed == 0 {
            return Err(StoreError::GrantGone(*id));
        }
    }
    group.append(entries)
}

/// Stores a grant.
pub(super) fn insert(db: &Connection, grant: &Grant) -> Result<(), StoreError> {
    let (rule, exact) = match &grant.granted {
        Granted::Pattern(rule) => (Some(rule), None),
        Granted::Exact { tool, input, cwd, reply } => (None, Some((tool, input, cwd, reply))),
    };
    let (reach, reach_name) = rows::reach(&grant.reach);
    db.prepare_cached(INSERT)?.execute(named_params! {
        ":id": grant.id.as_bytes(),
        ":owner": grant.owner,
        ":key": grant.key.as_ref().map(Id::as_bytes),
        ":agent": grant.agent,
        ":rule": rule,
        ":tool": exact.map(|(tool, ..)| tool),
        ":input": exact.map(|(_, input, ..)| input),
        ":cwd": exact.and_then(|(_, _, cwd, _)| cwd.as_ref()),
        ":reply": exact.map(|(.., reply)| Reply::name(*reply)),
        ":reach": reach,
        ":reach_name": reach_name,
        ":expires_at": grant.expires_at.map(Moment::ms),
        ":uses_left": grant.uses_left,
        ":made_by": grant.made_by,
        ":made_at": grant.made_at.ms(),
        ":ask": grant.ask.as_ref().map(Id::as_bytes),
        ":profile": grant.profile,
    })?;
    Ok(())
}

/// The grants a filter names, oldest first.
fn list(db: &Connection, filter: &GrantFilter) -> Result<Vec<GrantRecord>, StoreError> {
    let mut conditions = Conditions::default();
    conditions.owners("owner", &filter.owners);
    if let Some(at) = filter.good_at {
        conditions.plain("revoked_at IS NULL");
        conditions.plain("(uses_left IS NULL OR uses_left > 0)");
        conditions.with("ifnull(expires_at, 9223372036854775807) >", at.ms());
    }
    conditions.maybe("id >", filter.after.map(|id| id.as_bytes().to_vec()));
    // Left to itself, SQLite takes the order for what matters and reads all that were ever revoked.
    let index = if filter.good_at.is_some() { " INDEXED BY grants_good" } else { "" };
    let select = format!("SELECT {} FROM grants{index}", rows::GRANT);
    let (text, values) = conditions.query(&select, "id", filter.limit);
    all(db, &text, params_from_iter(values), rows::grant)
}
