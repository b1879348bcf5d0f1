//! The store: durable writes beside a bare log, shared syncs, and opening after a kill.
//! `cargo bench --bench store`, or with `-- --quick` for a first look.
//!
//! One producer opens asks and settles them, one after the other, each with its audit entry; a
//! bare loop appends as many bytes to a file and syncs it. All take turns within one run.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_approval::Owners;
use portcullis_benches::clock::{of_process, quantile};
use portcullis_benches::fill::{ENTRIES, MANY, PENDING, ask, entry, id, prepare, settled};
use portcullis_benches::table::Table;
use portcullis_store::{AskFilter, Asks as _, Sqlite, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Where a child prepares a store and waits to be killed.
const PREPARE: &str = "PORTCULLIS_BENCH_PREPARE";

/// What a write of an ask comes to, for the bare log.
const BYTES: usize = 3000;

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    if let Ok(path) = std::env::var(PREPARE) {
        runtime.block_on(prepare(Path::new(&path), "bench"));
    }
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (rounds, turn) =
        if quick { (3, Duration::from_millis(300)) } else { (9, Duration::from_secs(1)) };
    let mut tables = vec![writes(&runtime, rounds, turn)];
    tables.push(opening(&runtime, if quick { 10 } else { 1 }));
    let holds = tables.iter().all(Table::holds);
    println!("\n{}", if holds { "every judged figure holds" } else { "some figures FAIL" });
    std::process::exit(i32::from(!holds));
}

/// Durable writes per second: a bare log, one producer, and many at once.
fn writes(runtime: &Runtime, rounds: usize, turn: Duration) -> Table {
    let directory = TempDir::new().expect("a directory");
    let mut log = File::create(directory.path().join("bare.log")).expect("a file");
    let store: Arc<dyn Store> =
        Arc::new(Sqlite::open(directory.path().join("store.db"), "bench").expect("a store"));
    let producers = [1, 32, 256];
    let mut bare = Vec::new();
    let mut rates = [const { Vec::new() }; 3];
    let mut costs = Vec::new();
    for _ in 0..rounds {
        bare.push(bare_log(&mut log, turn));
        for (count, rates) in producers.into_iter().zip(&mut rates) {
            let (began, used) = (Instant::now(), of_process());
            let writes = f64::from(runtime.block_on(produce(&store, count, turn)));
            rates.push(writes / began.elapsed().as_secs_f64());
            if count == 256 {
                costs.push(of_process().saturating_sub(used).as_secs_f64() * 1e6 / writes);
            }
        }
    }
    let ratio = |over: &[f64], under: &[f64]| {
        let ratios: Vec<f64> = over.iter().zip(under).map(|(over, under)| over / under).collect();
        quantile(&ratios, 0.5)
    };
    let mut table = Table::default();
    table.note("bare append and fdatasync", format!("{:.0}/s", quantile(&bare, 0.5)));
    for (count, rates) in producers.iter().zip(&rates) {
        table.note(&format!("{count} producers"), format!("{:.0}/s", quantile(rates, 0.5)));
    }
    table.note("CPU of a write among 256", format!("{:.1} µs", quantile(&costs, 0.5)));
    let [one, some, many] = &rates;
    let goals = [
        ("1 producer over the bare log", ratio(one, &bare), 0.7),
        ("32 producers over 1", ratio(some, one), 8.0),
        ("256 producers over 1", ratio(many, one), 15.0),
    ];
    for (what, found, goal) in goals {
        table.judge(what, format!("{found:.2} ×"), &format!("≥ {goal} ×"), found >= goal);
    }
    table.print("durable writes (asks opened and settled, each with its audit entry)");
    table
}

fn bare_log(log: &mut File, turn: Duration) -> f64 {
    let line = vec![b'x'; BYTES];
    let began = Instant::now();
    let mut count = 0_u32;
    while began.elapsed() < turn {
        log.write_all(&line).expect("written");
        log.sync_data().expect("synced");
        count += 1;
    }
    f64::from(count) / began.elapsed().as_secs_f64()
}

async fn produce(store: &Arc<dyn Store>, count: usize, turn: Duration) -> u32 {
    let began = Instant::now();
    let mut producers = tokio::task::JoinSet::new();
    for number in 0..count {
        let store = Arc::clone(store);
        let key = id(&mut u64::try_from(number).unwrap_or(0));
        producers.spawn(async move {
            let mut writes = 0_u32;
            while began.elapsed() < turn {
                let ask = ask(key);
                store.open_ask(&ask, MANY, entry("ask.opened", &ask).into()).await.expect("opened");
                store
                    .settle_ask(&settled(&ask), entry("ask.settled", &ask))
                    .await
                    .expect("settled");
                writes += 2;
            }
            writes
        });
    }
    producers.join_all().await.into_iter().sum()
}

/// Opening a store whose process was killed, until it has answered and written something.
fn opening(runtime: &Runtime, share: usize) -> Table {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("store.db");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .env(PREPARE, &path)
        .env("PORTCULLIS_BENCH_SHARE", share.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let ready = lines.next();
    assert!(matches!(ready, Some(Ok(_))), "the store is prepared");
    child.kill().expect("killed");
    child.wait().expect("dead");

    let log = path.with_file_name("store.db-wal").metadata().map_or(0, |file| file.len());
    let began = Instant::now();
    let store = Sqlite::open(&path, "bench").expect("it opens again");
    let opened = began.elapsed();
    runtime.block_on(async {
        let pending = store.asks(&AskFilter::pending(Owners::All, 100)).await.expect("asks");
        assert_eq!(pending.len(), 100);
        store.next_deadline().await.expect("a deadline");
        store.ready().await.expect("ready");
    });
    let all = began.elapsed();
    let count = runtime.block_on(store.pending_count()).expect("a count");
    assert!(count >= u64::try_from(PENDING / share).unwrap_or(0));

    let mut table = Table::default();
    let size = path.metadata().map_or(0, |file| file.len());
    table.note("size of the store", format!("{} MB", size / 1_000_000));
    table.note("size of the log that was left", format!("{} kB", log / 1000));
    table.note("opened", format!("{:.1} ms", opened.as_secs_f64() * 1e3));
    let found = format!("{:.1} ms", all.as_secs_f64() * 1e3);
    table.inform("read and written", found, "≤ 500 ms", all <= Duration::from_millis(500));
    let heading = format!(
        "opening after a kill, with {} audit entries and {} pending asks",
        ENTRIES / share,
        PENDING / share
    );
    table.print(&heading);
    table
}
