//! Keys: made, listed without their secrets, revoked.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::key::LOCAL;
use portcullis_approval::{Owners, Role};
use portcullis_wire::body;
use portcullis_wire::errors::Error;
use portcullis_wire::grants::{self, Key, Keys};

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Named};
use crate::identity::{Caller, NewKey, key_entry, make_key};

/// `GET /v1/keys`: every key, oldest first.
pub async fn list(State(app): State<App>) -> Result<Response, ApiError> {
    let keys = app.authority.store().keys().await?;
    let keys = keys.iter().map(|record| Key::new(&record.key)).collect();
    Ok(json_response(StatusCode::OK, &Keys { keys }))
}

/// `POST /v1/keys`: makes a key; its secret is in this answer and nowhere else.
pub async fn make(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let new: grants::NewKey = body::read(&body)?;
    let now = app.authority.now();
    let new = NewKey {
        role: Role::named(&new.role).ok_or_else(|| {
            Error::invalid(format!("unknown role `{}`; use agent, approver or admin", new.role))
        })?,
        owners: owners(&new.role, &new.owners)?,
        expires_at: new.valid_s.map(|seconds| now.after_s(seconds)),
        name: new.name,
    };
    body::name("name", &new.name)?;
    let (key, secret) = make_key(app.authority.store(), new, &caller.key.name, now).await?;
    app.refresh_keys().await?;
    let shape = Key { key: Some(secret.reveal().to_owned()), ..Key::new(&key) };
    Ok(json_response(StatusCode::CREATED, &shape))
}

/// `DELETE /v1/keys/{id}`: the key counts no longer.
pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
) -> Result<Response, ApiError> {
    let gone = || ApiError::not_found("no such key");
    let id = id.parse().map_err(|_| gone())?;
    let keys = app.authority.store().keys().await?;
    let mut key =
        keys.into_iter().map(|record| record.key).find(|key| key.id == id).ok_or_else(gone)?;
    let now = app.authority.now();
    let entry = key_entry("key.revoked", &key, &caller.key.name, now);
    if !app.authority.store().revoke_key(id, now, vec![entry]).await? {
        return Err(gone());
    }
    app.refresh_keys().await?;
    key.revoked_at = Some(now);
    Ok(json_response(StatusCode::OK, &Key::new(&key)))
}

/// Whose asks a new key speaks for: of an agent's key exactly one person's.
///
/// # Errors
/// It names none, or too many.
pub fn owners(role: &str, named: &[String]) -> Result<Owners, Error> {
    for owner in named {
        body::name("owners", owner)?;
    }
    match (role, named) {
        ("agent", []) => Ok(Owners::Some(vec![LOCAL.to_owned()])),
        ("agent", [one]) => Ok(Owners::Some(vec![one.clone()])),
        ("agent", _) => Err(Error::invalid("an agent's key has one owner")),
        (_, []) => Ok(Owners::All),
        (_, named) => Ok(Owners::Some(named.to_vec())),
    }
}
