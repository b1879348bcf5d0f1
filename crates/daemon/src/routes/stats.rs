//! Numbers worth looking at: counted from the audit, and from the asks of the same days.

use std::collections::HashSet;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::Granted;

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Query;
use crate::identity::Caller;

/// `GET /v1/stats[?days=]`: calls and asks by day, how long answers took, what was asked about.
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["days"])?;
    let days = query.number("days")?.unwrap_or(14).clamp(1, 366);
    let days = i64::try_from(days).unwrap_or(1);
    let (store, now) = (app.authority.store(), app.authority.now());
    let in_force: HashSet<String> = app
        .authority
        .grants()
        .iter()
        .filter_map(|grant| match &grant.granted {
            Granted::Pattern(rule) if !grant.is_limited() => Some(rule.clone()),
            Granted::Pattern(_) | Granted::Exact { .. } => None,
        })
        .collect();
    let looked = app.tallies.look(store, caller.owners(), days, now).await?;
    let mut stats = looked.stats(|rule| !in_force.contains(rule));
    drop(looked);
    stats.pending = store.pending_count().await?;
    Ok(json_response(StatusCode::OK, &stats))
}
