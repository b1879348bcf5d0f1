//! Comma: its WebSocket, on which clients hear of runs, answer asks and change gates.
//!
//! Its strategies are not run here: a run is a record that agents attach to, and every access is
//! judged by the one engine under the gates of its run (`authority/access.rs`). [`hub`] makes from
//! each event of the feed what subscribers are told, once for all of them; [`socket`] is one
//! client, [`runs`] what it does to runs, [`policy`] what it does to gates, [`chain`] how the gates
//! of a tool are named, and [`words`] how asks and decisions are.

mod chain;
pub mod hub;
mod policy;
mod runs;
mod socket;
mod words;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use serde_json::json;

use crate::App;
use crate::config::Config;
use crate::error::{ApiError, json_response};
use crate::router::{MOST_BYTES, Route, Shut, Who, refuse};

/// The name of the door.
pub const NAME: &str = "comma";

/// Its routes.
#[must_use]
#[rustfmt::skip]
pub fn routes() -> Vec<Arc<Route>> {
    vec![
        made("/ws",     Who::Approver, "Comma: runs, asks and answers over a WebSocket", || get(socket::socket)),
        made("/health", Who::Anyone,   "Comma: whether the daemon lives",                || get(health)),
    ]
}

fn made(
    path: &'static str,
    who: Who,
    about: &'static str,
    handler: fn() -> MethodRouter<App>,
) -> Arc<Route> {
    Arc::new(Route {
        method: Method::GET,
        path,
        mark: None,
        who,
        about,
        most_bytes: MOST_BYTES,
        takes_query_key: true,
        takes_origin: true,
        is_waived: |config: &Config| config.dialects.comma.loopback_without_key,
        takes: None,
        gives: None,
        refuse: |shut: Shut| refuse(shut),
        handler,
    })
}

/// `GET /health`: whether the daemon lives.
async fn health(State(app): State<App>) -> Result<Response, ApiError> {
    let runs = app.authority.store().runs(false).await?;
    let body = json!({
        "status": "ok",
        "uptime": app.comma.uptime_ms(),
        "activeRuns": runs.len(),
        "connectedClients": app.comma.clients(),
    });
    Ok(json_response(StatusCode::OK, &body))
}
