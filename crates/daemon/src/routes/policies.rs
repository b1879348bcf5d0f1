//! The policy in force, and changing the user's part of it.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_engine::{Policy, PolicyText, Source};
use portcullis_wire::errors::{Code, Error};
use serde_json::{Value, json};

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Bytes;
use crate::identity::Caller;

/// `GET /v1/policy`: what is in force everywhere.
pub async fn show(State(app): State<App>) -> Result<Response, ApiError> {
    let in_force = app
        .authority
        .policies()
        .everywhere()
        .map_err(|error| Error::new(Code::Unavailable, error.to_string()))?;
    let policy = &in_force.policy;
    let rules: Vec<Value> = policy
        .rules()
        .map(|rule| {
            json!({ "rule": rule.text, "outcome": rule.outcome.name(), "source": rule.source.name() })
        })
        .collect();
    let shape = json!({
        "version": in_force.version,
        "mode": policy.mode.name(),
        "rules": rules,
        "workspace": policy.workspace.iter().collect::<Vec<_>>(),
        "destructive": policy.destructive.name(),
        "sensitive_reads": policy.sensitive_reads.name(),
        "network_reads": policy.network_reads.name(),
        "hopeless": policy.hopeless.name(),
        "asks": {
            "deadline_s": policy.asks.deadline_s,
            "fallback": portcullis_wire::asks::fallback(policy.asks.fallback),
            "unused_approval_s": policy.asks.unused_approval_s,
        },
        "warnings": in_force.warnings,
        "lint": policy.lint().iter().map(|warning| json!({
            "code": warning.code, "message": warning.message, "source": warning.source.name(),
        })).collect::<Vec<_>>(),
    });
    Ok(json_response(StatusCode::OK, &shape))
}

/// `PUT /v1/policy`: replaces the user's policy file with a TOML text that holds.
pub async fn write(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let text = readable(&body)?;
    understood(text)?;
    let places = app.authority.policies().places();
    let path = places
        .user_policy()
        .ok_or_else(|| Error::new(Code::Unavailable, "there is no place for a user's policy"))?;
    let before = app.authority.policies().everywhere().map(|in_force| in_force.version.clone());
    portcullis_layers::files::replace(&path, text).map_err(|error| {
        tracing::error!("the policy could not be written: {error}");
        Error::new(Code::Unavailable, "the policy could not be written")
    })?;
    app.look_at_policies(Some(&caller.key.name)).await;
    let after = app.authority.policies().everywhere().map(|in_force| in_force.version.clone());
    let shape =
        json!({ "before": before.unwrap_or_default(), "version": after.unwrap_or_default() });
    Ok(json_response(StatusCode::OK, &shape))
}

/// `POST /v1/policy/check`: what is wrong with a TOML text, and what its author should know.
pub async fn check(Bytes(body): Bytes) -> Result<Response, ApiError> {
    let text = readable(&body)?;
    let shape = match understood(text) {
        Ok(policy) => json!({
            "ok": true,
            "lint": policy.lint().iter().map(|warning| json!({
                "code": warning.code, "message": warning.message,
                "span": warning.span.as_ref().map(|span| [span.start, span.end]),
            })).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "ok": false, "error": error.error }),
    };
    Ok(json_response(StatusCode::OK, &shape))
}

/// What the audit says when the policy changed.
#[must_use]
pub fn changed(before: &str, after: &str, actor: &str, at: portcullis_approval::Moment) -> Entry {
    Entry {
        kind: "policy.changed",
        at,
        actor: actor.to_owned(),
        subject: after.to_owned(),
        owner: None,
        data: object(vec![("before", quoted(before)), ("after", quoted(after))]),
    }
}

fn readable(body: &[u8]) -> Result<&str, ApiError> {
    str::from_utf8(body).map_err(|error| {
        Error::invalid(format!("not UTF-8 from byte {} on", error.valid_up_to())).into()
    })
}

fn understood(text: &str) -> Result<Policy, ApiError> {
    let policy =
        PolicyText::from_toml(text).and_then(|said| Policy::of_layers(&[(Source::User, said)]));
    policy.map_err(|error| {
        let details = json!({ "span": error.span.as_ref().map(|span| [span.start, span.end]) });
        let error = Error::invalid(error.to_string()).with_details(details);
        ApiError { status: StatusCode::UNPROCESSABLE_ENTITY, error }
    })
}
