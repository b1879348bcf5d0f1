//! The record: audit entries, signed statements about their end, and whether the chain is whole.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::audit::{Broken, Chain, Checkpoint};
use portcullis_approval::key::hex;
use portcullis_approval::receipt::key_name;
use portcullis_store::AuditFilter;
use portcullis_wire::asks::raw;
use portcullis_wire::audit::{AuditState, BrokenEntry};
use portcullis_wire::errors::Error;
use portcullis_wire::feed;
use serde_json::json;

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Query;
use crate::identity::Caller;

/// So many entries are checked at once.
const MOST_CHECKED: usize = 200_000;

/// `GET /v1/audit`: entries in order, each as it is chained.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["after", "limit", "kind", "subject", "order"])?;
    let is_newest_first = match query.get("order") {
        None | Some("oldest") => false,
        Some("newest") => true,
        Some(other) => {
            let message = format!("`order`: `{other}` is neither oldest nor newest");
            return Err(Error::invalid(message).into());
        }
    };
    let after = match query.get("after") {
        None => None,
        Some(cursor) => Some(
            feed::position(cursor)
                .ok_or_else(|| Error::invalid(format!("`after`: `{cursor}` is no cursor")))?,
        ),
    };
    let limit = query.limit()?;
    let mut filter = AuditFilter::after(0, limit);
    if is_newest_first {
        filter.before = Some(after.unwrap_or(u64::MAX >> 1));
    } else {
        filter.after = after.unwrap_or(0);
    }
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

/// `GET /v1/audit/state`: whether this node's chain is whole, entry by entry, and how far it is
/// signed.
pub async fn state(State(app): State<App>) -> Result<Response, ApiError> {
    let store = app.authority.store();
    let (head, node) = (store.head().await?, store.node());
    let public = app.authority.signer().public();
    let mut points = store.checkpoints().await?;
    points.retain(|point| point.node == node);
    let base = head.base.unwrap_or((0, portcullis_approval::audit::NOTHING));
    let mut chain = Chain::after(base.0, base.1);
    let mut filter = AuditFilter::after(0, 1000);
    // What another key signed before this one counts if this one vouches for it too.
    let signed = points.iter().filter(|point| point.is_signed_by(&public)).map(|point| point.seq);
    let signed = signed.max().unwrap_or(0);
    let (name, is_signed) = (key_name(&public), |point: &Checkpoint| point.is_signed_by(&public));
    let is_wrong =
        |point: &&Checkpoint| !is_signed(point) && (point.key == name || point.seq > signed);
    let mut broken = points.iter().find(is_wrong).map(|point| Broken {
        node: node.to_owned(),
        seq: point.seq,
        what: "its checkpoint is not signed with this node's key".to_owned(),
    });
    let mut checked = 0;
    let mut is_complete = false;
    'pages: while broken.is_none() && checked < MOST_CHECKED {
        let page = store.audit(&filter).await?;
        for entry in &page {
            filter.after = entry.position;
            if entry.node != node {
                continue;
            }
            if let Err(found) = chain.take(&entry.line()) {
                broken = Some(found);
                break 'pages;
            }
            checked += 1;
            let (seq, hash) = chain.head();
            if points.iter().any(|point| point.seq == seq && point.hash != hash) {
                let what = "it is not the one that was signed".to_owned();
                broken = Some(Broken { node: node.to_owned(), seq, what });
                break 'pages;
            }
        }
        if page.len() < filter.limit {
            is_complete = true;
            break;
        }
    }
    let signed = points.iter().max_by_key(|point| point.seq);
    let shape = AuditState {
        node: node.to_owned(),
        seq: head.seq,
        hash: hex(&head.hash),
        checked,
        is_whole: broken.is_none(),
        is_complete,
        broken: broken.map(|broken| BrokenEntry { seq: broken.seq, what: broken.what }),
        checkpoints: points.len(),
        signed_seq: signed.map(|point| point.seq),
        signed_at: signed.map(|point| point.at.to_string()),
        key: key_name(&public),
    };
    Ok(json_response(StatusCode::OK, &shape))
}
