//! Grants: made, used, listed and revoked.

use async_trait::async_trait;
use portcullis_approval::audit::Entry;
use portcullis_approval::key::hex;
use portcullis_approval::{Grant, Granted, Id, Moment, Reply};
use serde_json::{Value, json};
use tokio_postgres::Row;

use super::Postgres;
use super::values::{Conditions, Statement, escaped, values};
use super::writer::Done;
use crate::records::{GrantFilter, GrantRecord};
use crate::{Grants, StoreError, broken, rows};

const USE: &str = "WITH wanted AS (SELECT id, count(*) AS times FROM unnest($1::bytea[]) AS w (id) \
    GROUP BY id), \
    good AS (SELECT g.id, w.times FROM grants g JOIN wanted w USING (id) \
    WHERE g.revoked_at IS NULL AND (g.expires_at IS NULL OR g.expires_at > $2::bigint) \
    AND (g.uses_left IS NULL OR g.uses_left >= w.times)), \
    used AS (UPDATE grants g SET used = used + times, used_at = $2::bigint, \
    uses_left = uses_left - times FROM good WHERE g.id = good.id \
    AND (SELECT count(*) FROM good) = (SELECT count(*) FROM wanted)) \
    SELECT id FROM good";

const REVOKE: &str = "UPDATE grants SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL \
    AND (expires_at IS NULL OR expires_at > $2) AND (uses_left IS NULL OR uses_left > 0) \
    RETURNING 1";

#[async_trait]
impl Grants for Postgres {
    async fn record(
        &self,
        entries: Vec<Entry>,
        used: Vec<Id>,
        at: Moment,
    ) -> Result<(), StoreError> {
        if used.is_empty() {
            return self.writer.run(None, entries, |_| Done::stands(())).await;
        }
        let ids: Vec<Vec<u8>> = used.iter().map(|id| id.as_bytes().to_vec()).collect();
        let read = move |rows: &[Row]| taken(rows, &used);
        self.writer.run(Some(Statement::new(USE, values![ids, at])), entries, read).await
    }

    async fn make_grant(&self, grant: &Grant, entries: Vec<Entry>) -> Result<(), StoreError> {
        let text = insert("$1", "(SELECT 1) AS once");
        let values = values![as_json(std::slice::from_ref(grant))];
        self.writer.run(Some(Statement::new(text, values)), entries, |_| Done::stands(())).await
    }

    async fn grants(&self, filter: &GrantFilter) -> Result<Vec<GrantRecord>, StoreError> {
        let mut conditions = Conditions::default();
        conditions.owners("owner", &filter.owners);
        if let Some(at) = filter.good_at {
            conditions.plain("revoked_at IS NULL");
            conditions.plain("(uses_left IS NULL OR uses_left > 0)");
            conditions.with("coalesce(expires_at, 9223372036854775807) >", at);
        }
        conditions.maybe("id >", filter.after);
        let select = format!("SELECT {} FROM grants", rows::GRANT);
        self.readers.all(conditions.query(&select, "id", filter.limit), rows::grant).await
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

/// Whether every grant was still good.
fn taken(rows: &[Row], used: &[Id]) -> Done<()> {
    let good: Vec<Vec<u8>> = rows.iter().filter_map(|row| row.try_get(0).ok()).collect();
    if good.len() != rows.len() {
        return Done::refused(broken("a grant without an id"));
    }
    match used.iter().find(|id| !good.iter().any(|good| good == id.as_bytes())) {
        Some(gone) => Done::refused(StoreError::GrantGone(*gone)),
        None => Done::stands(()),
    }
}

/// What stores the grants that a value holds as JSON, once for each row of a table.
///
/// What is granted for a run that has ended meanwhile is over before it begins: another run may
/// get the same name.
pub(super) fn insert(value: &str, from: &str) -> String {
    format!(
        "INSERT INTO grants (id, owner, key, agent, rule, tool, input, cwd, reply, reach, \
         reach_name, expires_at, uses_left, made_by, made_at, ask, profile, revoked_at) \
         SELECT decode(g.id, 'hex'), g.owner, decode(g.key, 'hex'), g.agent, g.rule, g.tool, \
         g.input, g.cwd, g.reply, g.reach, g.reach_name, g.expires_at, g.uses_left, g.made_by, \
         g.made_at, decode(g.ask, 'hex'), g.profile, CASE WHEN g.reach = 'run' THEN \
         (SELECT ended_at FROM runs r WHERE r.key = decode(g.key, 'hex') \
         AND r.run = g.reach_name) END \
         FROM {from}, jsonb_to_recordset({value}::text::jsonb) AS g (id text, owner text, key text, \
         agent text, rule text, tool text, input text, cwd text, reply text, reach text, \
         reach_name text, expires_at bigint, uses_left bigint, made_by text, made_at bigint, \
         ask text, profile text)"
    )
}

/// Grants as JSON.
pub(super) fn as_json(grants: &[Grant]) -> String {
    let grants: Vec<Value> = grants.iter().map(one_as_json).collect();
    Value::from(grants).to_string()
}

fn one_as_json(grant: &Grant) -> Value {
    let (rule, exact) = match &grant.granted {
        Granted::Pattern(rule) => (Some(rule), None),
        Granted::Exact { tool, input, cwd, reply } => (None, Some((tool, input, cwd, reply))),
    };
    let (reach, reach_name) = rows::reach(&grant.reach);
    let id = |id: &Id| hex(id.as_bytes());
    let held = |text: &String| escaped(text).into_owned();
    json!({
        "id": id(&grant.id),
        "owner": held(&grant.owner),
        "key": grant.key.as_ref().map(id),
        "agent": grant.agent.as_ref().map(held),
        "rule": rule.map(held),
        "tool": exact.map(|(tool, ..)| held(tool)),
        "input": exact.map(|(_, input, ..)| held(input)),
        "cwd": exact.and_then(|(_, _, cwd, _)| cwd.as_ref()).map(held),
        "reply": exact.map(|(.., reply)| Reply::name(*reply)),
        "reach": reach,
        "reach_name": reach_name.map(|name| escaped(name).into_owned()),
        "expires_at": grant.expires_at.map(Moment::ms),
        "uses_left": grant.uses_left,
        "made_by": held(&grant.made_by),
        "made_at": grant.made_at.ms(),
        "ask": grant.ask.as_ref().map(id),
        "profile": grant.profile.as_ref().map(held),
    })
}
