//! The daemon: throughput and latency beside a bare route, durable asks, wake-ups, pending asks and
//! idle connections held, and the start after a kill. `cargo xtask bench daemon`, or with
//! `-- --quick` for a first look, or with the names of some parts.
//!
//! The daemon is the real binary in a process of its own, the load comes from this process, and
//! all peers take turns within one run.

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use portcullis_benches::clock::quantile;
use portcullis_benches::fill::{ENTRIES, PENDING, prepare};
use portcullis_benches::load::{Connection, load};
use portcullis_benches::served::{BARE, Served, portcullis, serve_bare};
use portcullis_benches::table::Table;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// Where a child prepares a store and waits to be killed.
const PREPARE: &str = "PORTCULLIS_BENCH_PREPARE";

/// So many connections ask at once where throughput is measured: as many calls share a sync.
const MANY_AT_ONCE: usize = 256;

/// A page of memory more or less is nobody's.
const KIB: f64 = 1024.0;

struct Bench {
    runtime: Runtime,
    quick: bool,
}

/// One part of the benchmark.
type Part = fn(&Bench) -> Table;

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    if std::env::var_os(BARE).is_some() {
        return runtime.block_on(serve_bare());
    }
    if let Ok(path) = std::env::var(PREPARE) {
        runtime.block_on(prepare(Path::new(&path), "local"));
    }
    more_descriptors();
    let quick = std::env::args().any(|argument| argument == "--quick");
    let bench = Bench { runtime, quick };
    let parts: [(&str, Part); 6] = [
        ("classify", Bench::classify),
        ("asks", Bench::asks),
        ("wake-up", Bench::wake_up),
        ("pending", Bench::pending),
        ("idle", Bench::idle),
        ("start", Bench::start),
    ];
    let named: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| named.is_empty() || named.iter().any(|wanted| wanted == name);
    let wanted = parts.iter().filter(|(name, _)| is_wanted(name));
    let tables: Vec<Table> = wanted.map(|(_, part)| part(&bench)).collect();
    let holds = tables.iter().all(Table::holds);
    println!("\n{}", if holds { "every judged figure holds" } else { "some figures FAIL" });
    std::process::exit(i32::from(!holds));
}

/// As many descriptors as this process may have.
fn more_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

/// A daemon in a directory of its own that limits nobody, and a key of each role.
struct House {
    daemon: Option<Served>,
    address: SocketAddr,
    agent: String,
    approver: String,
    directory: TempDir,
}

impl House {
    fn new() -> House {
        let directory = TempDir::new().expect("a directory");
        let config = directory.path().join("config/portcullis");
        std::fs::create_dir_all(&config).expect("made");
        let limits =
            "[limits]\npending_asks_per_agent = 1000000\nasks_per_minute_per_agent = 100000000\n";
        std::fs::write(config.join("config.toml"), limits).expect("written");
        let key = |role: &str| {
            let mut command = portcullis(directory.path());
            command.args(["keys", "create", "--role", role, "--name", role]);
            let made =
                command.stderr(Stdio::inherit()).output().expect("`cargo build --release` first");
            String::from_utf8(made.stdout).expect("a key").trim_end().to_owned()
        };
        let (agent, approver) = (key("agent"), key("approver"));
        let daemon = Served::daemon(directory.path());
        let address = daemon.address;
        House { daemon: Some(daemon), address, agent, approver, directory }
    }

    fn resident(&self) -> f64 {
        let bytes = self.daemon.as_ref().map_or(0, Served::resident);
        #[expect(clippy::cast_precision_loss, reason = "megabytes")]
        let bytes = bytes as f64;
        bytes
    }
}

/// How long one append and one sync take, in milliseconds.
fn bare_syncs(directory: &Path, turn: Duration) -> Vec<f64> {
    let mut log = File::create(directory.join("bare.log")).expect("a file");
    let line = [b'x'; 3000];
    let began = Instant::now();
    let mut took = Vec::new();
    while began.elapsed() < turn {
        let began = Instant::now();
        log.write_all(&line).expect("written");
        log.sync_data().expect("synced");
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    took
}

fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

fn ratios(over: &[f64], under: &[f64]) -> f64 {
    let ratios: Vec<f64> = over.iter().zip(under).map(|(over, under)| over / under).collect();
    median(&ratios)
}

impl Bench {
    fn rounds(&self) -> usize {
        if self.quick { 3 } else { 9 }
    }

    fn turn(&self) -> Duration {
        if self.quick { Duration::from_millis(500) } else { Duration::from_secs(2) }
    }

    /// Safe calls through Agentbot's door, beside the bare route.
    fn classify(&self) -> Table {
        let (house, bare) = (House::new(), Served::bare());
        let body = r#"{"toolName":"bash","toolInput":{"command":"git log --oneline -20 -- src/main.rs"},"agentId":"agent-1","userId":"user-1"}"#;
        let request = || ("POST", "/api/hooks/classify", body.to_owned());
        let run = |address, connections, pace| {
            self.runtime.block_on(load(address, "bench", connections, self.turn(), pace, request()))
        };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let (mut our_p99, mut allowed, mut their_p99) = (Vec::new(), Vec::new(), Vec::new());
        run(house.address, MANY_AT_ONCE, None);
        let daemon = house.daemon.as_ref().expect("it serves");
        let (mut our_cpu, mut their_cpu) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds() {
            let cpu = |served: &Served, rates: &mut Vec<f64>, costs: &mut Vec<f64>| {
                let before = served.cpu();
                let went = run(served.address, MANY_AT_ONCE, None);
                rates.push(went.rate);
                #[expect(clippy::cast_precision_loss, reason = "a few hundred thousand")]
                costs.push((served.cpu() - before) * 1e6 / went.took.len() as f64);
            };
            cpu(&bare, &mut theirs, &mut their_cpu);
            cpu(daemon, &mut ours, &mut our_cpu);
            // Equal load, well below what either can take.
            let pace = Some(50.0);
            let their = quantile(&run(bare.address, 8, pace).took, 0.99);
            let sync = bare_syncs(house.directory.path(), self.turn() / 4);
            our_p99.push(quantile(&run(house.address, 8, pace).took, 0.99));
            their_p99.push(their);
            allowed.push(3.0 * their + 2.0 * quantile(&sync, 0.99));
        }
        let mut table = Table::default();
        let told = |rates: &[f64], costs: &[f64]| {
            format!("{:.0}/s, {:.0} µs of CPU each", median(rates), median(costs))
        };
        table.note("bare route", told(&theirs, &their_cpu));
        table.note("classify", told(&ours, &our_cpu));
        // The client takes its share of the same cores: what is left of the ratio without it.
        let alone = format!("{:.2} ×", ratios(&their_cpu, &our_cpu));
        table.note("CPU of the bare route over that of classify", alone);
        let ratio = ratios(&ours, &theirs);
        table.judge(
            "classify over the bare route",
            format!("{ratio:.2} ×"),
            "≥ 0.6 ×",
            ratio >= 0.6,
        );
        table.note("p99 of the bare route at 400/s", format!("{:.2} ms", median(&their_p99)));
        let (p99, most) = (median(&our_p99), median(&allowed));
        let goal = format!("≤ {most:.2} ms (3 × bare + 2 syncs)");
        table.judge("p99 of classify at 400/s", format!("{p99:.2} ms"), &goal, p99 <= most);
        table.print("safe calls, the verdict durable before the answer");
        table
    }

    /// Asks opened and settled over the wire.
    fn asks(&self) -> Table {
        let house = House::new();
        let producers = [1, 32, 256];
        let (mut bare, mut rates) = (Vec::new(), [const { Vec::new() }; 3]);
        let mut costs = [const { Vec::new() }; 3];
        let cpu = || house.daemon.as_ref().map_or(0.0, Served::cpu);
        for _ in 0..self.rounds() {
            let syncs = bare_syncs(house.directory.path(), self.turn() / 2);
            bare.push(
                1e3 / (syncs.iter().sum::<f64>()
                    / f64::from(u32::try_from(syncs.len()).unwrap_or(1))),
            );
            for ((count, rates), costs) in producers.into_iter().zip(&mut rates).zip(&mut costs) {
                let before = cpu();
                let (rate, writes) = self.runtime.block_on(produce(&house, count, self.turn()));
                rates.push(rate);
                costs.push((cpu() - before) * 1e6 / writes);
            }
        }
        let mut table = Table::default();
        table.note("bare append and fdatasync", format!("{:.0}/s", median(&bare)));
        // An opening and its answer are two promises, each waited for: both are counted, as the
        // bare log counts each of its lines. A whole ask is therefore two of them.
        for ((count, rates), costs) in producers.iter().zip(&rates).zip(&costs) {
            let (rate, cost) = (median(rates), median(costs));
            let told = format!("{rate:.0} durable writes/s, {cost:.0} µs of CPU each");
            table.note(&format!("{count} at once"), told);
            table.note(&format!("{count} at once, whole asks"), format!("{:.0}/s", rate / 2.0));
        }
        let [one, some, many] = &rates;
        let whole = format!("{:.2} ×", ratios(one, &bare) / 2.0);
        table.note("1 over the bare log, whole asks (two syncs each)", whole);
        let goals = [
            ("1 over the bare log, write by write", ratios(one, &bare), 0.7),
            ("32 over 1", ratios(some, one), 8.0),
            ("256 over 1", ratios(many, one), 15.0),
        ];
        for (what, found, goal) in goals {
            table.judge(what, format!("{found:.2} ×"), &format!("≥ {goal} ×"), found >= goal);
        }
        table.print("asks opened and settled over HTTP, each write durable");
        table
    }

    /// From the approver's answer to the agent that waits.
    fn wake_up(&self) -> Table {
        let house = House::new();
        let count = if self.quick { 60 } else { 300 };
        let (took, syncs) = self.runtime.block_on(async {
            let mut agent = Connection::open(house.address, &house.agent).await;
            let mut approver = Connection::open(house.address, &house.approver).await;
            let (mut took, mut syncs) = (Vec::new(), Vec::new());
            for number in 0..count {
                let ask = ask(&mut agent, "w", number).await;
                let path = format!("/v1/asks/{ask}?wait_ms=10000");
                let waiting = async {
                    agent.say("GET", &path, "").await;
                    Instant::now()
                };
                let answering = async {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    let began = Instant::now();
                    let path = format!("/v1/asks/{ask}/decision");
                    approver.say("POST", &path, r#"{"answer":"reject"}"#).await;
                    began
                };
                let (woken, began) = tokio::join!(waiting, answering);
                took.push(woken.duration_since(began).as_secs_f64() * 1e3);
                syncs.extend(bare_syncs(house.directory.path(), Duration::from_millis(2)));
            }
            (took, syncs)
        });
        let mut table = Table::default();
        let sync = quantile(&syncs, 0.99);
        table.note(
            "one bare sync, median and p99",
            format!("{:.2} and {sync:.2} ms", median(&syncs)),
        );
        table.note("median", format!("{:.2} ms", median(&took)));
        let (p99, most) = (quantile(&took, 0.99), 2.0 * sync + 2.0);
        let goal = format!("≤ {most:.2} ms (2 syncs + 2 ms)");
        table.judge("p99", format!("{p99:.2} ms"), &goal, p99 <= most);
        table.print("from an answer to whoever waits for it");
        table
    }

    /// Pending asks held.
    fn pending(&self) -> Table {
        let house = House::new();
        let count: u32 = if self.quick { 10_000 } else { 100_000 };
        let calls = || {
            let body = r#"{"tool":"Bash","input":{"command":"git status"},"cwd":"/home/ada"}"#;
            let request = ("POST", "/v1/calls", body.to_owned());
            let went = load(house.address, &house.agent, 4, self.turn(), Some(100.0), request);
            median(&self.runtime.block_on(went).took)
        };
        calls();
        let before = calls();
        let resident = house.resident();
        self.runtime.block_on(async {
            let mut agents = tokio::task::JoinSet::new();
            for agent in 0..64 {
                let (address, key) = (house.address, house.agent.clone());
                agents.spawn(async move {
                    let mut connection = Connection::open(address, &key).await;
                    for number in 0..count / 64 {
                        ask(&mut connection, &format!("p{agent}"), number).await;
                    }
                });
            }
            agents.join_all().await;
        });
        let each = (house.resident() - resident) / f64::from(count);
        let after = calls();
        let mut table = Table::default();
        table.note("before them", format!("{:.1} MiB resident", resident / KIB / KIB));
        let held = format!("{:.2} KiB", each / KIB);
        table.judge(&format!("memory of each of {count}"), held, "≤ 2 KiB", each <= 2.0 * KIB);
        let ratio = after / before;
        let found = format!("{ratio:.2} × ({before:.2} → {after:.2} ms)");
        table.judge("median latency of other calls", found, "≤ 1.5 ×", ratio <= 1.5);
        table.print("pending asks held");
        table
    }

    /// Idle approvers on WebSocket connections, and how soon the last of a thousand hears.
    fn idle(&self) -> Table {
        let house = House::new();
        let count: u32 = if self.quick { 2_000 } else { 10_000 };
        let (each, ours, raw) = self.runtime.block_on(async {
            let one = socket(house.address, &house.approver).await;
            let before = house.resident();
            let mut sockets = vec![one];
            for _ in 1..count {
                sockets.push(socket(house.address, &house.approver).await);
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            let each = (house.resident() - before) / f64::from(count - 1);
            sockets.truncate(1000);
            tokio::time::sleep(Duration::from_secs(1)).await;
            let rounds = if self.quick { 10 } else { 40 };
            let (mut ours, mut raw) = (Vec::new(), Vec::new());
            let mut agent = Connection::open(house.address, &house.agent).await;
            let (mut fan, mut ends, size) = raw_fan(1000, 1500).await;
            for number in 0..rounds {
                let hearing = hear(&mut sockets);
                let began = Instant::now();
                let (last, ()) = tokio::join!(hearing, async {
                    ask(&mut agent, "f", number).await;
                });
                ours.push(last.duration_since(began).as_secs_f64() * 1e3);
                let began = Instant::now();
                let heard = async {
                    for end in &mut ends {
                        let mut bytes = vec![0; size];
                        end.read_exact(&mut bytes).await.expect("heard");
                    }
                    Instant::now()
                };
                let (last, ()) = tokio::join!(heard, async {
                    let bytes = vec![b'x'; size];
                    for way in &mut fan {
                        way.write_all(&bytes).await.expect("said");
                    }
                });
                raw.push(last.duration_since(began).as_secs_f64() * 1e3);
            }
            (each, ours, raw)
        });
        let mut table = Table::default();
        let held = format!("{:.2} KiB", each / KIB);
        table.judge(&format!("memory of each of {count}"), held, "≤ 6 KiB", each <= 6.0 * KIB);
        table.note("bare sockets, the last of 1,000", format!("{:.2} ms", median(&raw)));
        table.note("an ask, the last of 1,000", format!("{:.2} ms", median(&ours)));
        let ratio = ratios(&ours, &raw);
        table.judge("over the bare sockets", format!("{ratio:.2} ×"), "≤ 2 ×", ratio <= 2.0);
        table.print("idle approvers on WebSockets");
        table
    }

    /// The start after a kill.
    fn start(&self) -> Table {
        let mut house = House::new();
        drop(house.daemon.take());
        let share = if self.quick { 10 } else { 1 };
        let path = house.directory.path().join("data/portcullis/portcullis.db");
        let mut child = std::process::Command::new(std::env::current_exe().expect("this program"))
            .env(PREPARE, &path)
            .env("PORTCULLIS_BENCH_SHARE", share.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(
            child.stdout.take().expect("its output"),
        ));
        assert!(matches!(lines.next(), Some(Ok(_))), "the store is prepared");
        child.kill().expect("killed");
        child.wait().expect("dead");
        let mut took = Vec::new();
        for _ in 0..3 {
            let began = Instant::now();
            let daemon = Served::daemon(house.directory.path());
            self.runtime.block_on(async {
                Connection::open(daemon.address, &house.agent)
                    .await
                    .say("GET", "/readyz", "")
                    .await;
            });
            took.push(began.elapsed().as_secs_f64() * 1e3);
            daemon.kill();
        }
        let mut table = Table::default();
        let first = took.first().copied().unwrap_or_default();
        table.inform("ready, the first time", format!("{first:.0} ms"), "≤ 500 ms", first <= 500.0);
        table.note("killed and started again", format!("{:.0} ms", median(&took)));
        let heading = format!(
            "start after a kill, with {} audit entries and {} pending asks",
            ENTRIES / share,
            PENDING / share
        );
        table.print(&heading);
        table
    }
}

/// Opens an ask that no other call finds; its id.
async fn ask(connection: &mut Connection, name: &str, number: u32) -> String {
    let body = format!(
        r#"{{"tool":"Bash","input":{{"command":"npm publish --tag {name}-{number}"}},"cwd":"/home/ada/src"}}"#
    );
    let answer = connection.say("POST", "/v1/calls", &body).await;
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    answer["ask"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Asks opened and settled: durable writes a second, and how many there were.
async fn produce(house: &House, count: usize, turn: Duration) -> (f64, f64) {
    static ROUND: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let round = ROUND.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    // Connected first: five hundred new connections are not what is measured.
    let mut connections = Vec::with_capacity(count);
    for _ in 0..count {
        let agent = Connection::open(house.address, &house.agent).await;
        connections.push((agent, Connection::open(house.address, &house.approver).await));
    }
    let began = Instant::now();
    let mut producers = tokio::task::JoinSet::new();
    for (producer, (mut agent, mut approver)) in connections.into_iter().enumerate() {
        producers.spawn(async move {
            let mut writes = 0_u32;
            while began.elapsed() < turn {
                let ask = ask(&mut agent, &format!("{round}-{producer}"), writes).await;
                let path = format!("/v1/asks/{ask}/decision");
                approver.say("POST", &path, r#"{"answer":"reject"}"#).await;
                writes += 2;
            }
            writes
        });
    }
    let writes: u32 = producers.join_all().await.into_iter().sum();
    (f64::from(writes) / began.elapsed().as_secs_f64(), f64::from(writes))
}

/// A WebSocket to the feed, its greeting read.
async fn socket(address: SocketAddr, key: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = format!(
        "GET /v1/ws HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("said");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).await.expect("an answer");
        answer.extend(byte);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&answer));
    stream
}

/// Reads one text frame of each; when the last came.
async fn hear(sockets: &mut [TcpStream]) -> Instant {
    for socket in sockets {
        loop {
            let mut head = [0; 2];
            socket.read_exact(&mut head).await.expect("a frame");
            let length = match head[1] {
                126 => u64::from(socket.read_u16().await.expect("a length")),
                127 => socket.read_u64().await.expect("a length"),
                short => u64::from(short),
            };
            let mut bytes = vec![0; usize::try_from(length).expect("small")];
            socket.read_exact(&mut bytes).await.expect("a frame");
            if head[0] & 0xf == 1 {
                break;
            }
        }
    }
    Instant::now()
}

/// So many connected pairs, and how much is said on each.
async fn raw_fan(count: usize, size: usize) -> (Vec<TcpStream>, Vec<TcpStream>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    let (mut fan, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (end, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        ends.push(end.expect("connected"));
        fan.push(accepted.expect("accepted").0);
    }
    (fan, ends, size)
}
