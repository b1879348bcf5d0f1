//! Grants: what wide approvals left behind, and taking them back.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_store::{GrantFilter, GrantRecord};
use portcullis_wire::errors::Error;
use portcullis_wire::grants::{Grant, Grants};

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Query;
use crate::identity::Caller;

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

/// `DELETE /v1/grants/{id}`: the next call is judged without it.
pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
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
