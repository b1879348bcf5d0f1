//! Calls: judged, asked about, and looked at later.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::Moment;
use portcullis_approval::ask::Written;
use portcullis_engine::policy_text::Headless;
use portcullis_engine::{Mode, Outcome, policy};
use portcullis_layers::world::Answers;
use portcullis_store::{AuditFilter, AuditRecord};
use portcullis_wire::asks::{self, Decision};
use portcullis_wire::calls::{Answered, Call, Hosts, MOST_WAIT_MS};
use portcullis_wire::errors::Error;
use portcullis_wire::explanation::Explanation;
use portcullis_wire::feed;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::App;
use crate::authority::access::{self, How, Kind};
use crate::authority::{Seen, Submission, decision_of};
use crate::config::Config;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Query};
use crate::identity::Caller;

/// `POST /v1/calls`: an agent asks whether a call may run.
pub async fn submit(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let shape = answer(&app, &caller, &Call::read(&body)?).await?;
    Ok(json_response(StatusCode::OK, &shape))
}

/// Judges a call, and waits if it must.
///
/// # Errors
/// There is no verdict.
pub async fn answer(app: &App, caller: &Caller, call: &Call) -> Result<Answered, ApiError> {
    let mut submission = submitted(app, caller, call, true).await?;
    let is_access = submission.access.is_some();
    let answered = app.authority.submit_through(&mut submission, call.slot.as_deref()).await?;
    // It may have waited long, and its key may have been revoked meanwhile.
    if answered.ask.is_some() && !app.counts(caller) {
        return Err(ApiError::unauthorized());
    }
    let decision = answered.ask.as_deref().and_then(decision_of);
    let is_refused = is_access && answered.outcome == Outcome::Deny;
    Ok(Answered {
        outcome: answered.outcome.name(),
        ask: answered.ask.as_ref().map(|record| record.ask.id.to_string()),
        input: decision.and_then(|decision| decision.input.as_deref()).map(asks::raw),
        receipt: answered.receipt,
        decision: decision.map(Decision::new),
        refusal: is_refused.then(|| access::refusal(&answered.verdict, decision)),
        verdict: shown(&answered.verdict),
        hosts: (caller.door == "hook").then(|| hosts(app, caller, &answered.hosts)).flatten(),
    })
}

/// What a hook heeds itself, where it is not the default.
fn hosts(app: &App, caller: &Caller, hosts: &policy::Hosts) -> Option<Hosts> {
    let headless = match hosts.headless {
        Headless::Ask => "ask",
        Headless::Defer => "defer",
    };
    // Who is on another machine hears whether what it keeps is what is in force.
    let everywhere = (!caller.is_local).then(|| app.authority.policies().everywhere().ok());
    let policy = everywhere.flatten().map(|in_force| in_force.version.clone());
    let is_default = !hosts.answers_native_prompts && headless == "ask" && policy.is_none();
    let answer_native_prompts = hosts.answers_native_prompts;
    (!is_default).then_some(Hosts { answer_native_prompts, headless, policy })
}

/// `POST /v1/check[?explain=1]`: the verdict about a call, and nothing else; or the whole way to
/// it.
pub async fn check(
    State(app): State<App>,
    caller: Caller,
    query: Query,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    query.only(&["explain"])?;
    let call = Call::read(&body)?;
    let submission = submitted(&app, &caller, &call, false).await?;
    let judged = app.authority.check(&submission).await?;
    let outcome = judged.verdict.outcome.name();
    let shape = if query.get("explain") == Some("1") {
        let explanation = Explanation {
            tool: &submission.call.tool,
            input: &submission.input,
            cwd: submission.call.cwd.as_deref().unwrap_or(""),
            verdict: &judged.verdict,
        };
        let policy = json!({ "version": judged.bound.policy, "is": "now" });
        json!({ "outcome": outcome, "explanation": explanation, "policy": policy })
    } else {
        json!({ "outcome": outcome, "verdict": shown(&judged.verdict) })
    };
    Ok(json_response(StatusCode::OK, &shape))
}

/// `GET /v1/calls`: past calls, newest first.
pub async fn history(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&[
        "limit", "after", "outcome", "tier", "agent", "session", "tool", "host", "since", "q",
    ])?;
    let since = match query.get("since") {
        None => None,
        Some(text) => Some(Moment::parse(text).ok_or_else(|| {
            Error::invalid(format!("`since`: `{text}` is no time; write 2026-11-15T20:15:00.000Z"))
        })?),
    };
    let limit = query.limit()?;
    let before = match query.get("after") {
        None => u64::MAX >> 1,
        Some(cursor) => feed::position(cursor)
            .ok_or_else(|| Error::invalid(format!("`after`: `{cursor}` is no cursor")))?,
    };
    let mut filter = AuditFilter::after(0, 1000);
    filter.before = Some(before);
    filter.since = since;
    filter.kinds = vec!["call.judged".to_owned()];
    filter.owners = caller.owners();
    let mut calls = Vec::new();
    let mut after = None;
    // Filters on what an entry says are applied here; a page that finds nothing is read on.
    'pages: for _ in 0..100 {
        let page = app.authority.store().audit(&filter).await?;
        let is_last = page.len() < filter.limit;
        for entry in page {
            filter.before = Some(entry.position);
            let data: serde_json::Value = serde_json::from_str(&entry.data).unwrap_or_default();
            if !fits(&query, &data, &entry.data) {
                continue;
            }
            let asked = data.get("outcome").and_then(|outcome| outcome.as_str()) == Some("ask");
            let ask = if asked { asked_about(&app, &caller, &entry).await? } else { None };
            let mut call = json!({
                "cursor": feed::cursor(entry.position),
                "at": entry.at.to_string(),
                "digest": entry.subject,
                "owner": entry.owner,
                "call": data,
            });
            if let (Some(ask), Some(members)) = (ask, call.as_object_mut()) {
                members.insert("ask".to_owned(), ask);
            }
            calls.push(call);
            if calls.len() == limit {
                after = Some(feed::cursor(entry.position));
                break 'pages;
            }
        }
        if is_last {
            break;
        }
    }
    let mut shape = json!({ "calls": calls });
    if let (Some(after), Some(members)) = (after, shape.as_object_mut()) {
        members.insert("after".to_owned(), after.into());
    }
    Ok(json_response(StatusCode::OK, &shape))
}

/// The ask that was opened for a past call, and how it ended; none where the call joined another.
async fn asked_about(
    app: &App,
    caller: &Caller,
    judged: &AuditRecord,
) -> Result<Option<serde_json::Value>, ApiError> {
    // The entries of one call stand side by side.
    let mut filter = AuditFilter::after(judged.position, 1);
    filter.kinds = vec!["ask.opened".to_owned()];
    filter.owners = caller.owners();
    let store = app.authority.store();
    let opened = store.audit(&filter).await?.pop();
    let is_own = |opened: &AuditRecord| {
        let data: serde_json::Value = serde_json::from_str(&opened.data).unwrap_or_default();
        data.get("digest").and_then(|digest| digest.as_str()) == Some(&judged.subject)
    };
    let Some(id) = opened.filter(is_own).and_then(|opened| opened.subject.parse().ok()) else {
        return Ok(None);
    };
    let Some(record) = store.ask(id).await? else { return Ok(None) };
    let mut ask = json!({ "id": record.ask.id.to_string(), "state": record.state().name() });
    if let (Some(decision), Some(members)) = (decision_of(&record), ask.as_object_mut()) {
        members.insert("decision".to_owned(), json!(Decision::new(decision)));
    }
    Ok(Some(ask))
}

fn fits(query: &Query, data: &serde_json::Value, text: &str) -> bool {
    let is = |name: &str| {
        query.get(name).is_none_or(|want| data.get(name).and_then(|got| got.as_str()) == Some(want))
    };
    ["outcome", "tier", "agent", "session", "tool", "host"].into_iter().all(is)
        && query.get("q").is_none_or(|want| {
            // As people see it, and as it is written down.
            let (want, input) = (want.to_lowercase(), data.get("input").map(words));
            input.is_some_and(|input| input.to_lowercase().contains(&want))
                || text.to_lowercase().contains(&want)
        })
}

/// The texts of an input.
fn words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        serde_json::Value::Object(members) => {
            members.values().map(words).collect::<Vec<_>>().join(" ")
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {
            String::new()
        }
    }
}

/// The verdict as it is shown: written once, and not read again to see that it is JSON.
#[must_use]
pub fn shown(verdict: &portcullis_engine::Verdict) -> Box<RawValue> {
    to_raw_value(&portcullis_wire::verdict::Verdict::new(verdict))
        .unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// What a body asks; an access belongs to its run.
async fn submitted(
    app: &App,
    caller: &Caller,
    call: &Call,
    leaves_traces: bool,
) -> Result<Submission, ApiError> {
    let mut submission = submission(caller, call)?;
    if let Some(access) = &call.access
        && let Some(kind) = Kind::named(&access.kind)
    {
        let written = Written { bytes: access.bytes, preview: access.preview.clone() };
        let Config { listen, behind_proxy, .. } = *app.config;
        let how = How { leaves_traces, is_near: listen.ip().is_loopback() && !behind_proxy };
        app.authority.as_access(&mut submission, kind, written, how).await?;
    }
    Ok(submission)
}

/// What a body asks, in our words.
fn submission(caller: &Caller, call: &Call) -> Result<Submission, ApiError> {
    let (text, input) = call.text()?;
    let mode = match &call.mode {
        None => None,
        Some(name) => Some(Mode::from_name(name).ok_or_else(|| {
            let known = Mode::ALL.map(Mode::name).join(", ");
            Error::invalid(format!("`mode`: unknown mode `{name}`; use one of {known}"))
        })?),
    };
    let seen = match (call.world.is_empty(), caller.is_local) {
        (false, _) => Seen::Recorded(answers(call)),
        (true, true) => Seen::Live,
        (true, false) => Seen::Nothing,
    };
    Ok(Submission {
        call: text,
        input,
        asker: caller.asker(call.agent.as_deref()),
        key: caller.key.clone(),
        door: caller.door,
        mode,
        profile: call.profile.clone(),
        overrides: call.overrides,
        wants_receipt: call.receipt,
        seen,
        wait: Duration::from_millis(call.wait_ms.min(MOST_WAIT_MS)),
        access: None,
    })
}

fn answers(call: &Call) -> Answers {
    let mut answers = Answers::default();
    for (path, place) in &call.world {
        answers.resolved.insert(path.clone(), place.real.clone());
        answers.shared.insert(path.clone(), place.shared);
        answers.folding.insert(path.clone(), false);
    }
    answers
}
