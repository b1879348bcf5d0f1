//! Runs and sessions: how long grants reach, and in which mode calls are judged.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::Role;
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use portcullis_engine::Mode;
use portcullis_store::RunRecord;
use portcullis_wire::body;
use portcullis_wire::errors::{Code, Error};
use portcullis_wire::grants::{EndRun, NewRun, Run, Runs, SessionChange};
use serde_json::{Value, json};

use crate::App;
use crate::authority::runs::{self, About, Ending, Status};
use crate::chance;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Named, Query};
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

/// `POST /v1/runs`: an agent starts a run, or attaches to one that a person prepared for it.
pub async fn start(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let new: NewRun = body::read(&body)?;
    let now = app.authority.now();
    let name = new.run.clone().unwrap_or_else(|| chance::id(now).to_string());
    check(&new, &name)?;
    let known = app.authority.store().runs_named(&name).await?;
    let asker = caller.asker(None);
    let going = known.iter().find(|run| {
        run.ended_at.is_none() && run.key != asker.key && app.authority.may_attach(&asker, run)
    });
    if let Some(run) = going {
        let attached = app.authority.change_run(run, &caller.key.name, |about| attach(about, &new));
        let run = attached.await?.ok_or_else(|| ApiError::not_found("no such run"))?;
        return Ok(json_response(StatusCode::OK, &shape(&run)));
    }
    let mut about = About {
        cwd: new.cwd.clone(),
        name: new.name.clone().unwrap_or_else(|| name.clone()),
        ..About::default()
    };
    attach(&mut about, &new);
    let run = RunRecord {
        session: new.session,
        ..runs::record(&name, caller.key.id, caller.key.owner(), &about, now)
    };
    let entry = entry("run.started", &caller, &run);
    let is_new = app.authority.store().start_run(&run, vec![Entry { at: now, ..entry }]).await?;
    let own = known.into_iter().find(|known| !is_new && known.key == run.key);
    Ok(json_response(StatusCode::OK, &shape(&own.unwrap_or(run))))
}

/// Adds what an agent says about a run that it attaches to.
fn attach(about: &mut About, new: &NewRun) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    let before = about.clone();
    for agent in &new.agents {
        if !about.agents.contains(agent) {
            about.agents.push(agent.clone());
        }
    }
    for tool in &new.tools {
        about.note_tool(tool, false);
    }
    if about.cwd.is_none() {
        about.cwd.clone_from(&new.cwd);
    }
    (before != *about).then(|| ("run.attached", Vec::new()))
}

fn check(new: &NewRun, name: &str) -> Result<(), ApiError> {
    body::name("run", name)?;
    new.session.as_deref().map_or(Ok(()), |session| body::name("session", session))?;
    new.name.as_deref().map_or(Ok(()), |name| body::name("name", name))?;
    new.cwd.as_deref().map_or(Ok(()), |cwd| body::directory("cwd", cwd))?;
    for (field, names) in [("agents", &new.agents), ("tools", &new.tools)] {
        if names.len() > runs::MOST_TOOLS {
            let message = format!("`{field}`: more than {} are not taken", runs::MOST_TOOLS);
            return Err(Error::invalid(message).into());
        }
        names.iter().try_for_each(|name| body::name(field, name))?;
    }
    Ok(())
}

/// `DELETE /v1/runs/{id}`: a run ends; its asks are cancelled and its grants are over.
pub async fn end(
    State(app): State<App>,
    caller: Caller,
    Named(name): Named,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let said: EndRun = if body.is_empty() { EndRun::default() } else { body::read(&body)? };
    let known = app.authority.store().runs_named(&name).await?;
    let asker = caller.asker(None);
    let may_end = |run: &&RunRecord| match caller.key.role {
        Role::Agent => app.authority.may_attach(&asker, run),
        Role::Approver | Role::Admin => caller.owners().include(&run.owner),
    };
    let mut own: Vec<&RunRecord> = known.iter().filter(|run| run.ended_at.is_none()).collect();
    own.retain(may_end);
    own.sort_by_key(|run| run.key != caller.key.id);
    // Two agents may call their runs alike: an agent ends its own, a person all that are meant.
    let ends = if caller.key.role == Role::Agent { 1 } else { own.len() };
    own.truncate(ends);
    let run = own.first().ok_or_else(|| ApiError::not_found("no such run"))?;
    let status = match (&said.error, caller.key.role) {
        (Some(_), _) => Status::Error,
        (None, Role::Agent) => Status::Completed,
        (None, Role::Approver | Role::Admin) => Status::Cancelled,
    };
    let ending = Ending {
        status,
        result: said.result,
        error: said.error,
        usage: said.usage,
        by: &caller.key.name,
        door: caller.door,
    };
    for run in &own {
        app.authority.end_run(run, ending.clone()).await?;
    }
    let runs = app.authority.store().runs_named(&name).await?;
    let ended = runs.iter().find(|ended| ended.key == run.key).unwrap_or(run);
    Ok(json_response(StatusCode::OK, &shape(ended)))
}

/// `PATCH /v1/sessions/{id}`: an approver sets the mode of a session.
pub async fn change_session(
    State(app): State<App>,
    caller: Caller,
    Named(name): Named,
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
    let sessions = app.authority.sessions_of(&name, &caller.owners()).await?;
    if sessions.is_empty() {
        let message = "no such session";
        return Err(ApiError::new(StatusCode::NOT_FOUND, Code::NoSuchSession, message));
    }
    for session in sessions {
        let known = session.policy.as_deref().and_then(|own| serde_json::from_str(own).ok());
        let mut own: Value = known.unwrap_or(json!({}));
        if let Some(members) = own.as_object_mut() {
            members.remove("mode");
            members.extend(mode.map(|mode| ("mode".to_owned(), mode.name().into())));
        }
        app.authority.change_session(&session, &own, &caller.key.name).await?;
    }
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
    let about = About::of(run);
    Run {
        run: run.run.clone(),
        session: run.session.clone(),
        owner: run.owner.clone(),
        cwd: about.cwd,
        status: about.status.name(),
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
        data: object(data.into_iter().collect()).into(),
    }
}
