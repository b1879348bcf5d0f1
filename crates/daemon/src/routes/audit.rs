//! The record: audit entries, signed statements about their end, and numbers.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::audit::Checkpoint;
use portcullis_approval::{Moment, Owners};
use portcullis_store::AuditFilter;
use portcullis_wire::asks::raw;
use portcullis_wire::errors::Error;
use portcullis_wire::feed;
use serde_json::{Value, json};

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Query;
use crate::identity::Caller;

/// So many entries are counted for the numbers.
const MOST_COUNTED: usize = 200_000;

/// `GET /v1/audit`: entries in order, each as it is chained.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["after", "limit", "kind", "subject"])?;
    let after = match query.get("after") {
        None => 0,
        Some(cursor) => feed::position(cursor)
            .ok_or_else(|| Error::invalid(format!("`after`: `{cursor}` is no cursor")))?,
    };
    let limit = query.limit()?;
    let mut filter = AuditFilter::after(after, limit);
    filter.owners = caller.owners();
    filter.kinds = query.get("kind").map(str::to_owned).into_iter().collect();
    filter.subject = query.get("subject").map(str::to_owned);
    let entries = app.authority.store().audit(&filter).await?;
    let next = (entries.len() == limit)
        .then(|| entries.last().map(|entry| feed::cursor(entry.position)))
        .flatten();
    let lines: Vec<_> = entries.iter().map(|entry| raw(&entry.line())).collect();
    let mut shape = json!({ "entries": lines });
    if let (Some(next), Some(members)) = (next, shape.as_object_mut()) {
        members.insert("after".to_owned(), next.into());
    }
    Ok(json_response(StatusCode::OK, &shape))
}

/// `GET /v1/audit/checkpoint`: what the end of the chain is now, signed.
pub async fn checkpoint(State(app): State<App>) -> Result<Response, ApiError> {
    let authority = &app.authority;
    let head = authority.store().head().await?;
    let node = authority.store().node();
    let checkpoint =
        Checkpoint::sign(node, head.seq, head.hash, authority.now(), authority.signer());
    authority.store().add_checkpoint(&checkpoint).await?;
    Ok(json_response(StatusCode::OK, &raw(&checkpoint.line())))
}

/// `GET /v1/stats`: calls and asks by day, outcomes, tiers, and how long answers took.
pub async fn stats(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["days"])?;
    let days = query.number("days")?.unwrap_or(14).clamp(1, 366);
    let now = app.authority.now();
    let since = Moment::from_ms(now.ms() - i64::try_from(days).unwrap_or(1) * 86_400_000);
    let numbers = count(&app, caller.owners(), since).await?;
    Ok(json_response(StatusCode::OK, &numbers))
}

async fn count(app: &App, owners: Owners, since: Moment) -> Result<Value, ApiError> {
    let mut by_day: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    let mut tiers: BTreeMap<String, u64> = BTreeMap::new();
    let mut opened: BTreeMap<String, Moment> = BTreeMap::new();
    let mut answer_ms: Vec<i64> = Vec::new();
    let mut filter = AuditFilter::after(0, 1000);
    filter.owners = owners;
    filter.since = Some(since);
    filter.kinds = ["call.judged", "ask.opened", "ask.settled"].map(str::to_owned).to_vec();
    let mut counted = 0;
    loop {
        let page = app.authority.store().audit(&filter).await?;
        counted += page.len();
        for entry in &page {
            filter.after = entry.position;
            let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
            let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
            let day: String = entry.at.to_string().chars().take(10).collect();
            *by_day.entry(day).or_default().entry(entry.kind.clone()).or_default() += 1;
            match entry.kind.as_str() {
                "call.judged" => {
                    *outcomes.entry(text("outcome")).or_default() += 1;
                    *tiers.entry(text("tier")).or_default() += 1;
                }
                "ask.opened" => {
                    opened.insert(entry.subject.clone(), entry.at);
                }
                _ => {
                    if let Some(at) = opened.remove(&entry.subject)
                        && text("reason") == "approver"
                    {
                        answer_ms.push(entry.at.ms() - at.ms());
                    }
                }
            }
        }
        if page.len() < filter.limit || counted >= MOST_COUNTED {
            break;
        }
    }
    answer_ms.sort_unstable();
    let median = answer_ms.get(answer_ms.len() / 2).copied();
    let pending = app.authority.store().pending_count().await?;
    Ok(json!({
        "since_at": since.to_string(),
        "days": by_day,
        "outcomes": outcomes,
        "tiers": tiers,
        "answers": answer_ms.len(),
        "median_answer_ms": median,
        "pending": pending,
        "is_complete": counted < MOST_COUNTED,
    }))
}
