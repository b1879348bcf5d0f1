//! Explanations: why an ask was opened, why a past call was judged so, what an edit would change.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_store::AuditFilter;
use portcullis_wire::asks::Changed;
use portcullis_wire::body;
use portcullis_wire::errors::Error;
use portcullis_wire::explanation::Explanation;
use portcullis_wire::feed;
use serde_json::{Value, json};

use crate::App;
use crate::authority::explaining::{Explained, When};
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Named, Query};
use crate::identity::Caller;
use crate::routes::asks::visible;
use crate::routes::calls::shown;

/// `GET /v1/asks/{id}/explanation[?policy=then|now]`: the whole way to its verdict.
pub async fn of_ask(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
    query: Query,
) -> Result<Response, ApiError> {
    let when = when(&query)?;
    let ask = visible(&app, &caller, &id).await?.ask;
    let explained = app.authority.explain(&ask, when).await?;
    let recorded: Value = serde_json::from_str(&ask.verdict).unwrap_or_default();
    Ok(json_response(StatusCode::OK, &shape(&explained, &recorded)))
}

/// `GET /v1/calls/{cursor}/explanation[?policy=then|now]`: the same for any past call.
pub async fn of_call(
    State(app): State<App>,
    caller: Caller,
    Named(cursor): Named,
    query: Query,
) -> Result<Response, ApiError> {
    let when = when(&query)?;
    let gone = || ApiError::not_found("no such call");
    let position = feed::position(&cursor).filter(|position| *position > 0).ok_or_else(gone)?;
    let mut filter = AuditFilter::after(position - 1, 1);
    filter.kinds = vec!["call.judged".to_owned()];
    filter.owners = caller.owners();
    let entry = app.authority.store().audit(&filter).await?.pop();
    let entry = entry.filter(|entry| entry.position == position).ok_or_else(gone)?;
    let ask = app.authority.call_of(&entry).await?.ok_or_else(|| {
        let message = "the input of this call was not kept; see `[audit] input`";
        ApiError { status: StatusCode::UNPROCESSABLE_ENTITY, error: Error::invalid(message) }
    })?;
    let explained = app.authority.explain(&ask, when).await?;
    let recorded: Value = serde_json::from_str(&entry.data).unwrap_or_default();
    Ok(json_response(StatusCode::OK, &shape(&explained, &recorded)))
}

/// `POST /v1/asks/{id}/check`: what the engine says about an ask's call with another input.
pub async fn check(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let input = body::read::<Changed>(&body)?.read()?;
    let ask = visible(&app, &caller, &id).await?.ask;
    let verdict = app.authority.judge_again(&ask, &input).await?;
    let shape = json!({
        "outcome": verdict.outcome.name(),
        "verdict": shown(&verdict),
    });
    Ok(json_response(StatusCode::OK, &shape))
}

fn when(query: &Query) -> Result<When, ApiError> {
    query.only(&["policy"])?;
    match query.get("policy") {
        None | Some("then") => Ok(When::Then),
        Some("now") => Ok(When::Now),
        Some(other) => {
            Err(Error::invalid(format!("`policy`: `{other}` is neither then nor now")).into())
        }
    }
}

/// An explanation beside what was said at its time.
fn shape(explained: &Explained, recorded: &Value) -> Value {
    let is = match explained.when {
        When::Then => "then",
        When::Now => "now",
    };
    json!({
        "explanation": Explanation {
            tool: &explained.tool,
            input: &explained.input,
            cwd: &explained.cwd,
            verdict: &explained.verdict,
        },
        "policy": { "version": explained.version, "is": is },
        "recorded": { "outcome": recorded.get("outcome"), "tier": recorded.get("tier") },
        "notes": explained.notes,
    })
}
