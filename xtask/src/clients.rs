//! `cargo xtask clients`: the scripts under `tests/clients/`, which use the real packages of other
//! systems, each against the real daemon.
//!
//! To add one, add a file `NAME.mjs` beside the others: it is started with the daemon's address,
//! an agent's key and an approver's key, and ends with a line that says what it did.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout;
use crate::kill::built;
use crate::kill::daemon::Daemon;
use crate::packages;

/// What scripts share; it plays nothing by itself.
const SHARED: &str = "peer.mjs";

/// What `cargo xtask clients` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The scripts to run, by their names without `.mjs`; all of them if none is named.
    #[arg(value_name = "SCRIPT")]
    scripts: Vec<String>,
    /// The binary to talk to; built from the checkout where none is named.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Runs the scripts, and ends with the count.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let directory = checkout::root().join("tests/clients");
    let mut out = std::io::stdout();
    packages::install(&directory, &mut out)?;
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => built()?,
    };
    let home = std::env::temp_dir().join(format!("portcullis-clients-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let done = play(arguments, &directory, &binary, &home, &mut out);
    std::fs::remove_dir_all(&home)?;
    done
}

fn play(
    arguments: &Arguments,
    directory: &Path,
    binary: &Path,
    home: &Path,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let daemon = Daemon::start(binary, home)?;
    let scripts = scripts(directory, &arguments.scripts)?;
    let mut failed = Vec::new();
    for script in &scripts {
        let played = Command::new("node")
            .arg(script)
            .arg(format!("http://{}", daemon.address))
            .args([&daemon.agent, &daemon.approver])
            .current_dir(directory)
            .output()
            .context("cannot start `node`")?;
        out.write_all(&played.stdout)?;
        if !played.status.success() {
            out.write_all(&played.stderr)?;
            failed.push(script.display().to_string());
        }
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    writeln!(out, "clients: {} scripts ended well", scripts.len())?;
    Ok(())
}

/// The scripts, in order of their names.
fn scripts(directory: &Path, wanted: &[String]) -> anyhow::Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let is_script = path.extension().is_some_and(|extension| extension == "mjs");
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let is_wanted = wanted.is_empty() || stem.is_some_and(|stem| wanted.contains(&stem));
        if is_script && is_wanted && !path.ends_with(SHARED) {
            scripts.push(path);
        }
    }
    scripts.sort();
    ensure!(!scripts.is_empty(), "no such script in {}", directory.display());
    Ok(scripts)
}
