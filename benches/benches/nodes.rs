//! Several nodes on one PostgreSQL: how soon a waiter on another node wakes, durable asks beside a
//! connection for each request, and whether a second daemon costs the first anything.
//! `cargo xtask bench nodes`, or with `-- --quick` for a first look.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_benches::clock::quantile;
use portcullis_benches::fill::{MANY, ask, entry, id, settled};
use portcullis_benches::load::load;
use portcullis_benches::served::Served;
use portcullis_benches::table::Table;
use portcullis_benches::unshared;
use portcullis_database::Database;
use portcullis_store::{AuditFilter, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// How many ask at once.
const AT_ONCE: usize = 64;

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let quick = std::env::args().any(|argument| argument == "--quick");
    let (rounds, turn) =
        if quick { (3, Duration::from_secs(1)) } else { (7, Duration::from_secs(3)) };
    let database = Database::start(&[]).expect("PostgreSQL");
    let tables = [
        wake_up(&runtime, &database, if quick { 200 } else { 2000 }),
        asks(&runtime, &database, rounds, turn),
        calls(&runtime, &database, rounds, turn),
    ];
    let holds = tables.iter().all(Table::holds);
    println!("\n{}", if holds { "every judged figure holds" } else { "some figures FAIL" });
    std::process::exit(i32::from(!holds));
}

fn open(runtime: &Runtime, address: &str) -> Arc<dyn Store> {
    runtime.block_on(portcullis_store::open(address, "local")).expect("a store")
}

/// From the commit on one node to the row read on another, by the way the daemon goes.
fn wake_up(runtime: &Runtime, database: &Database, times: usize) -> Table {
    database.sql("CREATE SCHEMA wake").expect("a schema");
    let address = database.address_of("wake");
    let (a, b) = (open(runtime, &address), open(runtime, &address));
    let mut number = 0;
    let key = id(&mut number);
    let took: Vec<f64> = runtime.block_on(async {
        let mut took = Vec::new();
        for _ in 0..times {
            let ask = ask(key);
            a.open_ask(&ask, MANY, entry("ask.opened", &ask).into()).await.expect("opened");
            let mut last = a.head().await.expect("a head").position;
            let mut bell = a.bell();
            let (waiter, id) = (Arc::clone(&a), ask.id);
            let waiting = tokio::spawn(async move {
                loop {
                    let read = waiter.audit(&AuditFilter::after(last, 100)).await.expect("read");
                    last = read.last().map_or(last, |entry| entry.position);
                    if !read.is_empty() {
                        let record = waiter.ask(id).await.expect("read").expect("there");
                        if record.decision.is_some() {
                            return Instant::now();
                        }
                    }
                    bell.changed().await.expect("a bell");
                }
            });
            b.settle_ask(&settled(&ask), entry("ask.settled", &ask)).await.expect("settled");
            let committed = Instant::now();
            let woke = waiting.await.expect("woken");
            took.push(woke.saturating_duration_since(committed).as_secs_f64() * 1e3);
        }
        took
    });
    let (half, most) = (quantile(&took, 0.5), quantile(&took, 0.99));
    let mut table = Table::default();
    table.judge("p50", format!("{half:.2} ms"), "≤ 1.5 ms", half <= 1.5);
    table.judge("p99", format!("{most:.2} ms"), "≤ 6 ms", most <= 6.0);
    table.print("decided on node B, the waiter on node A has read it, after the commit");
    table
}

/// Asks opened and settled per second, beside the same with a connection for each request.
fn asks(runtime: &Runtime, database: &Database, rounds: usize, turn: Duration) -> Table {
    database.sql("CREATE SCHEMA asks_bench").expect("a schema");
    let address = database.address_of("asks_bench");
    let store = open(runtime, &address);
    let (mut ours, mut unshared, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let own = Arc::clone(&store);
        let with = runtime.block_on(rate(turn, move || {
            let store = Arc::clone(&own);
            async move {
                let mut number = 0;
                let ask = ask(id(&mut number));
                store.open_ask(&ask, MANY, entry("ask.opened", &ask).into()).await.expect("opened");
                let settled = settled(&ask);
                store.settle_ask(&settled, entry("ask.settled", &ask)).await.expect("settled");
            }
        }));
        let own = address.clone();
        let without = runtime.block_on(rate(turn, move || {
            let address = own.clone();
            async move { unshared::open_and_settle(&address).await }
        }));
        ours.push(with);
        unshared.push(without);
        ratios.push(with / without);
    }
    let ratio = quantile(&ratios, 0.5);
    let mut table = Table::default();
    table.note("shared turns", format!("{:.0}/s", quantile(&ours, 0.5)));
    table.note("a connection for each request", format!("{:.0}/s", quantile(&unshared, 0.5)));
    table.judge("the one over the other", format!("{ratio:.1} ×"), "≥ 2 ×", ratio >= 2.0);
    table.print("durable asks opened and settled per second, 64 at once");
    table
}

/// How often per second something is done by many at once.
async fn rate<F, W>(turn: Duration, work: W) -> f64
where
    W: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send,
{
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let work = work.clone();
        workers.spawn(async move {
            let mut count = 0_u32;
            while began.elapsed() < turn {
                work().await;
                count += 1;
            }
            count
        });
    }
    let count: u32 = workers.join_all().await.into_iter().sum();
    f64::from(count) / began.elapsed().as_secs_f64()
}

/// Judged calls per second with one daemon and with two, each with a share of the same load.
fn calls(runtime: &Runtime, database: &Database, rounds: usize, turn: Duration) -> Table {
    database.sql("CREATE SCHEMA calls_bench").expect("a schema");
    let address = database.address_of("calls_bench");
    let directories = [TempDir::new().expect("a directory"), TempDir::new().expect("a directory")];
    let nodes: Vec<Served> =
        directories.iter().map(|directory| Served::node(directory.path(), &address)).collect();
    let addresses: Vec<SocketAddr> = nodes.iter().map(|node| node.address).collect();
    let (mut one, mut two, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let [first, second] = [1, 2].map(|count| {
            let share = AT_ONCE / count;
            let body = r#"{"tool":"Bash","input":{"command":"git status"}}"#;
            let request = ("POST", "/v1/calls", body.to_owned());
            runtime.block_on(async {
                let mut loads = JoinSet::new();
                for address in addresses.iter().take(count).copied() {
                    let request = request.clone();
                    loads.spawn(
                        async move { load(address, "bench", share, turn, None, request).await },
                    );
                }
                loads.join_all().await.iter().map(|went| went.rate).sum::<f64>()
            })
        });
        one.push(first);
        two.push(second);
        ratios.push(second / first);
    }
    let ratio = quantile(&ratios, 0.5);
    let mut table = Table::default();
    table.note("one daemon", format!("{:.0}/s", quantile(&one, 0.5)));
    table.note("two daemons", format!("{:.0}/s", quantile(&two, 0.5)));
    table.judge("two over one", format!("{ratio:.2} ×"), "≥ 0.8 ×", ratio >= 0.8);
    table.print("judged calls per second, the load and everything else on the same cores");
    table
}
