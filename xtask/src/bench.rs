//! `cargo xtask bench`: what is measured, one by one or all in one run.
//!
//! Readers, verdicts, store, daemon and nodes are measured by `benches/`, a workspace of its own,
//! so that the peers they compare with never come near the product; processes are measured here.
//! `--page` writes what all of them printed, with the commit, to `docs/figures.md`.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::checkout;

mod check;
mod hook;
mod page;
mod peers;

/// The argument with which others are measured too.
const PEERS: &str = "--peers";

/// What there is to measure, in the order of a run of all.
const ALL: &[&str] = &["parse", "judge", "check", "hook", "store", "daemon", "nodes"];

/// What `cargo xtask bench` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// What to measure: `parse`, `judge`, `check`, `hook`, `store`, `daemon` or `nodes`; all of
    /// them if none is named.
    names: Vec<String>,
    /// Writes what was printed to `docs/figures.md`.
    #[arg(long)]
    page: bool,
    /// Arguments of the benchmarks, behind `--`; with `--peers` what others made is installed into
    /// a directory of the run, measured too, and removed.
    #[arg(last = true, value_name = "ARGUMENT")]
    rest: Vec<OsString>,
}

/// Measures one after the other; every one runs, also after another has failed.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let chosen: Vec<&str> = arguments.names.iter().map(String::as_str).collect();
    let names = if chosen.is_empty() { ALL } else { &chosen };
    for name in names {
        ensure!(ALL.contains(name), "no benchmark `{name}`; there are {}", ALL.join(", "));
    }
    let mut told = Vec::new();
    let mut failed = Vec::new();
    for name in names {
        let mut lines = String::new();
        let mut figures = Figures { out: &mut std::io::stdout(), lines: &mut lines };
        if let Err(error) = measure(name, &arguments.rest, &mut figures) {
            figures.line(&format!("error: {error:#}"))?;
            failed.push(*name);
        }
        told.push((*name, lines));
    }
    if arguments.page {
        page::write(&told, &arguments.rest)?;
    }
    ensure!(failed.is_empty(), "not every figure holds: {}", failed.join(", "));
    Ok(())
}

fn measure(name: &str, arguments: &[OsString], figures: &mut Figures<'_>) -> anyhow::Result<()> {
    let has_peers = arguments.iter().any(|argument| argument == PEERS);
    match name {
        "check" => return check::run(figures),
        "hook" => return hook::run(has_peers, figures),
        // What is measured is the real binary.
        "daemon" | "nodes" => drop(binary()?),
        _ => {}
    }
    let root = std::env::temp_dir().join(format!("portcullis-bench-{}", std::process::id()));
    let wants_python = has_peers && name == "judge";
    let python = wants_python.then(|| peers::agentscope(&root)).transpose()?;
    let mut command = checkout::cargo();
    command
        .args(["bench", "--bench", name, "--"])
        .args(arguments.iter().filter(|argument| *argument != PEERS))
        .envs(python.map(|python| ("PORTCULLIS_AGENTSCOPE", python)))
        .current_dir(checkout::root().join("benches"))
        .stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot start cargo")?;
    for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
        figures.line(&line?)?;
    }
    let status = child.wait()?;
    if wants_python {
        std::fs::remove_dir_all(&root)?;
    }
    ensure!(status.success(), "some figures of `{name}` fail");
    Ok(())
}

/// What is measured here goes to the terminal and into the page.
struct Figures<'a> {
    out: &'a mut dyn Write,
    lines: &'a mut String,
}

impl Figures<'_> {
    fn line(&mut self, line: &str) -> anyhow::Result<()> {
        writeln!(self.out, "{line}")?;
        self.lines.push_str(line);
        self.lines.push('\n');
        Ok(())
    }

    /// A figure without a goal.
    fn note(&mut self, what: &str, found: &str) -> anyhow::Result<()> {
        self.line(&format!("        {what}: {found}"))
    }

    /// A figure that may be so much at most.
    fn most(&mut self, what: &str, found: f64, goal: f64) -> anyhow::Result<()> {
        self.held(what, found, found <= goal, '≤', goal)
    }

    /// A figure that must be so much at least.
    fn least(&mut self, what: &str, found: f64, goal: f64) -> anyhow::Result<()> {
        self.held(what, found, found >= goal, '≥', goal)
    }

    fn held(
        &mut self,
        what: &str,
        found: f64,
        holds: bool,
        sign: char,
        goal: f64,
    ) -> anyhow::Result<()> {
        let word = if holds { "holds" } else { "misses" };
        let found = if found < 1000.0 { format!("{found:.2}") } else { format!("{found:.0}") };
        self.line(&format!("{word:<7} {what}: {found} (goal {sign} {goal})"))
    }
}

/// The release build of the one binary.
fn binary() -> anyhow::Result<PathBuf> {
    let built = checkout::cargo()
        .args(["build", "--release", "--package", "portcullis-cli"])
        .current_dir(checkout::root())
        .status()
        .context("cannot start cargo")?;
    ensure!(built.success(), "the binary does not build");
    Ok(built_in().join("release/portcullis"))
}

/// Where cargo puts what it builds.
fn built_in() -> PathBuf {
    let own = || checkout::root().join("target");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(own, |place| Path::new(&place).to_owned())
}

fn median(all: &mut [Duration]) -> Duration {
    all.sort_unstable();
    all.get(all.len() / 2).copied().unwrap_or_default()
}
