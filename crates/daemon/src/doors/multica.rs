//! Multica: its exec-approval hub and gateway, over Socket.IO and over a plain WebSocket.
//!
//! Both transports ([`socket_io`], [`plain`]) hand envelopes to [`calls`], which asks [`verify`]
//! who a device is; [`agent`] judges commands and waits, [`push`] tells clients what is asked and
//! how it ended, [`profiles`] reads and writes the settings of profiles, and [`words`] puts
//! verdicts and decisions into the words of the wire. [`hub`] knows who is connected.

mod agent;
mod calls;
mod hub;
mod plain;
mod profiles;
mod push;
mod socket_io;
mod verify;
mod words;

use std::sync::Arc;

use axum::http::Method;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use portcullis_engine::Policy;

use crate::App;
use crate::authority::{Overlay, Profiles};
use crate::error::ApiError;
use crate::router::{MOST_BYTES, Route, Shut, Who, refuse as refuse_plainly};

pub use hub::Hub;
pub use profiles::Files;
pub use verify::Answered;

/// The name of the door, and of the host in the engine's table of tools.
pub const NAME: &str = "multica";

/// Its routes.
#[must_use]
#[rustfmt::skip]
pub fn routes() -> Vec<Arc<Route>> {
    vec![
        made(Method::GET,  Some("EIO"),      Who::Anyone, "Multica: asks and answers over Socket.IO, after verification", || get(socket_io::serve)),
        made(Method::POST, Some("EIO"),      Who::Anyone, "Multica: the same, by polling",                                || post(socket_io::serve)),
        made(Method::GET,  Some("deviceId"), Who::AnyKey, "Multica: asks and answers over a WebSocket",                   || get(plain::serve)),
    ]
}

/// The same for its own listener, where `/ws` is nobody else's.
#[must_use]
pub fn own_routes() -> Vec<Arc<Route>> {
    let about = "Multica: a connection that does not say what it is";
    let bare = made(Method::GET, None, Who::Anyone, about, || get(plain::refuse));
    routes().into_iter().chain([bare]).collect()
}

fn made(
    method: Method,
    mark: Option<&'static str>,
    who: Who,
    about: &'static str,
    handler: fn() -> MethodRouter<App>,
) -> Arc<Route> {
    Arc::new(Route {
        method,
        path: "/ws",
        mark,
        who,
        about,
        most_bytes: MOST_BYTES,
        takes_query_key: true,
        takes_origin: true,
        is_waived: |config| config.dialects.multica.loopback_without_key,
        takes: None,
        gives: None,
        refuse,
        handler,
    })
}

/// Whoever shows no key that counts is not let in.
fn refuse(shut: Shut) -> Response {
    use axum::response::IntoResponse;
    match shut {
        Shut::NoKey | Shut::UnknownKey | Shut::Role => ApiError::unauthorized().into_response(),
        Shut::Host | Shut::Origin | Shut::Mark => refuse_plainly(shut),
    }
}

/// What lies over its calls: the settings of their profiles, and nothing else.
#[must_use]
pub fn overlay(profiles: &Arc<Files>) -> Overlay {
    let profiles: Arc<dyn Profiles> = Arc::<Files>::clone(profiles);
    Overlay { lay: Arc::new(Policy::clone), comes_again: false, profiles: Some(profiles) }
}

/// Where devices connect: its own listener, or the main one.
#[must_use]
pub(crate) fn url(app: &App) -> String {
    let own = &app.config.dialects.multica.listen;
    let address = if own.is_empty() { app.config.listen.to_string() } else { own.clone() };
    let scheme = if app.has_tls { "https" } else { "http" };
    format!("{scheme}://{address}")
}
