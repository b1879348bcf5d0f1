//! What holds for a store in a file beside what holds for all.

use std::fs;
use std::sync::Arc;

use portcullis_approval::audit::{Checkpoint, NOTHING};
use portcullis_approval::receipt::Signer;
use portcullis_approval::{Ask, Reply};
use portcullis_store::{Opened, Retention, Sqlite, StoreError};
use rusqlite::Connection;
use tokio::task::JoinSet;

use crate::place::{OneFile, Place};
use crate::samples::{MANY, NOW, ask, chain_holds, entries, entry, id, later, settlement};

/// Why a file cannot be opened.
fn refusal(place: &OneFile) -> StoreError {
    Sqlite::open(place.path(), "here").err().expect("it is refused")
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let place = OneFile::new();
    place.open().close().await;
    let db = Connection::open(place.path()).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let before = fs::read(place.path()).unwrap();
    let refused = refusal(&place);
    assert!(matches!(refused, StoreError::Newer { found: 99, known: 5 }), "{refused:?}");
    assert_eq!(fs::read(place.path()).unwrap(), before);
}

#[tokio::test]
async fn the_database_of_another_program_is_refused() {
    let place = OneFile::new();
    let db = Connection::open(place.path()).unwrap();
    db.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    drop(db);
    assert!(matches!(refusal(&place), StoreError::Unavailable(_)));
    let place = OneFile::new();
    fs::write(place.path(), "no database at all, but a text that is long enough").unwrap();
    assert!(matches!(refusal(&place), StoreError::Unavailable(_)));
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_refused() {
    let place = OneFile::new();
    let refused = Sqlite::open(place.path().join("x.db"), "here");
    assert!(matches!(refused, Err(StoreError::Unavailable(_))));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = OneFile::new();
    let store = place.open();
    store.record(entry("a", "b"), vec![], NOW).await.unwrap();
    for file in fs::read_dir(place.path().parent().unwrap()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.path());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_is_gone_takes_no_more() {
    for gone in ["portcullis.db", "portcullis.db-wal"] {
        let place = OneFile::new();
        let store = place.open();
        store.record(entry("a", "b"), vec![], NOW).await.unwrap();
        fs::remove_file(place.path().with_file_name(gone)).unwrap();
        let refused = store.record(entry("a", "b"), vec![], NOW).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{gone}: {refused:?}");
        assert!(store.ready().await.is_err(), "{gone}");
    }
}

#[tokio::test]
async fn what_fails_in_the_middle_is_not_acknowledged() {
    #[rustfmt::skip]
    let failures = [
        ("SELECT RAISE(ABORT, 'no')",        "one statement fails"),
        ("SELECT RAISE(ROLLBACK, 'full')",   "the whole transaction is gone, as with a full disk"),
        ("INSERT INTO promised VALUES (-1)", "the commit fails"),
    ];
    for (failure, why) in failures {
        let place = OneFile::new();
        let store = place.open();
        let db = Connection::open(place.path()).unwrap();
        db.execute_batch(&format!(
            "CREATE TABLE promised (number REFERENCES asks DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER fails AFTER INSERT ON audit WHEN new.subject % 50 = 25
             BEGIN {failure}; END"
        ))
        .unwrap();
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
        store.record(entry("call.judged", "0"), vec![], NOW).await.unwrap();
        acknowledged.push("0".to_owned());
        acknowledged.sort();
        let mut written: Vec<String> =
            entries(&*store).await.into_iter().map(|record| record.subject).collect();
        written.sort();
        assert_eq!(written, acknowledged, "{why}");
        assert_eq!(chain_holds(&*store).await, written.len(), "{why}");
        assert!(written.len() <= 197, "{why}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_refused() {
    // A directory of this name takes the place of the log.
    let place = OneFile::new();
    fs::create_dir(place.path().with_file_name("portcullis.db-wal")).unwrap();
    assert!(matches!(refusal(&place), StoreError::Unavailable(_)));
}

/// What the tables were before the ends of chains stood in their last entries.
const BEFORE: [&str; 4] = [
    include_str!("../../migrations/sqlite/0001_asks.sql"),
    include_str!("../../migrations/sqlite/0002_devices.sql"),
    include_str!("../../migrations/sqlite/0003_runs.sql"),
    include_str!("../../migrations/sqlite/0004_audit_kind.sql"),
];

#[tokio::test]
async fn an_older_file_goes_on_where_it_stood() {
    let (from, place) = (OneFile::new(), OneFile::new());
    let (waiting, unused) = (ask(id(), "ls"), ask(id(), "pwd"));
    let store = from.open();
    for ask in [&waiting, &unused] {
        store.open_ask(ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
    }
    let approved = settlement(unused.id, Reply::Approve);
    store.settle_ask(&approved, entry("ask.settled", unused.id)).await.unwrap();
    store.close().await;
    let old = Connection::open(place.path()).unwrap();
    for migration in BEFORE {
        old.execute_batch(migration).unwrap();
    }
    old.execute("ATTACH ?1 AS new", [from.path().to_str()]).unwrap();
    old.execute_batch(
        "INSERT INTO asks SELECT * FROM new.asks; INSERT INTO ask_texts SELECT * FROM new.ask_texts;
         INSERT INTO audit SELECT * FROM new.audit; INSERT INTO chains SELECT * FROM new.heads;
         INSERT INTO pending SELECT key, 1 FROM asks WHERE state = 'pending';
         PRAGMA application_id = 0x70636c73; PRAGMA user_version = 4",
    )
    .unwrap();
    drop(old);

    let store = place.open();
    assert_eq!(store.pending_count().await.unwrap(), 1);
    let again = |ask: &Ask| Ask { id: id(), ..ask.clone() };
    let found = store.open_ask(&again(&waiting), MANY, entry("a", "b").into()).await.unwrap();
    assert!(matches!(found, Opened::Found(_)), "{found:?}");
    let claimed = store.open_ask(&again(&unused), MANY, entry("a", "b").into()).await.unwrap();
    assert!(matches!(claimed, Opened::Claimed(_)), "{claimed:?}");
    let another = ask(waiting.asker.key, "another");
    let full = store.open_ask(&another, 1, entry("a", "b").into()).await;
    assert!(matches!(full, Err(StoreError::TooManyAsks(1))), "{full:?}");
    store.record(entry("a", "b"), vec![], NOW).await.unwrap();
    assert!(chain_holds(&*store).await > 3);
}

#[tokio::test]
async fn where_chains_end_is_known_whoever_wrote_last() {
    let place = OneFile::new();
    let ends = |name: &'static str| {
        let place = place.open_as(name);
        async move {
            let head = place.head().await.unwrap();
            (head.seq, head.position)
        }
    };
    let (one, two) = (place.open_as("one"), place.open_as("two"));
    for (store, want) in [(&one, 1), (&one, 2), (&two, 1), (&one, 3), (&two, 2), (&two, 3)] {
        store.record(entry("a", want), vec![], NOW).await.unwrap();
        assert_eq!(store.head().await.unwrap().seq, want);
    }
    assert_eq!((ends("one").await, ends("two").await), ((3, 6), (3, 6)));
    // Whoever opens it next goes on, the one that wrote last and the other.
    for (name, want) in [("two", 4), ("one", 4), ("one", 5)] {
        let store = place.open_as(name);
        store.record(entry("a", want), vec![], NOW).await.unwrap();
        assert_eq!(store.head().await.unwrap().seq, want, "{name}");
    }
    chain_holds(&*place.open_as("one")).await;
    chain_holds(&*place.open_as("two")).await;
}

#[tokio::test]
async fn a_chain_whose_last_entry_went_goes_on() {
    let place = OneFile::new();
    let store = place.open();
    for number in 0..5 {
        store.record(entry("a", number), vec![], NOW).await.unwrap();
    }
    let head = store.head().await.unwrap();
    assert_ne!(head.hash, NOTHING);
    let signer = Signer::new(&[7; 32]);
    let checkpoint = Checkpoint::sign("here", head.seq, head.hash, NOW, &signer);
    store.add_checkpoint(&checkpoint).await.unwrap();
    let retention = Retention { days: 1, megabytes: 0 };
    let pruned = store.prune(&retention, later(3 * 24 * 60 * 60 * 1000)).await.unwrap();
    assert_eq!(pruned.entries, 5, "the last one too");
    store.close().await;
    let store = place.open();
    let found = store.head().await.unwrap();
    assert_eq!((found.seq, found.hash, found.position), (head.seq, head.hash, head.position));
    store.record(entry("a", "b"), vec![], NOW).await.unwrap();
    assert_eq!(store.head().await.unwrap().seq, 6);
    assert_eq!(chain_holds(&*store).await, 1);
}
