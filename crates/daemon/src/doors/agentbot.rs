//! Agentbot: its hook classifier, its permissions API and its permission socket.
//!
//! One engine and one queue stand behind it: [`overlay`] is its profile, laid over the policy of
//! every call that is classified here, and asks of all doors are listed, pushed and decided here.
//! [`classify`] judges, [`permissions`] lists and decides, [`enable`] opens a destructive call,
//! [`socket`] pushes, [`views`] says who sees what, and [`words`] puts verdicts into sentences.

mod classify;
mod enable;
mod permissions;
mod socket;
mod views;
mod words;

use std::sync::Arc;

use axum::http::{Method, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, delete, get, post};
use portcullis_approval::settle::Refusal;
use portcullis_approval::{Approver, Decision, Reply, Scope};
use portcullis_engine::policy::{Opened, Paths};
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::{Mode, Outcome, Policy};
use portcullis_store::StoreError;
use portcullis_wire::dialects::agentbot::answers::{NotClassified, Refused, Settled};

use crate::App;
use crate::authority::{Fault, Overlay};
use crate::config::{Agentbot, Config};
use crate::error::json_response;
use crate::extract::{BadBody, Bytes};
use crate::identity::{Caller, Via};
use crate::router::{MOST_BYTES, Route, Shut, Who};

/// The name of the door, and of the host in the engine's table of tools.
pub const NAME: &str = "agentbot";

/// Its routes.
#[must_use]
#[rustfmt::skip]
pub fn routes() -> Vec<Arc<Route>> {
    vec![
        made(Method::POST,   "/api/hooks/classify",                Who::Agent,           "Agentbot: sorts a tool call into a tier",          refuse_agent,  || post(classify::classify)),
        made(Method::GET,    "/api/permissions",                   Who::Approver,        "Agentbot: asks that wait, oldest first",           refuse,        || get(permissions::list)),
        made(Method::GET,    "/api/permissions/{id}",              Who::AgentOrApprover, "Agentbot: how an ask stands; waits if asked to",   refuse,        || get(permissions::show)),
        made(Method::POST,   "/api/permissions",                   Who::Approver,        "Agentbot: answers an ask",                         refuse,        || post(permissions::decide)),
        made(Method::POST,   "/api/permissions/enable",            Who::Approver,        "Agentbot: enables a destructive call for a while", refuse,        || post(enable::enable)),
        made(Method::DELETE, "/api/permissions/enable/{grant_id}", Who::Approver,        "Agentbot: takes an enabling back",                 refuse,        || delete(enable::disable)),
        made(Method::GET,    "/ws/permissions",                    Who::Approver,        "Agentbot: asks and decisions over a WebSocket",    refuse_socket, || get(socket::socket)),
    ]
}

fn made(
    method: Method,
    path: &'static str,
    who: Who,
    about: &'static str,
    refuse: fn(Shut) -> Response,
    handler: fn() -> MethodRouter<App>,
) -> Arc<Route> {
    Arc::new(Route {
        method,
        path,
        mark: None,
        who,
        about,
        most_bytes: MOST_BYTES,
        takes_query_key: path == "/ws/permissions",
        takes_origin: true,
        is_waived: |config: &Config| config.dialects.agentbot.loopback_without_key,
        takes: None,
        gives: None,
        refuse,
        handler,
    })
}

/// Its profile: mode default unless the files are stricter, nothing destructive, its own tools.
#[must_use]
pub fn overlay(settings: &Agentbot) -> Overlay {
    let Agentbot { plain_get_is_safe, reads_are_safe, deadline_s, .. } = *settings;
    let lay = move |policy: &Policy| {
        let mut policy = policy.clone();
        policy.mode = match policy.mode {
            Mode::Explore | Mode::DontAsk => policy.mode,
            Mode::Default | Mode::AcceptEdits | Mode::Bypass => Mode::Default,
        };
        policy.destructive = Outcome::Deny;
        if plain_get_is_safe {
            policy.network_reads = Outcome::Allow;
        }
        policy.exec = None;
        // What is forbidden stays so; what is merely not listed is this dialect's to say.
        policy.paths = Arc::new(Paths { read: None, write: None, ..(*policy.paths).clone() });
        policy.opened = Some(Opened { secrets: reads_are_safe, saved_fetches: plain_get_is_safe });
        policy.asks.deadline_s = deadline_s;
        // Whom nobody answers in time is told that it expired, and never that it may run.
        policy.asks.fallback = Fallback::Deny;
        policy
    };
    Overlay { lay: Arc::new(lay), comes_again: true, profiles: None }
}

/// The caller as an approver at this door.
fn approver(caller: &Caller) -> Approver {
    let door = if caller.via == Via::Cookie { caller.door } else { NAME };
    Approver { door: door.to_owned(), ..caller.approver() }
}

/// What was decided, in this dialect's words.
fn decided(decision: &Decision) -> &'static str {
    match (decision.outcome, decision.scope) {
        (Outcome::Allow, Scope::Once) => "approve",
        (Outcome::Allow, Scope::Run | Scope::Session | Scope::Always) => "approve_always",
        (Outcome::Ask | Outcome::Deny, _) => "reject",
    }
}

/// Why an ask ended, in a word: `expired` for a deadline.
fn ended_because(decision: &Decision) -> String {
    match (decision.reason.as_str(), decision.reply) {
        ("fallback", _) => "expired".to_owned(),
        ("approver", Some(Reply::Approve)) => "approved".to_owned(),
        ("approver", _) => "rejected".to_owned(),
        (reason, _) => reason.to_owned(),
    }
}

fn settled(decision: &Decision) -> Settled {
    Settled {
        decision: decided(decision),
        by: decision.by.clone(),
        at: decision.at.ms(),
        door: decision.door.clone(),
    }
}

/// A request that was not served.
fn refused(status: StatusCode, sentence: &str) -> Response {
    let body = Refused { error: sentence.to_owned(), reason: None, settled: None };
    json_response(status, &body)
}

/// A call that was not judged.
fn not_classified(status: StatusCode, sentence: &str) -> Response {
    json_response(status, &NotClassified { allow: false, reason: sentence.to_owned() })
}

fn not_found() -> Response {
    refused(StatusCode::NOT_FOUND, "Request not found")
}

/// What a body says, or the status and the sentence that refuse it.
fn taken<T>(
    body: Result<Bytes, BadBody>,
    read: fn(&[u8]) -> Result<T, String>,
) -> Result<T, (StatusCode, String)> {
    match body {
        Ok(Bytes(body)) => read(&body).map_err(|sentence| (StatusCode::BAD_REQUEST, sentence)),
        Err(BadBody::TooLarge) => Err((StatusCode::PAYLOAD_TOO_LARGE, "Body too large".to_owned())),
        Err(BadBody::Broken) => Err((StatusCode::REQUEST_TIMEOUT, "Body incomplete".to_owned())),
    }
}

/// Why an answer did not count; a cause in the store is logged here, once.
fn fault(fault: Fault) -> (StatusCode, Refused) {
    let said = |status, error: &str| {
        (status, Refused { error: error.to_owned(), reason: None, settled: None })
    };
    match fault {
        Fault::NoSuchAsk
        | Fault::Refused(Refusal::NotYours | Refusal::TooLate)
        | Fault::Store(StoreError::NoSuchAsk(_)) => {
            said(StatusCode::NOT_FOUND, "Request not found")
        }
        Fault::Store(StoreError::AlreadySettled(decision)) => {
            let (status, body) = said(StatusCode::NOT_FOUND, "Request not found");
            (status, Refused { settled: Some(settled(&decision)), ..body })
        }
        Fault::Refused(Refusal::CallDenied(reason)) => {
            let (status, body) = said(StatusCode::UNPROCESSABLE_ENTITY, "Modified input refused");
            (status, Refused { reason: Some(reason), ..body })
        }
        Fault::Refused(Refusal::Malformed(sentence) | Refusal::RuleRefused(sentence)) => {
            said(StatusCode::UNPROCESSABLE_ENTITY, &sentence)
        }
        Fault::TooOften(_) | Fault::Store(StoreError::TooManyAsks(_)) => {
            said(StatusCode::TOO_MANY_REQUESTS, "Too many requests")
        }
        Fault::Profile(_) => said(StatusCode::FORBIDDEN, "Forbidden"),
        fault @ (Fault::Policy(_)
        | Fault::SessionPolicy(_)
        | Fault::Store(
            StoreError::GrantGone(_)
            | StoreError::NameTaken(_)
            | StoreError::Newer { .. }
            | StoreError::Unavailable(_),
        )) => {
            tracing::error!("a request could not be served: {fault}");
            said(StatusCode::SERVICE_UNAVAILABLE, "Unavailable")
        }
    }
}

fn refuse(shut: Shut) -> Response {
    match shut {
        Shut::NoKey => refused(StatusCode::UNAUTHORIZED, "Unauthorized"),
        Shut::Host | Shut::Origin | Shut::Mark | Shut::UnknownKey | Shut::Role => {
            refused(StatusCode::FORBIDDEN, "Forbidden")
        }
    }
}

/// Whoever is no agent is nobody to the classifier.
fn refuse_agent(shut: Shut) -> Response {
    match shut {
        Shut::NoKey | Shut::UnknownKey | Shut::Role => {
            refused(StatusCode::UNAUTHORIZED, "Unauthorized")
        }
        Shut::Host | Shut::Origin | Shut::Mark => refused(StatusCode::FORBIDDEN, "Forbidden"),
    }
}

fn refuse_socket(shut: Shut) -> Response {
    match shut {
        Shut::NoKey | Shut::UnknownKey => refused(StatusCode::UNAUTHORIZED, "Unauthorized"),
        Shut::Host | Shut::Origin | Shut::Mark | Shut::Role => {
            refused(StatusCode::FORBIDDEN, "Forbidden")
        }
    }
}
