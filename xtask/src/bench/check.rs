//! `cargo xtask bench check`: `portcullis check` as a process, beside the least a process can
//! take, and the verdicts that `check --batch` gives in a second of CPU.
//!
//! The batch is every command of the corpora where they are at hand, else of the benchmarks' own
//! list, many times over; each line brings its policy, so that the disk is not what is measured.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::{Figures, binary, median};
use crate::checkout;

/// How often a process is started, and how often the batch is run.
const STARTS: usize = 300;
const BATCHES: usize = 5;

/// How many lines a batch has at least.
const LINES: usize = 60_000;

/// Where the corpora lie, beside the checkout.
const CORPORA: &[&str] = &["attacks.jsonl", "benign.jsonl", "traps.jsonl"];

/// Measures both.
pub fn run(figures: &mut Figures<'_>) -> anyhow::Result<()> {
    let program = binary()?;
    let place = std::env::temp_dir().join(format!("portcullis-bench-check-{}", std::process::id()));
    fs::create_dir_all(&place)?;
    let done = cold(&program, &place, figures).and_then(|()| batch(&program, &place, figures));
    fs::remove_dir_all(&place)?;
    done
}

/// One command from nothing, by `/bin/true`.
fn cold(program: &Path, home: &Path, figures: &mut Figures<'_>) -> anyhow::Result<()> {
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for round in 0..STARTS + 5 {
        let nothing = started(Path::new("/bin/true"), &[], home)?;
        let check = started(program, &["check", "git status"], home)?;
        // The first rounds fill caches.
        if round >= 5 {
            bare.push(nothing);
            ours.push(check);
        }
    }
    let (bare, ours) = (median(&mut bare).as_secs_f64(), median(&mut ours).as_secs_f64());
    figures.note("`/bin/true`, median of 300", &format!("{:.3} ms", bare * 1e3))?;
    figures.most("`check 'git status'` from nothing, by `/bin/true`", ours / bare, 6.0)
}

fn started(program: &Path, words: &[&str], home: &Path) -> anyhow::Result<Duration> {
    let mut command = Command::new(program);
    command.args(words).env_clear().env("HOME", home).current_dir(home);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status().context("cannot start it")?;
    let took = begun.elapsed();
    ensure!(status.success(), "`{}` ended with {status}", program.display());
    Ok(took)
}

fn batch(program: &Path, place: &Path, figures: &mut Figures<'_>) -> anyhow::Result<()> {
    let commands = commands()?;
    let rounds = LINES.div_ceil(commands.len());
    let file = place.join("batch.jsonl");
    let mut out = std::io::BufWriter::new(File::create(&file)?);
    for (at, command) in commands.iter().cycle().take(commands.len() * rounds).enumerate() {
        let line = json!({ "id": at, "tool": "Bash", "input": { "command": command },
            "cwd": "/home/dev/proj", "home": "/home/dev", "policy": { "mode": "default" } });
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    drop(out);
    let mut took = Vec::new();
    for _ in 0..BATCHES {
        let before = spent()?;
        let mut command = Command::new(program);
        command.args(["check", "--batch"]).env_clear().env("HOME", place).current_dir(place);
        let status = command
            .stdin(File::open(&file)?)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("cannot start it")?;
        ensure!(status.success(), "`check --batch` ended with {status}");
        took.push(spent()?.saturating_sub(before));
    }
    let lines = commands.len() * rounds;
    #[expect(clippy::cast_precision_loss, reason = "some ten thousand lines")]
    let a_second = lines as f64 / median(&mut took).as_secs_f64();
    let what = format!("`check --batch`, {lines} lines, verdicts in a second of CPU");
    figures.least(&what, a_second, 100_000.0)
}

/// The commands of the corpora, or of the benchmarks' list.
fn commands() -> anyhow::Result<Vec<String>> {
    let root = checkout::root();
    let mut commands = Vec::new();
    for name in CORPORA {
        let text = fs::read_to_string(root.join("../shared/corpora").join(name));
        for line in text.unwrap_or_default().lines() {
            let case: Value =
                serde_json::from_str(line).context("a line of a corpus is no JSON")?;
            commands.extend(case.get("command").and_then(Value::as_str).map(str::to_owned));
        }
    }
    if commands.is_empty() {
        let own = fs::read_to_string(root.join("benches/data/typical.txt"))?;
        commands.extend(own.lines().map(str::to_owned));
    }
    ensure!(!commands.is_empty(), "there are no commands to judge");
    Ok(commands)
}

/// The CPU time of all children that have ended, which the system counts in hundredths.
fn spent() -> anyhow::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name, in brackets, may hold blanks; user and system time of children are the 14th and
    // 15th field behind it.
    let (_, rest) = stat.rsplit_once(')').context("/proc/self/stat has another form")?;
    let ticks = rest.split_ascii_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.map(|text| text.parse::<u64>().unwrap_or_default()).sum();
    Ok(Duration::from_millis(ticks * 10))
}
