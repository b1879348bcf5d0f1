//! `cargo xtask nodes --herd`: ten thousand wait on five nodes, and what each decision makes the
//! nodes ask of the database is counted.
//!
//! Transactions are counted, not time, so that it says the same on a busy machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use portcullis_database::Database;
use serde_json::{Value, json};

use super::cut::Cut;
use super::node::Node;
use super::way::Way;
use crate::kill::daemon::send;

/// How many nodes there are, and how many wait on all of them together.
const NODES: usize = 5;
const WAITERS: usize = 10_000;

/// How many are answered at once in the end.
const ANSWERED: usize = 1_000;

/// What one decision may cost all nodes together beyond what they ask anyway: a commit, a word,
/// and on each node a look, a reading of what is new and one of the ask.
const MOST_FOR_ONE: i64 = 40;

/// What all nodes together may ask while nobody answers, however many wait: so many a second.
const MOST_WHILE_QUIET: i64 = 50;

/// What each of many decisions may cost.
const MOST_FOR_EACH: i64 = 6;

/// How many transactions the database has seen.
const TRANSACTIONS: &str = "SELECT xact_commit + xact_rollback FROM pg_stat_database \
    WHERE datname = current_database()";

/// How long the database's counts are waited for: a connection that has nothing to do tells what it
/// did ten seconds later.
const COUNTING: Duration = Duration::from_secs(12);

/// Lets everybody wait, answers one and then many, and counts.
pub fn run(binary: &Path, home: &Path) -> anyhow::Result<()> {
    more_descriptors()?;
    let database = Database::start(&["fsync=off"])?;
    let layer = super::node::layer(home)?;
    let mut nodes = Vec::new();
    for number in 0..NODES {
        let way = Way::Between(Cut::to(database.port())?);
        let mut node = Node::new(number, home, binary, layer.clone(), &database, way)?;
        node.set_policy("[asks]\ndeadline_s = 3600\n")?;
        node.start(0)?;
        nodes.push(node);
    }
    let doors: Vec<_> = nodes.iter().map(Node::door).collect::<Result<_, _>>()?;
    let began = Instant::now();
    let mut waiting = Vec::new();
    for number in 0..WAITERS {
        let door = doors.get(number % NODES).context("no such node")?;
        waiting.push(wait(door.address, &door.agent, number)?);
    }
    let first = doors.first().context("no node")?;
    while counted(&database, "SELECT coalesce(sum(asks), 0) FROM pending")? < many(WAITERS)? {
        ensure!(began.elapsed() < Duration::from_mins(10), "not all wait after ten minutes");
        std::thread::sleep(Duration::from_millis(500));
    }
    let asks = pending(first.address, &first.approver)?;
    writeln!(
        std::io::stdout(),
        "herd: {WAITERS} wait on {NODES} nodes after {:.0} s",
        began.elapsed().as_secs_f64()
    )?;
    let count = |work: &mut dyn FnMut() -> anyhow::Result<()>| -> anyhow::Result<i64> {
        let before = counted(&database, TRANSACTIONS)?;
        work()?;
        std::thread::sleep(COUNTING);
        Ok(counted(&database, TRANSACTIONS)? - before)
    };
    // What nodes ask by themselves meanwhile is taken away from what decisions cost; what opening
    // all those asks cost is told first.
    std::thread::sleep(COUNTING);
    let quiet = count(&mut || Ok(()))?;
    let answer = |some: &[String]| -> anyhow::Result<()> {
        let answers: Vec<Value> =
            some.iter().map(|ask| json!({ "ask": ask, "answer": "reject" })).collect();
        let body = json!({ "answers": answers }).to_string();
        let (status, said) =
            send(first.address, &first.approver, "POST", "/v1/asks/decisions", &body)?;
        ensure!(status == 200, "{status} {said}");
        Ok(())
    };
    let (one, rest) = asks.split_at(1);
    let for_one = count(&mut || answer(one))? - quiet;
    let rest = rest.get(..ANSWERED).context("too few asks")?;
    let for_many = count(&mut || rest.chunks(100).try_for_each(answer))? - quiet;
    let woken = waiting.iter_mut().map(is_answered).filter(|answered| *answered).count();
    let for_each = for_many / many(ANSWERED)?;
    writeln!(
        std::io::stdout(),
        "herd: {quiet} transactions in {} s while nobody answers; {for_one} for one decision, \
         {for_many} for {ANSWERED} ({for_each} for each); {woken} were woken and answered",
        COUNTING.as_secs()
    )?;
    ensure!(woken == ANSWERED + 1, "{woken} of {} were answered", ANSWERED + 1);
    let most = MOST_WHILE_QUIET * i64::try_from(COUNTING.as_secs())?;
    ensure!(quiet <= most, "{quiet} transactions while nobody answers");
    ensure!(for_one <= MOST_FOR_ONE, "one decision costs {for_one} transactions");
    ensure!(for_each <= MOST_FOR_EACH, "each of many decisions costs {for_each} transactions");
    Ok(())
}

/// Sends a call that must be asked about, and leaves its answer to be read later.
fn wait(address: SocketAddr, key: &str, number: usize) -> anyhow::Result<TcpStream> {
    let command = format!("npm publish {number}");
    let body = json!({ "tool": "Bash", "input": { "command": command }, "wait_ms": 600_000 });
    let body = body.to_string();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST /v1/calls HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

fn is_answered(stream: &mut TcpStream) -> bool {
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).is_ok() && &begin == b"HTTP/1.1 200"
}

/// The pending asks.
fn pending(address: SocketAddr, key: &str) -> anyhow::Result<Vec<String>> {
    let (mut asks, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/asks?limit=1000{after}");
        let (status, page) = send(address, key, "GET", &path, "")?;
        ensure!(status == 200, "{status} {page}");
        let listed = page.get("asks").and_then(Value::as_array).cloned().unwrap_or_default();
        asks.extend(listed.iter().filter_map(|ask| ask.get("id")?.as_str().map(str::to_owned)));
        match page.get("after").and_then(Value::as_str) {
            Some(cursor) => after = format!("&after={cursor}"),
            None => return Ok(asks),
        }
    }
}

/// The number that a query finds.
fn counted(database: &Database, text: &str) -> anyhow::Result<i64> {
    Ok(database.sql(text)?.trim().parse()?)
}

fn many(count: usize) -> anyhow::Result<i64> {
    Ok(i64::try_from(count)?)
}

/// A descriptor for each who waits.
fn more_descriptors() -> anyhow::Result<()> {
    let own = std::process::id().to_string();
    let most = format!("--nofile={}:{}", WAITERS * 2, WAITERS * 2);
    let done = Command::new("prlimit").args(["--pid", &own, &most]).status()?;
    ensure!(done.success(), "this process may not have {WAITERS} connections");
    Ok(())
}
