//! The pages of the dashboard, as they were built in.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Nothing but our own files, and nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' data:; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// `GET /`: the inbox.
pub async fn index() -> Response {
    page("text/html; charset=utf-8", include_str!("../../../../web/index.html"))
}

/// `GET /inbox.js`.
pub async fn script() -> Response {
    page("text/javascript; charset=utf-8", include_str!("../../../../web/inbox.js"))
}

/// `GET /inbox.css`.
pub async fn style() -> Response {
    page("text/css; charset=utf-8", include_str!("../../../../web/inbox.css"))
}

fn page(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (StatusCode::OK, headers, text).into_response()
}
