//! What holds for a store in a database beside what holds for all: the database goes and comes,
//! writers stop in the middle, versions differ.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_approval::Reply;
use portcullis_approval::audit::Checkpoint;
use portcullis_approval::receipt::Signer;
use portcullis_store::{Postgres, StoreError};
use tokio::task::JoinSet;

use crate::place::{House, OneFile, Place};
use crate::restart::{everything, fill};
use crate::samples::{MANY, NOW, ask, chain_holds, entries, entry, id, settlement};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
}

/// Tries until it works.
async fn at_last<T>(mut work: impl AsyncFnMut() -> Result<T, StoreError>) -> T {
    let began = Instant::now();
    loop {
        match work().await {
            Ok(done) => return done,
            Err(error) if began.elapsed() > Duration::from_mins(1) => panic!("{error:?}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// One database for all of these: it takes longer to make than they take.
#[test]
fn what_holds_for_several_nodes() {
    let mut house = House::start();
    runtime().block_on(async {
        schemas_are_newer_or_adjacent(&house).await;
        nodes_of_the_version_before_can_still_speak(&house).await;
        what_cannot_be_stored_takes_nobody_with_it(&house).await;
        a_writer_that_stops_is_ended(&house).await;
        every_node_hears_every_node(&house).await;
        nodes_write_one_chain_in_one_order(&house).await;
        everything_moves_both_ways(&house).await;
        nothing_is_acknowledged_while_the_database_is_away(&mut house).await;
    });
}

async fn schemas_are_newer_or_adjacent(house: &House) {
    let place = house.place("versions");
    place.open().close().await;
    let set = |version: i64, oldest: i64| {
        let text = format!("INSERT INTO versions.portcullis_schema VALUES ({version}, {oldest})");
        house.sql(&text);
    };
    set(4, 1);
    place.open().close().await;
    set(99, 99);
    let refused = Postgres::open(&place.address(), "here").await.err().unwrap();
    assert!(matches!(refused, StoreError::Newer { found: 99, known: 3 }), "{refused:?}");

    let place = house.place("strange");
    house.sql("CREATE TABLE strange.asks (a int)");
    let refused = Postgres::open(&place.address(), "here").await.err().unwrap();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused:?}");
}

/// What a node of a released schema says to the database, one statement a line, as the database
/// logged it while the laws ran. With a migration comes the file of the schema before it; a file
/// goes when its schema is older than what the migrations still name as `oldest`.
const STATEMENTS: &[(&str, &str)] = &[("0003", include_str!("statements/0003.txt"))];

async fn nodes_of_the_version_before_can_still_speak(house: &House) {
    let place = house.place("upgraded");
    place.open().close().await;
    let (client, connection) =
        tokio_postgres::connect(&place.address(), tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    for (schema, text) in STATEMENTS {
        for statement in text.lines() {
            let understood = client.prepare(statement).await;
            assert!(understood.is_ok(), "schema {schema}: `{statement}`: {understood:?}");
        }
    }
    drop(client);
    let _ = driver.await;
}

async fn what_cannot_be_stored_takes_nobody_with_it(house: &House) {
    #[rustfmt::skip]
    let failures = [
        ("BEFORE INSERT", "",                                 "one statement fails"),
        ("AFTER INSERT",  "DEFERRABLE INITIALLY DEFERRED",    "the commit fails"),
    ];
    for (number, (when, how, why)) in failures.into_iter().enumerate() {
        let schema = format!("refusing{number}");
        let place = house.place(&schema);
        let store = place.open();
        let kind = if how.is_empty() { "TRIGGER" } else { "CONSTRAINT TRIGGER" };
        house.sql(&format!(
            "CREATE FUNCTION {schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN IF new.subject::int % 50 = 25 THEN RAISE EXCEPTION 'no'; END IF; \
             RETURN new; END $$; \
             CREATE {kind} refuses {when} ON {schema}.audit {how} FOR EACH ROW \
             EXECUTE FUNCTION {schema}.refuse()"
        ));
        let mut tasks = JoinSet::new();
        for number in 0..200 {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                let done = store.record(entry("call.judged", number), vec![], NOW).await;
                (number.to_string(), done.is_ok())
            });
        }
        let mut acknowledged: Vec<String> =
            tasks.join_all().await.into_iter().filter(|one| one.1).map(|one| one.0).collect();
        acknowledged.sort();
        let mut written: Vec<String> =
            entries(&*store).await.into_iter().map(|record| record.subject).collect();
        written.sort();
        assert_eq!(written, acknowledged, "{why}");
        assert_eq!(written.len(), 196, "{why}: only those that cannot be stored fail");
        assert_eq!(chain_holds(&*store).await, written.len(), "{why}");
    }
    // The character that PostgreSQL's texts cannot hold.
    let store = house.place("zero").open();
    let mut odd = ask(id(), "ls");
    odd.call.description = Some("a\0b\u{10ffff}".to_owned());
    let mut about = entry("ask.opened", odd.id);
    about[0].actor = "\0".to_owned();
    store.open_ask(&odd, MANY, about.into()).await.unwrap();
    assert_eq!(store.ask(odd.id).await.unwrap().unwrap().ask, odd);
    assert_eq!(chain_holds(&*store).await, 1);
}

async fn a_writer_that_stops_is_ended(house: &House) {
    let place = house.place("stopped");
    let store = place.open();
    store.record(entry("a", "b"), vec![], NOW).await.unwrap();
    // Somebody who takes the writers' lock and says no more.
    let (client, connection) =
        tokio_postgres::connect(&place.address(), tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client
        .batch_execute(
            "SET idle_in_transaction_session_timeout = 2000; BEGIN; SELECT \
             pg_advisory_xact_lock(hashtext('portcullis writer ' || current_schema()))",
        )
        .await
        .unwrap();
    store.record(entry("a", "c"), vec![], NOW).await.unwrap();
    assert_eq!(chain_holds(&*store).await, 2);
    drop(client);
    let _ = driver.await;

    // One who keeps the turn longer than others wait for it: they wait once more, together.
    let (client, connection) =
        tokio_postgres::connect(&place.address(), tokio_postgres::NoTls).await.unwrap();
    let driver = tokio::spawn(connection);
    client
        .batch_execute(
            "BEGIN; SELECT \
             pg_advisory_xact_lock(hashtext('portcullis writer ' || current_schema()))",
        )
        .await
        .unwrap();
    let mut tasks = JoinSet::new();
    for number in 0..100 {
        let store = Arc::clone(&store);
        tasks.spawn(async move { store.record(entry("b", number), vec![], NOW).await.is_ok() });
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    client.batch_execute("COMMIT").await.unwrap();
    assert!(tasks.join_all().await.into_iter().all(|is_kept| is_kept), "none is given up");
    assert_eq!(chain_holds(&*store).await, 102);
    drop(client);
    let _ = driver.await;
}

async fn every_node_hears_every_node(house: &House) {
    let place = house.place("heard");
    let nodes = [place.open_as("a"), place.open_as("b"), place.open_as("c")];
    for (number, writer) in nodes.iter().enumerate() {
        writer.record(entry("x", number), vec![], NOW).await.unwrap();
        let position = writer.head().await.unwrap().position;
        for node in &nodes {
            let mut bell = node.bell();
            let heard = bell.wait_for(|heard| *heard >= position);
            tokio::time::timeout(Duration::from_secs(30), heard).await.unwrap().unwrap();
        }
    }
}

async fn nodes_write_one_chain_in_one_order(house: &House) {
    let place = house.place("in_order");
    let nodes = [place.open(), place.open(), place.open()];
    // Whoever reads while they write sees the audit grow at its end, and nowhere else.
    let reader = place.open();
    let watching = tokio::spawn(async move {
        let mut seen: Vec<u64> = Vec::new();
        while seen.len() < 600 {
            let filter =
                portcullis_store::AuditFilter::after(seen.last().copied().unwrap_or(0), 50);
            seen.extend(reader.audit(&filter).await.unwrap().iter().map(|one| one.position));
        }
        seen
    });
    let mut tasks = JoinSet::new();
    for number in 0..300_usize {
        let store = Arc::clone(&nodes[number % 3]);
        tasks.spawn(async move {
            let ask = ask(id(), &format!("echo {number}"));
            store.open_ask(&ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
            let settled = settlement(ask.id, Reply::Approve);
            store.settle_ask(&settled, entry("ask.settled", ask.id)).await.unwrap();
        });
    }
    tasks.join_all().await;
    let seen = watching.await.unwrap();
    assert_eq!(seen, (1..=600).collect::<Vec<u64>>(), "none is skipped");
    assert_eq!(chain_holds(&*nodes[0]).await, 600);
}

async fn everything_moves_both_ways(house: &House) {
    let (file, back) = (OneFile::new(), OneFile::new());
    let store = file.open();
    fill(&*store).await;
    let mut odd = ask(id(), "ls");
    odd.call.description = Some("a\0b\u{10ffff}".to_owned());
    store.open_ask(&odd, MANY, entry("ask.opened", odd.id).into()).await.unwrap();
    let head = store.head().await.unwrap();
    let signer = Signer::new(&[7; 32]);
    let checkpoint = Checkpoint::sign("here", head.seq, head.hash, NOW, &signer);
    store.add_checkpoint(&checkpoint).await.unwrap();
    let before = everything(&*store).await;
    store.close().await;

    let place = house.place("moved");
    let mut told = Vec::new();
    let (from, to) = (file.address(), place.address());
    let moved = portcullis_store::copy(&from, &to, |one| told.push(one)).await.unwrap();
    assert!(moved.contains(&("audit", 7)), "{moved:?}");
    let all: u64 = moved.iter().map(|(_, rows)| rows).sum();
    for is_check in [false, true] {
        let last = told.iter().rfind(|one| one.is_check == is_check).unwrap();
        assert_eq!((last.rows, last.of), (all, all), "it comes to its end: {last:?}");
    }
    assert!(told.is_sorted_by_key(|one| (one.is_check, one.rows)), "{told:?}");
    let store = place.open();
    assert_eq!(everything(&*store).await, before);
    assert_eq!(store.checkpoints().await.unwrap(), [checkpoint]);
    // It goes on where it stood.
    let more = ask(id(), "more");
    store.open_ask(&more, MANY, entry("ask.opened", more.id).into()).await.unwrap();
    assert_eq!(chain_holds(&*store).await, 8);
    let before = everything(&*store).await;
    store.close().await;

    portcullis_store::copy(&place.address(), &back.address(), |_| {}).await.unwrap();
    let store = back.open();
    assert_eq!(everything(&*store).await, before);
    store.close().await;
    let refused = portcullis_store::copy(&place.address(), &back.address(), |_| {}).await;
    assert!(format!("{refused:?}").contains("not empty"), "{refused:?}");
    let refused = portcullis_store::copy(&file.address(), &place.address(), |_| {}).await;
    assert!(format!("{refused:?}").contains("not empty"), "{refused:?}");
    assert_eq!(everything(&*place.open()).await, before);
}

async fn nothing_is_acknowledged_while_the_database_is_away(house: &mut House) {
    let place = house.place("away");
    let stores = [place.open(), place.open()];
    let waiting = ask(id(), "ls");
    stores[0].open_ask(&waiting, MANY, entry("ask.opened", waiting.id).into()).await.unwrap();
    for crashes in [false, true] {
        let database = house.database();
        let gone = if crashes { database.crash() } else { database.stop() };
        gone.unwrap();
        for store in &stores {
            let refused = store.record(entry("a", "b"), vec![], NOW).await;
            assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
            assert!(store.ask(waiting.id).await.is_err());
            assert!(store.ready().await.is_err());
        }
        house.database().resume().unwrap();
        for store in &stores {
            at_last(async || store.ready().await).await;
            assert!(store.ask(waiting.id).await.unwrap().is_some());
        }
    }
    // The bell is heard again.
    at_last(async || stores[0].record(entry("a", "b"), vec![], NOW).await).await;
    let position = stores[0].head().await.unwrap().position;
    let mut bell = stores[1].bell();
    let heard = bell.wait_for(|heard| *heard >= position);
    tokio::time::timeout(Duration::from_secs(30), heard).await.unwrap().unwrap();
    assert_eq!(chain_holds(&*stores[0]).await, 2);
}
