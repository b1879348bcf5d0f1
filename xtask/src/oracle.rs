//! The effect oracle: what commands that are judged read-only really do.
//!
//! The examples of the catalog, the corpus of everyday commands where it is at hand, and
//! variations of both (`vary.rs`) are judged; what the engine calls read-only runs in a throw-away
//! sandbox under strace (`sandbox.rs`). A write, a deletion, a connection or a program that no act
//! names and no entry of `xtask/data/soft.toml` documents (`table.rs`) is a fault: of the catalog
//! or of a reader. A fault is shrunk by dropping words.

mod effects;
mod sandbox;
mod summary;
mod table;
mod trace;
mod values;
mod vary;

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use portcullis_engine::{Call, Lexical, Policy, Verdict, catalog, judge};
use serde::Deserialize;

use crate::chance::Chance;
use crate::checkout;

use effects::Seen;
use sandbox::{DIRECTORY, HOME, Observation, Sandbox};
use summary::{Fault, Summary};
use table::{Finding, Table};
use vary::{Seed, vary};

/// How many commands a run without `--count` and `--seconds` tries.
const SAMPLE: u64 = 1200;
/// How often a variation is tried until the engine calls one read-only.
const GUESSES: usize = 60;
/// Of so many variations of a slow program one is run.
const SLOW: usize = 20;
/// How often shrinking tries to drop something.
const TRIES: usize = 40;

/// After so many commands a long run says how far it is.
const PROGRESS: u64 = 1000;
/// How much more of what a command did is shown with its first fault.
const OTHERS: usize = 12;

/// What `cargo xtask oracle` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Runs this many commands.
    #[arg(long)]
    count: Option<u64>,
    /// Takes the variations that belong to this seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stops after this many seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// Shrinks and shows this many distinct faults.
    #[arg(long, default_value_t = 40)]
    show: usize,
    /// Runs this one command, if it is judged read-only, and shows all its effects.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Runs commands that hold this text, such as the name of a program.
    #[arg(long, value_name = "TEXT")]
    about: Option<String>,
}

/// Runs read-only commands and compares what they did with what the engine says.
///
/// # Errors
/// If a command had an effect that nothing names, or if no sandbox can be made.
pub fn run(arguments: &Arguments) -> Result<()> {
    sandbox::check_tools()?;
    let root = checkout::root();
    let course = Course {
        policy: Policy::builtin(),
        table: Table::read(&root)?,
        seed: arguments.seed,
        show: arguments.show,
        about: arguments.about.clone().unwrap_or_default(),
    };
    if let Some(text) = &arguments.only {
        return course.only(text);
    }
    let (seeds, mut summary) = course.seeds(&root)?;
    ensure!(!seeds.is_empty(), "no command is left to run");
    let sample = if arguments.seconds.is_some() { u64::MAX } else { SAMPLE };
    let count = arguments.count.unwrap_or(sample);
    let end = arguments.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    course.all(&seeds, count, end, &mut summary)?;
    let mut out = std::io::stdout().lock();
    summary.write(&mut out, arguments.seed)?;
    let faults = summary.faulty;
    ensure!(faults == 0, "{faults} of {} commands did what nothing names", summary.runs);
    Ok(())
}

/// One way of watching: how commands are judged and what is documented.
struct Course {
    policy: Policy,
    table: Table,
    seed: u64,
    show: usize,
    about: String,
}

/// One line of the corpus of everyday commands.
#[derive(Deserialize)]
struct Benign {
    command: String,
}

impl Course {
    fn judge(&self, text: &str) -> Verdict {
        let mut call = Call::bash(text, DIRECTORY);
        call.home = Some(HOME.to_owned());
        judge(&self.policy, &call, &Lexical)
    }

    /// The commands to begin with, and how many were left out.
    fn seeds(&self, root: &Path) -> Result<(Vec<Seed>, Summary)> {
        let mut texts: Vec<String> = catalog::programs()
            .iter()
            .flat_map(catalog::Program::read_only)
            .map(str::to_owned)
            .collect();
        if let Ok(corpus) = std::fs::read_to_string(root.join("../shared/corpora/benign.jsonl")) {
            for line in corpus.lines() {
                texts.push(serde_json::from_str::<Benign>(line)?.command);
            }
        }
        texts.retain(|text| text.contains(&self.about));
        let sandbox = Sandbox::new(0)?;
        let mut summary = Summary::default();
        let mut seeds = Vec::new();
        for text in texts {
            let verdict = self.judge(&text);
            if !verdict.is_read_only {
                summary.not_read_only += 1;
            } else if is_installed(&verdict, &sandbox) {
                seeds.push(Seed::new(&text, &verdict));
            } else {
                summary.not_installed += 1;
            }
        }
        Chance::split(self.seed, u64::MAX).shuffle(&mut seeds);
        Ok((seeds, summary))
    }

    /// The command of a number: the seeds take turns with variations until they are used up.
    fn command(&self, number: u64, seeds: &[Seed], sandbox: &Sandbox) -> Option<(String, Verdict)> {
        let place = usize::try_from(number / 2).unwrap_or(usize::MAX);
        if number.is_multiple_of(2)
            && let Some(seed) = seeds.get(place)
        {
            return Some((seed.text.clone(), self.judge(&seed.text)));
        }
        let mut chance = Chance::split(self.seed, number);
        (0..GUESSES).find_map(|_| {
            let text = vary(seeds, &mut chance);
            let verdict = self.judge(&text);
            let is_fit = verdict.is_read_only
                && text.contains(&self.about)
                && (!self.table.is_slow(&verdict) || chance.once_in(SLOW));
            (is_fit && is_installed(&verdict, sandbox)).then_some((text, verdict))
        })
    }

    /// Runs commands on every core until there are enough or the time is up.
    fn all(
        &self,
        seeds: &[Seed],
        count: u64,
        end: Option<Instant>,
        summary: &mut Summary,
    ) -> Result<()> {
        let shared = Mutex::new(std::mem::take(summary));
        let next = AtomicU64::new(0);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        std::thread::scope(|scope| {
            let workers: Vec<_> = (1..=cores)
                .map(|core| {
                    let (shared, next) = (&shared, &next);
                    scope.spawn(move || -> Result<()> {
                        let mut sandbox = Sandbox::new(core)?;
                        loop {
                            let number = next.fetch_add(1, Ordering::Relaxed);
                            if number >= count || end.is_some_and(|end| Instant::now() >= end) {
                                return Ok(());
                            }
                            self.one(number, seeds, &mut sandbox, shared)?;
                        }
                    })
                })
                .collect();
            for worker in workers {
                match worker.join() {
                    Ok(done) => done?,
                    Err(_) => bail!("a worker broke off"),
                }
            }
            Ok(())
        })?;
        *summary = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(())
    }

    fn one(
        &self,
        number: u64,
        seeds: &[Seed],
        sandbox: &mut Sandbox,
        summary: &Mutex<Summary>,
    ) -> Result<()> {
        let lock = || summary.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((text, verdict)) = self.command(number, seeds, sandbox) else {
            lock().not_guessed += 1;
            return Ok(());
        };
        let has_input = number % 4 < 2;
        let observation = sandbox.run(&text, has_input)?;
        let hard = self.hard(&observation, &verdict);
        let is_new = {
            let mut summary = lock();
            summary.count(&text, &observation, &verdict, &self.table);
            summary.faulty += u64::from(!hard.is_empty());
            if summary.runs.is_multiple_of(PROGRESS) {
                writeln!(
                    std::io::stdout(),
                    "{} commands, {} faulty",
                    summary.runs,
                    summary.faulty
                )?;
            }
            match hard.first() {
                Some(first) => summary.is_new(first) && summary.faults.len() < self.show,
                None => false,
            }
        };
        if is_new && let Some(first) = hard.first() {
            let text = self.shrink(&text, has_input, first, sandbox)?;
            let mut others: Vec<Seen> = Vec::new();
            for seen in hard.iter().skip(1) {
                let is_known = |known: &Seen| known.kind == seen.kind && known.what == seen.what;
                if !is_known(first) && !others.iter().any(is_known) {
                    others.push(seen.clone());
                }
            }
            others.truncate(OTHERS);
            let fault = Fault { number, text, seen: first.clone(), others };
            let mut out = std::io::stdout().lock();
            fault.write(&mut out)?;
            lock().faults.push(fault);
        }
        Ok(())
    }

    /// The effects that nothing explains.
    fn hard(&self, observation: &Observation, verdict: &Verdict) -> Vec<Seen> {
        let is_hard = |seen: &&Seen| self.table.explain(seen, verdict) == Finding::Hard;
        observation.seen.iter().filter(is_hard).cloned().collect()
    }

    /// The command without the words that the fault does not need.
    fn shrink(
        &self,
        text: &str,
        has_input: bool,
        fault: &Seen,
        sandbox: &mut Sandbox,
    ) -> Result<String> {
        let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let (mut place, mut tries) = (0, 0);
        while place < words.len() && tries < TRIES {
            let mut fewer = words.clone();
            fewer.remove(place);
            let shorter = fewer.join(" ");
            let verdict = self.judge(&shorter);
            let mut is_same = false;
            if verdict.is_read_only {
                tries += 1;
                let observation = sandbox.run(&shorter, has_input)?;
                is_same = self.hard(&observation, &verdict).iter().any(|seen| seen.is_like(fault));
            }
            if is_same {
                words = fewer;
            } else {
                place += 1;
            }
        }
        Ok(words.join(" "))
    }

    /// Runs one command and shows what it did.
    fn only(&self, text: &str) -> Result<()> {
        let verdict = self.judge(text);
        let mut out = std::io::stdout().lock();
        for reason in &verdict.reasons {
            writeln!(out, "{}: {}", reason.code, reason.message)?;
        }
        ensure!(verdict.is_read_only, "`{text}` is not judged read-only; it is not run");
        let observation = Sandbox::new(0)?.run(text, true)?;
        writeln!(out, "{} calls, status {:?}", observation.calls, observation.status)?;
        for seen in &observation.seen {
            let finding = match self.table.explain(seen, &verdict) {
                Finding::Named => "named".to_owned(),
                Finding::Soft(reason) => format!("soft, {reason}"),
                Finding::Hard => "HARD".to_owned(),
            };
            writeln!(out, "{} {}: {finding}\n    {}", seen.kind.name(), seen.what, seen.line)?;
        }
        let hard = self.hard(&observation, &verdict).len();
        ensure!(hard == 0, "{hard} effects that nothing names");
        Ok(())
    }
}

/// Whether every program of the acts can be found in the sandbox.
fn is_installed(verdict: &Verdict, sandbox: &Sandbox) -> bool {
    verdict.acts.iter().all(|judged| {
        let act = &judged.act;
        let names = act.program().into_iter().chain(act.via.iter().copied());
        names.into_iter().all(|name| {
            catalog::find(name).is_some_and(|program| program.is_builtin)
                || sandbox.has_program(name)
        })
    })
}
