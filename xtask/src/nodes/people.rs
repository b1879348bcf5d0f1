//! Agents and approvers on random nodes and through several doors, and what each was promised.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::kill::daemon::{Daemon, send};
use crate::kill::people::Memory as Acknowledged;

/// How many agents and approvers work at once.
const AGENTS: u64 = 6;
const APPROVERS: u64 = 3;

/// How long an agent waits for a person.
const WAIT_MS: usize = 4000;

/// How a node is reached.
#[derive(Clone)]
pub struct Door {
    pub address: SocketAddr,
    pub agent: String,
    pub approver: String,
}

/// What everybody was promised.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// What one daemon would have promised too.
    pub acknowledged: Acknowledged,
    /// How often somebody was allowed to run what one ask is about.
    pub runs: BTreeMap<String, u64>,
    /// How many asks nobody answered in time.
    pub expired: u64,
}

impl Memory {
    /// Adds what happened in one round.
    pub fn add(&mut self, other: Memory) {
        self.acknowledged.add(other.acknowledged);
        for (ask, count) in other.runs {
            *self.runs.entry(ask).or_default() += count;
        }
        self.expired += other.expired;
    }

    /// What comes behind everything that this memory has.
    pub fn behind(&self) -> Memory {
        Memory { acknowledged: Acknowledged::after(&self.acknowledged), ..Memory::default() }
    }
}

/// People at work.
pub struct Work {
    is_over: Arc<AtomicBool>,
    number: Arc<AtomicU64>,
    workers: Vec<JoinHandle<Memory>>,
}

/// Lets everybody begin.
pub fn begin(doors: &[Door], round: u64, next: u64) -> Work {
    let is_over = Arc::new(AtomicBool::new(false));
    let number = Arc::new(AtomicU64::new(next));
    let mut workers = Vec::new();
    for worker in 0..AGENTS + APPROVERS {
        let (doors, is_over, number) = (doors.to_vec(), Arc::clone(&is_over), Arc::clone(&number));
        let chance = Chance::split(round.wrapping_mul(1000) + worker, next);
        workers.push(std::thread::spawn(move || {
            if worker < AGENTS {
                agent(&doors, chance, &number, &is_over)
            } else {
                approver(&doors, chance, &is_over)
            }
        }));
    }
    Work { is_over, number, workers }
}

impl Work {
    /// Ends it; what everybody was promised.
    pub fn end(self, next: &mut u64) -> Memory {
        self.is_over.store(true, Ordering::Relaxed);
        let mut memory = Memory::default();
        for worker in self.workers {
            if let Ok(lived) = worker.join() {
                memory.add(lived);
            }
        }
        *next = self.number.load(Ordering::Relaxed);
        memory
    }
}

fn some<'a>(doors: &'a [Door], chance: &mut Chance) -> Option<&'a Door> {
    doors.get(chance.below(doors.len()))
}

/// Asks, looks, waits, and sometimes asks the same on another node at the same time.
fn agent(doors: &[Door], mut chance: Chance, number: &AtomicU64, is_over: &AtomicBool) -> Memory {
    let mut memory = Memory::default();
    while !is_over.load(Ordering::Relaxed) {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let has_twin = chance.once_in(4);
        let command = match (number.is_multiple_of(3), has_twin) {
            (true, _) => "git status".to_owned(),
            (false, true) => format!("npm publish twin-{number}"),
            (false, false) => format!("npm publish {number}"),
        };
        let wait_ms = if chance.once_in(3) { 0 } else { chance.between(1, WAIT_MS) };
        let (Some(first), Some(second)) = (some(doors, &mut chance), some(doors, &mut chance))
        else {
            return memory;
        };
        let submit = |door: &Door| submit(door, &command, wait_ms);
        let lived = std::thread::scope(|scope| {
            let twin = has_twin.then(|| scope.spawn(|| submit(second)));
            let mut lived = submit(first);
            if let Some(Ok(twin)) = twin.map(std::thread::ScopedJoinHandle::join) {
                lived.add(twin);
            }
            lived
        });
        memory.add(lived);
    }
    memory
}

fn submit(door: &Door, command: &str, wait_ms: usize) -> Memory {
    let mut memory = Memory::default();
    let body = json!({ "tool": "Bash", "input": { "command": command }, "wait_ms": wait_ms });
    let sent = send(door.address, &door.agent, "POST", "/v1/calls", &body.to_string());
    let Ok((200, answer)) = sent else { return memory };
    let outcome = answer.get("outcome").and_then(Value::as_str);
    let reason = answer.pointer("/decision/reason").and_then(Value::as_str);
    match answer.get("ask").and_then(Value::as_str) {
        Some(ask) => {
            memory.acknowledged.asks.insert(command.to_owned(), ask.to_owned());
            if outcome == Some("allow") {
                memory.acknowledged.allowed.insert(ask.to_owned());
                *memory.runs.entry(ask.to_owned()).or_default() += 1;
            }
            memory.expired += u64::from(reason == Some("fallback"));
        }
        None if outcome == Some("allow") && command == "git status" => {
            memory.acknowledged.verdicts += 1;
        }
        // An allow without an ask of what must be asked about: the check will say so.
        None => {
            memory.acknowledged.allowed.insert(format!("`{command}` without an ask"));
        }
    }
    memory
}

/// Reads the inbox of one node and answers on others, through the native door or Agentbot's.
fn approver(doors: &[Door], mut chance: Chance, is_over: &AtomicBool) -> Memory {
    let mut memory = Memory::default();
    while !is_over.load(Ordering::Relaxed) {
        let Some(door) = some(doors, &mut chance) else { return memory };
        let listed = send(door.address, &door.approver, "GET", "/v1/asks?limit=20", "");
        let Ok((200, listed)) = listed else { continue };
        let asks = listed.get("asks").and_then(Value::as_array).cloned().unwrap_or_default();
        for ask in asks.iter().filter_map(|ask| ask.get("id")?.as_str()) {
            // Some are left for their deadline, and most for another approver.
            if chance.once_in(3) {
                continue;
            }
            let Some(door) = some(doors, &mut chance) else { return memory };
            let word = if chance.once_in(4) { "reject" } else { "approve" };
            if word == "approve" {
                memory.acknowledged.approved.insert(ask.to_owned());
            }
            if chance.once_in(3) {
                let body = json!({ "requestId": ask, "decision": word });
                let path = "/api/permissions";
                let _ = send(door.address, &door.approver, "POST", path, &body.to_string());
                continue;
            }
            let path = format!("/v1/asks/{ask}/decision");
            let body = json!({ "answer": word }).to_string();
            let sent = send(door.address, &door.approver, "POST", &path, &body);
            let Ok((200, decision)) = sent else { continue };
            let outcome = decision.get("outcome").and_then(Value::as_str).unwrap_or("none");
            memory.acknowledged.answers.insert(ask.to_owned(), outcome.to_owned());
        }
    }
    memory
}

/// Whether each approval let one call run and no more, and each end by deadline came in time.
pub fn once(daemon: &Daemon, memory: &Memory) -> anyhow::Result<()> {
    for (ask, runs) in &memory.runs {
        ensure!(*runs <= 1, "{runs} calls ran by the one approval of ask {ask}");
    }
    for ask in memory.acknowledged.asks.values().rev().take(50) {
        let path = format!("/v1/asks/{ask}");
        let (status, found) = send(daemon.address, &daemon.approver, "GET", &path, "")?;
        ensure!(status == 200, "ask {ask}: {status} {found}");
        if found.get("state").and_then(Value::as_str) != Some("expired") {
            continue;
        }
        let text = |path: &str| found.pointer(path).and_then(Value::as_str);
        let (ended, deadline) = (text("/decision/at"), text("/deadline_at"));
        let ended = ended.context("an end without a moment")?;
        ensure!(Some(ended) >= deadline, "ask {ask} ended at {ended}, before {deadline:?}");
        ensure!(text("/decision/outcome") == Some("deny"), "ask {ask} ended and is allowed");
    }
    Ok(())
}
