//! Who works during a soak: one kind of thing at a time, chosen by chance, at a pace.

use std::fmt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::kill::daemon::{Daemon, send};

/// How many work at once.
pub const WORKERS: u64 = 8;

/// How much is listened to on a feed before it is dropped.
const LISTENED: usize = 4096;

/// What was done, by what came of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    allowed: u64,
    asked: u64,
    answered: u64,
    withdrawn: u64,
    read: u64,
    refused: u64,
    feeds: u64,
    silent: u64,
    broken: u64,
}

impl Counts {
    /// Adds what another worker did.
    pub fn add(&mut self, other: &Counts) {
        self.allowed += other.allowed;
        self.asked += other.asked;
        self.answered += other.answered;
        self.withdrawn += other.withdrawn;
        self.read += other.read;
        self.refused += other.refused;
        self.feeds += other.feeds;
        self.silent += other.silent;
        self.broken += other.broken;
    }

    /// Whether everything was done and nothing failed on the server's side.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(self.broken == 0, "{} requests failed in the daemon", self.broken);
        let each = [self.allowed, self.asked, self.answered, self.read, self.refused, self.feeds];
        ensure!(each.iter().all(|count| *count > 0), "some kind of work was never done: {self}");
        Ok(())
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} calls allowed, {} asks, {} answers, {} withdrawn, {} reads, {} refusals, \
             {} feeds, {} silent connections, {} failures",
            self.allowed,
            self.asked,
            self.answered,
            self.withdrawn,
            self.read,
            self.refused,
            self.feeds,
            self.silent,
            self.broken,
        )
    }
}

/// Works at a pace until it is over.
pub fn work(daemon: &Daemon, worker: u64, seed: u64, pace: u64, is_over: &AtomicBool) -> Counts {
    let mut chance = Chance::split(seed, worker);
    let mut counts = Counts::default();
    let mut open = Vec::new();
    let pause = Duration::from_millis(1000 / pace.max(1));
    let mut number = 0_u64;
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        number += 1;
        let name = format!("{worker}-{number}");
        match chance.below(20) {
            0..=7 => call(daemon, &mut counts, "Bash", &json!({ "command": "git log -3 | head" })),
            8..=10 => ask(daemon, &mut counts, &name, chance.below(4)),
            11..=13 => answer(daemon, &mut counts, &mut chance),
            14 => read(daemon, &mut counts, "/v1/stats"),
            15 => read(daemon, &mut counts, "/v1/calls?limit=20"),
            16 => read(daemon, &mut counts, "/metrics"),
            17 => refuse(daemon, &mut counts, &mut chance),
            18 => feed(daemon, &mut counts),
            _ => silence(daemon, &mut counts, &mut open),
        }
        std::thread::sleep(pause.saturating_sub(began.elapsed()));
    }
    counts
}

fn call(daemon: &Daemon, counts: &mut Counts, tool: &str, input: &Value) {
    let body = json!({ "tool": tool, "input": input, "cwd": "/work" }).to_string();
    match send(daemon.address, &daemon.agent, "POST", "/v1/calls", &body) {
        Ok((200, _)) => counts.allowed += 1,
        _ => counts.broken += 1,
    }
}

/// Asks about something new; one in four is withdrawn, the others wait for somebody.
fn ask(daemon: &Daemon, counts: &mut Counts, name: &str, kind: usize) {
    let command = format!("npm publish package-{name}");
    let body = json!({ "tool": "Bash", "input": { "command": command }, "session": name });
    let sent = send(daemon.address, &daemon.agent, "POST", "/v1/calls", &body.to_string());
    let Ok((200, asked)) = sent else {
        counts.broken += 1;
        return;
    };
    let Some(ask) = asked.get("ask").and_then(Value::as_str) else { return };
    counts.asked += 1;
    if kind == 0 {
        let path = format!("/v1/asks/{ask}");
        match send(daemon.address, &daemon.agent, "DELETE", &path, "") {
            // Nothing stands behind the head of an answer without a body.
            Ok((200 | 204 | 409, _)) | Err(_) => counts.withdrawn += 1,
            Ok(_) => counts.broken += 1,
        }
    }
}

/// Answers everything that waits, in every scope, and takes the grants back.
fn answer(daemon: &Daemon, counts: &mut Counts, chance: &mut Chance) {
    let listed = send(daemon.address, &daemon.approver, "GET", "/v1/asks?limit=20", "");
    let Ok((200, listed)) = listed else {
        counts.broken += 1;
        return;
    };
    let asks = listed.get("asks").and_then(Value::as_array).cloned().unwrap_or_default();
    for ask in asks.iter().filter_map(|ask| ask.get("id")?.as_str()) {
        let answer = match chance.below(5) {
            0 => json!({ "answer": "reject", "feedback": "not today" }),
            1 => json!({ "answer": "approve", "scope": "always" }),
            2 => json!({ "answer": "approve", "scope": "session" }),
            _ => json!({ "answer": "approve" }),
        };
        let path = format!("/v1/asks/{ask}/decision");
        match send(daemon.address, &daemon.approver, "POST", &path, &answer.to_string()) {
            Ok((200, decision)) => {
                counts.answered += 1;
                revoke(daemon, counts, &decision);
            }
            // Somebody else was first.
            Ok((404 | 409, _)) => {}
            _ => counts.broken += 1,
        }
    }
}

fn revoke(daemon: &Daemon, counts: &mut Counts, decision: &Value) {
    let grants = decision.get("grants").and_then(Value::as_array);
    for grant in grants.into_iter().flatten().filter_map(Value::as_str) {
        let path = format!("/v1/grants/{grant}");
        if let Ok((500.., _)) = send(daemon.address, &daemon.approver, "DELETE", &path, "") {
            counts.broken += 1;
        }
    }
}

/// Reads a page; what is no JSON still has to come whole.
fn read(daemon: &Daemon, counts: &mut Counts, path: &str) {
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        daemon.address, daemon.approver
    );
    match exchange(daemon, head.as_bytes(), usize::MAX) {
        Some(text) if text.starts_with("HTTP/1.1 200") || text.starts_with("HTTP/1.1 403") => {
            counts.read += 1;
        }
        _ => counts.broken += 1,
    }
}

/// Sends what must be refused: no JSON, deep JSON, too much, a key nobody has.
fn refuse(daemon: &Daemon, counts: &mut Counts, chance: &mut Chance) {
    let (key, body) = match chance.below(4) {
        0 => (daemon.agent.as_str(), "{\"tool\":".to_owned()),
        1 => (daemon.agent.as_str(), "[".repeat(5000)),
        2 => (daemon.agent.as_str(), format!("{{\"tool\":\"{}\"}}", "x".repeat(900_000))),
        _ => ("pcl_agent_nobody", "{}".to_owned()),
    };
    match send(daemon.address, key, "POST", "/v1/calls", &body) {
        Ok((500.., _)) => counts.broken += 1,
        _ => counts.refused += 1,
    }
}

/// Listens to the feed for a moment and leaves without a word.
fn feed(daemon: &Daemon, counts: &mut Counts) {
    let head = format!(
        "GET /v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        daemon.address, daemon.approver
    );
    match exchange(daemon, head.as_bytes(), LISTENED) {
        Some(text) if text.starts_with("HTTP/1.1 200") => counts.feeds += 1,
        _ => counts.broken += 1,
    }
}

/// Opens a connection and says nothing, or half of something; a few stay open at a time.
fn silence(daemon: &Daemon, counts: &mut Counts, open: &mut Vec<TcpStream>) {
    if open.len() > 3 {
        open.clear();
    }
    let Ok(mut stream) = TcpStream::connect(daemon.address) else {
        counts.broken += 1;
        return;
    };
    counts.silent += 1;
    // The other side may have had enough already.
    let _ = stream.write_all(b"POST /v1/calls HTTP/1.1\r\nHost: ");
    open.push(stream);
}

/// Sends bytes and reads what comes: to the end, to so many bytes, or for a quarter of a second.
fn exchange(daemon: &Daemon, sent: &[u8], most: usize) -> Option<String> {
    let mut stream = TcpStream::connect(daemon.address).ok()?;
    let patience = if most == usize::MAX { 20_000 } else { 250 };
    stream.set_read_timeout(Some(Duration::from_millis(patience))).ok()?;
    stream.write_all(sent).ok()?;
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    while text.len() < most {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(count) => text.extend_from_slice(piece.get(..count)?),
        }
    }
    (!text.is_empty()).then(|| String::from_utf8_lossy(&text).into_owned())
}
