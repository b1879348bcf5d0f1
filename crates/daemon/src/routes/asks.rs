//! The inbox: asks, answers, and taking an ask back.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use portcullis_approval::{Id, Role};
use portcullis_store::{AskFilter, AskOrder, AskRecord};
use portcullis_wire::asks::{self, Answer, Answers, Ask, Asks, Decision, Outcome, Results};
use portcullis_wire::body;
use portcullis_wire::calls::MOST_WAIT_MS;
use portcullis_wire::errors::Error;

use crate::App;
use crate::authority::Gone;
use crate::doors::ask_id;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Named, Query};
use crate::identity::Caller;

/// So many of one request are answered at once: they share their commits.
const ANSWERED_AT_ONCE: usize = 64;

/// `GET /v1/asks`: what this key may see, oldest first; the pending ones unless told otherwise.
/// `order=risk` gives the beginning of the inbox instead: the riskiest, of those the newest.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["state", "agent", "session", "run", "limit", "after", "order"])?;
    let state = match query.get("state") {
        None => Some(portcullis_approval::State::Pending),
        Some("any") => None,
        Some(name) => Some(asks::state(name)?),
    };
    let after = match query.get("after") {
        None => None,
        Some(text) => Some(ask_id(text).ok_or_else(|| {
            ApiError::from(Error::invalid(format!("`after`: `{text}` is no cursor")))
        })?),
    };
    let order = match query.get("order") {
        None | Some("oldest") => AskOrder::Oldest,
        // There is no going on from a place that moves with every ask.
        Some("risk") if after.is_none() => AskOrder::Riskiest,
        Some("risk") => return Err(Error::invalid("`after` goes with `order=oldest` only").into()),
        Some(name) => {
            return Err(
                Error::invalid(format!("`order`: `{name}` is neither oldest nor risk")).into()
            );
        }
    };
    let limit = query.limit()?;
    let filter = AskFilter {
        state,
        owners: caller.owners(),
        key: (caller.key.role == Role::Agent).then_some(caller.key.id),
        agent: query.get("agent").map(str::to_owned),
        session: query.get("session").map(str::to_owned),
        run: query.get("run").map(str::to_owned),
        digest: None,
        after,
        order,
        limit,
    };
    let records = app.authority.store().asks(&filter).await?;
    let after = (order == AskOrder::Oldest && records.len() == limit)
        .then(|| records.last().map(|record| record.ask.id.to_string()))
        .flatten();
    let asks = records.iter().map(|record| shape(&app, &caller, record)).collect();
    Ok(json_response(StatusCode::OK, &Asks { asks, after }))
}

/// `GET /v1/asks/{id}[?wait_ms=]`: one ask, held until it is settled if asked to.
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["wait_ms"])?;
    let wait = Duration::from_millis(query.number("wait_ms")?.unwrap_or(0).min(MOST_WAIT_MS));
    let record = visible(&app, &caller, &id).await?;
    let record = if record.decision.is_none() && !wait.is_zero() {
        let record = app.authority.settled(record.ask.id, Instant::now() + wait).await?;
        if !app.counts(&caller) {
            return Err(ApiError::unauthorized());
        }
        record
    } else {
        record
    };
    Ok(json_response(StatusCode::OK, &shape(&app, &caller, &record)))
}

/// `DELETE /v1/asks/{id}`: the agent takes its ask back.
pub async fn withdraw(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
) -> Result<Response, ApiError> {
    let record = visible(&app, &caller, &id).await?;
    let by = &record.ask.asker.agent;
    let decision = app.authority.cancel(&record.ask, Gone::Withdrawn, by, caller.door).await?;
    Ok(json_response(StatusCode::OK, &Decision::new(&decision)))
}

/// `POST /v1/asks/{id}/decision`: an approver answers an ask.
pub async fn decide(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let answer: Answer = body::read(&body)?;
    let decision = answered(&app, &caller, &id, answer).await?;
    Ok(json_response(StatusCode::OK, &decision))
}

/// `POST /v1/asks/decisions`: an approver answers many, and hears of each in the order of asking.
pub async fn decide_many(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let answers: Answers = body::read(&body)?;
    let answering = answers.answers.into_iter().map(async |answer| {
        let (ask, answer) = answer.split();
        let (decision, error) = match answered(&app, &caller, &ask, answer).await {
            Ok(decision) => (Some(decision), None),
            Err(error) => (None, Some(error.error)),
        };
        Outcome { ask, decision, error }
    });
    let results = stream::iter(answering).buffered(ANSWERED_AT_ONCE).collect().await;
    Ok(json_response(StatusCode::OK, &Results { results }))
}

async fn answered(
    app: &App,
    caller: &Caller,
    id: &str,
    answer: Answer,
) -> Result<Decision, ApiError> {
    let id: Id = ask_id(id).ok_or_else(ApiError::no_such_ask)?;
    let answer = answer.read()?;
    let (_, decision) = app.authority.decide(&caller.approver(), id, &answer).await?;
    Ok(Decision::new(&decision))
}

/// An ask that this caller may see: an agent its own, an approver those of its owners.
///
/// # Errors
/// There is none, or the store cannot be read.
pub async fn visible(app: &App, caller: &Caller, id: &str) -> Result<AskRecord, ApiError> {
    let id = ask_id(id).ok_or_else(ApiError::no_such_ask)?;
    let record = app.authority.store().ask(id).await?;
    let may_see = |record: &AskRecord| match caller.key.role {
        Role::Agent => record.ask.asker.key == caller.key.id,
        Role::Approver | Role::Admin => caller.owners().include(&record.ask.asker.owner),
    };
    record.filter(may_see).ok_or_else(ApiError::no_such_ask)
}

fn shape(app: &App, caller: &Caller, record: &AskRecord) -> Ask {
    let waiting = app.authority.waiters().count(record.ask.id);
    let mut shape = Ask::new(&record.ask, record.decision.as_ref(), waiting);
    if caller.key.id == record.ask.asker.key {
        shape.receipt = app.authority.receipt(record);
    }
    shape
}
