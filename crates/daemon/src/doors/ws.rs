//! `/ws`, which several dialects call their own: whose it is stands in the query.
//!
//! With `EIO` it is Multica's over Socket.IO, with `deviceId` Multica's plain transport, and
//! otherwise Comma's. The choice is made by hand before any gate or layer: each of them has its
//! own row in the table of routes, with its own gate, and a Socket.IO layer, which takes its path
//! for a prefix, sees nothing but what is meant for it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any};
use portcullis_wire::errors::Code;
use tower::ServiceExt;

use crate::App;
use crate::error::ApiError;
use crate::router::Route;

/// The path, and how Socket.IO clients spell it.
pub const PATHS: [&str; 2] = ["/ws", "/ws/"];

/// The parameters that say whose a request is, the first that is there counts.
pub const MARKS: [&str; 2] = ["EIO", "deviceId"];

/// A row of the table with what answers behind its gate.
pub type Gated = (Arc<Route>, MethodRouter);

/// What answers at a path whose rows are told apart by a parameter of the query.
pub fn dispatch(rows: Vec<Gated>) -> MethodRouter<App> {
    let rows: Arc<[Gated]> = rows.into();
    any(move |request: Request| {
        let rows = Arc::clone(&rows);
        async move { choose(&rows, request).await }
    })
}

/// Whether a route is `/ws` itself, with nothing in the query that says whose it is.
pub fn is_bare(route: &Route) -> bool {
    route.path == "/ws" && route.mark.is_none()
}

/// What is said to whoever asks for it without the upgrade.
pub fn no_upgrade() -> ApiError {
    let message = "`/ws` is a WebSocket; ask for the upgrade";
    ApiError::new(StatusCode::BAD_REQUEST, Code::InvalidRequest, message)
}

/// Hands a request to the row it is meant for.
async fn choose(rows: &[Gated], request: Request<Body>) -> Response {
    match meant(rows, request.method(), request.uri()) {
        Ok(handler) => match handler.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        },
        Err(refusal) => refusal.into_response(),
    }
}

/// The row a request is meant for.
fn meant(rows: &[Gated], method: &Method, uri: &Uri) -> Result<MethodRouter, ApiError> {
    let has_row = |mark: &str| rows.iter().any(|(route, _)| route.mark == Some(mark));
    let mark = MARKS.into_iter().find(|mark| has_row(mark) && has_parameter(uri, mark));
    // Only Socket.IO clients put a stroke behind it.
    if uri.path() != "/ws" && mark != Some("EIO") {
        return Err(ApiError::not_found("no such route; see /openapi.json"));
    }
    let own: Vec<&Gated> = rows.iter().filter(|(route, _)| route.mark == mark).collect();
    if own.is_empty() {
        let message = "`/ws` needs `deviceId` or `EIO` here";
        return Err(ApiError::new(StatusCode::BAD_REQUEST, Code::InvalidRequest, message));
    }
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let row = own.into_iter().find(|(route, _)| route.method == *method);
    row.map(|(_, handler)| handler.clone()).ok_or_else(|| {
        let message = "this route has other methods; see /openapi.json";
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, message)
    })
}

fn has_parameter(uri: &Uri, name: &str) -> bool {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs.map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name)).any(|known| known == name)
}
