//! The plain transport: one envelope for each text frame of a WebSocket.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use portcullis_approval::Role;
use portcullis_wire::dialects::multica::{BUILT_IN, Envelope, IN_USE, Kind, MISSING, Malformed};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::hub::{Link, Out, Verified, locked};
use super::{calls, push, verify};
use crate::App;
use crate::authority::stopped;
use crate::error::ApiError;
use crate::extract::Query;
use crate::identity::Caller;
use crate::routes::feed::lean;

/// The largest frame a client may send.
const MOST_FRAME: usize = 1 << 20;

/// How often a connection is asked whether it lives, and how long it may take to say so.
const PING: Duration = Duration::from_secs(25);
const PONG: Duration = Duration::from_secs(20);

/// Why a connection is closed at once.
type Closed = (u16, &'static str);

/// A connection that does not say what it is.
pub(super) async fn refuse(
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    match upgrade {
        Ok(upgrade) => upgrade.on_upgrade(|socket| close(socket, (4400, MISSING))),
        Err(rejection) => rejection.into_response(),
    }
}

/// Opens a connection; the key says who it is.
pub(super) async fn serve(
    State(app): State<App>,
    caller: Caller,
    query: Result<Query, ApiError>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        // Twice the size, so that a frame that is too large can be seen and refused by its code.
        Ok(upgrade) => lean(upgrade, 2 * MOST_FRAME),
        Err(rejection) => return rejection.into_response(),
    };
    let get = |name: &str| {
        query.as_ref().ok().and_then(|query| query.get(name)).filter(|text| !text.is_empty())
    };
    let (device, kind) = (get("deviceId"), get("deviceType").and_then(Kind::named));
    let (Some(device), Some(kind)) = (device.map(str::to_owned), kind) else {
        return upgrade.on_upgrade(|socket| close(socket, (4400, MISSING)));
    };
    let fits = match kind {
        Kind::Hub => return upgrade.on_upgrade(|socket| close(socket, (4403, BUILT_IN))),
        Kind::Agent => caller.key.role == Role::Agent,
        Kind::Client => caller.key.role != Role::Agent,
    };
    if !fits {
        return (StatusCode::UNAUTHORIZED, "this key is for another deviceType").into_response();
    }
    let Some((link, out)) = app.hub.connect(&device, kind) else {
        return upgrade.on_upgrade(|socket| close(socket, (4409, IN_USE)));
    };
    let caller = verify::caller(Arc::clone(&caller.key));
    locked(&link.state).verified = Some(Verified { caller, agent: None, device: None });
    let (failed, lost) = (app.clone(), Arc::clone(&link));
    upgrade
        .on_failed_upgrade(move |_| failed.hub.disconnect(&lost))
        .on_upgrade(move |socket| talk(app, link, out, socket))
}

/// Tells why and goes.
async fn close(mut socket: WebSocket, (code, reason): Closed) {
    let frame = CloseFrame { code, reason: reason.into() };
    let _ = socket.send(Message::Close(Some(frame))).await;
    // The client says goodbye too, or is gone.
    let farewell = async { while let Some(Ok(_)) = socket.recv().await {} };
    let _ = tokio::time::timeout(Duration::from_secs(5), farewell).await;
}

async fn talk(app: App, link: Arc<Link>, mut out: mpsc::Receiver<Out>, socket: WebSocket) {
    let (mut sender, mut receiver) = socket.split();
    push::begin(&app, &link);
    let closed = converse(&app, &link, &mut out, &mut sender, &mut receiver).await;
    app.hub.disconnect(&link);
    // What is said from here on reaches nobody.
    drop(out);
    if let Some((code, reason)) = closed {
        let frame = CloseFrame { code, reason: reason.into() };
        let _ = sender.send(Message::Close(Some(frame))).await;
    }
}

/// Goes on until the connection is gone, or must go for a reason.
async fn converse(
    app: &App,
    link: &Arc<Link>,
    out: &mut mpsc::Receiver<Out>,
    sender: &mut SplitSink<WebSocket, Message>,
    receiver: &mut SplitStream<WebSocket>,
) -> Option<Closed> {
    let mut stopping = app.authority.stopping();
    let mut ping = tokio::time::interval(PING);
    ping.reset();
    let mut heard = Instant::now();
    let mut asked: Option<Instant> = None;
    loop {
        let patience = asked.map_or(heard + PING + PONG, |asked| asked + PONG);
        tokio::select! {
            said = out.recv() => {
                let text = match said? {
                    Out::Message(message) => serde_json::to_string(&message),
                    Out::Fault(fault) => {
                        serde_json::to_string(&link.fault_message(&fault, app.authority.now()))
                    }
                    Out::Leave => return Some((4403, "Device revoked")),
                };
                sender.send(Message::Text(text.unwrap_or_default().into())).await.ok()?;
            }
            message = receiver.next() => {
                heard = Instant::now();
                asked = None;
                let text = match message? {
                    Ok(Message::Text(text)) if text.len() > MOST_FRAME => {
                        return Some((1009, "frame too large"));
                    }
                    Ok(Message::Text(text)) => text,
                    Ok(Message::Binary(bytes)) if bytes.len() > MOST_FRAME => {
                        return Some((1009, "frame too large"));
                    }
                    Ok(Message::Binary(_)) => {
                        let (app, link) = (app.clone(), Arc::clone(link));
                        calls::hear(&app, &link, Err(Malformed(None))).await;
                        continue;
                    }
                    Ok(Message::Ping(_) | Message::Pong(_)) => continue,
                    Err(error) if error.to_string().contains("too long") => {
                        return Some((1009, "frame too large"));
                    }
                    Ok(Message::Close(_)) | Err(_) => return None,
                };
                // A call may wait for a person; others go on meanwhile.
                let (app, link) = (app.clone(), Arc::clone(link));
                tokio::spawn(async move {
                    calls::hear(&app, &link, Envelope::read(&text)).await;
                });
            }
            _ = ping.tick() => {
                asked.get_or_insert_with(Instant::now);
                sender.send(Message::Ping(axum::body::Bytes::new())).await.ok()?;
            }
            () = tokio::time::sleep_until(patience) => return None,
            () = stopped(&mut stopping) => return Some((1001, "going down")),
        }
    }
}
