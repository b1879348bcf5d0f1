//! Socket.IO, version 4: polling and WebSocket, namespace `/`.
//!
//! Only requests that are meant for it come here, each through the gate of its row; what the
//! crate answers is passed on, with the caller's origin named where there is one.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use portcullis_wire::dialects::multica::{BUILT_IN, Envelope, Fault, IN_USE, Kind, NOT_REGISTERED};
use portcullis_wire::errors::Code;
use serde_json::{Value, json};
use socketioxide::extract::{AckSender, SocketRef, TryData};
use socketioxide::{ParserConfig, SocketIo};
use tokio::sync::mpsc;
use tower::ServiceExt;

use super::calls;
use super::hub::{Link, Out, locked};
use crate::App;
use crate::error::ApiError;

/// The largest message a client may send.
const MOST_BYTES: usize = 1 << 20;

/// How often a connection is asked whether it lives, and how long it may take to say so.
const PING: Duration = Duration::from_secs(25);
const PONG: Duration = Duration::from_secs(20);

/// So many messages may wait in the crate for a connection that is polled.
const MOST_WAITING: usize = 512;

/// What answers requests of Socket.IO.
pub type Sockets = socketioxide::service::SocketIoService<Router>;

/// So many conversations may be begun at once, and so many more in a second. One that is begun is
/// held for a while, whether or not anybody goes on with it, and nobody needs a key to begin one.
const MOST_BEGUN: f64 = 100.0;
const BEGUN_PER_SECOND: f64 = 5.0;

/// How many conversations may be begun now.
#[derive(Debug)]
pub struct Beginnings {
    left: f64,
    filled: Instant,
}

impl Default for Beginnings {
    fn default() -> Beginnings {
        Beginnings { left: MOST_BEGUN, filled: Instant::now() }
    }
}

impl Beginnings {
    /// Begins one; false where there are too many.
    fn take(&mut self, now: Instant) -> bool {
        let filled = now.saturating_duration_since(self.filled).as_secs_f64() * BEGUN_PER_SECOND;
        self.left = (self.left + filled).min(MOST_BEGUN);
        self.filled = now;
        let may_begin = self.left >= 1.0;
        if may_begin {
            self.left -= 1.0;
        }
        may_begin
    }
}

/// Answers a request.
pub(super) async fn serve(State(app): State<App>, request: Request) -> Response {
    let is_begun = parameter(request.uri(), "sid").is_some();
    if !is_begun && !locked(&app.hub.beginnings).take(Instant::now()) {
        let message = "too many devices connect just now; try again in a moment";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let mut busy = ApiError::new(status, Code::Unavailable, message).into_response();
        busy.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        return busy;
    }
    let sockets = app.hub.sockets.get_or_init(|| build(&app)).clone();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match sockets.oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    name_origin(response.headers_mut(), origin);
    response
}

/// Says that a page of this origin, which the gate knows, may read the answer.
fn name_origin(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    let Some(origin) = origin else { return };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}

fn build(app: &App) -> Sockets {
    let (service, io) = SocketIo::builder()
        .req_path("/ws")
        .ping_interval(PING)
        .ping_timeout(PONG)
        .max_payload(MOST_BYTES as u64)
        .ws_max_message_size(MOST_BYTES)
        .ws_max_frame_size(MOST_BYTES)
        .max_buffer_size(MOST_WAITING)
        .with_parser(ParserConfig::common().max_incoming_binaries(1))
        .build_with_inner_svc(Router::new());
    let connected = app.clone();
    io.ns("/", move |socket: SocketRef| {
        let app = connected.clone();
        async move { connect(app, &socket) }
    });
    let app = app.clone();
    tokio::spawn(async move {
        app.authority.stopped().await;
        io.close().await;
    });
    service
}

/// The device of a connection, once it is registered.
type Registered = Arc<Mutex<Option<Arc<Link>>>>;

/// Registers a device, or says why not.
fn connect(app: App, socket: &SocketRef) {
    let registered: Registered = Arc::default();
    listen(&app, socket, &registered);
    let uri = &socket.req_parts().uri;
    let device = parameter(uri, "deviceId").filter(|device| !device.is_empty());
    let kind = parameter(uri, "deviceType").and_then(|kind| Kind::named(&kind));
    let (Some(device), Some(kind)) = (device, kind) else {
        let _ = socket.clone().disconnect();
        return;
    };
    let refuse = |error: &str| {
        let said = json!({ "success": false, "deviceId": device, "error": error });
        let _ = socket.emit("registered", &said);
        let _ = socket.clone().disconnect();
    };
    if kind == Kind::Hub {
        return refuse(BUILT_IN);
    }
    let Some((link, out)) = app.hub.connect(&device, kind) else { return refuse(IN_USE) };
    *locked(&registered) = Some(Arc::clone(&link));
    let _ = socket.emit("registered", &json!({ "success": true, "deviceId": device }));
    tokio::spawn(tell(app, link, socket.clone(), out));
}

/// Sets up what is done when the device says something or goes.
fn listen(app: &App, socket: &SocketRef, registered: &Registered) {
    let (heard_by, device) = (app.clone(), Arc::clone(registered));
    socket.on("send", move |socket: SocketRef, TryData::<Value>(message)| {
        let (app, device) = (heard_by.clone(), Arc::clone(&device));
        async move {
            let message = message.unwrap_or(Value::Null);
            let link = locked(&device).clone();
            if let Some(link) = link {
                return calls::hear(&app, &link, Envelope::of(message)).await;
            }
            let message_id = message.get("id").and_then(Value::as_str).map(str::to_owned);
            let message = NOT_REGISTERED.to_owned();
            let fault = Fault { code: "NOT_REGISTERED", message, message_id };
            let _ = socket.emit("send_error", &fault.event());
        }
    });
    socket.on("ping", async |ack: AckSender| {
        let _ = ack.send(&json!({ "event": "pong", "data": "Hello from Gateway!" }));
    });
    let (listed_by, device) = (app.clone(), Arc::clone(registered));
    socket.on("list-devices", move |ack: AckSender| {
        let (app, device) = (listed_by.clone(), Arc::clone(&device));
        async move {
            let mut devices =
                vec![json!({ "deviceId": app.hub.id.to_string(), "deviceType": "hub" })];
            let link = locked(&device).clone();
            devices.extend(
                link.map(|link| json!({ "deviceId": link.device, "deviceType": link.kind.name() })),
            );
            let _ = ack.send(&json!({ "devices": devices }));
        }
    });
    let (left, device) = (app.clone(), Arc::clone(registered));
    socket.on_disconnect(move || {
        let link = locked(&device).take();
        let app = left.clone();
        async move {
            if let Some(link) = link {
                app.hub.disconnect(&link);
                link.forget();
            }
        }
    });
}

/// Says what there is to say, in order, until the connection is gone.
async fn tell(app: App, link: Arc<Link>, socket: SocketRef, mut out: mpsc::Receiver<Out>) {
    loop {
        let said = tokio::select! {
            said = out.recv() => said,
            () = link.forgotten() => None,
        };
        let sent = match said {
            Some(Out::Message(message)) => socket.emit("receive", &message).is_ok(),
            Some(Out::Fault(fault)) => socket.emit("send_error", &fault.event()).is_ok(),
            Some(Out::Leave) | None => false,
        };
        if !sent {
            app.hub.disconnect(&link);
            drop(out);
            let _ = socket.disconnect();
            return;
        }
    }
}

/// A parameter of the query, with its escapes read.
fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri).ok()?;
    query.0.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_begins_more_than_devices_do_is_told_to_wait() {
        let (mut beginnings, now) = (Beginnings::default(), Instant::now());
        let begun = (0..1000).filter(|_| beginnings.take(now)).count();
        assert!((100..=101).contains(&begun), "{begun}");
        let later = now + Duration::from_secs(2);
        let begun = (0..1000).filter(|_| beginnings.take(later)).count();
        assert!((9..=11).contains(&begun), "{begun}");
    }
}
