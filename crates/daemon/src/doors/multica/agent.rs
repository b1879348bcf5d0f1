//! Agents: what they want to run, and their end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_approval::{Asker, CallText, Id};
use portcullis_engine::Outcome;
use portcullis_engine::policy_text::Listed;
use portcullis_store::{AskFilter, AskRecord, StoreError};
use portcullis_wire::body;
use portcullis_wire::dialects::multica::{Decided, Refusal, Request, Word};
use serde_json::{Value, json};

use super::hub::{Agent, Link, Verified};
use super::profiles::Read;
use super::verify::unavailable;
use super::{NAME, calls, words};
use crate::App;
use crate::authority::{Answered, Fault, Gone, Seen, Submission};

/// The profile of agents that name none.
const UNSAID: &str = "default";

/// How long is waited in one go; then it is looked again whether somebody is there to be told.
const WAIT: Duration = Duration::from_mins(10);

/// `requestExecApproval`: judges a command, and waits for a person if one must be asked. None
/// where nobody is there any more to be told.
pub(super) async fn request(
    app: &App,
    link: &Link,
    verified: &Verified,
    request: &Request,
) -> Result<Option<Value>, Refusal> {
    if verified.is_approver() {
        return Err(Refusal::unauthorized("Not an agent"));
    }
    let params = request.params()?;
    let command = params.text("command")?;
    let cwd = params.maybe("cwd")?;
    let is_place = |cwd: &str| body::directory("cwd", cwd).is_ok();
    if cwd.is_some_and(|cwd| !is_place(cwd)) {
        return Err(Refusal::invalid("Invalid param: cwd"));
    }
    let agent = params.maybe("agentId")?.unwrap_or(&link.device);
    if body::name("agentId", agent).is_err() {
        return Err(Refusal::invalid("Invalid param: agentId"));
    }
    // A name that cannot be one is no profile, and is denied as such.
    let profile = params.maybe("profileId")?.unwrap_or(UNSAID);
    let profile = if body::name("profileId", profile).is_ok() { profile } else { "" };
    let submission = submission(app, verified, command, cwd, agent, profile);
    app.hub.note_agent(Agent {
        id: agent.to_owned(),
        key: submission.asker.key,
        owner: submission.asker.owner.clone(),
        is_closed: false,
    });
    loop {
        let began = app.authority.now();
        // Whoever is here now is shown the ask as soon as it is opened, and may be gone again before
        // this goes on: it was seen all the same.
        let had_client = app.hub.has_client(app, &submission.asker);
        let answered =
            app.authority.submit(&mut submission.clone()).await.map_err(calls::refusal)?;
        let Some(record) = answered.ask.as_deref() else {
            app.authority.note_profiles().await;
            return Ok(Some(at_once(app, &answered, profile, command)));
        };
        if record.decision.is_none() {
            let is_new = record.ask.opened_at >= began;
            let waits = app.config.dialects.multica.wait_without_client;
            // A node that goes down has no clients any more; that says nothing about the ask.
            let is_stopping = *app.authority.stopping().borrow();
            let is_unseen = !had_client && !app.hub.has_client(app, &record.ask.asker);
            if is_new && is_unseen && !waits && !is_stopping {
                deny_unseen(app, record).await?;
            }
        }
        let settled = match &record.decision {
            Some(_) => Some(record.clone()),
            None => settled(app, link, record.ask.id).await?,
        };
        let Some(settled) = settled else { return Ok(None) };
        let Some(decision) = &settled.decision else { return Ok(None) };
        // Its key may have been revoked while it waited.
        if link.verified(app).is_none() {
            return Err(Refusal::unauthorized("Device not verified"));
        }
        if decision.outcome == Outcome::Allow {
            // One approval is one execution: who comes too late is judged anew.
            let is_claimed = record.decision.is_some()
                || app.authority.claim(&settled).await.map_err(calls::refusal)?;
            if !is_claimed {
                continue;
            }
            keep(app, &settled, profile).await;
        }
        let decided = Decided {
            approved: decision.outcome == Outcome::Allow,
            decision: words::decided(decision).name(),
            reason: words::ended(decision),
            approval_id: Some(settled.ask.id.to_string()),
            receipt: app.authority.receipt(&settled),
        };
        return Ok(Some(serde_json::to_value(decided).unwrap_or_default()));
    }
}

fn submission(
    app: &App,
    verified: &Verified,
    command: &str,
    cwd: Option<&str>,
    agent: &str,
    profile: &str,
) -> Submission {
    let input = json!({ "command": command });
    let caller = &verified.caller;
    let is_of_many = app.identity.is_of_many(caller.key.id);
    let asker: Asker = caller.asker(is_of_many.then_some(agent));
    let profile = format!("{NAME}:{profile}");
    Submission {
        call: CallText {
            tool: "exec".to_owned(),
            input: input.to_string(),
            cwd: cwd.map(str::to_owned),
            host: Some(NAME.to_owned()),
            session: Some(agent.to_owned()),
            profile: Some(profile.clone()),
            ..CallText::default()
        },
        input,
        asker,
        key: Arc::clone(&caller.key),
        door: NAME,
        mode: None,
        profile: Some(profile),
        overrides: false,
        wants_receipt: true,
        seen: Seen::Nothing,
        access: None,
        wait: Duration::ZERO,
    }
}

/// What a verdict without a person comes to.
fn at_once(app: &App, answered: &Answered, profile: &str, command: &str) -> Value {
    let is_allowed = answered.outcome == Outcome::Allow;
    let mut reason = words::judged(&answered.verdict);
    if !is_allowed && let Read::Invalid(why) = app.hub.profiles.read(profile) {
        reason = format!("profile-invalid: {why}");
    }
    let listed: Vec<Listed> =
        answered.verdict.acts.iter().filter_map(|act| act.listed.clone()).collect();
    if is_allowed && !listed.is_empty() {
        let (files, now) = (Arc::clone(&app.hub.profiles), app.authority.now());
        let (profile, command) = (profile.to_owned(), command.to_owned());
        tokio::task::spawn_blocking(move || files.used(&profile, &listed, now, &command));
    }
    let word = if is_allowed { Word::AllowOnce } else { Word::Deny };
    let decided = Decided {
        approved: is_allowed,
        decision: word.name(),
        reason,
        approval_id: None,
        receipt: answered.receipt.clone(),
    };
    serde_json::to_value(decided).unwrap_or_default()
}

/// Waits until an ask is settled; none where the agent or the node went away before.
async fn settled(app: &App, link: &Link, id: Id) -> Result<Option<AskRecord>, Refusal> {
    loop {
        let until = Instant::now() + WAIT;
        let record = tokio::select! {
            record = app.authority.settled(id, until) => record.map_err(calls::refusal)?,
            () = link.gone() => return Ok(None),
        };
        if record.decision.is_some() {
            return Ok(Some(record));
        }
        if *app.authority.stopping().borrow() {
            return Ok(None);
        }
    }
}

/// Nobody is there who could be shown an ask: it is denied at once.
async fn deny_unseen(app: &App, record: &AskRecord) -> Result<(), Refusal> {
    match app.authority.cancel(&record.ask, Gone::NoClient, "no-client", NAME).await {
        // Somebody answered it through another door a moment before.
        Ok(_) | Err(Fault::Store(StoreError::AlreadySettled(_))) => Ok(()),
        Err(fault) => Err(calls::refusal(fault)),
    }
}

/// Makes sure that what was stored for good stands in the file before the agent learns of it: it
/// may have been decided on a node that has no such file, or that is still at it.
async fn keep(app: &App, settled: &AskRecord, profile: &str) {
    let AskRecord { ask, decision, .. } = settled;
    let granted = decision.as_ref().filter(|decision| !decision.grants.is_empty());
    let entries: Vec<Listed> =
        ask.offers.iter().filter_map(|offer| Listed::of_rule(&offer.rule)).collect();
    if let Some(decision) = granted
        && words::decided_for_good(settled)
        && !entries.is_empty()
    {
        let profile = format!("{NAME}:{profile}");
        app.authority.keep_in_file(ask, &profile, entries, &decision.by).await;
    }
}

/// `deleteAgent`: its asks that wait are denied.
pub(super) async fn delete(
    app: &App,
    verified: &Verified,
    request: &Request,
) -> Result<Value, Refusal> {
    let params = request.params()?;
    let id = params.text("id")?;
    let known: Vec<Agent> = calls::agents(app, verified).await?;
    let meant: Vec<&Agent> = known.iter().filter(|agent| agent.id == id).collect();
    if meant.is_empty() {
        return Err(calls::no_agent(id));
    }
    for agent in meant {
        app.hub.close_agent(id, agent.key);
        let mut filter = AskFilter::pending(portcullis_approval::Owners::All, usize::MAX >> 1);
        filter.key = Some(agent.key);
        let pending = app.authority.store().asks(&filter).await.map_err(unavailable)?;
        for record in pending.iter().filter(|record| words::agent(&record.ask) == id) {
            let by = &verified.caller.key.name;
            match app.authority.cancel(&record.ask, Gone::AgentGone, by, NAME).await {
                Ok(_) | Err(Fault::Store(StoreError::AlreadySettled(_))) => {}
                Err(fault) => return Err(calls::refusal(fault)),
            }
        }
    }
    Ok(json!({ "ok": true }))
}
