//! Who writes, seen by the thread that does.

use std::path::{Path, PathBuf};
use std::thread::ThreadId;

use rusqlite::TransactionBehavior;
use tempfile::TempDir;

use super::*;
use crate::sqlite::{chain, schema};

const THREAD: &str = "store-writer";

struct House {
    writer: Writer,
    directory: TempDir,
}

impl House {
    fn new() -> House {
        let directory = TempDir::new().unwrap();
        let house = House { writer: writer(&file(&directory)), directory };
        // However busy the machine is.
        house.expect(Duration::MAX);
        house
    }

    fn expect(&self, quick: Duration) {
        self.writer.pen.lock().unwrap().as_mut().unwrap().expect(quick);
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("store.db-wal")
    }

    /// Where a job is run, by the name of the thread.
    async fn place(&self) -> (Option<String>, ThreadId) {
        let job = |_: &mut Group<'_>| {
            let thread = std::thread::current();
            Ok((thread.name().map(str::to_owned), thread.id()))
        };
        self.writer.run_plain(job).await.unwrap()
    }

    /// Whether a job is run by the writer's thread.
    async fn by_thread(&self) -> bool {
        self.place().await.0.as_deref() == Some(THREAD)
    }

    /// Whether one of the next jobs is run where it stands, which takes a moment after a crowd.
    async fn soon_alone(&self) -> bool {
        for _ in 0..100_000 {
            if !self.by_thread().await {
                return true;
            }
        }
        false
    }
}

fn file(directory: &TempDir) -> PathBuf {
    directory.path().join("store.db")
}

fn writer(path: &Path) -> Writer {
    let mut db = schema::writer(path).unwrap();
    schema::migrate(&mut db).unwrap();
    let (ring, _) = watch::channel(chain::newest(&db).unwrap());
    Writer::start(db, Presence::of(path).unwrap(), "local".to_owned(), ring).unwrap()
}

fn touch(group: &mut Group<'_>) -> Result<(), StoreError> {
    group.touch()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_alone_writes_where_it_stands() {
    let house = Arc::new(House::new());
    let inner = Arc::clone(&house);
    // Of a task, since what blocks on the runtime is none of its threads.
    assert!(tokio::spawn(async move { inner.soon_alone().await }).await.unwrap());
}

#[tokio::test]
async fn where_nobody_could_take_the_place_of_a_thread_none_waits() {
    let house = House::new();
    for _ in 0..5 {
        assert!(house.by_thread().await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn for_a_slow_disk_the_thread_waits() {
    let house = House::new();
    house.expect(Duration::ZERO);
    for _ in 0..5 {
        assert!(house.by_thread().await);
    }
    house.expect(Duration::MAX);
    assert!(house.soon_alone().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_long_is_left_to_the_thread() {
    let house = House::new();
    assert!(house.soon_alone().await);
    for _ in 0..5 {
        let name = |_: &mut Group<'_>| Ok(std::thread::current().name().map(str::to_owned));
        assert_eq!(house.writer.run_long(name).await.unwrap().as_deref(), Some(THREAD));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_another_process_writes_the_thread_waits_for_it() {
    let house = Arc::new(House::new());
    assert!(house.soon_alone().await);
    let mut other = schema::writer(&file(&house.directory)).unwrap();
    let lock = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let mut job = Job { may_fail: true, run: Some(touch), result: None };
    assert!(house.writer.write_alone(&mut job).is_none(), "nobody waits where it stands");
    assert!(job.run.is_some(), "and nothing ran");
    let inner = Arc::clone(&house);
    let waiting = tokio::spawn(async move { inner.writer.run(touch).await });
    lock.commit().unwrap();
    waiting.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_alone_is_taken_back_and_disturbs_nobody() {
    let house = House::new();
    assert!(house.soon_alone().await);
    let count = "SELECT count(*) FROM chains WHERE node = 'half'";
    let half = |group: &mut Group<'_>| -> Result<(), StoreError> {
        let row = "INSERT INTO chains (node, seq, hash, position) VALUES ('half', 1, x'', 1)";
        group.db.execute(row, [])?;
        Err(broken("half done"))
    };
    house.writer.run(half).await.unwrap_err();
    house.writer.run_plain(half).await.unwrap_err();
    let found = move |group: &mut Group<'_>| -> Result<i64, StoreError> {
        Ok(group.db.query_row(count, [], |row| row.get(0))?)
    };
    assert_eq!(house.writer.run_plain(found).await.unwrap(), 0);
    house.writer.run(touch).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_panics_closes_the_store() {
    let house = Arc::new(House::new());
    assert!(house.soon_alone().await);
    let inner = Arc::clone(&house);
    let panics = |_: &mut Group<'_>| -> Result<(), StoreError> { panic!("on purpose") };
    let lost = tokio::spawn(async move { inner.writer.run(panics).await });
    assert!(!matches!(lost.await, Ok(Ok(()))));
    // Whoever comes alone and whoever waits in the queue: nothing is acknowledged any more.
    for _ in 0..3 {
        house.writer.run(touch).await.unwrap_err();
    }
    house.writer.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_share_and_then_one_writes_alone_again() {
    let house = Arc::new(House::new());
    let jobs = (0..200).map(|_| {
        let house = Arc::clone(&house);
        tokio::spawn(async move { house.writer.run(touch).await })
    });
    for job in jobs.collect::<Vec<_>>() {
        job.await.unwrap().unwrap();
    }
    assert!(house.soon_alone().await);
    house.writer.close().await;
    house.writer.run(touch).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_has_room_and_is_read_to_its_end() {
    let house = House::new();
    let keep = |n: i64| {
        move |group: &mut Group<'_>| -> Result<(), StoreError> {
            let row = "INSERT INTO chains (node, seq, hash, position) VALUES (?1, 1, x'', 0)";
            group.db.execute(row, [format!("node-{n}")])?;
            Ok(())
        }
    };
    house.writer.run(keep(1)).await.unwrap();
    house.writer.pen.lock().unwrap().as_mut().unwrap().make_room();
    let length = std::fs::metadata(house.log()).unwrap().len();
    assert!(length >= 4 << 20, "{length}");
    for n in 2..10 {
        house.writer.run(keep(n)).await.unwrap();
    }
    assert_eq!(std::fs::metadata(house.log()).unwrap().len(), length, "it need not grow");
    // As a crash leaves it: nothing is written back, and nobody has closed it.
    let crashed = TempDir::new().unwrap();
    for name in ["store.db", "store.db-wal"] {
        std::fs::copy(house.directory.path().join(name), crashed.path().join(name)).unwrap();
    }
    let db = schema::writer(&file(&crashed)).unwrap();
    let kept: i64 = db.query_row("SELECT count(*) FROM chains", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 9);
    let whole: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
}

#[test]
fn a_log_that_was_replaced_gets_no_room() {
    let house = House::new();
    let log = house.log();
    std::fs::remove_file(&log).unwrap();
    std::fs::write(&log, b"somebody else's").unwrap();
    house.writer.pen.lock().unwrap().as_mut().unwrap().make_room();
    assert_eq!(std::fs::read(&log).unwrap(), b"somebody else's");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_is_written_back_while_others_write_and_begins_anew() {
    let house = House::new();
    let fill = |n: i64, length: i64| {
        move |group: &mut Group<'_>| -> Result<(), StoreError> {
            let row =
                "INSERT INTO chains (node, seq, hash, position) VALUES (?1, 1, zeroblob(?2), 0)";
            group.db.execute(row, rusqlite::params![format!("node-{n}"), length])?;
            Ok(())
        }
    };
    // Two numbers in the head of the log differ each time it begins.
    let salt = || std::fs::read(house.log()).unwrap()[16..24].to_vec();
    house.writer.run(fill(0, 100)).await.unwrap();
    let before = salt();
    {
        let mut held = house.writer.pen.lock().unwrap();
        assert!(held.as_mut().unwrap().begins_at_once());
        log::write_back(&file(&house.directory)).unwrap();
    }
    house.writer.run(fill(1, 17 << 20)).await.unwrap();
    let began = Instant::now();
    let mut n = 2;
    while salt() == before {
        assert!(began.elapsed() < Duration::from_secs(20), "the log goes on");
        house.writer.run_long(fill(n, 100)).await.unwrap();
        n += 1;
    }
    let count = move |group: &mut Group<'_>| -> Result<i64, StoreError> {
        Ok(group.db.query_row("SELECT count(*) FROM chains", [], |row| row.get(0))?)
    };
    assert_eq!(house.writer.run_plain(count).await.unwrap(), n);
    house.writer.close().await;
    assert!(!house.log().exists(), "whoever closes last leaves no log");
}
