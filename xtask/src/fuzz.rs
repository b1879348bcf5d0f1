//! `cargo xtask fuzz`: runs the targets of `fuzz/`, guided by coverage, on a stable toolchain.
//!
//! `fuzz/` is a workspace of its own, whose cargo settings turn coverage on. Seeds come from the
//! corpus of the shell reader and from `fuzz/seeds/`. What a target learned stays in
//! `fuzz/corpus/`, what broke it in `fuzz/artifacts/`.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::checkout;

/// One input may be this long and take this long, and the process this much memory.
const INPUT_BYTES: u32 = 256;
const DOCUMENT_BYTES: u32 = 1024;
/// The longest command of a storm: short ones give the most tries.
const STORM_BYTES: u32 = 160;
const INPUT_SECONDS: u32 = 10;
const MEMORY_MB: u32 = 2048;

/// The targets that read documents and no shell.
const DOCUMENTS: &[&str] = &["policy", "wire", "frames", "hook"];

/// The targets that begin with their own seeds alone.
const OWN: &[&str] = &["languages", "policy", "wire", "frames", "hook"];

/// Where a storm finds commands besides: the reader's cases, the engine's lists and tables.
const COMMANDS: &[&str] =
    &["corpus/seeds", "../crates/engine/tests/everyday", "../crates/engine/tests/verdicts"];

/// The bodies that the doors are sent in the conversations, and what real hosts sent their hooks.
const CONVERSATIONS: &[&str] = &["../tests/conversations"];
const PAYLOADS: &[&str] = &["../../shared/fixtures/hosts"];

/// With fewer edges covered than this, the coverage flags did not reach the reader.
const LEAST_COVERAGE: u64 = 200;

/// What `cargo xtask fuzz` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// So many inputs for each target, made by chance of what it collected, of its seeds and of
    /// the engine's own cases, and tried without coverage, which is quicker.
    #[arg(long, value_name = "COUNT")]
    storm: Option<u64>,
    /// Where the chance of a storm begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The targets to run; all of them if none is named.
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Options of libFuzzer, behind `--`.
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<OsString>,
}

/// Builds the targets, runs them one after the other and counts their executions.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = checkout::root();
    let known = targets(&root)?;
    for target in &arguments.targets {
        ensure!(known.contains(target), "no target `{target}`; there are {}", known.join(", "));
    }
    let chosen = if arguments.targets.is_empty() { &known } else { &arguments.targets };

    sow(&root)?;
    if let Some(count) = arguments.storm {
        return chosen.iter().try_for_each(|target| storm(&root, target, count, arguments.seed));
    }
    let triple = host()?;
    build(&root)?;
    let mut out = std::io::stdout();
    let mut executions = 0;
    let mut broken = Vec::new();
    for target in chosen {
        match fuzz(&root, &triple, target, arguments) {
            Ok(count) => {
                writeln!(out, "{target}: {count} executions")?;
                executions += count;
            }
            Err(error) => {
                writeln!(out, "{target}: {error:#}")?;
                broken.push(target.as_str());
            }
        }
    }
    ensure!(broken.is_empty(), "broken: {}", broken.join(", "));
    writeln!(out, "{} targets, {executions} executions, nothing broke", chosen.len())?;
    Ok(())
}

/// The names of the targets, in the order of the manifest.
pub fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let metadata = checkout::metadata(&root.join("fuzz"))?;
    let targets = metadata.packages.into_iter().flat_map(|package| package.targets);
    Ok(targets
        .filter(|target| target.kind.iter().any(|kind| kind == "bin"))
        .map(|target| target.name)
        .collect())
}

/// The triple of this machine, which names the directory of what was built.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").args(["--version", "--verbose"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc --version --verbose` names no host")?.to_owned())
}

/// Writes the cases of the corpus as inputs to begin with.
fn sow(root: &Path) -> anyhow::Result<()> {
    let output = checkout::cargo()
        .args(["test", "--quiet", "--package", "portcullis-shell", "--test", "corpus", "seeds"])
        .current_dir(root)
        .env("FUZZ_SEEDS", seeds(root))
        .output()
        .context("cannot start cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the seeds could not be written\n{said}");
    ensure!(seeds(root).is_dir(), "the test `seeds` wrote no seeds");
    Ok(())
}

fn build(root: &Path) -> anyhow::Result<()> {
    let status = checkout::cargo()
        .args(["build", "--release", "--quiet", "--bins", "--target-dir"])
        .arg(root.join("fuzz/target"))
        .current_dir(root.join("fuzz"))
        // Flags from outside would replace those that turn coverage on.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the fuzz targets do not build");
    Ok(())
}

/// Builds the storm without coverage, and has a target try so many inputs.
fn storm(root: &Path, target: &str, count: u64, seed: u64) -> anyhow::Result<()> {
    let fuzz = root.join("fuzz");
    let own = [format!("corpus/{target}"), format!("seeds/{target}")];
    let others = match target {
        "wire" => CONVERSATIONS,
        "hook" => PAYLOADS,
        _ if OWN.contains(&target) => &[],
        _ => COMMANDS,
    };
    let longest = if DOCUMENTS.contains(&target) { DOCUMENT_BYTES } else { STORM_BYTES };
    let numbers = [count, seed, longest.into()].map(|number| number.to_string());
    let status = checkout::cargo()
        .args(["run", "--release", "--quiet", "--example", "storm", "--target-dir"])
        .arg(fuzz.join("target/plain"))
        .args(["--", target])
        .args(numbers)
        .arg(dictionary(target))
        .args(own)
        .args(others)
        .current_dir(&fuzz)
        // An empty text takes the flags for coverage away.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", "")
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "`{target}` broke, or took too long");
    Ok(())
}

/// The words that are typical of what a target reads.
fn dictionary(target: &str) -> &'static str {
    if DOCUMENTS.contains(&target) { "documents.dict" } else { "tokens.dict" }
}

/// Runs one target and returns how many inputs it executed.
fn fuzz(root: &Path, triple: &str, target: &str, arguments: &Arguments) -> anyhow::Result<u64> {
    let corpus = root.join("fuzz/corpus").join(target);
    let artifacts = root.join("fuzz/artifacts").join(target);
    for directory in [&corpus, &artifacts] {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create `{}`", directory.display()))?;
    }
    let log = artifacts.join("last.log");
    let bytes = if DOCUMENTS.contains(&target) { DOCUMENT_BYTES } else { INPUT_BYTES };
    let own = root.join("fuzz/seeds").join(target);
    let mut command = Command::new(program(root, triple, target));
    command
        .arg(format!("-max_total_time={}", arguments.seconds))
        .arg(format!("-dict={}", root.join("fuzz").join(dictionary(target)).display()))
        .arg(format!("-max_len={bytes}"))
        .arg(format!("-timeout={INPUT_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_MB}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .arg("-print_final_stats=1")
        .args(&arguments.options)
        .arg(&corpus)
        .args((!OWN.contains(&target)).then(|| seeds(root)))
        .args(own.is_dir().then_some(own))
        .stderr(fs::File::create(&log).context("cannot write the log of the run")?);
    let status = command.status().with_context(|| format!("cannot start `{target}`"))?;
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if !status.success() {
        bail!("it broke; make the input a case of the corpus\n{}", last_words(&text));
    }
    let coverage = covered(&text).unwrap_or(0);
    ensure!(
        coverage >= LEAST_COVERAGE,
        "`{target}` covered {coverage} edges; the flags in fuzz/.cargo/config.toml did not reach it"
    );
    executed(&text).with_context(|| format!("`{target}` did not say how much it executed"))
}

fn program(root: &Path, triple: &str, target: &str) -> PathBuf {
    root.join("fuzz/target").join(triple).join("release").join(target)
}

/// Where the inputs are that every target begins with.
fn seeds(root: &Path) -> PathBuf {
    root.join("fuzz/corpus/seeds")
}

/// How many edges the last line of progress counts.
fn covered(log: &str) -> Option<u64> {
    let count = log.rsplit_once(" cov: ")?.1.split_whitespace().next()?;
    count.parse().ok()
}

/// What a target that broke said about it: the panic, the verdict and the input.
fn last_words(log: &str) -> String {
    let told = ["panicked at", "ERROR: ", "SUMMARY: ", "Test unit written to", "Base64: "];
    let mut words = Vec::new();
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        if told.iter().any(|sign| line.contains(sign)) {
            words.push(line);
        }
        if line.contains("panicked at") {
            words.extend(std::iter::from_fn(|| lines.next_if(|line| !line.starts_with("stack "))));
        }
    }
    words.join("\n")
}

/// The count of executions in the final figures of libFuzzer.
fn executed(log: &str) -> Option<u64> {
    let line = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_target_says_what_and_where() {
        let log = "#2 INITED cov: 5\nthread '<unnamed>' panicked at targets/fold.rs:9:5:\nleft: 1\n\
                   stack backtrace:\n   0: main\n==7== ERROR: libFuzzer: deadly signal\nBase64: MDw=\n";
        let want = "thread '<unnamed>' panicked at targets/fold.rs:9:5:\nleft: 1\n\
                    ==7== ERROR: libFuzzer: deadly signal\nBase64: MDw=";
        assert_eq!(last_words(log), want);
    }

    #[test]
    fn the_final_figures_are_read() {
        let log =
            "Done 12 runs\nstat::number_of_executed_units: 1572864\nstat::new_units_added: 3\n";
        assert_eq!(executed(log), Some(1_572_864));
        assert_eq!(executed("Done 12 runs\n"), None);
        let log = "#1\tINITED cov: 5 ft: 6\n#99\tDONE   cov: 4321 ft: 9876 corp: 1/1b\n";
        assert_eq!(covered(log), Some(4321));
    }
}
