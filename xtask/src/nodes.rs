//! `cargo xtask nodes`: three daemons on one PostgreSQL, and everything that can go wrong there.
//!
//! Agents and approvers work on random nodes and through different doors while, in each round, a
//! node is killed, stopped, cut off from the database or from everybody, slowed down or given a
//! wrong clock, or the database itself goes away. After each round all is healed and looked at: what was acknowledged must be
//! there, once, the same on every node, and nothing may be allowed that nobody approved.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use portcullis_database::Database;

use crate::chance::Chance;
use crate::kill::{built, checks};
use cut::Cut;
use network::{Network, Standing};
use node::Node;
use people::Memory;
use way::Way;

mod cut;
mod herd;
mod network;
mod node;
mod people;
mod way;

/// What `cargo xtask nodes` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many rounds.
    #[arg(long, default_value_t = 300)]
    rounds: u64,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The binary; built from the checkout where none is named.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// The binary of the version before, which the first node runs: both must work side by side.
    #[arg(long, value_name = "FILE")]
    older: Option<PathBuf>,
    /// Counts instead what the database is asked while ten thousand wait on five nodes.
    #[arg(long)]
    herd: bool,
    /// Lets a program between stand for the network, also where namespaces could be made.
    #[arg(long)]
    without_namespaces: bool,
}

/// How many nodes there are.
const NODES: usize = 3;

/// How long everybody works in a round, in milliseconds, the fault in the middle included.
const ROUND_MS: (usize, usize) = (600, 1800);

/// How long a stopped or cut node stays so, in milliseconds: sometimes longer than its turn lasts.
const FAULT_MS: (usize, usize) = (50, 3200);

/// How long all may take to be well again.
const HEALING: Duration = Duration::from_mins(1);

/// How many rounds are looked at again after each one.
const RECENT: u64 = 10;

/// What goes wrong in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Nothing,
    Kill,
    Stop,
    Cut,
    Isolate,
    Drop,
    Slow,
    Skew,
    DatabaseCrash,
    DatabaseStop,
}

/// Each as often as it stands here.
const FAULTS: &[Fault] = &[
    Fault::Nothing,
    Fault::Kill,
    Fault::Kill,
    Fault::Stop,
    Fault::Stop,
    Fault::Cut,
    Fault::Isolate,
    Fault::Drop,
    Fault::Slow,
    Fault::Skew,
    Fault::DatabaseCrash,
    Fault::DatabaseStop,
];

/// Runs the rounds, and ends with the counts.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => built()?,
    };
    let standing = if arguments.without_namespaces || arguments.herd {
        Standing::Outside("none are wanted".to_owned())
    } else {
        network::enter()?
    };
    let (network, is_real) = match &standing {
        Standing::Inside => ("a network namespace for each".to_owned(), true),
        Standing::Outside(why) => {
            eprintln!("nodes: no network namespaces here ({why}); a program in between stands in");
            ("a program in between for a network".to_owned(), false)
        }
    };
    let home = std::env::temp_dir().join(format!("portcullis-nodes-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let done = if arguments.herd {
        herd::run(&binary, &home)
    } else {
        rounds(arguments, &binary, &home, (&network, is_real))
    };
    if done.is_ok() {
        std::fs::remove_dir_all(&home)?;
    } else {
        eprintln!("what was left is in {}", home.display());
    }
    done
}

fn rounds(
    arguments: &Arguments,
    binary: &Path,
    home: &Path,
    (network, is_real): (&str, bool),
) -> anyhow::Result<()> {
    let mut database = Database::start(&[])?;
    let layer = node::layer(home)?;
    let mut nodes = Vec::new();
    let ways = ways(&mut database, is_real)?;
    for (number, way) in ways.into_iter().enumerate() {
        let older = arguments.older.as_deref().filter(|_| number == 0);
        let binary = older.unwrap_or(binary);
        nodes.push(Node::new(number, home, binary, layer.clone(), &database, way)?);
    }
    for node in &mut nodes {
        node.start(0)?;
    }
    let mut chance = Chance::split(arguments.seed, 0);
    let (mut memory, mut recent) = (Memory::default(), Memory::default());
    let (mut next, mut faults) = (0, std::collections::BTreeMap::<String, u64>::new());
    for round in 0..arguments.rounds {
        let fault = FAULTS.get(chance.below(FAULTS.len())).copied().unwrap_or(Fault::Nothing);
        let victim = chance.below(NODES);
        *faults.entry(format!("{fault:?}")).or_default() += 1;
        let lived =
            one_round(&mut nodes, &mut database, &mut chance, (round, fault, victim), &mut next)
                .with_context(|| format!("round {round}, {fault:?} of node {victim}"))?;
        if round % RECENT == 0 {
            recent = recent.behind();
        }
        recent.add(lived.clone());
        memory.add(lived);
        let look = || -> anyhow::Result<()> {
            // Every node must tell the same.
            for node in &nodes {
                checks::check(node.daemon()?, &recent.acknowledged)?;
            }
            people::once(nodes.first().context("no node")?.daemon()?, &recent)
        };
        look().with_context(|| format!("after round {round}, {fault:?} of node {victim}"))?;
    }
    let daemon = nodes.first().context("no node")?.daemon()?;
    checks::check(daemon, &memory.acknowledged).context("at the end")?;
    people::once(daemon, &memory).context("at the end")?;
    let entries = checks::chain(daemon)?;
    checks::once(&entries, &memory.acknowledged)?;
    ensure!(memory.acknowledged.asks.len() > 1, "nothing was asked; the harness is broken");
    writeln!(
        std::io::stdout(),
        "nodes: {} rounds on {NODES} nodes, {network} ({}), {} asks, {} answers and {} allowed acknowledged, \
         {} expired, {} entries in one chain; none lost, none twice, none allowed that nobody \
         approved",
        arguments.rounds,
        faults
            .iter()
            .map(|(fault, count)| format!("{fault} {count}"))
            .collect::<Vec<_>>()
            .join(", "),
        memory.acknowledged.asks.len(),
        memory.acknowledged.answers.len(),
        memory.acknowledged.allowed.len(),
        memory.expired,
        entries.len(),
    )?;
    Ok(())
}

/// The way of each node to the database.
fn ways(database: &mut Database, is_real: bool) -> anyhow::Result<Vec<Way>> {
    if !is_real {
        let cut = |_| Ok(Way::Between(Cut::to(database.port())?));
        return (0..NODES).map(cut).collect();
    }
    let mut networks = Vec::new();
    for number in 0..NODES {
        networks.push(Network::new(u8::try_from(number)?)?);
    }
    let addresses: Vec<_> = networks.iter().map(Network::database).collect();
    database.open_to(&addresses, "10.231.1.0/24")?;
    Ok(networks.into_iter().map(Way::Links).collect())
}

/// Does something to the way of a node, and heals it after a while.
fn for_a_while(
    node: &Node,
    during: Duration,
    begin: fn(&Way) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    begin(&node.way)?;
    std::thread::sleep(during);
    node.way.heal();
    Ok(())
}

/// Lets everybody work while one thing goes wrong, then heals it.
fn one_round(
    nodes: &mut [Node],
    database: &mut Database,
    chance: &mut Chance,
    (round, fault, victim): (u64, Fault, usize),
    next: &mut u64,
) -> anyhow::Result<Memory> {
    let before = Duration::from_millis(chance.between(50, 400) as u64);
    let during = Duration::from_millis(chance.between(FAULT_MS.0, FAULT_MS.1) as u64);
    let life = Duration::from_millis(chance.between(ROUND_MS.0, ROUND_MS.1) as u64);
    let addresses = nodes.iter().map(Node::door).collect::<Result<Vec<_>, _>>()?;
    let work = people::begin(&addresses, round, *next);
    std::thread::sleep(before);
    {
        let victim = nodes.get_mut(victim).context("no such node")?;
        match fault {
            Fault::Nothing => std::thread::sleep(during),
            Fault::Kill => {
                victim.kill();
                std::thread::sleep(during / 4);
                victim.start(0)?;
            }
            Fault::Stop => {
                victim.signal("STOP")?;
                std::thread::sleep(during);
                victim.signal("CONT")?;
            }
            Fault::Cut => for_a_while(victim, during, Way::hold)?,
            Fault::Isolate => for_a_while(victim, during, Way::isolate)?,
            Fault::Drop => for_a_while(victim, during, Way::refuse)?,
            Fault::Slow => for_a_while(victim, during, Way::slow)?,
            Fault::Skew => {
                victim.kill();
                let hours = i64::try_from(chance.between(1, 48)).unwrap_or(1);
                let sign = if chance.once_in(2) { 3600 } else { -3600 };
                victim.start(hours * sign)?;
            }
            Fault::DatabaseCrash => {
                database.crash()?;
                std::thread::sleep(during / 4);
                database.resume()?;
            }
            Fault::DatabaseStop => {
                database.stop()?;
                std::thread::sleep(during / 4);
                database.resume()?;
            }
        }
    }
    std::thread::sleep(life.saturating_sub(before));
    let lived = work.end(next);
    let began = Instant::now();
    for node in nodes.iter() {
        while !node.is_ready() {
            ensure!(began.elapsed() < HEALING, "{} is not well again", node.name());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(lived)
}
