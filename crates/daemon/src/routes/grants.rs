//! Grants: what wide approvals left behind, and taking them back.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::Ask;
use portcullis_engine::Outcome;
use portcullis_store::{GrantFilter, GrantRecord};
use portcullis_wire::asks::Changed;
use portcullis_wire::body;
use portcullis_wire::errors::{Code, Error};
use portcullis_wire::grants::{Example, Grant, Grants, NewGrant, NewPreview, Preview};

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Named, Query};
use crate::identity::Caller;
use crate::routes::asks::visible;

/// So many calls are shown that a rule would have allowed.
const MOST_EXAMPLES: usize = 8;

/// So many calls are tried at once.
const MOST_TRIES: usize = 16;

/// The longest of them, in characters.
const MOST_EXAMPLE: usize = 500;

/// `GET /v1/grants`: grants that are good, oldest first; all of them with `?all=1`.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["all", "limit", "after"])?;
    let after = match query.get("after") {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            ApiError::from(Error::invalid(format!("`after`: `{text}` is no cursor")))
        })?),
    };
    let limit = query.limit()?;
    let good_at = (query.get("all") != Some("1")).then(|| app.authority.now());
    let filter = GrantFilter { owners: caller.owners(), good_at, after, limit };
    let records = app.authority.store().grants(&filter).await?;
    let after = (records.len() == limit)
        .then(|| records.last().map(|record| record.grant.id.to_string()))
        .flatten();
    let grants = records.iter().map(shape).collect();
    Ok(json_response(StatusCode::OK, &Grants { grants, after }))
}

/// `POST /v1/grants`: a rule that an ask offered counts from now on.
pub async fn make(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let new: NewGrant = body::read(&body)?;
    let (_, grant) = offered(&app, &caller, &new.ask, &new.rule).await?;
    app.authority.make_grant(grant.clone(), &caller.key.name).await?;
    Ok(json_response(StatusCode::CREATED, &Grant::new(&grant)))
}

/// `POST /v1/grants/preview`: what such a rule would have answered.
pub async fn preview(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let new: NewPreview = body::read(&body)?;
    if new.tries.len() > MOST_TRIES {
        return Err(Error::invalid(format!("`tries`: {MOST_TRIES} at most")).into());
    }
    let inputs: Vec<String> = new.tries.into_iter().map(Changed::read).collect::<Result<_, _>>()?;
    let (ask, grant) = offered(&app, &caller, &new.ask, &new.rule).await?;
    let outcomes = app.authority.would_answer(&ask, grant.clone(), &inputs).await?;
    let (looked_at, covered) = app.authority.would_cover(grant).await?;
    let examples = covered.iter().take(MOST_EXAMPLES).map(example).collect();
    let tried = outcomes.into_iter().map(Outcome::name).collect();
    let shape = Preview { rule: new.rule, looked_at, covered: covered.len(), examples, tried };
    Ok(json_response(StatusCode::OK, &shape))
}

/// An ask, and the grant of a rule that it offered.
async fn offered(
    app: &App,
    caller: &Caller,
    ask: &str,
    rule: &str,
) -> Result<(Ask, portcullis_approval::Grant), ApiError> {
    let ask = visible(app, caller, ask).await?.ask;
    let Some(grant) = app.authority.offered(&ask, rule, &caller.key.name) else {
        let message = format!("rule `{rule}` is not among the offers of this ask");
        return Err(Error::new(Code::RuleRefused, message).into());
    };
    Ok((ask, grant))
}

fn example(ask: &Ask) -> Example {
    let input: serde_json::Value = serde_json::from_str(&ask.call.input).unwrap_or_default();
    let command = match input.get("command").and_then(|command| command.as_str()) {
        Some(command) => command.to_owned(),
        None => format!("{} {}", ask.call.tool, ask.call.input),
    };
    let command = command.chars().take(MOST_EXAMPLE).collect();
    Example { command, tier: ask.tier.name(), agent: ask.asker.agent.clone() }
}

/// `DELETE /v1/grants/{id}`: the next call is judged without it.
pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
) -> Result<Response, ApiError> {
    let gone = || ApiError::not_found("no such grant");
    let id = id.parse().map_err(|_| gone())?;
    let record = find(&app, &caller, id).await?.ok_or_else(gone)?;
    let owner = &record.grant.owner;
    if !app.authority.revoke_grant(id, owner, &caller.key.name).await? {
        return Err(gone());
    }
    let now = app.authority.now();
    let revoked = GrantRecord { revoked_at: Some(now), ..record };
    Ok(json_response(StatusCode::OK, &shape(&revoked)))
}

/// A grant that this caller may see.
///
/// # Errors
/// The store cannot be read.
pub async fn find(
    app: &App,
    caller: &Caller,
    id: portcullis_approval::Id,
) -> Result<Option<GrantRecord>, ApiError> {
    let mut filter =
        GrantFilter { owners: caller.owners(), good_at: None, after: None, limit: 1000 };
    loop {
        let page = app.authority.store().grants(&filter).await?;
        let is_last = page.len() < filter.limit;
        filter.after = page.last().map(|record| record.grant.id);
        let found = page.into_iter().find(|record| record.grant.id == id);
        if found.is_some() || is_last {
            return Ok(found);
        }
    }
}

/// The shape of a grant with what became of it.
#[must_use]
pub fn shape(record: &GrantRecord) -> Grant {
    Grant {
        used: record.used,
        used_at: record.used_at.map(|at| at.to_string()),
        revoked_at: record.revoked_at.map(|at| at.to_string()),
        ..Grant::new(&record.grant)
    }
}
