//! Runs and sessions: how long grants reach, and in which mode calls are judged.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::{Owners, Role};
use portcullis_engine::Mode;
use portcullis_store::{AskFilter, RunRecord};
use portcullis_wire::body;
use portcullis_wire::errors::{Code, Error};
use portcullis_wire::grants::{NewRun, Run, Runs, SessionChange};
use serde_json::{Value, json};

use crate::App;
use crate::authority::{Fault, Gone};
use crate::chance;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Query};
use crate::identity::Caller;

/// `GET /v1/runs`: runs that go on.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["ended"])?;
    let with_ended = query.get("ended") == Some("1");
    let runs = app.authority.store().runs(with_ended).await?;
    let runs = runs.iter().filter(|run| may_see(&caller, run)).map(shape).collect();
    Ok(json_response(StatusCode::OK, &Runs { runs }))
}

/// `POST /v1/runs`: an agent starts a run.
pub async fn start(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let new: NewRun = body::read(&body)?;
    let now = app.authority.now();
    let name = new.run.unwrap_or_else(|| chance::id(now).to_string());
    body::name("run", &name)?;
    new.session.as_deref().map_or(Ok(()), |session| body::name("session", session))?;
    let run = RunRecord {
        run: name,
        key: caller.key.id,
        owner: caller.key.owner().to_owned(),
        session: new.session,
        about: "{}".to_owned(),
        started_at: now,
        ended_at: None,
    };
    let entry = entry("run.started", &caller, &run);
    app.authority.store().start_run(&run, vec![Entry { at: now, ..entry }]).await?;
    Ok(json_response(StatusCode::OK, &shape(&run)))
}

/// `DELETE /v1/runs/{id}`: a run ends; its asks are cancelled and its grants are over.
pub async fn end(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let runs = app.authority.store().runs(false).await?;
    let mut own = runs.into_iter().filter(|run| run.run == name && may_see(&caller, run));
    let run = own.next().ok_or_else(|| ApiError::not_found("no such run"))?;
    let now = app.authority.now();
    let entries = vec![Entry { at: now, ..entry("run.ended", &caller, &run) }];
    app.authority.store().end_run(run.key, &run.run, now, entries).await?;
    app.authority.refresh_grants().await?;
    let mut filter = AskFilter::pending(Owners::All, 1000);
    filter.key = Some(run.key);
    filter.run = Some(run.run.clone());
    for record in app.authority.store().asks(&filter).await? {
        let by = &caller.key.name;
        match app.authority.cancel(&record.ask, Gone::RunEnded, by, caller.door).await {
            // Somebody answered it a moment before.
            Ok(_) | Err(Fault::Store(portcullis_store::StoreError::AlreadySettled(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let ended = RunRecord { ended_at: Some(now), ..run };
    Ok(json_response(StatusCode::OK, &shape(&ended)))
}

/// `PATCH /v1/sessions/{id}`: an approver sets the mode of a session.
pub async fn change_session(
    State(app): State<App>,
    caller: Caller,
    Path(name): Path<String>,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let change: SessionChange = body::read(&body)?;
    let mode = match &change.mode {
        None => None,
        Some(mode) => Some(Mode::from_name(mode).ok_or_else(|| {
            let known = Mode::ALL.map(Mode::name).join(", ");
            ApiError::from(Error::invalid(format!(
                "`mode`: unknown mode `{mode}`; use one of {known}"
            )))
        })?),
    };
    let session = app.authority.session_of(&name, &caller.owners()).await?;
    let session = session.ok_or_else(|| {
        ApiError::new(StatusCode::NOT_FOUND, Code::NoSuchSession, "no such session")
    })?;
    let mut own: Value = session
        .policy
        .as_deref()
        .and_then(|own| serde_json::from_str(own).ok())
        .unwrap_or(json!({}));
    if let Some(members) = own.as_object_mut() {
        members.remove("mode");
        members.extend(mode.map(|mode| ("mode".to_owned(), mode.name().into())));
    }
    app.authority.change_session(&session, &own, &caller.key.name).await?;
    let mode = mode.map_or(Value::Null, |mode| mode.name().into());
    Ok(json_response(StatusCode::OK, &json!({ "session": name, "mode": mode })))
}

fn may_see(caller: &Caller, run: &RunRecord) -> bool {
    match caller.key.role {
        Role::Agent => run.key == caller.key.id,
        Role::Approver | Role::Admin => caller.owners().include(&run.owner),
    }
}

fn shape(run: &RunRecord) -> Run {
    Run {
        run: run.run.clone(),
        session: run.session.clone(),
        owner: run.owner.clone(),
        started_at: run.started_at.to_string(),
        ended_at: run.ended_at.map(|at| at.to_string()),
    }
}

fn entry(kind: &'static str, caller: &Caller, run: &RunRecord) -> Entry {
    let data = run.session.as_ref().map(|session| ("session", quoted(session)));
    Entry {
        kind,
        at: run.started_at,
        actor: caller.key.name.clone(),
        subject: run.run.clone(),
        owner: Some(run.owner.clone()),
        data: object(data.into_iter().collect()),
    }
}
