//! Multica: its rows of `/ws`, over Socket.IO and plain.
//!
//! This is the one place where its transports are plugged in; until they are, nobody answers.

use std::sync::Arc;

use axum::http::Method;
use axum::routing::{MethodRouter, get};

use crate::App;
use crate::error::ApiError;
use crate::router::{MOST_BYTES, Route, Who, refuse};

/// Its routes.
#[must_use]
#[rustfmt::skip]
pub fn routes() -> Vec<Arc<Route>> {
    vec![
        made(Method::GET,  "EIO",      Who::AnyKey, "Multica: asks and answers over Socket.IO"),
        made(Method::POST, "EIO",      Who::AnyKey, "Multica: the same, by polling"),
        made(Method::GET,  "deviceId", Who::AnyKey, "Multica: asks and answers over a WebSocket"),
    ]
}

fn made(method: Method, mark: &'static str, who: Who, about: &'static str) -> Arc<Route> {
    Arc::new(Route {
        method,
        path: "/ws",
        mark: Some(mark),
        who,
        about,
        most_bytes: MOST_BYTES,
        takes_query_key: true,
        takes_origin: true,
        is_waived: |config| config.dialects.multica.loopback_without_key,
        takes: None,
        gives: None,
        refuse,
        handler: unserved,
    })
}

fn unserved() -> MethodRouter<App> {
    get(refused).post(refused)
}

async fn refused() -> ApiError {
    ApiError::not_found("Multica is not served by this version")
}
