//! Logging a browser in with a one-time code, and out.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use portcullis_wire::body;
use portcullis_wire::errors::{Code, Error};
use portcullis_wire::grants::Login;
use serde_json::json;

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Bytes;
use crate::identity::{COOKIE, Caller, key_entry};

/// `POST /v1/login`: exchanges a one-time code for a cookie.
pub async fn login(State(app): State<App>, Bytes(body): Bytes) -> Result<Response, ApiError> {
    let login: Login = body::read(&body)?;
    let now = app.authority.now();
    if !app.identity.take_code(&login.code, now) {
        let message = "this link was used or is too old; `portcullis serve` prints a new one";
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, Code::Unauthorized, message));
    }
    let secret = app.identity.login(app.authority.store(), now).await?;
    app.refresh_keys().await?;
    let secure = if app.has_tls { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000{secure}",
        secret.reveal()
    );
    with_cookie(json_response(StatusCode::OK, &json!({ "role": "admin" })), &cookie)
}

/// `DELETE /v1/login`: the browser's key counts no longer.
pub async fn logout(State(app): State<App>, caller: Caller) -> Result<Response, ApiError> {
    if caller.via != crate::identity::Via::Cookie {
        return Err(Error::invalid("only a browser logs out; revoke a key with /v1/keys").into());
    }
    let now = app.authority.now();
    let entry = key_entry("key.revoked", &caller.key, &caller.key.name, now);
    app.authority.store().revoke_key(caller.key.id, now, vec![entry]).await?;
    app.refresh_keys().await?;
    let cookie = format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    with_cookie(json_response(StatusCode::OK, &json!({})), &cookie)
}

fn with_cookie(mut response: Response, cookie: &str) -> Result<Response, ApiError> {
    let value = HeaderValue::from_str(cookie)
        .map_err(|_| ApiError::from(Error::new(Code::Unavailable, "no cookie could be made")))?;
    response.headers_mut().insert(header::SET_COOKIE, value);
    Ok(response)
}
