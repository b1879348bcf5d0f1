//! Messages that come in, and the remote calls among them.

use std::sync::Arc;

use portcullis_approval::{Answer, Owners, Reply, Scope};
use portcullis_store::{AskFilter, StoreError};
use portcullis_wire::dialects::multica::{
    Envelope, Fault, INVALID_SENDER, Malformed, NOT_VERIFIED, Refusal, Request, Resolve, Word,
    response,
};
use serde_json::{Value, json};

use super::hub::{Agent, Link, Verified, locked};
use super::verify::{unavailable, verify};
use super::{agent, push, words};
use crate::App;
use crate::authority;
use crate::doors::ask_id;

/// So many pending asks are listed.
const MOST_PENDING: usize = 1000;

/// Does what a message says.
pub(super) async fn hear(app: &App, link: &Arc<Link>, message: Result<Envelope, Malformed>) {
    let fault = |code: &'static str, message: String, id: Option<String>| Fault {
        code,
        message,
        message_id: id,
    };
    let message = match message {
        Ok(message) if message.from == link.device => message,
        Ok(Envelope { id, .. }) => {
            let invalid = fault("INVALID_MESSAGE", INVALID_SENDER.to_owned(), Some(id));
            return link.fault(invalid).await;
        }
        Err(Malformed(id)) => {
            return link.fault(fault("INVALID_MESSAGE", INVALID_SENDER.to_owned(), id)).await;
        }
    };
    if message.to != app.hub.id.to_string() {
        let sentence = format!("Device {} not found", message.to);
        return link.fault(fault("DEVICE_NOT_FOUND", sentence, Some(message.id))).await;
    }
    let now = app.authority.now();
    if message.action == "request" {
        let Some(request) = Request::of(message.payload) else {
            let invalid = fault("INVALID_MESSAGE", INVALID_SENDER.to_owned(), Some(message.id));
            return link.fault(invalid).await;
        };
        return call(app, link, request).await;
    }
    if link.verified(app).is_none() {
        let fault = fault("UNAUTHORIZED", NOT_VERIFIED.to_owned(), Some(message.id));
        link.say("error", &fault.payload(), now).await;
        return;
    }
    if message.action == "hello" {
        link.say("hello_response", &json!({ "reply": "Hello from Portcullis" }), now).await;
    }
}

/// Answers a remote call. One that waits for a person does so by itself.
async fn call(app: &App, link: &Arc<Link>, request: Request) {
    if request.method == "verify" {
        let was_verified = link.verified(app).is_some();
        let params = request.params.as_ref().and_then(|_| request.params().ok());
        let result = verify(app, link, params).await;
        let begins = result.is_ok() && !was_verified;
        answer(app, link, &request.id, result).await;
        if begins {
            push::begin(app, link);
        }
        return;
    }
    let Some(verified) = link.verified(app) else {
        let refusal = Refusal::unauthorized("Device not verified");
        return answer(app, link, &request.id, Err(refusal)).await;
    };
    let result = match request.method.as_str() {
        "requestExecApproval" => agent::request(app, link, &verified, &request).await,
        "deleteAgent" => agent::delete(app, &verified, &request).await.map(Some),
        "resolveExecApproval"
        | "listExecApprovals"
        | "getHubInfo"
        | "listAgents"
        | "getAgentMessages"
            if !verified.is_approver() =>
        {
            Err(Refusal::unauthorized("Not an approver"))
        }
        "resolveExecApproval" => resolve(app, link, &verified, &request).await.map(Some),
        "listExecApprovals" => list(app, &verified).await.map(Some),
        "getHubInfo" => {
            let agents = agents(app, &verified).await;
            agents.map(|agents| Some(hub_info(app, agents.len())))
        }
        "listAgents" => agents(app, &verified).await.map(|agents| {
            let shape = |agent: &Agent| json!({ "id": agent.id, "closed": agent.is_closed });
            Some(json!({ "agents": agents.iter().map(shape).collect::<Vec<_>>() }))
        }),
        "getAgentMessages" => messages(app, &verified, &request).await.map(Some),
        method => {
            let message = format!("Unknown RPC method: {method}");
            Err(Refusal::new("METHOD_NOT_FOUND", message))
        }
    };
    match result {
        Ok(Some(payload)) => answer(app, link, &request.id, Ok(payload)).await,
        // Nobody is there any more to be answered.
        Ok(None) => {}
        Err(refusal) => answer(app, link, &request.id, Err(refusal)).await,
    }
}

async fn answer(app: &App, link: &Link, request: &str, result: Result<Value, Refusal>) {
    link.say("response", &response(request, result), app.authority.now()).await;
}

/// `resolveExecApproval`.
async fn resolve(
    app: &App,
    link: &Link,
    verified: &Verified,
    request: &Request,
) -> Result<Value, Refusal> {
    let said = Resolve::read(request.params.as_ref())?;
    let Some(id) = ask_id(&said.approval) else { return Err(Refusal::not_found(None)) };
    let approver = verified.approver();
    let record = app.authority.store().ask(id).await.map_err(unavailable)?;
    let record = record.filter(|record| approver.may_answer(&record.ask));
    let Some(record) = record else { return Err(Refusal::not_found(None)) };
    let rules: Vec<String> = record.ask.offers.iter().map(|offer| offer.rule.clone()).collect();
    let meant = match said.word {
        Word::AllowAlways if !rules.is_empty() => {
            Answer { scope: Some(Scope::Always), rules, ..Answer::plain(Reply::Approve) }
        }
        Word::AllowOnce | Word::AllowAlways => Answer::plain(Reply::Approve),
        Word::Deny => Answer::plain(Reply::Reject),
    };
    locked(&link.state).trying.insert(id);
    let decided = app.authority.decide(&approver, id, &meant).await;
    let missed = {
        let mut state = locked(&link.state);
        state.trying.remove(&id);
        let missed = state.deferred.remove(&id);
        match (&decided, missed) {
            (Ok(_), None) => {
                state.mine.insert(id);
                None
            }
            (Ok(_), Some(_)) => None,
            (Err(_), missed) => missed,
        }
    };
    if let Some(missed) = missed {
        link.say("exec-approval-resolved", &missed, app.authority.now()).await;
    }
    match decided {
        Ok(_) => Ok(json!({ "ok": true })),
        Err(authority::Fault::Store(StoreError::AlreadySettled(decision))) => {
            let word = words::decided(&decision).name();
            Err(Refusal::not_found(Some((words::resolved_by(&decision), word))))
        }
        Err(fault) => Err(refusal(fault)),
    }
}

/// Why something could not be done; a cause in the store is logged here, once.
pub(super) fn refusal(fault: authority::Fault) -> Refusal {
    use authority::Fault as F;
    match fault {
        F::NoSuchAsk | F::Refused(_) | F::Store(StoreError::NoSuchAsk(_)) => {
            Refusal::not_found(None)
        }
        F::TooOften(sentence) => Refusal::internal(sentence),
        F::Store(StoreError::TooManyAsks(_)) => Refusal::internal(fault.to_string()),
        F::Profile(_) => Refusal::unauthorized(fault.to_string()),
        fault @ (F::Policy(_)
        | F::SessionPolicy(_)
        | F::Store(
            StoreError::AlreadySettled(_)
            | StoreError::GrantGone(_)
            | StoreError::NameTaken(_)
            | StoreError::Newer { .. }
            | StoreError::Unavailable(_),
        )) => {
            tracing::error!("a call could not be served: {fault}");
            Refusal::internal("it could not be decided; try again")
        }
    }
}

/// `listExecApprovals`.
async fn list(app: &App, verified: &Verified) -> Result<Value, Refusal> {
    let filter = AskFilter::pending(verified.caller.owners(), MOST_PENDING);
    let pending = app.authority.store().asks(&filter).await.map_err(unavailable)?;
    let approver = verified.approver();
    let approvals: Vec<_> = pending
        .iter()
        .filter(|record| approver.may_answer(&record.ask))
        .map(|record| words::approval(&record.ask))
        .collect();
    Ok(json!({ "approvals": approvals }))
}

fn hub_info(app: &App, agents: usize) -> Value {
    json!({
        "hubId": app.hub.id.to_string(),
        "url": super::url(app),
        "connectionState": "registered",
        "agentCount": agents,
    })
}

/// `getAgentMessages`: no conversations are kept here.
async fn messages(app: &App, verified: &Verified, request: &Request) -> Result<Value, Refusal> {
    let params = request.params()?;
    let id = params.text("agentId")?;
    let (offset, limit) = (params.number("offset", 0)?, params.number("limit", 50)?);
    let agents = agents(app, verified).await?;
    if !agents.iter().any(|agent| agent.id == id) {
        return Err(no_agent(id));
    }
    Ok(json!({ "messages": [], "total": 0, "offset": offset, "limit": limit }))
}

/// There is no such agent.
pub(super) fn no_agent(id: &str) -> Refusal {
    Refusal::new("AGENT_NOT_FOUND", format!("No session found for agent: {id}"))
}

/// The agents that a device may see, the latest last: those that asked here, and those whose asks
/// wait, through whatever door.
pub(super) async fn agents(app: &App, verified: &Verified) -> Result<Vec<Agent>, Refusal> {
    let owners = verified.caller.owners();
    let own = (!verified.is_approver()).then_some(verified.caller.key.id);
    let may_see = |agent: &Agent| {
        own.is_none_or(|own| own == agent.key)
            && (own.is_some() || matches!(owners, Owners::All) || owners.include(&agent.owner))
    };
    let mut agents = app.hub.agents(may_see);
    let filter = AskFilter { key: own, ..AskFilter::pending(owners.clone(), MOST_PENDING) };
    let pending = app.authority.store().asks(&filter).await.map_err(unavailable)?;
    for record in pending {
        let id = words::agent(&record.ask);
        let asker = &record.ask.asker;
        if !agents.iter().any(|agent| agent.id == id && agent.key == asker.key) {
            let (key, owner) = (asker.key, asker.owner.clone());
            agents.insert(0, Agent { id, key, owner, is_closed: false });
        }
    }
    Ok(agents)
}

/// The agent that a device is told about: that of its pairing, or the latest.
pub(super) async fn agent_of(app: &App, verified: &Verified) -> String {
    if let Some(agent) = &verified.agent {
        return agent.clone();
    }
    let agents = agents(app, verified).await.unwrap_or_default();
    agents
        .into_iter()
        .rev()
        .find(|agent| !agent.is_closed)
        .map_or_else(String::new, |agent| agent.id)
}
