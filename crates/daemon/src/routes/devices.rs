//! `/v1/devices`: devices that act as the approver who paired them.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::key::hash;
use portcullis_approval::{Id, Role};
use portcullis_store::{DeviceRecord, PairingRecord};
use portcullis_wire::asks::raw;
use portcullis_wire::body;
use portcullis_wire::devices::{Accept, Device, Devices, NewPairing, Pairing, WaitingDevice};
use portcullis_wire::errors::{Code, Error};

use crate::App;
use crate::chance;
use crate::doors::multica::Answered;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Named, Query};
use crate::identity::Caller;

/// How long a token is good.
const PAIRING_S: u64 = 600;

/// `GET /v1/devices`: the caller's devices, oldest first, and those that wait to be accepted.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&[])?;
    let devices = app.authority.store().devices().await?;
    let devices = devices.iter().filter(|device| is_theirs(&caller, device.key));
    let devices = devices.map(|device| shape(&app, device)).collect();
    let waiting = app.hub.waiting().into_iter().filter(|(_, key, _)| is_theirs(&caller, *key));
    let waiting = waiting
        .map(|(id, _, about)| WaitingDevice { id: id.to_string(), about: raw(&about) })
        .collect();
    Ok(json_response(StatusCode::OK, &Devices { devices, waiting }))
}

/// `POST /v1/devices`: makes a token that one device may be paired with, and shows it once.
pub async fn pair(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let new: NewPairing = body::read(&body)?;
    new.agent.as_deref().map_or(Ok(()), |agent| body::name("agent", agent))?;
    let chance = chance::bytes::<24>()
        .map_err(|_| ApiError::from(Error::new(Code::Unavailable, "there is no chance left")))?;
    let token = format!("pair_{}", URL_SAFE_NO_PAD.encode(chance));
    let now = app.authority.now();
    let pairing = PairingRecord {
        id: chance::id(now),
        hash: hash(&token),
        key: caller.key.id,
        agent: new.agent,
        must_confirm: new.confirm,
        made_at: now,
        expires_at: now.after_s(PAIRING_S),
    };
    let mut data = vec![("confirm", pairing.must_confirm.to_string())];
    data.extend(pairing.agent.as_ref().map(|agent| ("agent", quoted(agent))));
    let entry = entry("device.offered", &caller, pairing.id, data, now);
    app.authority.store().offer_pairing(&pairing, vec![entry]).await?;
    let shown = Pairing {
        id: pairing.id.to_string(),
        token,
        hub_id: app.hub.id.to_string(),
        url: crate::doors::multica::url(&app),
        expires_at: pairing.expires_at.to_string(),
    };
    Ok(json_response(StatusCode::OK, &shown))
}

/// `POST /v1/devices/{id}`: accepts or refuses a device that waits.
pub async fn accept(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let said: Accept = body::read(&body)?;
    let id: Id = id.parse().map_err(|_| no_such())?;
    match app.hub.answer(id, &caller, said.accept) {
        Answered::Told => Ok(json_response(StatusCode::OK, &serde_json::json!({}))),
        Answered::NoSuch => Err(no_such()),
    }
}

/// `DELETE /v1/devices/{id}`: revokes a device; its connections end.
pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
) -> Result<Response, ApiError> {
    let id: Id = id.parse().map_err(|_| no_such())?;
    let devices = app.authority.store().devices().await?;
    let device = devices.into_iter().find(|device| device.id == id);
    let device = device.filter(|device| is_theirs(&caller, device.key)).ok_or_else(no_such)?;
    let now = app.authority.now();
    let entry = entry("device.revoked", &caller, id, Vec::new(), now);
    if !app.authority.store().revoke_device(id, now, vec![entry]).await? {
        return Err(no_such());
    }
    app.hub.drop_device(id);
    let revoked = DeviceRecord { revoked_at: Some(now), ..device };
    Ok(json_response(StatusCode::OK, &shape(&app, &revoked)))
}

/// Whether a device of this key is the caller's affair.
fn is_theirs(caller: &Caller, key: Id) -> bool {
    caller.key.id == key || caller.key.role == Role::Admin
}

fn no_such() -> ApiError {
    ApiError::not_found("no such device")
}

fn shape(app: &App, device: &DeviceRecord) -> Device {
    let key = app.identity.keys().into_iter().find(|key| key.id == device.key);
    Device {
        id: device.id.to_string(),
        approver: key.map_or_else(|| device.key.to_string(), |key| key.name.clone()),
        agent: device.agent.clone(),
        about: raw(&device.about),
        paired_at: device.paired_at.to_string(),
        revoked_at: device.revoked_at.map(|at| at.to_string()),
    }
}

fn entry(
    kind: &'static str,
    caller: &Caller,
    subject: Id,
    data: Vec<(&str, String)>,
    at: portcullis_approval::Moment,
) -> Entry {
    let (actor, subject) = (caller.key.name.clone(), subject.to_string());
    Entry { kind, at, actor, subject, owner: None, data: object(data).into() }
}
