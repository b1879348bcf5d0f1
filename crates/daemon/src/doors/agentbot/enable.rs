//! Enabling: a destructive call may run after all, exactly it, for a while and so many times.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::key::LOCAL;
use portcullis_approval::{CallText, Grant, Granted, Owners, Reach, Reply, Role};
use portcullis_store::{AuditFilter, StoreError};
use portcullis_wire::dialects::agentbot::answers::NowEnabled;
use portcullis_wire::dialects::agentbot::{Enable, Enabled};
use serde_json::{Value, json};

use super::{NAME, fault, not_found, refused, taken};
use crate::App;
use crate::authority::Fault;
use crate::chance;
use crate::error::json_response;
use crate::extract::{BadBody, Bytes, Named};
use crate::identity::Caller;
use crate::routes::grants;

/// So many verdicts about one call are looked through.
const MOST_LOOKED_AT: usize = 20;

/// What is enabled, and for whom.
struct Meant {
    agent: String,
    owner: String,
    tool: String,
    input: String,
    cwd: Option<String>,
}

/// `POST /api/permissions/enable`: leaves an exact grant behind.
pub async fn enable(
    State(app): State<App>,
    caller: Caller,
    body: Result<Bytes, BadBody>,
) -> Response {
    let said = match taken(body, Enable::read) {
        Ok(said) => said,
        Err((status, sentence)) => return refused(status, &sentence),
    };
    let meant = match said.what {
        Enabled::Call { agent, tool, input } => {
            let Some(owner) = owner_of(&app, &caller.owners(), &agent) else { return not_found() };
            Meant { agent, owner, tool, input, cwd: None }
        }
        Enabled::Digest(digest) => match blocked(&app, &caller.owners(), &digest).await {
            Ok(Some(meant)) => meant,
            Ok(None) => return not_found(),
            Err(error) => return faulty(error.into()),
        },
    };
    let now = app.authority.now();
    let expires_at = now.after_s(said.minutes * 60);
    let grant = Grant {
        id: chance::id(now),
        owner: meant.owner,
        key: None,
        agent: Some(meant.agent),
        profile: None,
        granted: Granted::Exact {
            tool: meant.tool,
            input: meant.input,
            cwd: meant.cwd,
            reply: Reply::Approve,
        },
        reach: Reach::Always,
        expires_at: Some(expires_at),
        uses_left: Some(said.uses),
        made_by: caller.key.name.clone(),
        made_at: now,
        ask: None,
    };
    let grant_id = grant.id.to_string();
    match app.authority.make_grant(grant, &caller.key.name).await {
        Ok(()) => {
            let expires_at = expires_at.ms();
            let body = NowEnabled { success: true, grant_id, expires_at, uses: said.uses };
            json_response(StatusCode::OK, &body)
        }
        Err(why) => faulty(why),
    }
}

/// `DELETE /api/permissions/enable/{grantId}`: takes an enabling back.
pub async fn disable(State(app): State<App>, caller: Caller, Named(grant_id): Named) -> Response {
    let Ok(id) = grant_id.parse() else { return not_found() };
    let owner = match grants::find(&app, &caller, id).await {
        Ok(Some(record)) => record.grant.owner,
        Ok(None) => return not_found(),
        Err(error) => return refused(error.status, "Unavailable"),
    };
    match app.authority.revoke_grant(id, &owner, &caller.key.name).await {
        Ok(true) => json_response(StatusCode::OK, &json!({ "success": true })),
        Ok(false) => not_found(),
        Err(why) => faulty(why),
    }
}

/// The owner of an agent that somebody who sees these owners means; agents that share a key are
/// the local owner's.
fn owner_of(app: &App, owners: &Owners, agent: &str) -> Option<String> {
    let keys = app.identity.keys();
    let registered = keys.iter().find(|key| {
        key.role == Role::Agent && key.name == agent && !app.identity.is_of_many(key.id)
    });
    let owner = registered.map_or(LOCAL, |key| key.owner());
    owners.include(owner).then(|| owner.to_owned())
}

/// A call that was denied: as it is remembered, or as the audit has it where nothing in it was
/// redacted.
async fn blocked(app: &App, owners: &Owners, digest: &str) -> Result<Option<Meant>, StoreError> {
    if let Some(known) = app.authority.denied(digest, |asker| owners.include(&asker.owner)) {
        let (call, asker) = (&known.call, &known.asker);
        return Ok(Some(Meant {
            agent: asker.agent.clone(),
            owner: asker.owner.clone(),
            tool: call.tool.clone(),
            input: call.input.clone(),
            cwd: call.cwd.clone(),
        }));
    }
    let mut filter = AuditFilter::after(0, MOST_LOOKED_AT);
    filter.before = Some(u64::MAX >> 1);
    filter.kinds = vec!["call.judged".to_owned()];
    filter.subject = Some(digest.to_owned());
    filter.owners = owners.clone();
    let entries = app.authority.store().audit(&filter).await?;
    Ok(entries.into_iter().find_map(|entry| {
        let data: Value = serde_json::from_str(&entry.data).ok()?;
        let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
        let call = CallText {
            tool: text("tool")?,
            input: data.get("input")?.to_string(),
            cwd: text("cwd"),
            host: text("host").or_else(|| Some(NAME.to_owned())),
            session: text("session"),
            ..CallText::default()
        };
        let is_whole = call.digest().as_deref() == Some(digest);
        let is_denied = text("outcome").as_deref() == Some("deny");
        (is_whole && is_denied).then_some(Meant {
            agent: text("agent")?,
            owner: entry.owner.clone()?,
            tool: call.tool,
            input: call.input,
            cwd: call.cwd,
        })
    }))
}

fn faulty(why: Fault) -> Response {
    let (status, body) = fault(why);
    json_response(status, &body)
}
