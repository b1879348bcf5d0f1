//! `cargo xtask soak`: hours of mixed load on one daemon, whose memory and descriptors must stay.
//!
//! Everything a daemon meets in a week comes at a measured pace: calls that run, asks that are
//! answered, left and withdrawn, grants made and revoked, feeds opened and dropped, bodies that are
//! too large or no JSON, connections that never say a word. What the process holds is read from
//! the system all the while; in the end the last third of the time must hold no more than the
//! first, and the record must be whole.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::kill::daemon::{Daemon, Setting};
use crate::kill::{built, checks};
use held::Held;
use people::Counts;

mod held;
mod people;

/// What `cargo xtask soak` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// How long, in seconds.
    #[arg(long, default_value_t = 7200)]
    seconds: u64,
    /// How many things each of the eight workers does in a second, at most.
    #[arg(long, default_value_t = 10)]
    pace: u64,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The binary; built from the checkout where none is named.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// How often it is looked what the process holds: so many times in all.
const LOOKS: u32 = 400;

/// How much of the time is not counted: caches fill, and the allocator finds its size.
const WARMING: f64 = 0.25;

/// How much more the end may hold than the beginning: a share of the memory, and descriptors.
const MORE_MEMORY: f64 = 1.05;
const MORE_DESCRIPTORS: usize = 8;

/// A run shorter than this is all warming; of its memory it is only asked how much it is at most.
const LONG: Duration = Duration::from_mins(20);
const MOST_MEMORY_KB: u64 = 96 * 1024;

/// An ask a minute is a person's pace; here the limits must not be what is measured.
const CONFIGURATION: &str = "[limits]\npending_asks_per_agent = 2000\n\
                             asks_per_minute_per_agent = 100000\n";

/// Works, looks, and ends with the counts.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => built()?,
    };
    let home = std::env::temp_dir().join(format!("portcullis-soak-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let done = soak(arguments, &binary, &home);
    if done.is_ok() {
        std::fs::remove_dir_all(&home)?;
    } else {
        eprintln!("what was left is in {}", home.display());
    }
    done
}

fn soak(arguments: &Arguments, binary: &Path, home: &Path) -> anyhow::Result<()> {
    let configuration = home.join("config.toml");
    std::fs::write(&configuration, CONFIGURATION)?;
    let setting = Setting {
        arguments: vec!["--config".to_owned(), configuration.display().to_string()],
        ..Setting::default()
    };
    let daemon = Daemon::start_with(binary, home, &setting)?;
    let length = Duration::from_secs(arguments.seconds);
    let (counts, looks) = load(&daemon, arguments, length)?;

    let entries = checks::chain(&daemon)?;
    let counted = looks.iter().skip(portion(looks.len(), WARMING)).copied().collect::<Vec<_>>();
    let third = counted.len() / 3;
    ensure!(third > 0, "too short to tell anything; take at least ten seconds");
    let first = Held::middle(counted.get(..third).unwrap_or_default());
    let last = Held::middle(counted.get(counted.len() - third..).unwrap_or_default());
    let most = looks.iter().copied().reduce(Held::most).unwrap_or_default();
    writeln!(
        std::io::stdout(),
        "soak: {} s, {counts}; {} entries, the chain holds\n\
         soak: held in the first third {first}, in the last {last}, at most {most}",
        arguments.seconds,
        entries.len(),
    )?;
    #[expect(clippy::cast_precision_loss, reason = "kilobytes of one process")]
    let growth = last.memory_kb as f64 / first.memory_kb as f64;
    ensure!(length < LONG || growth <= MORE_MEMORY, "memory grew to {growth:.2} × of what it was");
    ensure!(most.memory_kb <= MOST_MEMORY_KB, "the memory it held at most is too much");
    ensure!(
        last.descriptors <= first.descriptors + MORE_DESCRIPTORS,
        "descriptors grew from {} to {}",
        first.descriptors,
        last.descriptors
    );
    counts.check()
}

/// Lets everybody work for so long, and looks at the process meanwhile.
fn load(
    daemon: &Daemon,
    arguments: &Arguments,
    length: Duration,
) -> anyhow::Result<(Counts, Vec<Held>)> {
    let is_over = AtomicBool::new(false);
    let began = Instant::now();
    let pause = length / LOOKS;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..people::WORKERS)
            .map(|worker| {
                let is_over = &is_over;
                let (seed, pace) = (arguments.seed, arguments.pace);
                scope.spawn(move || people::work(daemon, worker, seed, pace, is_over))
            })
            .collect();
        let mut looks = Vec::new();
        let mut failed = None;
        while began.elapsed() < length && failed.is_none() {
            std::thread::sleep(pause);
            match Held::by(daemon.id()) {
                Ok(held) => looks.push(held),
                Err(error) => failed = Some(error.context("the daemon is gone")),
            }
        }
        is_over.store(true, Ordering::Relaxed);
        let mut counts = Counts::default();
        for worker in workers {
            counts.add(&worker.join().ok().context("a worker broke")?);
        }
        failed.map_or(Ok((counts, looks)), Err)
    })
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a few hundred"
)]
fn portion(whole: usize, share: f64) -> usize {
    (whole as f64 * share) as usize
}
