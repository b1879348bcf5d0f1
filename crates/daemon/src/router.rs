//! Every route, with who may use it; and the gate in front of each.
//!
//! The table is what the router, the gate, the description in `/openapi.json` and the tests of
//! credentials are made from: a route that is not in it does not exist.

mod gate;
mod shown;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use portcullis_approval::{Moment, Role};
use portcullis_wire::errors::Code;
use schemars::{Schema, SchemaGenerator};

use crate::App;
use crate::config::Config;
use crate::doors::ws;
use crate::error::ApiError;
use crate::identity::{self, Caller, Via};
use crate::listen::Connection;

use gate::Gate;
pub use shown::Shown;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Anybody, without a credential.
    Anyone,
    /// Whoever has a key.
    AnyKey,
    /// Agents.
    Agent,
    /// Agents and approvers.
    AgentOrApprover,
    /// Approvers.
    Approver,
    /// Admins.
    Admin,
}

impl Who {
    /// The word for them.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Who::Anyone => "anyone",
            Who::AnyKey => "any-key",
            Who::Agent => "agent",
            Who::AgentOrApprover => "agent-or-approver",
            Who::Approver => "approver",
            Who::Admin => "admin",
        }
    }

    /// Whether a role is among them.
    #[must_use]
    pub const fn includes(self, role: Role) -> bool {
        match (self, role) {
            (Who::Anyone | Who::AnyKey | Who::AgentOrApprover, _)
            | (Who::Agent, Role::Agent)
            | (Who::Approver, Role::Approver | Role::Admin)
            | (Who::Admin, Role::Admin) => true,
            (Who::Agent, Role::Approver | Role::Admin)
            | (Who::Approver, Role::Agent)
            | (Who::Admin, Role::Agent | Role::Approver) => false,
        }
    }
}

/// A request on its way: over which connection it came and, once the gate let it in, to what and
/// from whom.
#[derive(Clone)]
pub struct Visit {
    connection: Connection,
    /// The route it was let in to.
    pub route: Option<Arc<Route>>,
    /// Who was let in.
    pub caller: Option<Caller>,
}

impl Visit {
    /// One that was not let in yet.
    #[must_use]
    pub fn over(connection: Connection) -> Visit {
        Visit { connection, route: None, caller: None }
    }
}

/// Why the gate stays shut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shut {
    /// The `Host` is not one of ours.
    Host,
    /// The `Origin` is not one of ours.
    Origin,
    /// A browser's request that changes something does not carry our mark.
    Mark,
    /// No credential, or none that has the form of one.
    NoKey,
    /// A key that does not count.
    UnknownKey,
    /// A key that does not reach so far.
    Role,
}

/// Describes a shape.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// One route.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path, with names in braces.
    pub path: &'static str,
    /// The parameter of the query that tells it from other rows of its path, if there are any.
    pub mark: Option<&'static str>,
    /// Who may use it.
    pub who: Who,
    /// What it does, in one line.
    pub about: &'static str,
    /// The longest body it takes.
    pub most_bytes: usize,
    /// Whether a key may stand in the address.
    pub takes_query_key: bool,
    /// Whether an `Origin` of ours is mark enough on a browser's request that changes something.
    pub takes_origin: bool,
    /// Whether this configuration lets a local process without a key be an approver here.
    pub is_waived: fn(&Config) -> bool,
    /// What it takes.
    pub takes: Option<Shape>,
    /// What it gives.
    pub gives: Option<Shape>,
    /// How it says that the gate stays shut.
    pub refuse: fn(Shut) -> Response,
    /// What answers.
    pub handler: fn() -> MethodRouter<App>,
}

/// The longest body of most routes.
pub const MOST_BYTES: usize = 1 << 20;

/// The longest body that holds a code to log in with.
pub const MOST_CODE_BYTES: usize = 4 << 10;

/// The longest body of routes that take calls.
pub const MOST_CALL_BYTES: usize = 8 << 20;

/// The router of these routes.
pub fn router(app: &App, routes: &[Arc<Route>]) -> Router {
    let mut all = Router::new();
    let mut shared = Vec::new();
    for route in routes {
        let gated = (route.handler)().route_layer(Gate::new(app, route));
        if ws::PATHS.contains(&route.path) {
            shared.push((Arc::clone(route), gated.with_state(app.clone())));
        } else {
            all = all.route(route.path, gated);
        }
    }
    if !shared.is_empty() {
        for path in ws::PATHS {
            all = all.route(path, ws::dispatch(shared.clone()));
        }
    }
    all.fallback(|| async { ApiError::not_found("no such route; see /openapi.json") })
        .method_not_allowed_fallback(|| async {
            ApiError::new(
                StatusCode::METHOD_NOT_ALLOWED,
                Code::MethodNotAllowed,
                "this route has other methods; see /openapi.json",
            )
        })
        .with_state(app.clone())
}

/// Says why the gate stays shut. Whoever does not ask for a WebSocket where there is nothing else
/// is told that first, with a key or without one.
fn shut_out(route: &Route, shut: Shut, headers: &HeaderMap) -> Response {
    let is_about_keys = matches!(shut, Shut::NoKey | Shut::UnknownKey | Shut::Role);
    if is_about_keys && ws::is_bare(route) && !headers.contains_key(header::UPGRADE) {
        return ws::no_upgrade().into_response();
    }
    (route.refuse)(shut)
}

fn admit(app: &App, route: &Route, request: &Request) -> Result<Option<Caller>, Shut> {
    let headers = request.headers();
    let Visit { connection, .. } = request.extensions().get::<Visit>().ok_or(Shut::Host)?;
    let now = app.authority.now();
    if let Some(caller) = connection.shown().again(&app.identity, headers, request.uri(), now) {
        return reaches(route, caller);
    }
    if !connection.is_socket() {
        check_host(connection, headers, request.uri())?;
    }
    let origin = check_origin(connection, headers)?;
    if route.who == Who::Anyone {
        return Ok(None);
    }
    let keys = app.identity.generation();
    let caller = credential(app, route, connection, request, now)?;
    if caller.via == Via::Header && !connection.is_socket() {
        connection.shown().keep(keys, headers, request.uri(), &caller);
    }
    if caller.via == Via::Cookie {
        // A page of another site can send a request, but neither our header nor our origin.
        let is_upgrade = headers.contains_key(header::UPGRADE);
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        let is_marked = headers.get("x-portcullis").is_some_and(|value| value == "1")
            || (route.takes_origin && origin.is_some());
        if is_upgrade && origin.is_none() {
            return Err(Shut::Origin);
        }
        if !reads && !is_marked {
            return Err(Shut::Mark);
        }
    }
    reaches(route, caller)
}

/// Lets a caller in whose role is among those of a route.
fn reaches(route: &Route, caller: Caller) -> Result<Option<Caller>, Shut> {
    match route.who {
        Who::Anyone => Ok(None),
        who if who.includes(caller.key.role) => Ok(Some(caller)),
        Who::AnyKey | Who::Agent | Who::AgentOrApprover | Who::Approver | Who::Admin => {
            Err(Shut::Role)
        }
    }
}

fn credential(
    app: &App,
    route: &Route,
    connection: &Connection,
    request: &Request,
    now: Moment,
) -> Result<Caller, Shut> {
    let headers = request.headers();
    let is_local = connection.is_socket();
    let door = door(headers, is_local);
    let with = |secret: &str, via: Via, door: &'static str| {
        let key = app.identity.by_secret(secret, now).ok_or(Shut::UnknownKey)?;
        Ok(Caller { key, via, is_local, door })
    };
    if headers.contains_key(header::AUTHORIZATION) {
        return with(identity::bearer(headers).ok_or(Shut::NoKey)?, Via::Header, door);
    }
    if route.takes_query_key
        && let Some(secret) = query_key(request.uri())
    {
        return with(&secret, Via::Query, door);
    }
    if let Some(secret) = identity::browser(headers) {
        return with(&secret, Via::Cookie, "dashboard");
    }
    if is_local {
        return Ok(Caller { key: app.identity.socket(), via: Via::Socket, is_local, door });
    }
    if (route.is_waived)(&app.config) {
        return Ok(Caller { key: app.identity.waiver(), via: Via::Waiver, is_local, door });
    }
    Err(Shut::NoKey)
}

/// The door a client of ours says it is; the word is shown and decides nothing.
fn door(headers: &HeaderMap, is_local: bool) -> &'static str {
    let said = headers.get("x-portcullis-door").and_then(|value| value.to_str().ok());
    match said {
        Some("terminal") => "terminal",
        Some("hook") => "hook",
        Some("mcp") => "mcp",
        Some("acp") => "acp",
        _ if is_local => "socket",
        _ => "api",
    }
}

fn query_key(uri: &Uri) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let (_, token) = pairs.into_iter().find(|(name, _)| *name == "token")?;
    (!token.is_empty()).then(|| token.to_owned())
}

fn check_host(connection: &Connection, headers: &HeaderMap, uri: &Uri) -> Result<(), Shut> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (host, another) = (hosts.next(), hosts.next());
    let host = host.and_then(|host| host.to_str().ok()).ok_or(Shut::Host)?;
    let agrees = uri.authority().is_none_or(|authority| authority.as_str() == host);
    if another.is_none() && agrees && connection.has_host(host) { Ok(()) } else { Err(Shut::Host) }
}

fn check_origin(connection: &Connection, headers: &HeaderMap) -> Result<Option<()>, Shut> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), another) = (origins.next(), origins.next()) else {
        return if is_of_another_site(headers) { Err(Shut::Origin) } else { Ok(None) };
    };
    let is_ours = origin.to_str().is_ok_and(|origin| connection.has_origin(origin));
    if is_ours && another.is_none() { Ok(Some(())) } else { Err(Shut::Origin) }
}

/// Whether a browser says that a page of another site made it ask, and not for a page to show:
/// pictures and scripts are fetched without an `Origin`.
fn is_of_another_site(headers: &HeaderMap) -> bool {
    let says = |name: &str, word: &str| headers.get(name).is_some_and(|value| value == word);
    let is_foreign =
        headers.contains_key(SITE) && !says(SITE, "same-origin") && !says(SITE, "none");
    is_foreign && !(says("sec-fetch-mode", "navigate") && says("sec-fetch-dest", "document"))
}

/// The header in which a browser says whose page asks.
const SITE: &str = "sec-fetch-site";

/// How the native API says that the gate stays shut.
#[must_use]
pub fn refuse(shut: Shut) -> Response {
    match shut {
        Shut::Host => ApiError::forbidden("this `Host` is not served here; see `host_names`"),
        Shut::Origin => ApiError::forbidden("this `Origin` is not served here; see `origins`"),
        Shut::Mark => ApiError::forbidden("with a cookie, send `X-Portcullis: 1` along"),
        Shut::NoKey | Shut::UnknownKey => ApiError::unauthorized(),
        Shut::Role => ApiError::forbidden("this key has another role"),
    }
    .into_response()
}
