//! Operations: whether it lives, whether it can answer, numbers, and the description of the API.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::App;
use crate::error::{ApiError, json_response};
use crate::openapi;

/// `GET /healthz`: the process lives.
pub async fn health() -> Response {
    json_response(StatusCode::OK, &json!({ "status": "ok" }))
}

/// `GET /readyz`: calls can be answered.
pub async fn ready(State(app): State<App>) -> Result<Response, ApiError> {
    app.authority.store().ready().await?;
    Ok(json_response(StatusCode::OK, &json!({ "status": "ready" })))
}

/// `GET /metrics`: numbers for Prometheus.
pub async fn metrics(State(app): State<App>) -> Result<Response, ApiError> {
    let store = app.authority.store();
    let text = app.metrics.text(store.pending_count().await?, store.queued());
    Ok((StatusCode::OK, [(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
        .into_response())
}

/// `GET /openapi.json`: the description of the native API.
pub async fn openapi() -> Response {
    json_response(StatusCode::OK, &openapi::document(&crate::routes::native()))
}
