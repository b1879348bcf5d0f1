//! `cargo xtask bench`: runs the benchmarks of `benches/`, a workspace of its own, so that the
//! peers they compare with never come near the product.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout;

mod hook;
mod peers;

/// The argument with which others are measured too.
const PEERS: &str = "--peers";

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The benchmark to run: `parse`, `judge`, `store`, `daemon`, `nodes` or `hook`; all of those
    /// in `benches/` if none is named.
    name: Option<String>,
    /// Arguments of the benchmarks, behind `--`; with `--peers` what others made is installed into
    /// a directory of the run, measured too, and removed.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Runs them with their output on ours.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let has_peers = arguments.arguments.iter().any(|argument| argument == PEERS);
    if arguments.name.as_deref() == Some("hook") {
        return hook::run(has_peers);
    }
    if arguments.name.as_deref().is_none_or(|name| matches!(name, "daemon" | "nodes")) {
        // What is measured is the real binary.
        let built = Command::new("cargo")
            .args(["build", "--release", "--package", "portcullis-cli"])
            .current_dir(checkout::root())
            .status()
            .context("cannot start cargo")?;
        ensure!(built.success(), "the binary does not build");
    }
    let root = std::env::temp_dir().join(format!("portcullis-bench-{}", std::process::id()));
    let python = has_peers.then(|| peers::agentscope(&root)).transpose()?;
    let only = arguments.name.iter().flat_map(|name| ["--bench", name]);
    let status = Command::new("cargo")
        .arg("bench")
        .args(only)
        .arg("--")
        .args(arguments.arguments.iter().filter(|argument| *argument != PEERS))
        .envs(python.map(|python| ("PORTCULLIS_AGENTSCOPE", python)))
        .current_dir(checkout::root().join("benches"))
        .status()
        .context("cannot start cargo")?;
    if has_peers {
        std::fs::remove_dir_all(&root)?;
    }
    ensure!(status.success(), "the benchmarks failed");
    Ok(())
}
