//! `cargo xtask coverage`: which lines and regions of the pure crates their own tests reach.
//!
//! cargo-llvm-cov builds the tests with counters and reads them; this adds its figures up by crate
//! and names the files below [`WEAK`]. `docs/security/tests.md` says why those are below it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::{checkout, packages};

/// The version that is installed.
const VERSION: &str = "0.9.1";

/// The crates that are measured, by their tests only.
const CRATES: [&str; 4] = ["shell", "engine", "approval", "wire"];

/// A file with fewer of its lines reached, per mille, is named.
const WEAK: u64 = 950;

/// How many cases of each law are tried: counters make them slow, and more reach no further.
const CASES: &str = "100";

/// What `cargo xtask coverage` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Names every file, not only the weak ones.
    #[arg(long)]
    files: bool,
}

/// What cargo-llvm-cov writes.
#[derive(Deserialize)]
struct Export {
    data: Vec<Data>,
}

#[derive(Deserialize)]
struct Data {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: PathBuf,
    summary: Summary,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Summary {
    lines: Reached,
    regions: Reached,
}

/// How many there are, and how many of them a test reached.
#[derive(Clone, Copy, Default, Deserialize)]
struct Reached {
    count: u64,
    covered: u64,
}

impl Reached {
    fn add(&mut self, other: Reached) {
        self.count += other.count;
        self.covered += other.covered;
    }

    fn per_mille(self) -> u64 {
        (self.covered * 1000).checked_div(self.count).unwrap_or(1000)
    }

    fn shown(self) -> String {
        let share = self.per_mille();
        format!("{} of {} ({}.{} %)", self.covered, self.count, share / 10, share % 10)
    }
}

/// Runs the tests with counters and prints the figures.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = checkout::root();
    let mut out = std::io::stdout();
    let program = packages::program("cargo-llvm-cov", VERSION, &mut out)?;
    let mut command = Command::new(program);
    command.args(["llvm-cov", "test", "--json", "--summary-only", "--lib", "--tests"]);
    for name in CRATES {
        command.args(["--package", &format!("portcullis-{name}")]);
    }
    let measured = command
        .current_dir(&root)
        .env("PORTCULLIS_CASES", CASES)
        // A directory of its own: counters must not end up in what others build.
        .env("CARGO_LLVM_COV_TARGET_DIR", root.join("target/coverage"))
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot start cargo-llvm-cov")?;
    let said = String::from_utf8_lossy(&measured.stdout);
    ensure!(
        measured.status.success(),
        "the tests failed, or `rustup component add llvm-tools` is due"
    );
    // What the tests print stands before the figures.
    let begin = said.find("{\"data\"").context("cargo-llvm-cov gave no figures")?;
    let figures = said.get(begin..).unwrap_or("");
    let export: Export = serde_json::from_str(figures.lines().next().unwrap_or(""))
        .context("cannot read the figures of cargo-llvm-cov")?;
    let files = export.data.into_iter().flat_map(|data| data.files);
    let files: BTreeMap<String, Summary> = files
        .filter_map(|file| {
            let path = file.filename.strip_prefix(root.join("crates")).ok()?;
            Some((path.to_str()?.to_owned(), file.summary))
        })
        .filter(|(path, _)| path.contains("/src/") && !path.ends_with("/tests.rs"))
        .collect();
    write!(out, "{}", told(&files, arguments.files))?;
    Ok(())
}

/// The figures by crate, and of the files that are weak.
fn told(files: &BTreeMap<String, Summary>, all: bool) -> String {
    let mut lines = vec![format!("{:<44}{:>24}{:>24}", "", "lines", "regions")];
    let row = |name: &str, of: &Summary| {
        format!("{name:<44}{:>24}{:>24}", of.lines.shown(), of.regions.shown())
    };
    for name in CRATES {
        let mut sum = Summary::default();
        let own = files.iter().filter(|(path, _)| path.starts_with(&format!("{name}/")));
        for (_, summary) in own {
            sum.lines.add(summary.lines);
            sum.regions.add(summary.regions);
        }
        lines.push(row(name, &sum));
    }
    for (path, summary) in files {
        if all || summary.lines.per_mille() < WEAK {
            lines.push(row(path, summary));
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_add_up_and_weak_files_are_named() {
        let of = |count, covered| Summary {
            lines: Reached { count, covered },
            regions: Reached { count: 2 * count, covered },
        };
        let files = BTreeMap::from([
            ("engine/src/glob.rs".to_owned(), of(100, 100)),
            ("engine/src/rule.rs".to_owned(), of(100, 80)),
        ]);
        let text = told(&files, false);
        assert!(text.contains("180 of 200 (90.0 %)"), "{text}");
        assert!(text.contains("180 of 400 (45.0 %)"), "{text}");
        assert!(text.contains("engine/src/rule.rs") && !text.contains("glob.rs"), "{text}");
        assert!(told(&files, true).contains("glob.rs"));
    }
}
