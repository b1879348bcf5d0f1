//! Reading and folding: time beside other parsers, growth, allocations, the time of hostile
//! texts. `cargo bench`, or `cargo bench -- --quick` for a first look.

use std::time::Duration;

use portcullis_benches::allocation::{self, Counting};
use portcullis_benches::clock::{calls_per_batch, per_call, quantile};
use portcullis_benches::peer::{Brush, Ours, Peer, TreeSitter};
use portcullis_benches::shapes::{self, Shape};
use portcullis_benches::{corpus, table::Table};
use portcullis_shell::{Dialect, Limits, Reader};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often everything is measured.
#[derive(Clone, Copy)]
struct Effort {
    rounds: u32,
    batch: Duration,
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let effort = if quick {
        Effort { rounds: 5, batch: Duration::from_micros(20) }
    } else {
        Effort { rounds: 25, batch: Duration::from_micros(50) }
    };
    keep_memory();
    let commands = corpus::typical();
    let tables = [speed(&commands, effort), growth(effort), hostile(effort)];
    let holds = tables.iter().all(Table::holds);
    println!("\n{}", if holds { "every judged figure holds" } else { "some figures FAIL" });
    std::process::exit(i32::from(!holds));
}

/// Lets the allocator keep what was freed, as it does in a program that has run for a while.
///
/// At first it gets every large block from the kernel and gives it back, and the kernel's time for
/// empty pages would drown the reader's. Freeing one such block teaches it otherwise.
fn keep_memory() {
    drop(std::hint::black_box(vec![1_u8; 30 * 1024 * 1024]));
}

/// Typical commands, all peers taking turns.
fn speed(commands: &[String], effort: Effort) -> Table {
    let mut peers: [Box<dyn Peer>; 3] =
        [Box::<Ours>::default(), Box::<TreeSitter>::default(), Box::<Brush>::default()];
    // Nanoseconds per command: the least over all rounds, for each peer.
    let mut times = [const { Vec::new() }; 3];
    let mut calls = [const { Vec::new() }; 3];
    let mut read = [0; 3];
    for (peer, (calls, read)) in peers.iter_mut().zip(calls.iter_mut().zip(&mut read)) {
        for command in commands {
            *read += usize::from(peer.read(command));
            calls.push(calls_per_batch(effort.batch, || peer.read(command)));
        }
    }
    for times in &mut times {
        times.resize(commands.len(), f64::INFINITY);
    }
    for _ in 0..effort.rounds {
        for (at, command) in commands.iter().enumerate() {
            for (peer, (times, calls)) in peers.iter_mut().zip(times.iter_mut().zip(&calls)) {
                times[at] = times[at].min(per_call(calls[at], || peer.read(command)));
            }
        }
    }

    let mut table = Table::default();
    let names = peers.each_ref().map(|peer| peer.name());
    let medians = times.each_ref().map(|times| quantile(times, 0.5) / 1e3);
    let p99s = times.each_ref().map(|times| quantile(times, 0.99) / 1e3);
    let microseconds = |time: f64| format!("{time:.2} µs");
    table.inform("median", microseconds(medians[0]), "≤ 1 µs", medians[0] <= 1.0);
    table.inform("99 of 100 under", microseconds(p99s[0]), "≤ 4 µs", p99s[0] <= 4.0);
    let bytes: usize = commands.iter().map(String::len).sum();
    #[expect(clippy::cast_precision_loss, reason = "a few kilobytes")]
    let throughput = bytes as f64 * 1e3 / times[0].iter().sum::<f64>();
    table.inform("throughput", format!("{throughput:.0} MB/s"), "≥ 40 MB/s", throughput >= 40.0);
    for (peer, goal) in [(1, 4.0), (2, 2.0)] {
        let what = format!("{}: median, 99 of 100", names[peer]);
        table.note(&what, format!("{:.2}, {:.2} µs", medians[peer], p99s[peer]));
        let ratio = medians[peer] / medians[0];
        let what = format!("faster than {}", names[peer]);
        table.judge(&what, format!("{ratio:.1} ×"), &format!("≥ {goal} ×"), ratio >= goal);
    }
    for (name, read) in names.iter().zip(read) {
        table.note(&format!("{name}: read"), format!("{read} of {}", commands.len()));
    }
    allocations(commands, &mut table);
    let heading = format!(
        "typical commands: {} of 50 to 200 bytes; CPU time of the thread, least of {} batches of \
         {} µs each, peers in turn; ours with all words folded, the others without",
        commands.len(),
        effort.rounds,
        effort.batch.as_micros(),
    );
    table.print(&heading);
    table
}

fn allocations(commands: &[String], table: &mut Table) {
    let reader = Reader::new(Dialect::Bash);
    let counts: Vec<f64> = commands
        .iter()
        .map(|command| allocation::count(|| reader.parse(command.as_bytes())))
        .map(|count| f64::from(u32::try_from(count).unwrap_or(u32::MAX)))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a few hundred commands")]
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let median = quantile(&counts, 0.5);
    table.judge("allocations, median", format!("{median}"), "≤ 12", median <= 12.0);
    table.judge("allocations, mean", format!("{mean:.1}"), "≤ 12", mean <= 12.0);
    let most = format!("{}, {}", quantile(&counts, 0.99), quantile(&counts, 1.0));
    table.note("allocations, 99 of 100 under, most", most);
}

/// Ten times the text, how many times the time.
fn growth(effort: Effort) -> Table {
    const ITEMS: usize = 400;
    const MOST: f64 = 11.0;
    let reader = long_reader();
    let mut ratios: Vec<(f64, String)> = Vec::new();
    for (small, large) in grown(ITEMS).iter().zip(&grown(10 * ITEMS)) {
        // The two take turns in short batches, so that both meet a quiet moment.
        let batch = Duration::from_micros(200);
        let calls = calls_per_batch(batch, || reader.parse(&small.text).is_ok());
        let (mut once, mut ten) = (f64::INFINITY, f64::INFINITY);
        #[expect(clippy::cast_precision_loss, reason = "a few megabytes at most")]
        let longer = large.text.len() as f64 / small.text.len() as f64;
        let mut ratio = f64::INFINITY;
        // On a busy machine the longer text waits longer for its quiet moment.
        for round in 0..effort.rounds * 40 {
            if round >= effort.rounds * 4 && ratio <= MOST {
                break;
            }
            once = once.min(per_call(calls, || reader.parse(&small.text).is_ok()));
            ten = ten.min(per_call(1, || reader.parse(&large.text).is_ok()));
            // As if the text were exactly ten times as long: some shapes have a frame around.
            ratio = ten / once * 10.0 / longer;
        }
        ratios.push((ratio, large.name.clone()));
    }
    ratios.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut table = Table::default();
    let median = quantile(&ratios.iter().map(|(ratio, _)| *ratio).collect::<Vec<_>>(), 0.5);
    table.note("median shape", format!("{median:.1} ×"));
    for (ratio, name) in ratios.iter().take(6) {
        table.judge(name, format!("{ratio:.1} ×"), "≤ 11 ×", *ratio <= MOST);
    }
    let heading = format!(
        "growth: time for {} items over time for {ITEMS}, least of {} to {} each, the worst of {} shapes",
        10 * ITEMS,
        effort.rounds * 4,
        effort.rounds * 40,
        ratios.len()
    );
    table.print(&heading);
    table
}

/// Lists of every sort, and nests beside each other.
fn grown(count: usize) -> Vec<Shape> {
    let mut shapes = shapes::lists(count);
    for (opener, closer) in [("(", ")"), ("$(", ")"), ("{ ", "; }"), ("${x:-", "}"), ("((", "))")] {
        let nest = format!("{}a{}", opener.repeat(20), closer.repeat(20));
        let text = format!("{nest}\n").repeat(count / 20);
        shapes
            .push(Shape { name: format!("nests of {opener} x {count}"), text: text.into_bytes() });
    }
    shapes.push(shapes::script(count * 10));
    shapes
}

/// Texts made to exhaust a reader, by time per megabyte and beside an ordinary script.
fn hostile(effort: Effort) -> Table {
    let mut shapes = vec![shapes::script(10_000_000)];
    shapes.extend(shapes::nested(100_000));
    shapes.extend(shapes::lists(500_000));
    shapes.extend(shapes::runs(1_000_000));
    shapes.extend(shapes::expansions());
    let rounds = effort.rounds.div_ceil(4);
    let reading = move || {
        let reader = long_reader();
        let time = |shape: Shape| {
            let times = (0..rounds).map(|_| per_call(1, || reader.parse(&shape.text).is_ok()));
            let milliseconds = times.fold(f64::INFINITY, f64::min) / 1e6;
            // A text under 64 KiB is held to the budget of one.
            #[expect(clippy::cast_precision_loss, reason = "a few megabytes at most")]
            let megabytes = shape.text.len().max(64 * 1024) as f64 / 1e6;
            (milliseconds / megabytes, shape.name.escape_debug().to_string())
        };
        shapes.into_iter().map(time).collect::<Vec<_>>()
    };
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(reading);
    let mut times = thread.expect("a thread").join().expect("no overflow");
    let count = times.len();
    let (ordinary, name) = times.remove(0);
    times.sort_by(|left, right| right.0.total_cmp(&left.0));

    let mut table = Table::default();
    let mut inform = |name: &str, time: f64| {
        table.inform(name, format!("{time:.1} ms/MB"), "≤ 100 ms/MB", time <= 100.0);
    };
    inform(&name, ordinary);
    times.iter().take(6).for_each(|(time, name)| inform(name, *time));
    let ratio = times.first().map_or(0.0, |(slowest, _)| slowest / ordinary);
    let holds = ratio <= 10.0;
    table.judge("the slowest over the script", format!("{ratio:.1} ×"), "≤ 10 ×", holds);
    table.print(&format!("hostile texts: the slowest of {count}, on a stack of 2 MiB"));
    table
}

/// The reader as it judges, with room for long texts.
fn long_reader() -> Reader {
    let limits = Limits { nesting: Limits::JUDGING.nesting, ..Limits::LIFTED };
    Reader { limits, ..Reader::new(Dialect::Bash) }
}
