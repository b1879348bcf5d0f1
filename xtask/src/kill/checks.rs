//! What must hold after a kill.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail, ensure};
use portcullis_approval::audit::Chain;
use serde_json::Value;

use super::daemon::{Daemon, send};
use super::people::Memory;

/// Whether everything acknowledged is still there.
pub fn check(daemon: &Daemon, memory: &Memory) -> anyhow::Result<()> {
    let states = states(daemon, memory.floor.as_deref())?;
    let young = |ask: &String| memory.floor.as_ref().is_none_or(|floor| ask > floor);
    for (command, ask) in memory.asks.iter().filter(|(_, ask)| young(ask)) {
        let state = states.get(ask).with_context(|| format!("ask {ask} of `{command}` is lost"))?;
        if let Some(outcome) = memory.answers.get(ask) {
            ensure!(
                state.outcome.as_deref() == Some(outcome),
                "the answer to {ask} was `{outcome}` and is {:?}",
                state.outcome
            );
        }
    }
    for (ask, state) in states.iter().filter(|(ask, _)| memory.knows(ask)) {
        let is_allowed = state.outcome.as_deref() == Some("allow");
        ensure!(
            !is_allowed
                || memory.approved.contains(ask)
                || state.reason.as_deref() == Some("grant"),
            "ask {ask} is allowed and nobody approved it"
        );
    }
    for ask in &memory.allowed {
        let state = states.get(ask).with_context(|| format!("allowed: {ask}"))?;
        ensure!(state.outcome.as_deref() == Some("allow"), "ask {ask} ran and is not allowed");
    }
    let grants = pages(daemon, "/v1/grants?all=1&limit=1000", String::new(), "grants")?;
    let grants: BTreeSet<&str> =
        grants.iter().filter_map(|grant| grant.get("id")?.as_str()).collect();
    for grant in &memory.grants {
        ensure!(grants.contains(grant.as_str()), "grant {grant} is lost");
    }
    Ok(())
}

/// The audit, whole; its chain must hold.
pub fn chain(daemon: &Daemon) -> anyhow::Result<Vec<Value>> {
    let entries = pages(daemon, "/v1/audit?limit=1000", String::new(), "entries")?;
    let mut chain = Chain::default();
    for entry in &entries {
        chain.take(&entry.to_string())?;
    }
    Ok(entries)
}

/// Whether each ask was opened once, settled once, and used once at most.
pub fn once(entries: &[Value], memory: &Memory) -> anyhow::Result<()> {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut verdicts = 0;
    for entry in entries {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
        if text("kind") == "call.judged" {
            verdicts += 1;
        }
        *counts.entry((text("kind"), text("subject"))).or_default() += 1;
    }
    for ((kind, subject), count) in &counts {
        let is_single =
            matches!(kind.as_str(), "ask.opened" | "ask.settled" | "ask.claimed" | "grant.made");
        ensure!(!is_single || *count == 1, "{count} entries `{kind}` about {subject}");
    }
    for ask in memory.answers.keys() {
        let settled = ("ask.settled".to_owned(), ask.clone());
        ensure!(counts.contains_key(&settled), "no entry says how {ask} was settled");
    }
    let acknowledged = memory.verdicts + memory.asks.len() as u64;
    ensure!(verdicts >= acknowledged, "{acknowledged} verdicts and {verdicts} entries about them");
    Ok(())
}

/// How an ask stands.
struct State {
    outcome: Option<String>,
    reason: Option<String>,
}

fn states(daemon: &Daemon, floor: Option<&str>) -> anyhow::Result<BTreeMap<String, State>> {
    let after = floor.map_or_else(String::new, |floor| format!("&after={floor}"));
    let asks = pages(daemon, "/v1/asks?state=any&limit=1000", after, "asks")?;
    let state = |ask: &Value| {
        let decision = ask.get("decision");
        let text = |name: &str| Some(decision?.get(name)?.as_str()?.to_owned());
        let id = ask.get("id").and_then(Value::as_str).unwrap_or("").to_owned();
        (id, State { outcome: text("outcome"), reason: text("reason") })
    };
    Ok(asks.iter().map(state).collect())
}

/// A list, page by page.
fn pages(daemon: &Daemon, path: &str, mut after: String, name: &str) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    loop {
        let path = format!("{path}{after}");
        let (status, page) = send(daemon.address, &daemon.approver, "GET", &path, "")?;
        if status != 200 {
            bail!("{path}: {status} {page}");
        }
        all.extend(page.get(name).and_then(Value::as_array).cloned().unwrap_or_default());
        match page.get("after").and_then(Value::as_str) {
            Some(cursor) => after = format!("&after={cursor}"),
            None => return Ok(all),
        }
    }
}
