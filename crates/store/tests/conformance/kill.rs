//! A process that writes and says what was acknowledged is killed, again and again.
//!
//! The process is this test once more, told by its environment to write until it dies.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use portcullis_approval::{Id, Reply, State};
use portcullis_store::Store;
use tokio::task::JoinSet;

use crate::place::Place;
use crate::samples::{MANY, ask, chain_holds, entries, entry, id, settlement};

/// Where the process that will be killed writes.
const ADDRESS: &str = "PORTCULLIS_TEST_KILL";

/// How often it is killed.
const CYCLES: usize = 10;

/// How many write at once.
const WRITERS: usize = 16;

pub async fn nothing_acknowledged_is_lost(place: &impl Place) {
    // How many lines it may say before the end: from at once to a few groups.
    let lives = [1, 400, 37, 3, 150, 800, 90, 11, 250, 600];
    let mut known: HashMap<Id, State> = HashMap::new();
    for cycle in 0..CYCLES {
        for line in life(&place.address(), lives[cycle % lives.len()]) {
            let (what, ask) = line.split_once(' ').unwrap();
            let state = match what {
                "opened" => State::Pending,
                "approved" => State::Approved,
                "rejected" => State::Rejected,
                _ => panic!("{line}"),
            };
            known.insert(ask.parse().unwrap(), state);
        }
        let store = place.open();
        chain_holds(&*store).await;
        for (ask, state) in &known {
            let record = store.ask(*ask).await.unwrap();
            let found = record.map(|record| record.state());
            let is_kept = match state {
                // It may have been settled without the time to say so.
                State::Pending => found.is_some(),
                State::Approved | State::Rejected | State::Expired | State::Cancelled => {
                    found == Some(*state)
                }
            };
            assert!(is_kept, "cycle {cycle}: `{ask}` was {state:?}, is {found:?}");
        }
        let entries = entries(&*store).await;
        for (ask, state) in &known {
            let about = |kind: &str| {
                let subject = ask.to_string();
                entries.iter().filter(|one| one.kind == kind && one.subject == subject).count()
            };
            assert_eq!(about("ask.opened"), 1);
            assert!(about("ask.settled") <= 1);
            assert!(*state == State::Pending || about("ask.settled") == 1);
        }
        store.close().await;
    }
    assert!(known.len() > 100, "it lived long enough to show something");
}

/// Starts the process and kills it after so many lines; every line it could say.
fn life(address: &str, lines: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::writes_until_it_dies", "--nocapture", "--test-threads=1"])
        .env(ADDRESS, address)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let mut said = Vec::new();
    // A line cut short by the end was not said.
    for line in out.split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8(line).unwrap();
        // The test runner's own words may stand before the first.
        let Some((_, line)) = line.split_once("> ") else { continue };
        said.push(line.to_owned());
        if said.len() == lines {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    said.retain(|line| line.ends_with(';'));
    said.iter().map(|line| line.trim_end_matches(';').to_owned()).collect()
}

/// Opens and settles asks for ever, where the environment says so.
#[test]
fn writes_until_it_dies() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = portcullis_store::open(&address, "here").await.unwrap();
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let store = Arc::clone(&store);
            writers.spawn(async move {
                loop {
                    write_one(&*store, number).await;
                }
            });
        }
        writers.join_all().await;
    });
}

async fn write_one(store: &dyn Store, number: usize) {
    let say = |what: &str, ask: Id| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "> {what} {ask};").unwrap();
    };
    let ask = ask(id(), "ls");
    store.open_ask(&ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
    say("opened", ask.id);
    let (reply, word) = match number % 2 {
        0 => (Reply::Approve, "approved"),
        _ => (Reply::Reject, "rejected"),
    };
    let settled = settlement(ask.id, reply);
    store.settle_ask(&settled, entry("ask.settled", ask.id)).await.unwrap();
    say(word, ask.id);
}
