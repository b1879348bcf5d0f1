//! `AgentScope`: calls, confirmations and the context of a session, on the one queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, get, patch, post, put};
use portcullis_approval::settle::Refusal;
use portcullis_approval::{CallText, Id, Role};
use portcullis_engine::{Lexical, Policy, PolicyText, Source, judge};
use portcullis_store::{AskRecord, SessionRecord, StoreError};
use portcullis_wire::dialects::agentscope::calls::{
    self, Asked, Confirmed, MOST_WAIT_S, decision, person,
};
use portcullis_wire::dialects::agentscope::{self, context};
use portcullis_wire::errors::{Code, Error};
use serde_json::{Value, json};

use crate::App;
use crate::authority::{Answered, Fault, Seen, Submission, decision_of};
use crate::config::Config;
use crate::doors::ask_id;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Named, Query};
use crate::identity::Caller;
use crate::router::{MOST_BYTES, Route, Who, refuse};

/// The name of this door.
pub const DOOR: &str = "agentscope";

/// Its routes.
#[rustfmt::skip]
pub fn routes() -> Vec<Arc<Route>> {
    vec![
        route(Method::POST,  "/agentscope/calls",                 Who::Agent,           "judges a call under its session's policy", || post(submit)),
        route(Method::POST,  "/agentscope/check",                 Who::AnyKey,          "judges a call under a policy given with it", || post(check)),
        route(Method::GET,   "/agentscope/asks/{id}",             Who::AgentOrApprover, "the decision so far",                      || get(show)),
        route(Method::POST,  "/agentscope/confirm",               Who::Approver,        "answers one ask or several",               || post(confirm)),
        route(Method::GET,   "/agentscope/sessions/{id}/context", Who::AgentOrApprover, "the policy of a session",                  || get(read)),
        route(Method::PUT,   "/agentscope/sessions/{id}/context", Who::Approver,        "replaces the policy of a session",         || put(replace)),
        route(Method::PATCH, "/agentscope/sessions/{id}/context", Who::Approver,        "changes parts of the policy of a session", || patch(change)),
    ]
}

fn route(
    method: Method,
    path: &'static str,
    who: Who,
    about: &'static str,
    handler: fn() -> MethodRouter<App>,
) -> Arc<Route> {
    Arc::new(Route {
        method,
        path,
        mark: None,
        who,
        about,
        most_bytes: MOST_BYTES,
        takes_query_key: false,
        takes_origin: false,
        is_waived: |config: &Config| config.dialects.agentscope.loopback_without_key,
        takes: None,
        gives: None,
        refuse,
        handler,
    })
}

/// `POST /agentscope/calls`.
async fn submit(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let call = calls::call(&body)?;
    let mut submission = Submission {
        call: CallText {
            tool: call.tool,
            input: call.input.to_string(),
            cwd: call.cwd,
            host: Some(DOOR.to_owned()),
            session: Some(call.session),
            call_id: Some(call.id),
            ..CallText::default()
        },
        input: call.input.clone(),
        asker: caller.asker(call.agent.as_deref()),
        key: caller.key.clone(),
        door: DOOR,
        mode: None,
        profile: None,
        overrides: false,
        wants_receipt: true,
        seen: if caller.is_local { Seen::Live } else { Seen::Nothing },
        wait: Duration::from_secs(call.wait_s),
        access: None,
    };
    let Answered { verdict, ask, receipt, .. } = app.authority.submit(&mut submission).await?;
    // It may have waited long, and its key may have been revoked meanwhile.
    if ask.is_some() && !app.counts(&caller) {
        return Err(ApiError::unauthorized());
    }
    let asked = ask.as_ref().map(|record| Asked {
        ask: &record.ask,
        decision: decision_of(record),
        receipt: receipt.as_deref(),
    });
    let mut shape = decision(&verdict, &call.input, asked);
    if let (None, Some(receipt), Some(members)) = (&ask, receipt, shape.as_object_mut()) {
        members.insert("receipt".to_owned(), receipt.into());
    }
    Ok(json_response(StatusCode::OK, &shape))
}

/// `POST /agentscope/check`.
async fn check(Bytes(body): Bytes) -> Result<Response, ApiError> {
    let check = agentscope::check(&body)?;
    let policy = understood(&check.policy)?;
    let verdict = judge(&policy, &check.call("/", None), &Lexical);
    Ok(json_response(StatusCode::OK, &decision(&verdict, &check.input, None)))
}

/// `GET /agentscope/asks/{id}?wait=S`.
async fn show(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["wait"])?;
    let wait = Duration::from_secs(query.number("wait")?.unwrap_or(0).min(MOST_WAIT_S));
    let id = ask_id(&id).ok_or_else(ApiError::no_such_ask)?;
    let may_see = |record: &AskRecord| match caller.key.role {
        Role::Agent => record.ask.asker.key == caller.key.id,
        Role::Approver | Role::Admin => caller.owners().include(&record.ask.asker.owner),
    };
    let record = app.authority.store().ask(id).await?.filter(may_see);
    let record = record.ok_or_else(ApiError::no_such_ask)?;
    let record = if record.decision.is_none() && !wait.is_zero() {
        let record = app.authority.settled(id, Instant::now() + wait).await?;
        if !app.counts(&caller) {
            return Err(ApiError::unauthorized());
        }
        record
    } else {
        record
    };
    let verdict = app.authority.judge_again(&record.ask, &record.ask.call.input).await?;
    let input = serde_json::from_str(&record.ask.call.input).unwrap_or(Value::Null);
    let is_own = record.ask.asker.key == caller.key.id;
    let receipt = if is_own { app.authority.receipt(&record) } else { None };
    let asked =
        Asked { ask: &record.ask, decision: decision_of(&record), receipt: receipt.as_deref() };
    Ok(json_response(StatusCode::OK, &decision(&verdict, &input, Some(asked))))
}

/// `POST /agentscope/confirm`.
async fn confirm(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let (answers, is_list) = calls::confirm(&body)?;
    let mut results = Vec::with_capacity(answers.len());
    for answer in answers {
        let ask = answer.ask.clone();
        match settle(&app, &caller, answer).await {
            Ok(settled) => results.push(settled),
            Err(error) if !is_list => return Err(error),
            Err(error) => results.push(refused(&ask, &error)),
        }
    }
    Ok(json_response(StatusCode::OK, &json!({ "results": results })))
}

async fn settle(app: &App, caller: &Caller, confirmed: Confirmed) -> Result<Value, ApiError> {
    let Confirmed { ask, answer, edited } = confirmed;
    let id = ask_id(&ask).ok_or_else(ApiError::no_such_ask)?;
    if let Some((call_id, tool)) = edited {
        let record = app.authority.store().ask(id).await?.ok_or_else(ApiError::no_such_ask)?;
        let call = &record.ask.call;
        // What was raised through another door may have no id to keep.
        let is_same =
            call.tool == tool && call.call_id.as_ref().is_none_or(|known| *known == call_id);
        if !is_same {
            let message = "an edited `tool_call` keeps its id and its name";
            return Err(Fault::Refused(Refusal::Malformed(message.to_owned())).into());
        }
    }
    let mut approver = caller.approver();
    DOOR.clone_into(&mut approver.door);
    let decision = match app.authority.decide(&approver, id, &answer).await {
        Ok((_, decision)) => decision,
        Err(fault) => return Err(told(app, id, fault.into()).await?),
    };
    let grants: Vec<Value> = decision
        .grants
        .iter()
        .zip(answer.rules.iter().map(Some).chain(std::iter::repeat(None)))
        .map(|(id, rule)| json!({ "id": id.to_string(), "rule": rule }))
        .collect();
    Ok(json!({
        "ask_id": ask, "status": "settled", "decision": person(&decision), "grants": grants,
    }))
}

/// The same error, with the decision that stands in this dialect's shape.
async fn told(app: &App, id: Id, mut error: ApiError) -> Result<ApiError, ApiError> {
    if error.error.code == Code::AskAlreadySettled {
        let record = app.authority.store().ask(id).await?;
        if let Some(stands) = record.as_ref().and_then(decision_of) {
            error.error.details = Some(json!({ "decision": person(stands) }));
        }
    }
    Ok(error)
}

/// What a list says about an answer that does not count.
fn refused(ask: &str, error: &ApiError) -> Value {
    let status = match error.error.code {
        Code::AskAlreadySettled => "already_settled",
        Code::NoSuchAsk => "not_found",
        Code::InvalidRequest
        | Code::Unauthorized
        | Code::Forbidden
        | Code::NoSuchSession
        | Code::NotFound
        | Code::MethodNotAllowed
        | Code::TooLarge
        | Code::TooManyAsks
        | Code::CallDenied
        | Code::RuleRefused
        | Code::Unavailable => "refused",
    };
    let mut shape = json!({
        "ask_id": ask, "status": status, "code": error.error.code.name(),
        "message": error.error.message, "grants": [],
    });
    let stands = error.error.details.as_ref().and_then(|details| details.get("decision"));
    if let (Some(stands), Some(members)) = (stands, shape.as_object_mut()) {
        members.insert("decision".to_owned(), stands.clone());
    }
    shape
}

/// `GET /agentscope/sessions/{id}/context`.
async fn read(
    State(app): State<App>,
    caller: Caller,
    Named(name): Named,
) -> Result<Response, ApiError> {
    let session = session(&app, &caller, &name).await?;
    shown(&app, &session)
}

/// `PUT /agentscope/sessions/{id}/context`.
async fn replace(
    State(app): State<App>,
    caller: Caller,
    Named(name): Named,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let session = session(&app, &caller, &name).await?;
    let own = context::context(&body)?;
    changed(&app, &caller, session, own).await
}

/// `PATCH /agentscope/sessions/{id}/context`.
async fn change(
    State(app): State<App>,
    caller: Caller,
    Named(name): Named,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let session = session(&app, &caller, &name).await?;
    let parts = context::context(&body)?;
    let own = session.policy.as_deref().and_then(|own| serde_json::from_str(own).ok());
    let own = context::patched(own.unwrap_or(Value::Null), &parts);
    changed(&app, &caller, session, own).await
}

async fn changed(
    app: &App,
    caller: &Caller,
    session: SessionRecord,
    own: Value,
) -> Result<Response, ApiError> {
    understood(&own)?;
    app.authority.change_session(&session, &own, &caller.key.name).await?;
    shown(app, &SessionRecord { policy: Some(own.to_string()), ..session })
}

fn shown(app: &App, session: &SessionRecord) -> Result<Response, ApiError> {
    let policy = app.authority.session_policy(session)?;
    let shape = context::of_policy(&policy, session.root.as_deref());
    Ok(json_response(StatusCode::OK, &shape))
}

/// A session that this caller may see.
async fn session(app: &App, caller: &Caller, name: &str) -> Result<SessionRecord, ApiError> {
    let sessions: Result<Vec<SessionRecord>, StoreError> =
        app.authority.store().sessions(name).await;
    let may_see = |session: &SessionRecord| match caller.key.role {
        Role::Agent => session.key == caller.key.id,
        Role::Approver | Role::Admin => caller.owners().include(&session.owner),
    };
    sessions?
        .into_iter()
        .find(may_see)
        .ok_or_else(|| ApiError::new(StatusCode::NOT_FOUND, Code::NoSuchSession, "no such session"))
}

fn understood(value: &Value) -> Result<Policy, ApiError> {
    let policy =
        PolicyText::from_json(value).and_then(|text| Policy::of_layers(&[(Source::Call, text)]));
    policy.map_err(|error| Error::invalid(error.to_string()).into())
}
