//! The policy in force, and changing the user's part of it.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use portcullis_approval::audit::Entry;
use portcullis_approval::cache::{self, Cache};
use portcullis_approval::canonical::{object, quoted};
use portcullis_engine::call::Call;
use portcullis_engine::{Lexical, Policy, PolicyText, Source, judge};
use portcullis_layers::Places;
use portcullis_wire as wire;
use portcullis_wire::errors::{Code, Error};
use serde_json::{Value, json};

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Bytes;
use crate::identity::{self, Caller};
use crate::policies::{InForce, LayerText};

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
        "layers": in_force.texts.iter().map(layer).collect::<Vec<_>>(),
        "tests": tests(&in_force, app.authority.policies().places()),
        "lint": policy.lint().iter().map(|warning| json!({
            "code": warning.code, "message": warning.message, "source": warning.source.name(),
        })).collect::<Vec<_>>(),
    });
    Ok(json_response(StatusCode::OK, &shape))
}

/// `GET /v1/policy/cache`: what a hook on another machine keeps, so that it can judge by it while
/// nobody answers.
pub async fn cache(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let in_force = app
        .authority
        .policies()
        .everywhere()
        .map_err(|error| Error::new(Code::Unavailable, error.to_string()))?;
    let version = in_force.version.clone();
    let cache = Cache {
        version: version.clone(),
        // Over the socket nobody shows a key, and nobody needs a cache.
        holder: identity::bearer(&headers).map_or_else(|| "-".to_owned(), cache::holder),
        document: in_force.cached(&caller.key.name).to_string(),
    };
    let cache = cache.issue(app.authority.signer());
    Ok(json_response(StatusCode::OK, &wire::policy::Cache { version, cache }))
}

fn layer(layer: &LayerText) -> Value {
    json!({
        "source": layer.source.name(),
        "path": layer.path.to_string_lossy(),
        "text": layer.text,
        "left_out": layer.left_out,
    })
}

/// What became of the tests that the files hold; paths are taken as they are written.
fn tests(in_force: &InForce, places: &Places) -> Vec<Value> {
    let home = places.home.as_ref().and_then(|home| home.to_str()).unwrap_or("/");
    let mut tests = Vec::new();
    for layer in &in_force.texts {
        let said = PolicyText::from_toml(&layer.text).unwrap_or_default();
        for test in said.tests {
            let cwd = test.cwd.clone().unwrap_or_else(|| home.to_owned());
            let mut call = Call::new(&test.tool, test.input.clone(), &cwd);
            call.home = Some(home.to_owned());
            let policy = (*in_force.policy).clone();
            let policy = test.mode.map_or(policy.clone(), |mode| policy.with_mode(mode));
            let got = judge(&policy, &call, &Lexical).outcome;
            let command = test.input.get("command").and_then(Value::as_str);
            tests.push(json!({
                "path": layer.path.to_string_lossy(),
                "case": command.map_or_else(|| format!("{} {}", test.tool, test.input), str::to_owned),
                "wanted": test.outcome.name(),
                "got": got.name(),
                "passed": got == test.outcome,
            }));
        }
    }
    tests
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
    // Where nodes share a store, each takes it from there within a second.
    app.authority.store().set_policy(text).await?;
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
        data: object(vec![("before", quoted(before)), ("after", quoted(after))]).into(),
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
