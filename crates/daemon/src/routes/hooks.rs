//! Hooks over HTTP: a host's document in, its document out.
//!
//! A host that gets an error runs the tool, so that everything but a bad credential is answered
//! with a document: what cannot be read or judged is denied in the host's words.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use portcullis_hook::answer::{Answer, Printed};
use portcullis_hook::call::{Call, Failure, Part};
use portcullis_hook::hosts::{self, Host};
use portcullis_hook::options::Options;
use portcullis_hook::told::{Outcome, Told};
use portcullis_hook::{fitted, read, with_daemon};
use portcullis_wire as wire;
use portcullis_wire::calls::MOST_WAIT_MS;
use portcullis_wire::errors::Code;
use serde_json::{Value, json};

use super::calls;
use crate::App;
use crate::error::ApiError;
use crate::extract::{BadBody, Bytes, Named, Query};
use crate::identity::Caller;

/// `POST /v1/hooks/{host}[?wait_ms=]`: a host asks in its own words.
pub async fn answer(
    State(app): State<App>,
    caller: Caller,
    Named(name): Named,
    query: Result<Query, ApiError>,
    body: Result<Bytes, BadBody>,
) -> Result<Response, ApiError> {
    let wait_ms = query.and_then(|query| {
        query.only(&["wait_ms"])?;
        query.number("wait_ms")
    });
    let host = hosts::find(&name).ok_or_else(|| {
        let known: Vec<&str> = hosts::HOSTS.iter().map(|host| host.name).collect();
        ApiError::not_found(format!("no hooks for `{name}`; use one of {}", known.join(", ")))
    })?;
    // Whatever the door of the connection: this is a hook.
    let caller = Caller { door: "hook", ..caller };
    let options = Options::default();
    let call = match &body {
        Ok(Bytes(bytes)) => read(host, &options, bytes, &|_| None, None),
        Err(BadBody::TooLarge) => {
            Err(Failure::new("HOOK_TOO_LARGE", "the call is larger than 8 MiB"))
        }
        Err(BadBody::Broken) => Err(Failure::input("the document did not come whole")),
    };
    let wait_ms = wait_ms.map_err(|error| Failure::input(error.error.message));
    let (call, wait_ms) = match call.and_then(|call| Ok((call, wait_ms?))) {
        Ok((call, wait_ms)) => (call, wait_ms.unwrap_or(MOST_WAIT_MS)),
        Err(failure) => return said(host, failed(host, &failure)),
    };
    match call.part {
        Part::Result => {
            ran(&app, &caller, &call).await?;
            return said(host, Printed::nothing());
        }
        // It is no call, and nobody is asked about it.
        Part::Notice => return said(host, Printed::nothing()),
        Part::Gate | Part::Prompt => {}
    }
    let answer = match judged(&app, &caller, host, &call, wait_ms).await {
        Ok(answer) => fitted(host, &options, &call, answer),
        Err(failure) if call.part == Part::Prompt && host.leaves_prompts => {
            tracing::error!("a prompt was left to its host: {}", failure.text);
            Answer::Nothing
        }
        Err(failure) => Answer::Deny(failure.reason()),
    };
    said(host, (host.say)(&call, &answer))
}

/// The answer to a call.
async fn judged(
    app: &App,
    caller: &Caller,
    host: &Host,
    call: &Call,
    wait_ms: u64,
) -> Result<Answer, Failure> {
    let failed = |error: ApiError| Failure::new("HOOK_INTERNAL", error.error.message);
    let body = call.body(None, wait_ms);
    let body = wire::calls::Call::read(body.as_bytes());
    let body = body.map_err(|error| Failure::input(error.message))?;
    let answered = calls::answer(app, caller, &body).await.map_err(failed)?;
    let input = answered.input.as_ref().map(|input| input.get().to_owned());
    let told = match serde_json::to_value(&answered) {
        Ok(Value::Object(answer)) => Told::of_answer(&answer),
        Ok(_) | Err(_) => Err("it is no answer"),
    };
    let told = told.map_err(|what| Failure::new("HOOK_INTERNAL", what))?;
    let told = if told.outcome == Outcome::Ask { Told::late() } else { Told { input, ..told } };
    Ok(with_daemon(host, call, told))
}

/// A host says that a call has run.
async fn ran(app: &App, caller: &Caller, call: &Call) -> Result<(), ApiError> {
    // A call that failed may never have begun.
    if call.event.ends_with("Failure") {
        return Ok(());
    }
    let body = wire::calls::Call::read(call.body(None, 0).as_bytes())?;
    let (text, _) = body.text()?;
    app.authority.ran(&caller.asker(body.agent.as_deref()), &text).await?;
    Ok(())
}

/// A denial for a document that could not be read: at the gate of the host.
fn failed(host: &Host, failure: &Failure) -> Printed {
    let gate = host.events.iter().find(|(_, part)| *part == Part::Gate);
    let call = Call {
        host: host.name,
        event: gate.map_or_else(String::new, |(name, _)| (*name).to_owned()),
        part: Part::Gate,
        tool: String::new(),
        input: "{}".to_owned(),
        cwd: None,
        session: None,
        run: None,
        call_id: None,
        agent: None,
        mode: None,
        is_attended: None,
        slot: String::new(),
        is_pascal: false,
        world: None,
    };
    (host.say)(&call, &Answer::Deny(failure.reason()))
}

/// What is said, as a response. A host that reads exit codes alone has no hooks over HTTP.
fn said(host: &Host, printed: Printed) -> Result<Response, ApiError> {
    if printed.code != 0 {
        let message =
            format!("`{}` cannot read this answer over HTTP: {}", host.name, printed.stderr);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        return Err(ApiError::new(status, Code::CallDenied, message));
    }
    let body = if printed.stdout.is_empty() { json!({}).to_string() } else { printed.stdout };
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}
