//! `cargo xtask simulate`: many nodes and agents on a simulated clock and network, with faults.
//!
//! The code that decides is the real one: `settle` and `expire` of the approval crate, the chain,
//! and the rule that a row changes only while it is pending. What is simulated is everything
//! around it: messages that are late or lost, nodes that crash before or after a commit, a
//! database that goes away, clocks that drift. Each seed is one world, looked at after every event.

use std::io::Write;
use std::time::Instant;

use anyhow::Context;

use world::World;

mod world;

/// What `cargo xtask simulate` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many small worlds.
    #[arg(long, default_value_t = 100_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many large worlds: 100 nodes and 100,000 agents each.
    #[arg(long, default_value_t = 1)]
    large: u64,
}

/// How large a world is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Nodes.
    pub nodes: usize,
    /// Agents.
    pub agents: usize,
    /// How long agents go on asking, in milliseconds.
    pub lasts_ms: u64,
}

const SMALL: Size = Size { nodes: 4, agents: 12, lasts_ms: 4_000 };

const LARGE: Size = Size { nodes: 100, agents: 100_000, lasts_ms: 60_000 };

/// What happened in worlds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Happened {
    /// Events.
    pub events: u64,
    /// Asks opened.
    pub asks: u64,
    /// Calls that ran.
    pub ran: u64,
    /// Asks that ended at their deadline.
    pub expired: u64,
    /// Answers that came second.
    pub second: u64,
    /// Crashes of nodes and outages of the database.
    pub faults: u64,
}

impl Happened {
    fn add(&mut self, other: Happened) {
        self.events += other.events;
        self.asks += other.asks;
        self.ran += other.ran;
        self.expired += other.expired;
        self.second += other.second;
        self.faults += other.faults;
    }
}

/// Runs the worlds, and ends with the counts.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut happened = Happened::default();
    let last = arguments.seed.saturating_add(arguments.seeds);
    for seed in arguments.seed..last {
        let lived = World::new(seed, SMALL)?.live();
        happened.add(lived.with_context(|| format!("seed {seed}"))?);
    }
    for seed in last..last.saturating_add(arguments.large) {
        let lived = World::new(seed, LARGE)?.live();
        happened.add(lived.with_context(|| format!("large seed {seed}"))?);
    }
    writeln!(
        std::io::stdout(),
        "simulate: {} seeds and {} large worlds in {} s: {} events, {} asks, {} calls ran, {} \
         expired, {} second answers, {} faults; every invariant held",
        arguments.seeds,
        arguments.large,
        began.elapsed().as_secs(),
        happened.events,
        happened.asks,
        happened.ran,
        happened.expired,
        happened.second,
        happened.faults,
    )?;
    Ok(())
}
