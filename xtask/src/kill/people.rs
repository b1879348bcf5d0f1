//! Agents that ask and approvers that answer, and what each was promised.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::{Daemon, send};
use crate::chance::Chance;

/// How many agents and approvers work at once.
const AGENTS: u64 = 4;
const APPROVERS: u64 = 2;

/// What was acknowledged, and what was only sent.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Only asks younger than this one.
    pub floor: Option<String>,
    /// Asks, by the command they are about.
    pub asks: BTreeMap<String, String>,
    /// Answers: the ask and the outcome.
    pub answers: BTreeMap<String, String>,
    /// Asks somebody sent an approval for, acknowledged or not.
    pub approved: BTreeSet<String>,
    /// Grants.
    pub grants: BTreeSet<String>,
    /// Asks an agent was allowed to run.
    pub allowed: BTreeSet<String>,
    /// How many verdicts were acknowledged without an ask.
    pub verdicts: u64,
}

impl Memory {
    /// Whether somebody here asked it; of asks of others nobody here knows who approved them.
    pub fn knows(&self, ask: &str) -> bool {
        self.floor.is_none() || self.asks.values().any(|known| known == ask)
    }

    /// What comes behind everything that another memory has.
    pub fn after(other: &Memory) -> Memory {
        let floor = other.asks.values().max().or(other.floor.as_ref()).cloned();
        Memory { floor, ..Memory::default() }
    }

    /// Adds what happened in one life.
    pub fn add(&mut self, other: Memory) {
        self.asks.extend(other.asks);
        self.answers.extend(other.answers);
        self.approved.extend(other.approved);
        self.grants.extend(other.grants);
        self.allowed.extend(other.allowed);
        self.verdicts += other.verdicts;
    }
}

/// Lets everybody work until the daemon is killed.
pub fn work(daemon: &Daemon, cycle: u64, next: &mut u64, life: Duration) -> Memory {
    let is_over = AtomicBool::new(false);
    let number = AtomicU64::new(*next);
    let mut memory = Memory::default();
    std::thread::scope(|scope| {
        let mut workers = Vec::new();
        for worker in 0..AGENTS {
            let (is_over, number) = (&is_over, &number);
            workers.push(scope.spawn(move || agent(daemon, worker, number, is_over)));
        }
        for worker in 0..APPROVERS {
            let is_over = &is_over;
            let chance = Chance::split(cycle, worker);
            workers.push(scope.spawn(move || approver(daemon, chance, is_over)));
        }
        std::thread::sleep(life);
        daemon.kill();
        is_over.store(true, Ordering::Relaxed);
        for worker in workers {
            if let Ok(lived) = worker.join() {
                memory.add(lived);
            }
        }
    });
    *next = number.load(Ordering::Relaxed);
    memory
}

/// Asks, looks, waits; until the daemon is gone.
fn agent(daemon: &Daemon, worker: u64, number: &AtomicU64, is_over: &AtomicBool) -> Memory {
    let mut memory = Memory::default();
    while !is_over.load(Ordering::Relaxed) {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let reads = number.is_multiple_of(3);
        let command = if reads { "git status".to_owned() } else { format!("npm publish {number}") };
        let wait_ms = if worker == 0 { 50 } else { 0 };
        let body = json!({ "tool": "Bash", "input": { "command": command }, "wait_ms": wait_ms });
        let sent = send(daemon.address, &daemon.agent, "POST", "/v1/calls", &body.to_string());
        let Ok((200, answer)) = sent else { continue };
        let ask = answer.get("ask").and_then(Value::as_str);
        match (ask, answer.get("outcome").and_then(Value::as_str)) {
            (Some(ask), outcome) => {
                memory.asks.insert(command, ask.to_owned());
                if outcome == Some("allow") {
                    memory.allowed.insert(ask.to_owned());
                }
            }
            (None, Some("allow")) if reads => memory.verdicts += 1,
            // An allow without an ask of what must be asked about: the check will say so.
            (None, _) => {
                memory.allowed.insert(format!("`{command}` without an ask"));
            }
        }
    }
    memory
}

/// Answers what waits; until the daemon is gone.
fn approver(daemon: &Daemon, mut chance: Chance, is_over: &AtomicBool) -> Memory {
    let mut memory = Memory::default();
    while !is_over.load(Ordering::Relaxed) {
        let listed = send(daemon.address, &daemon.approver, "GET", "/v1/asks?limit=20", "");
        let Ok((200, listed)) = listed else { continue };
        let asks = listed.get("asks").and_then(Value::as_array).cloned().unwrap_or_default();
        for ask in asks.iter().filter_map(|ask| ask.get("id")?.as_str()) {
            let answer = match chance.below(4) {
                0 => json!({ "answer": "reject" }),
                1 => json!({ "answer": "approve", "scope": "always" }),
                _ => json!({ "answer": "approve" }),
            };
            if answer.get("answer").and_then(Value::as_str) == Some("approve") {
                memory.approved.insert(ask.to_owned());
            }
            let path = format!("/v1/asks/{ask}/decision");
            let sent = send(daemon.address, &daemon.approver, "POST", &path, &answer.to_string());
            let Ok((200, decision)) = sent else { continue };
            let outcome = decision.get("outcome").and_then(Value::as_str).unwrap_or("none");
            memory.answers.insert(ask.to_owned(), outcome.to_owned());
            let grants = decision.get("grants").and_then(Value::as_array);
            for grant in grants.into_iter().flatten().filter_map(Value::as_str) {
                memory.grants.insert(grant.to_owned());
            }
        }
    }
    memory
}
