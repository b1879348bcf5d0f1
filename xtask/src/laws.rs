//! `cargo xtask laws`: tries every law on many more cases than each change does.
//!
//! The laws are tests of their crates; `crates/law` says how they are tried, and heeds the two
//! variables that are set here. To add a crate with laws, add it to [`ROOMS`].

use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout;

/// The crates that have laws.
const ROOMS: [&str; 4] = ["shell", "engine", "approval", "hook"];

/// The tests that hold them.
const TESTS: [&str; 2] = ["laws", "glyphs"];

/// What `cargo xtask laws` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many cases of each law.
    #[arg(long, default_value_t = 1_000_000)]
    cases: u32,
    /// Where chance begins.
    #[arg(long, default_value_t = 3)]
    seed: u64,
    /// Only laws whose name holds this.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Builds the laws as a release is built, and tries them.
///
/// # Errors
/// If a case breaks one.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(["test", "--release"]);
    for room in ROOMS {
        command.args(["--package", &format!("portcullis-{room}")]);
    }
    for test in TESTS {
        command.args(["--test", test]);
    }
    let status = command
        .arg("--")
        .args(&arguments.names)
        .current_dir(checkout::root())
        .env("PORTCULLIS_CASES", arguments.cases.to_string())
        .env("PORTCULLIS_SEED", arguments.seed.to_string())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "a law does not hold");
    Ok(())
}
