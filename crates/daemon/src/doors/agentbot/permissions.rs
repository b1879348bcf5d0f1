//! Asks: listed, looked at, waited for and answered.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::{Answer, Ask, Decision, Reply, Role, Scope};
use portcullis_engine::Outcome;
use portcullis_store::{AskFilter, AskRecord, StoreError};
use portcullis_wire::asks::raw;
use portcullis_wire::dialects::agentbot::answers::{
    Decided, Granted, Item, Pending, Refused, Status,
};
use portcullis_wire::dialects::agentbot::{Decide, Modified, Word, as_given, changed};

use super::{approver, decided, ended_because, fault, not_found, refuse, refused, taken, words};
use crate::App;
use crate::authority::{Fault, decision_of};
use crate::doors::{ask_id, hook_text};
use crate::error::{ApiError, json_response};
use crate::extract::{BadBody, Bytes, Named, Query};
use crate::identity::Caller;
use crate::router::Shut;

/// The longest a request is held.
const MOST_WAIT_S: u64 = 60;

/// So many asks are read at once.
const PAGE: usize = 1000;

/// `GET /api/permissions`: what waits for this approver, oldest first.
pub async fn list(
    State(app): State<App>,
    caller: Caller,
    query: Result<Query, ApiError>,
) -> Response {
    let Ok(query) = query else { return refused(StatusCode::BAD_REQUEST, "Invalid query") };
    let approver = approver(&caller);
    let mut filter = AskFilter::pending(caller.owners(), PAGE);
    filter.agent = query.get("agentId").map(str::to_owned);
    let mut pending = Vec::new();
    loop {
        let page = match app.authority.store().asks(&filter).await {
            Ok(page) => page,
            Err(error) => return unavailable(error),
        };
        let is_last = page.len() < PAGE;
        filter.after = page.last().map(|record| record.ask.id);
        let asks = page.iter().map(|record| &record.ask).filter(|ask| approver.may_answer(ask));
        pending.extend(asks.map(|ask| Item { status: Some("pending"), ..item(ask) }));
        if is_last {
            return json_response(StatusCode::OK, &Pending { pending });
        }
    }
}

/// `GET /api/permissions/{id}[?wait=S][&claim=1]`: how an ask stands.
///
/// With `claim=1` an agent takes the one execution that an approval is good for; whoever comes too
/// late finds it expired. An approval of a changed input is taken by the changed call itself, or
/// with `changed=1` here, where the host runs what it is handed.
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    Named(id): Named,
    query: Result<Query, ApiError>,
) -> Response {
    let Ok(query) = query else { return refused(StatusCode::BAD_REQUEST, "Invalid query") };
    let wait_s = match query.number("wait") {
        Ok(wait) => wait.unwrap_or(0).min(MOST_WAIT_S),
        Err(_) => return refused(StatusCode::BAD_REQUEST, "Invalid wait"),
    };
    let takes = |name: &str| caller.key.role == Role::Agent && query.get(name) == Some("1");
    let found = shown(&app, &caller, &id, Duration::from_secs(wait_s)).await;
    if !app.counts(&caller) {
        return refuse(Shut::UnknownKey);
    }
    match found {
        Ok(None) => not_found(),
        Ok(Some(record)) => {
            let mut status = status(&record);
            if status.status == "approved" && caller.key.id == record.ask.asker.key {
                status.receipt = app.authority.receipt(&record);
            }
            match claimed(&app, &record, takes("claim"), takes("changed")).await {
                Ok(true) => {}
                Ok(false) => {
                    status.status = "expired";
                    status.decision = None;
                    status.receipt = None;
                    "Approval used or too old".clone_into(&mut status.reason);
                }
                Err(why) => return faulty(why),
            }
            json_response(StatusCode::OK, &status)
        }
        Err(why) => faulty(why),
    }
}

/// An ask that this caller may see, as soon as it is settled or the wait is over.
async fn shown(
    app: &App,
    caller: &Caller,
    id: &str,
    wait: Duration,
) -> Result<Option<AskRecord>, Fault> {
    let Some(id) = ask_id(id) else { return Ok(None) };
    let may_see = |record: &AskRecord| match caller.key.role {
        Role::Agent => record.ask.asker.key == caller.key.id,
        Role::Approver | Role::Admin => caller.owners().include(&record.ask.asker.owner),
    };
    let found = app.authority.store().ask(id).await?.filter(may_see);
    match found {
        Some(record) if record.decision.is_none() && !wait.is_zero() => {
            app.authority.settled(id, Instant::now() + wait).await.map(Some)
        }
        found => Ok(found),
    }
}

/// Takes what an agent wants to take; false where it was taken already.
async fn claimed(
    app: &App,
    record: &AskRecord,
    takes: bool,
    takes_changed: bool,
) -> Result<bool, Fault> {
    let allowed = decision_of(record).filter(|decision| decision.outcome == Outcome::Allow);
    let Some(decision) = allowed.filter(|_| takes) else { return Ok(true) };
    if decision.grants.is_empty() {
        return app.authority.claim(record).await;
    }
    if decision.input.is_some() && decision.scope == Scope::Once && takes_changed {
        return app.authority.use_grants(&record.ask.asker, &decision.grants).await;
    }
    Ok(true)
}

/// `POST /api/permissions`: an approver answers.
pub async fn decide(
    State(app): State<App>,
    caller: Caller,
    body: Result<Bytes, BadBody>,
) -> Response {
    let said = match taken(body, Decide::read) {
        Ok(said) => said,
        Err((status, sentence)) => return refused(status, &sentence),
    };
    match answer(&app, &caller, &said).await {
        Ok((ask, decision)) => json_response(StatusCode::OK, &outcome(&said, &ask, &decision)),
        Err((status, body)) => json_response(status, &body),
    }
}

/// Settles an ask by what an approver said here.
pub(super) async fn answer(
    app: &App,
    caller: &Caller,
    said: &Decide,
) -> Result<(Ask, Decision), (StatusCode, Refused)> {
    let approver = approver(caller);
    let id = ask_id(&said.request).ok_or_else(|| fault(Fault::NoSuchAsk))?;
    let found = app.authority.store().ask(id).await.map_err(|error| fault(error.into()))?;
    let ask = found.map(|record| record.ask).filter(|ask| approver.may_answer(ask));
    let ask = ask.ok_or_else(|| fault(Fault::NoSuchAsk))?;
    let input = match &said.modified {
        None => None,
        Some(modified) => Some(changed_input(&ask, modified).ok_or_else(|| {
            let error = "Invalid modifiedInput".to_owned();
            (StatusCode::BAD_REQUEST, Refused { error, reason: None, settled: None })
        })?),
    };
    let mut answer = Answer::plain(match said.word {
        Word::Approve | Word::ApproveAlways => Reply::Approve,
        Word::Reject => Reply::Reject,
    });
    answer.feedback.clone_from(&said.feedback);
    if said.word == Word::ApproveAlways {
        answer.scope = Some(Scope::Always);
        // The offers speak about the call as it was asked.
        if input.is_none() {
            answer.rules = ask.offers.iter().map(|offer| offer.rule.clone()).collect();
        }
    }
    answer.input = input;
    app.authority.decide(&approver, id, &answer).await.map_err(fault)
}

/// The input to run instead; none where a command was given for a tool that has none.
fn changed_input(ask: &Ask, modified: &Modified) -> Option<String> {
    let input = serde_json::from_str(&ask.call.input).unwrap_or_default();
    let field = words::shell_field(&ask.call);
    match (modified, field) {
        (Modified::Text(_), None) => None,
        (Modified::Text(_) | Modified::Input(_), _) => {
            Some(changed(&input, field.unwrap_or_default(), modified))
        }
    }
}

fn outcome(said: &Decide, ask: &Ask, decision: &Decision) -> Decided {
    let is_allowed = decision.outcome == Outcome::Allow;
    let is_wide = said.word == Word::ApproveAlways && is_allowed;
    let stored = decision.grants.first().filter(|_| decision.scope != Scope::Once);
    let pattern = || match &decision.input {
        Some(input) => words::command(&ask.call.with_input(input)),
        None => words::suggestion(ask).unwrap_or_default(),
    };
    let grant = stored
        .map_or(Granted::Nothing, |id| Granted::Grant { id: id.to_string(), pattern: pattern() });
    let has_no_grant = is_wide && stored.is_none();
    let was_turned = said.word != Word::Reject && !is_allowed;
    Decided {
        success: true,
        request_id: said.request.clone(),
        decision: if was_turned { decided(decision) } else { said.word.name() },
        tier: words::tier(ask.tier),
        grant: is_wide.then_some(grant),
        grant_reason: has_no_grant
            .then_some("A firm finding is asked about every time; approved once"),
        reason: was_turned.then(|| decision.reason.clone()),
    }
}

/// A pending ask as it is listed and pushed.
pub(super) fn item(ask: &Ask) -> Item {
    let asker = &ask.asker;
    Item {
        id: hook_text(ask.id),
        agent_id: asker.agent.clone(),
        user_id: asker.label.as_ref().unwrap_or(&asker.owner).clone(),
        tool_name: ask.call.tool.clone(),
        tool_input: raw(&ask.call.input),
        tier: words::tier(ask.tier),
        reason: words::asked(ask),
        timestamp: ask.opened_at.ms(),
        status: None,
        command: words::command(&ask.call),
        confidence: words::confidence(ask),
        expires_at: ask.deadline_at.map(portcullis_approval::Moment::ms),
        suggestion: words::suggestion(ask),
    }
}

fn status(record: &AskRecord) -> Status {
    let AskRecord { ask, decision, .. } = record;
    let decision = decision.as_ref();
    let ended = decision.map(|decision| (decision.outcome, decision.by.as_str()));
    let input = decision.and_then(|decision| decision.input.as_deref());
    let field = words::shell_field(&ask.call).unwrap_or_default();
    let is_cancelled = decision.is_some_and(|decision| decision.reply.is_none());
    let status = match ended {
        None => "pending",
        Some((Outcome::Allow, _)) => "approved",
        Some((Outcome::Ask | Outcome::Deny, "expiry")) => "expired",
        Some((Outcome::Ask | Outcome::Deny, _)) => "rejected",
    };
    Status {
        id: hook_text(ask.id),
        status,
        tier: words::tier(ask.tier),
        reason: match decision {
            Some(decision) if is_cancelled => ended_because(decision),
            Some(_) | None => words::asked(ask),
        },
        timestamp: ask.opened_at.ms(),
        expires_at: ask.deadline_at.map(portcullis_approval::Moment::ms),
        tool_input: raw(input.unwrap_or(&ask.call.input)),
        decision: decision.filter(|_| status != "expired").map(decided),
        feedback: decision.and_then(|decision| decision.feedback.clone()),
        modified_input: input.map(|input| as_given(input, field)),
        decided_by: decision.map(|decision| decision.by.clone()),
        decided_at: decision.map(|decision| decision.at.ms()),
        receipt: None,
    }
}

fn faulty(why: Fault) -> Response {
    let (status, body) = fault(why);
    json_response(status, &body)
}

fn unavailable(error: StoreError) -> Response {
    faulty(Fault::Store(error))
}
