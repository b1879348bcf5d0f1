//! Enabling: a destructive call may run after all, exactly it, for a while and so many times.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::key::LOCAL;
use portcullis_approval::{CallText, Grant, Granted, Owners, Reach, Reply, Role};
use portcullis_store::{AuditFilter, AuditRecord, StoreError};
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

/// What is said where a digest alone does not tell whose call it is.
const SEVERAL: &str = "Missing agentId: several agents made this call";

/// What is enabled, and for whom.
#[derive(Debug)]
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
        Enabled::Digest { digest, agent } => {
            match blocked(&app, &caller.owners(), &digest, agent.as_deref()).await {
                Ok(Blocked::Once(meant)) => meant,
                Ok(Blocked::Never) => return not_found(),
                Ok(Blocked::BySeveral) => return refused(StatusCode::BAD_REQUEST, SEVERAL),
                Err(error) => return faulty(error.into()),
            }
        }
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

/// The calls of one digest, whose agents it does not tell apart.
#[derive(Debug)]
enum Blocked {
    Never,
    Once(Meant),
    BySeveral,
}

/// The denied call of a digest: as it is remembered, or as the audit has it where nothing in it
/// was redacted. Of several agents who made it, one must be named.
async fn blocked(
    app: &App,
    owners: &Owners,
    digest: &str,
    agent: Option<&str>,
) -> Result<Blocked, StoreError> {
    let is_meant = |name: &str| agent.is_none_or(|agent| agent == name);
    let remembered = app.authority.denied(digest, |asker| owners.include(&asker.owner));
    let remembered = remembered.iter().map(|known| Meant {
        agent: known.asker.agent.clone(),
        owner: known.asker.owner.clone(),
        tool: known.call.tool.clone(),
        input: known.call.input.clone(),
        cwd: known.call.cwd.clone(),
    });
    let mut meant: Vec<Meant> = remembered.filter(|call| is_meant(&call.agent)).collect();
    let mut filter = AuditFilter::after(0, MOST_LOOKED_AT);
    filter.before = Some(u64::MAX >> 1);
    filter.kinds = vec!["call.judged".to_owned()];
    filter.subject = Some(digest.to_owned());
    filter.owners = owners.clone();
    let entries = app.authority.store().audit(&filter).await?;
    let recorded = entries.iter().filter_map(|entry| recorded(entry, digest));
    meant.extend(recorded.filter(|call| is_meant(&call.agent)));
    let mut meant = meant.into_iter();
    let Some(first) = meant.next() else { return Ok(Blocked::Never) };
    let is_of_one =
        meant.all(|other| (other.agent, other.owner) == (first.agent.clone(), first.owner.clone()));
    Ok(if is_of_one { Blocked::Once(first) } else { Blocked::BySeveral })
}

/// A denied call as an entry of the audit has it, if it has all of it.
fn recorded(entry: &AuditRecord, digest: &str) -> Option<Meant> {
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
}

fn faulty(why: Fault) -> Response {
    let (status, body) = fault(why);
    json_response(status, &body)
}
