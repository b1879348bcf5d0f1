//! Logging a browser in with a one-time code, and out.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use portcullis_approval::Role;
use portcullis_wire::body;
use portcullis_wire::errors::{Code, Error};
use portcullis_wire::login::{Browser, Link, LoggedIn, Login, SignedIn};
use serde_json::json;

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Bytes;
use crate::identity::{BROWSER, COOKIE, Caller, key_entry};

/// `POST /v1/login`: exchanges a one-time code for a cookie.
pub async fn login(State(app): State<App>, Bytes(body): Bytes) -> Result<Response, ApiError> {
    let login: Login = body::read(&body)?;
    let now = app.authority.now();
    if !app.identity.take_code(app.authority.store(), &login.code, now).await? {
        let message = "this link was used or is too old; `portcullis serve` prints a new one";
        return Err(ApiError::new(StatusCode::UNAUTHORIZED, Code::Unauthorized, message));
    }
    // Pages of other origins that may use the cookie have no half of their own.
    let is_halved = login.page && app.config.origins.is_empty();
    let (secret, page) = app.identity.login(app.authority.store(), is_halved, now).await?;
    app.refresh_keys().await?;
    let secure = if app.has_tls { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000{secure}",
        secret.reveal()
    );
    let shape = LoggedIn { role: Role::Admin.name(), page };
    with_cookie(json_response(StatusCode::OK, &shape), &cookie)
}

/// `GET /v1/login`: whose key was shown, and which browsers are signed in.
pub async fn show(State(app): State<App>, caller: Caller) -> Result<Response, ApiError> {
    let now = app.authority.now();
    let keys = if caller.key.role == Role::Admin {
        app.authority.store().keys().await?
    } else {
        Vec::new()
    };
    let browsers = keys
        .iter()
        .map(|record| &record.key)
        .filter(|key| key.name.starts_with(BROWSER) && key.counts_at(now))
        .map(|key| Browser {
            id: key.id.to_string(),
            name: key.name.clone(),
            made_at: key.made_at.to_string(),
            expires_at: key.expires_at.map(|at| at.to_string()),
            is_this: key.id == caller.key.id,
        })
        .collect();
    let shape = SignedIn {
        id: caller.key.id.to_string(),
        name: caller.key.name.clone(),
        role: caller.key.role.name(),
        browsers,
    };
    Ok(json_response(StatusCode::OK, &shape))
}

/// `POST /v1/login/link`: a code by which another browser signs in.
pub async fn link(State(app): State<App>) -> Result<Response, ApiError> {
    let code = app.identity.new_code(app.authority.store(), app.authority.now()).await?;
    Ok(json_response(StatusCode::CREATED, &Link { code }))
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
