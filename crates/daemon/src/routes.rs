//! The routes of the native API, and the table of all.

pub mod asks;
pub mod audit;
pub mod calls;
pub mod devices;
pub mod explanations;
pub mod feed;
pub mod grants;
pub mod health;
pub mod hooks;
pub mod keys;
pub mod login;
pub mod pages;
pub mod pause;
pub mod policies;
pub mod runs;
pub mod stats;

use std::sync::Arc;

use axum::http::Method;
use axum::routing::{MethodRouter, delete, get, patch, post};
use portcullis_wire as wire;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::App;
use crate::config::Config;
use crate::doors;
use crate::router::{MOST_BYTES, MOST_CALL_BYTES, MOST_CODE_BYTES, Route, Shape, Who, refuse};

/// Every route of the native API.
#[must_use]
#[rustfmt::skip]
pub fn native() -> Vec<Arc<Route>> {
    vec![
        made(Method::POST,   "/v1/calls",              Who::Agent,           "judges a tool call; allows or denies it at once, or opens an ask and waits", Some(shape::<wire::calls::Call>), Some(shape::<wire::calls::Answered>), || post(calls::submit)),
        made(Method::GET,    "/v1/calls",              Who::Approver,        "past calls, newest first",               None, None, || get(calls::history)),
        made(Method::GET,    "/v1/calls/{cursor}/explanation",Who::Approver,        "why a past call was judged so, with the policy of its time or today's", None, None, || get(explanations::of_call)),
        made(Method::POST,   "/v1/check",              Who::AnyKey,          "judges a tool call and leaves nothing behind", Some(shape::<wire::calls::Call>), None, || post(calls::check)),
        made(Method::POST,   "/v1/hooks/{host}",       Who::Agent,           "answers a host's own document with its own document; denies whatever it cannot read", None, None, || post(hooks::answer)),
        made(Method::GET,    "/v1/asks",               Who::AgentOrApprover, "the asks this key may see, oldest first, or by `order=risk` the beginning of the inbox", None, Some(shape::<wire::asks::Asks>), || get(asks::list)),
        made(Method::POST,   "/v1/asks/decisions",     Who::Approver,        "answers many asks",                      Some(shape::<wire::asks::Answers>), Some(shape::<wire::asks::Results>), || post(asks::decide_many)),
        made(Method::GET,    "/v1/asks/{id}",          Who::AgentOrApprover, "one ask; waits for its end if asked to", None, Some(shape::<wire::asks::Ask>), || get(asks::show)),
        made(Method::DELETE, "/v1/asks/{id}",          Who::Agent,           "takes an ask back",                      None, Some(shape::<wire::asks::Decision>), || delete(asks::withdraw)),
        made(Method::POST,   "/v1/asks/{id}/decision", Who::Approver,        "answers an ask",                         Some(shape::<wire::asks::Answer>), Some(shape::<wire::asks::Decision>), || post(asks::decide)),
        made(Method::POST,   "/v1/asks/{id}/check",   Who::Approver,        "judges an ask's call with another input, and changes nothing", Some(shape::<wire::asks::Changed>), None, || post(explanations::check)),
        made(Method::GET,    "/v1/asks/{id}/explanation",Who::Approver,        "why an ask was opened, with the policy of its time or today's", None, None, || get(explanations::of_ask)),
        made(Method::GET,    "/v1/events",             Who::AnyKey,          "the feed, as server-sent events",        None, None, || get(feed::events)),
        made(Method::GET,    "/v1/ws",                 Who::AnyKey,          "the feed, over a WebSocket",             None, None, || get(feed::socket)),
        made(Method::GET,    "/v1/runs",               Who::AgentOrApprover, "runs that go on",                        None, Some(shape::<wire::grants::Runs>), || get(runs::list)),
        made(Method::POST,   "/v1/runs",               Who::Agent,           "starts a run",                           Some(shape::<wire::grants::NewRun>), Some(shape::<wire::grants::Run>), || post(runs::start)),
        made(Method::DELETE, "/v1/runs/{id}",          Who::AgentOrApprover, "ends a run, its asks and its grants",    None, None, || delete(runs::end)),
        made(Method::PATCH,  "/v1/sessions/{id}",      Who::Approver,        "sets the mode of a session",             Some(shape::<wire::grants::SessionChange>), None, || patch(runs::change_session)),
        made(Method::GET,    "/v1/grants",             Who::Approver,        "grants, oldest first",                   None, Some(shape::<wire::grants::Grants>), || get(grants::list)),
        made(Method::POST,   "/v1/grants",            Who::Approver,        "stores a rule that an ask offered, for good", Some(shape::<wire::grants::NewGrant>), Some(shape::<wire::grants::Grant>), || post(grants::make)),
        made(Method::POST,   "/v1/grants/preview",    Who::Approver,        "what such a rule would have answered", Some(shape::<wire::grants::NewPreview>), Some(shape::<wire::grants::Preview>), || post(grants::preview)),
        made(Method::DELETE, "/v1/grants/{id}",        Who::Approver,        "revokes a grant",                        None, None, || delete(grants::revoke)),
        made(Method::GET,    "/v1/policy",             Who::Approver,        "the policy in force",                    None, None, || get(policies::show)),
        made(Method::PUT,    "/v1/policy",             Who::Admin,           "writes the user's policy file",          None, None, || axum::routing::put(policies::write)),
        made(Method::GET,    "/v1/policy/cache",       Who::Agent,           "what stops a call of this key, signed, for hooks on other machines", None, Some(shape::<wire::policy::Cache>), || get(policies::cache)),
        made(Method::POST,   "/v1/policy/check",       Who::Approver,        "reads a policy text and says what is wrong with it", None, None, || post(policies::check)),
        made(Method::GET,    "/v1/pause",              Who::Approver,        "the pauses that go on",                  None, Some(shape::<wire::pause::Pauses>), || get(pause::list)),
        made(Method::POST,   "/v1/pause",              Who::Approver,        "allows for a while what would be asked about", Some(shape::<wire::pause::NewPause>), Some(shape::<wire::pause::Pause>), || post(pause::pause)),
        made(Method::DELETE, "/v1/pause",              Who::Approver,        "ends pauses",                            None, Some(shape::<wire::pause::Resumed>), || delete(pause::resume)),
        made(Method::GET,    "/v1/stats",              Who::Approver,        "numbers worth looking at",               None, Some(shape::<wire::stats::Stats>), || get(stats::show)),
        made(Method::GET,    "/v1/audit",              Who::Approver,        "audit entries, in order",                None, None, || get(audit::list)),
        made(Method::GET,    "/v1/audit/checkpoint",   Who::Approver,        "a signed statement about the audit's end", None, None, || get(audit::checkpoint)),
        made(Method::GET,    "/v1/audit/state",       Who::Approver,        "whether this node's chain is whole, and how far it is signed", None, Some(shape::<wire::audit::AuditState>), || get(audit::state)),
        made(Method::POST,   "/v1/login",              Who::Anyone,          "exchanges a one-time code for a cookie", Some(shape::<wire::login::Login>), Some(shape::<wire::login::LoggedIn>), || post(login::login)),
        made(Method::GET,    "/v1/login",             Who::Approver,        "whose key was shown, and which browsers are signed in", None, Some(shape::<wire::login::SignedIn>), || get(login::show)),
        made(Method::POST,   "/v1/login/link",        Who::Admin,           "a code by which another browser signs in", None, Some(shape::<wire::login::Link>), || post(login::link)),
        made(Method::DELETE, "/v1/login",              Who::Approver,        "logs a browser out",                     None, None, || delete(login::logout)),
        made(Method::GET,    "/v1/keys",               Who::Admin,           "keys, without their secrets",            None, Some(shape::<wire::grants::Keys>), || get(keys::list)),
        made(Method::POST,   "/v1/keys",               Who::Admin,           "makes a key and shows it once",          Some(shape::<wire::grants::NewKey>), Some(shape::<wire::grants::Key>), || post(keys::make)),
        made(Method::DELETE, "/v1/keys/{id}",          Who::Admin,           "revokes a key",                          None, None, || delete(keys::revoke)),
        made(Method::GET,    "/v1/devices",            Who::Approver,        "devices that were paired, and those that wait", None, Some(shape::<wire::devices::Devices>), || get(devices::list)),
        made(Method::POST,   "/v1/devices",            Who::Approver,        "makes a token that one device may be paired with", Some(shape::<wire::devices::NewPairing>), Some(shape::<wire::devices::Pairing>), || post(devices::pair)),
        made(Method::POST,   "/v1/devices/{id}",       Who::Approver,        "accepts or refuses a device that waits", Some(shape::<wire::devices::Accept>), None, || post(devices::accept)),
        made(Method::DELETE, "/v1/devices/{id}",       Who::Approver,        "revokes a device",                       None, Some(shape::<wire::devices::Device>), || delete(devices::revoke)),
        made(Method::GET,    "/",                      Who::Anyone,          "the dashboard, for a browser",           None, None, || get(pages::file)),
        made(Method::GET,    "/app.js",                Who::Anyone,          "its script",                             None, None, || get(pages::file)),
        made(Method::GET,    "/app.css",               Who::Anyone,          "its looks",                              None, None, || get(pages::file)),
        made(Method::GET,    "/worker.js",             Who::Anyone,          "what opens it from a notification",      None, None, || get(pages::file)),
        made(Method::GET,    "/icon.svg",              Who::Anyone,          "its picture",                            None, None, || get(pages::file)),
        made(Method::GET,    "/manifest.webmanifest",  Who::Anyone,          "how it is installed",                    None, None, || get(pages::file)),
        made(Method::GET,    "/healthz",               Who::Anyone,          "whether the process lives",              None, None, || get(health::health)),
        made(Method::GET,    "/readyz",                Who::Anyone,          "whether calls can be answered",          None, None, || get(health::ready)),
        made(Method::GET,    "/metrics",               Who::AnyKey,          "numbers for Prometheus",                 None, None, || get(health::metrics)),
        made(Method::GET,    "/openapi.json",          Who::Anyone,          "this description",                       None, None, || get(health::openapi)),
    ]
}

/// Every route: the native API's, and those of the dialects that are spoken.
#[must_use]
pub fn all(config: &Config) -> Vec<Arc<Route>> {
    native().into_iter().chain(doors::routes(config)).collect()
}

fn made(
    method: Method,
    path: &'static str,
    who: Who,
    about: &'static str,
    takes: Option<Shape>,
    gives: Option<Shape>,
    handler: fn() -> MethodRouter<App>,
) -> Arc<Route> {
    let is_call = matches!(path, "/v1/calls" | "/v1/check" | "/v1/hooks/{host}");
    let most_bytes = match path {
        _ if is_call => MOST_CALL_BYTES,
        // Nobody needs a key there: what anybody may send is short.
        "/v1/login" => MOST_CODE_BYTES,
        _ => MOST_BYTES,
    };
    Arc::new(Route {
        method,
        path,
        mark: None,
        who,
        about,
        most_bytes,
        takes_query_key: false,
        takes_origin: false,
        is_waived: |_| false,
        takes,
        gives,
        refuse,
        handler,
    })
}

fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
