//! The feed: server-sent events and a WebSocket, both with resume.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{SinkExt, StreamExt, stream};
use portcullis_wire::errors::Error;
use portcullis_wire::feed;

use crate::App;
use crate::authority::stopped;
use crate::error::ApiError;
use crate::extract::Query;
use crate::feed::{Subscription, View};
use crate::identity::Caller;

/// How often a silent stream says that it lives.
const ALIVE: Duration = Duration::from_secs(15);

/// The largest frame a client may send.
pub const MOST_FRAME: usize = 64 << 10;

/// `GET /v1/events`: the feed as server-sent events.
pub async fn events(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let subscription = subscribe(&app, &caller, &query, last).await?;
    let stopping = app.authority.stopping();
    let ended = Box::pin(async move { app.ended(&caller).await });
    let events = stream::unfold(
        (subscription, stopping, ended),
        |(mut subscription, mut stopping, mut ended)| async move {
            let text = tokio::select! {
                biased;
                () = stopped(&mut stopping) => return None,
                () = &mut ended => return None,
                event = subscription.next() => {
                    let event = event?;
                    let cursor = feed::cursor(event.position);
                    format!("id: {cursor}\nevent: {}\ndata: {}\n\n", event.kind, event.text())
                }
                () = tokio::time::sleep(ALIVE) => ": alive\n\n".to_owned(),
            };
            Some((Ok::<_, Infallible>(text), (subscription, stopping, ended)))
        },
    );
    // A client that reads this line misses nothing that happens from now on.
    let hello = stream::once(async { Ok(": connected\n\n".to_owned()) });
    let events = hello.chain(events);
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((StatusCode::OK, headers, Body::from_stream(events)).into_response())
}

/// `GET /v1/ws`: the feed over a WebSocket; the client sends nothing.
pub async fn socket(
    State(app): State<App>,
    caller: Caller,
    query: Query,
    upgrade: WebSocketUpgrade,
) -> Result<Response, ApiError> {
    let subscription = subscribe(&app, &caller, &query, None).await?;
    let upgrade = lean(upgrade, MOST_FRAME);
    Ok(upgrade.on_upgrade(move |socket| push(app, caller, socket, subscription)))
}

/// A WebSocket that costs little while it is silent.
pub fn lean(upgrade: WebSocketUpgrade, most_frame: usize) -> WebSocketUpgrade {
    upgrade
        .read_buffer_size(1 << 10)
        .write_buffer_size(0)
        .max_message_size(most_frame)
        .max_frame_size(most_frame)
}

async fn push(app: App, caller: Caller, socket: WebSocket, mut subscription: Subscription) {
    let (mut sender, mut receiver) = socket.split();
    let mut stopping = app.authority.stopping();
    let ended = app.ended(&caller);
    tokio::pin!(ended);
    let away = loop {
        let message = tokio::select! {
            biased;
            () = stopped(&mut stopping) => break (1001, "going down"),
            () = &mut ended => break (1008, "the key counts no longer"),
            event = subscription.next() => match event {
                Some(event) => Message::Text(event.text().clone()),
                None => break (1001, "going down"),
            },
            said = receiver.next() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            () = tokio::time::sleep(ALIVE) => Message::Ping(Vec::new().into()),
        };
        if sender.send(message).await.is_err() {
            return;
        }
    };
    let (code, reason) = away;
    let away = CloseFrame { code, reason: reason.into() };
    let _ = sender.send(Message::Close(Some(away))).await;
}

async fn subscribe(
    app: &App,
    caller: &Caller,
    query: &Query,
    last: Option<&str>,
) -> Result<Subscription, ApiError> {
    query.only(&["after", "calls", "pending"])?;
    let after = match query.get("after").or(last) {
        // Who reads the inbox anyway needs no pending asks here.
        None if query.get("pending") == Some("0") => {
            Some(app.authority.store().head().await?.position)
        }
        None => None,
        Some(cursor) => Some(feed::position(cursor).ok_or_else(|| {
            ApiError::from(Error::invalid(format!("`after`: `{cursor}` is no cursor")))
        })?),
    };
    let view = View::of(caller, query.get("calls") == Some("1"));
    Ok(app.feed.subscribe(&app.authority, view, after).await?)
}
