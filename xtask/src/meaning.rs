//! The meaning differential: what a shell really runs, against what the tree of the text names.
//!
//! Harmless texts are grown from a seed (`grow.rs`) and run in a real shell where every program is
//! a recorder (`sandbox.rs`). Then every program that ran must be one that the tree names, with
//! the words the tree claims, and every file written must be the target of a redirection
//! (`compare.rs`). Nothing may run that the tree did not name; texts that the reader refuses are
//! counted by the kind of refusal. A fault is shrunk to the shortest text that shows it.

mod compare;
mod descriptors;
mod fields;
mod grow;
mod naming;
mod record;
mod sandbox;
mod shrink;
mod summary;

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use portcullis_shell::{Dialect, Reader, RefusalKind};

use crate::chance::Chance;
use crate::differential::oracle::{Answer, Oracle, Shell};

use compare::{Comparison, FaultKind, compare, describe};
use sandbox::{Observation, Sandbox, locate};
use summary::{Shown, Summary};

/// How many texts a run without `--count` and `--seconds` tries.
const SAMPLE: u64 = 6000;

/// How many distinct faults are shrunk and shown; the rest are only counted.
const SHOWN: usize = 60;

/// How often shrinking tries to take something away.
const TRIES: usize = 600;

/// What `cargo xtask meaning` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Stops after this many seconds.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Tries this many texts.
    #[arg(long)]
    pub count: Option<u64>,
    /// Grows the texts that belong to this seed.
    #[arg(long, default_value_t = 2)]
    pub seed: u64,
    /// The shell to compare with: `bash`, `sh` (dash) or `zsh`.
    #[arg(long, default_value = "bash")]
    pub dialect: String,
    /// Shows everything about the one text of this number.
    #[arg(long)]
    pub only: Option<u64>,
}

/// Runs grown texts and compares what they did with what the reader says.
///
/// # Errors
/// If anything ran or was written that the tree does not account for, or if no sandbox can be
/// made.
pub fn run(arguments: Arguments) -> Result<()> {
    let Arguments { seconds, count, seed, dialect, only } = arguments;
    let Some(dialect) = Dialect::ALL.into_iter().find(|known| known.name() == dialect) else {
        bail!("unknown dialect `{dialect}`; use one of bash, sh, zsh");
    };
    let course = Course {
        reader: Reader::new(dialect),
        shell: locate(if dialect == Dialect::Sh { "dash" } else { dialect.name() }),
        seed,
    };
    ensure!(
        course.shell.is_file(),
        "no `{}` here; install it with `apt-get install {}`",
        course.shell.display(),
        dialect.name()
    );
    if let Some(number) = only {
        return course.show(number);
    }
    let count = count.unwrap_or(if seconds.is_some() { u64::MAX } else { SAMPLE });
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let summary = course.all(count, end)?;
    let mut out = std::io::stdout().lock();
    summary.write(&mut out, seed)?;
    let faults = summary.faults();
    ensure!(faults == 0, "the tree was wrong about {faults} of {} texts", summary.texts);
    Ok(())
}

/// One way of comparing: a reader, the shell it is compared with, and the seed of the texts.
struct Course {
    reader: Reader,
    shell: PathBuf,
    seed: u64,
}

impl Course {
    fn text(&self, number: u64) -> Vec<u8> {
        grow::grow(&mut Chance::split(self.seed, number), self.reader.dialect)
    }

    /// Compares texts on every core until there are enough or the time is up.
    fn all(&self, count: u64, end: Option<Instant>) -> Result<Summary> {
        let summary = Mutex::new(Summary::default());
        let next = AtomicU64::new(0);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..cores)
                .map(|core| {
                    let (summary, next) = (&summary, &next);
                    scope.spawn(move || -> Result<()> {
                        let mut sandbox = Sandbox::new(&self.shell, core)?;
                        loop {
                            let number = next.fetch_add(1, Ordering::Relaxed);
                            if number >= count || end.is_some_and(|end| Instant::now() >= end) {
                                return Ok(());
                            }
                            self.one(&mut sandbox, number, summary)?;
                        }
                    })
                })
                .collect();
            for worker in workers {
                match worker.join() {
                    Ok(done) => done?,
                    Err(_) => bail!("a worker broke off; run it again with `--only`"),
                }
            }
            Ok(())
        })?;
        Ok(summary.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn one(&self, sandbox: &mut Sandbox, number: u64, summary: &Mutex<Summary>) -> Result<()> {
        let text = self.text(number);
        let seen = sandbox.run(&text)?;
        let comparison = compare(&self.reader, &text, &seen);
        let rejects = self.rejects(&text, &seen, &comparison)?;
        let shown = {
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            summary.wall = Some(sandbox.wall());
            summary.count(number, &text, &seen, &comparison, rejects);
            summary.shown.len()
        };
        if let Some(fault) = comparison.faults.first()
            && shown < SHOWN
        {
            let short = self.shrink(sandbox, &text, fault.kind);
            let seen = sandbox.run(&short)?;
            let comparison = compare(&self.reader, &short, &seen);
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            summary.show(Shown::new(number, fault.kind, &short, &seen, &comparison));
        }
        Ok(())
    }

    /// Whether the shell refuses the text itself, not one that it ran later.
    ///
    /// A line may end the shell before it reads the next (`exec`, an error in a subscript), so of
    /// what we call an error it is asked without running anything.
    fn rejects(&self, text: &[u8], seen: &Observation, comparison: &Comparison) -> Result<bool> {
        let said = String::from_utf8_lossy(&seen.complaint);
        let complains = said.lines().any(|line| {
            let is_own = line.contains(" -c: line ") || line.contains(": Syntax error:");
            let phrases = ["yntax error", "unexpected", "expected `", "conditional"];
            is_own && phrases.iter().any(|phrase| line.contains(phrase))
        });
        let is_error = matches!(comparison.refused, Some((RefusalKind::Syntax, _)));
        if complains || !is_error {
            return Ok(complains);
        }
        let oracle = Oracle::new(&std::env::temp_dir(), "portcullis-meaning");
        let shell = match self.reader.dialect {
            Dialect::Bash => Shell::Bash,
            Dialect::Sh => Shell::Sh,
            Dialect::Zsh => Shell::Zsh,
        };
        Ok(oracle.ask(shell, text)? != Answer::Accepts)
    }

    /// The shortest text that shows a fault of the same kind.
    fn shrink(&self, sandbox: &mut Sandbox, text: &[u8], kind: FaultKind) -> Vec<u8> {
        let cause = |seen: &Observation, comparison: &Comparison| {
            seen.status.is_some() && comparison.faults.iter().any(|fault| fault.kind == kind)
        };
        shrink::shrink(text, TRIES, |shorter| {
            grow::is_harmless(shorter)
                && sandbox
                    .run(shorter)
                    .is_ok_and(|seen| cause(&seen, &compare(&self.reader, shorter, &seen)))
        })
    }

    /// Shows one text with all that is known about it.
    fn show(&self, number: u64) -> Result<()> {
        let text = self.text(number);
        let mut sandbox = Sandbox::new(&self.shell, 0)?;
        let seen = sandbox.run(&text)?;
        let comparison = compare(&self.reader, &text, &seen);
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}\n--- ran", String::from_utf8_lossy(&text))?;
        for record in &seen.records {
            writeln!(out, "{}", describe(record))?;
        }
        writeln!(out, "--- {:?} wrote {} files", seen.status, seen.written.len())?;
        writeln!(out, "{}", String::from_utf8_lossy(&seen.complaint))?;
        writeln!(out, "--- read\n{}", comparison.shape)?;
        writeln!(out, "--- {:?}\n{:?}", comparison.refused, comparison.faults)?;
        Ok(())
    }
}
