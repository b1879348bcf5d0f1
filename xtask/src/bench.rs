//! `cargo xtask bench`: runs the benchmarks of `benches/`, a workspace of its own, so that the
//! peers they compare with never come near the product.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout;

mod hook;
mod peers;

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The benchmark to run, `parse`, `store`, `daemon`, `nodes` or `hook`; all of them if none is named.
    name: Option<String>,
    /// Arguments of the benchmarks, behind `--`.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Runs them with their output on ours.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.name.as_deref() == Some("hook") {
        return hook::run(arguments.arguments.iter().any(|argument| argument == "--peers"));
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
    let only = arguments.name.iter().flat_map(|name| ["--bench", name]);
    let status = Command::new("cargo")
        .arg("bench")
        .args(only)
        .arg("--")
        .args(&arguments.arguments)
        .current_dir(checkout::root().join("benches"))
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the benchmarks failed");
    Ok(())
}
