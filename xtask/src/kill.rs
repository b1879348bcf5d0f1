//! `cargo xtask kill`: agents and approvers at work while the daemon is killed, again and again.
//!
//! Each cycle starts the real binary on the same data directory, lets several agents ask and
//! several approvers answer, kills the process at a random moment, and starts it again to look:
//! what was acknowledged must be there, once, and nothing may be allowed that nobody approved.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::chance::Chance;
use crate::checkout;

pub mod checks;
pub mod daemon;
pub mod people;

use checks::check;
use daemon::Daemon;
use people::Memory;

/// What `cargo xtask kill` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// How often the daemon is killed.
    #[arg(long, default_value_t = 1000)]
    cycles: u64,
    /// Where chance begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The binary to kill; built from the checkout where none is named.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// How many lives are looked at again after each kill.
const RECENT: u64 = 20;

/// The shortest and the longest life of a daemon, in milliseconds.
const LIFE_MS: (usize, usize) = (20, 400);

/// Kills and looks, and ends with the counts.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => built()?,
    };
    let home = std::env::temp_dir().join(format!("portcullis-kill-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let done = cycles(arguments, &binary, &home);
    if done.is_ok() {
        std::fs::remove_dir_all(&home)?;
    } else {
        eprintln!("what was left is in {}", home.display());
    }
    done
}

fn cycles(
    arguments: &Arguments,
    binary: &std::path::Path,
    home: &std::path::Path,
) -> anyhow::Result<()> {
    let mut chance = Chance::split(arguments.seed, 0);
    let mut memory = Memory::default();
    // After a kill the last lives are looked at; everything, in the end.
    let mut recent = Memory::default();
    let mut next = 0;
    for cycle in 0..arguments.cycles {
        let daemon = Daemon::start(binary, home)?;
        check(&daemon, &recent).with_context(|| format!("after kill {cycle}"))?;
        if cycle % RECENT == 0 {
            recent = Memory::after(&recent);
        }
        let life = chance.between(LIFE_MS.0, LIFE_MS.1) as u64;
        let lived = people::work(&daemon, cycle, &mut next, Duration::from_millis(life));
        recent.add(lived.clone());
        memory.add(lived);
    }
    let daemon = Daemon::start(binary, home)?;
    check(&daemon, &memory).context("at the end")?;
    let entries = checks::chain(&daemon)?;
    checks::once(&entries, &memory)?;
    ensure!(memory.asks.len() > 1, "nothing was asked; the harness is broken");
    writeln!(
        std::io::stdout(),
        "kill: {} kills, {} asks, {} answers, {} grants and {} verdicts acknowledged, {} entries; \
         none lost, none twice, none allowed that nobody approved",
        arguments.cycles,
        memory.asks.len(),
        memory.answers.len(),
        memory.grants.len(),
        memory.verdicts,
        entries.len(),
    )?;
    Ok(())
}

/// The binary of this checkout.
pub fn built() -> anyhow::Result<PathBuf> {
    let root = checkout::root();
    let status = checkout::cargo()
        .args(["build", "--quiet", "--package", "portcullis-cli"])
        .current_dir(&root)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the binary could not be built");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    Ok(target.join("debug/portcullis"))
}
