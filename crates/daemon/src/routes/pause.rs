//! `/v1/pause`: for a while nobody is asked.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::Role;
use portcullis_approval::pause::MOST_MINUTES;
use portcullis_wire::body;
use portcullis_wire::errors::Error;
use portcullis_wire::pause::{NewPause, Pause, Pauses, Resumed};

use crate::App;
use crate::authority;
use crate::error::{ApiError, json_response};
use crate::extract::{Bytes, Query};
use crate::identity::Caller;

/// `GET /v1/pause`: the pauses that go on.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&[])?;
    let pauses = app.authority.pauses(|pause| is_theirs(&caller, pause));
    let pauses = pauses.iter().map(shape).collect();
    Ok(json_response(StatusCode::OK, &Pauses { pauses }))
}

/// `POST /v1/pause`: what would be asked about is allowed for a while.
pub async fn pause(
    State(app): State<App>,
    caller: Caller,
    Bytes(body): Bytes,
) -> Result<Response, ApiError> {
    let new: NewPause = body::read(&body)?;
    if !(1..=MOST_MINUTES).contains(&new.minutes) {
        let message = format!("`minutes` is {}; use 1 to {MOST_MINUTES}", new.minutes);
        return Err(Error::invalid(message).into());
    }
    new.host.as_deref().map_or(Ok(()), |host| body::name("host", host))?;
    new.workspace.as_deref().map_or(Ok(()), |root| body::directory("workspace", root))?;
    let pause = authority::Pause {
        by: caller.key.name.clone(),
        owners: caller.owners(),
        host: new.host,
        workspace: new.workspace,
        until: app.authority.now().after_s(new.minutes * 60),
    };
    app.authority.pause(pause.clone()).await?;
    tracing::warn!("`{}` paused questions until {}", pause.by, pause.until);
    Ok(json_response(StatusCode::OK, &shape(&pause)))
}

/// `DELETE /v1/pause`: ends the caller's pauses; an admin ends all of them.
pub async fn resume(State(app): State<App>, caller: Caller) -> Result<Response, ApiError> {
    let actor = caller.key.name.clone();
    let ended = app.authority.resume(&actor, |pause| is_theirs(&caller, pause)).await?;
    Ok(json_response(StatusCode::OK, &Resumed { ended }))
}

fn is_theirs(caller: &Caller, pause: &authority::Pause) -> bool {
    pause.by == caller.key.name || caller.key.role == Role::Admin
}

fn shape(pause: &authority::Pause) -> Pause {
    Pause {
        by: pause.by.clone(),
        host: pause.host.clone(),
        workspace: pause.workspace.clone(),
        until_at: pause.until.to_string(),
    }
}
