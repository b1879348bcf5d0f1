//! What holds for a store in a file beside what holds for all.

use std::fs;
use std::sync::Arc;

use portcullis_store::{Sqlite, StoreError};
use rusqlite::Connection;
use tokio::task::JoinSet;

use crate::place::{OneFile, Place};
use crate::samples::{NOW, chain_holds, entries, entry};

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
    assert!(matches!(refused, StoreError::Newer { found: 99, known: 4 }), "{refused:?}");
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
