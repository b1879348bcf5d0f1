//! The acceptance differential: what we can read and what the shells can read is the same.
//!
//! Every text, collected on this machine, generated or mutated, is given to our reader and to
//! `bash -n`, `bash -O extglob -n`, `dash -n` and `zsh -n`, which never run it. A text that one
//! accepts and the other refuses is a failure unless `xtask/data/differences.toml` explains it;
//! so is a tree that breaks a [law](laws). Failures are made small before they are shown.

mod blind;
mod collect;
mod compare;
mod document;
mod explain;
mod generate;
mod laws;
mod minimise;
mod mutate;
pub mod oracle;
mod report;
mod structure;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::chance::Chance;
use collect::{Breadth, Source, Text};
use compare::{Comparer, Read, Relation};
use explain::Rules;
use oracle::Shell;
use report::Tally;

/// What `cargo xtask differential` takes.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Arguments {
    /// Compares everything: every collected text, then `--count` generated and mutated ones.
    #[arg(long)]
    pub long: bool,
    /// Stops after this many seconds; 60 unless the run is a long one.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Decides every generated and mutated text.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many texts to generate and mutate in a long run.
    #[arg(long)]
    pub count: Option<u64>,
    /// Leaves the collected texts out of a long run.
    #[arg(long)]
    pub made_only: bool,
    /// How many of the collected texts a long run compares, half of them whole scripts; all of
    /// them unless it is said.
    #[arg(long)]
    pub collected: Option<usize>,
    /// Compares with these shells only, and every text with each of them.
    #[arg(long, value_enum)]
    pub dialect: Vec<Shell>,
    /// How many unexplained failures to make small and show.
    #[arg(long, default_value_t = 30)]
    pub show: usize,
    /// More directories to collect from.
    #[arg(long)]
    pub root: Vec<PathBuf>,
    /// Recorded command lines: JSON objects, one on a line, with a `command`.
    #[arg(long)]
    pub corpus: Vec<PathBuf>,
    /// Compares this text only.
    #[arg(long)]
    pub text: Option<String>,
}

/// More workers would only wait for each other.
const WORKERS: usize = 2;

/// With its limits lifted the reader nests deeply.
const STACK: usize = 64 << 20;

/// How many texts are kept of failures that look alike.
const ALIKE: usize = 6;

/// How long failures are made small for, after everything was compared.
const MINIMISING: Duration = Duration::from_secs(90);

/// Compares, and fails if a difference is left unexplained.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let out = &mut std::io::stdout().lock();
    let rules = Arc::new(Rules::read(include_str!("../data/differences.toml"))?);
    let directory = Scratch::new()?;
    let shells =
        if arguments.dialect.is_empty() { Shell::ALL.to_vec() } else { arguments.dialect.clone() };
    for shell in &shells {
        shell.program().with_context(|| {
            format!("the shell for `{}` is not installed; install bash, dash and zsh", shell.name())
        })?;
    }
    if let Some(text) = &arguments.text {
        let comparer = Comparer::new(&directory.path, "text", rules);
        for shell in shells {
            let relation = comparer.compare(shell, text.as_bytes())?;
            writeln!(out, "{:8} {relation:?}", shell.name())?;
            if let Some(rule) = comparer.explain(shell, text.as_bytes(), &relation)? {
                writeln!(out, "{:8} explained: {rule}", "")?;
            }
        }
        return Ok(());
    }
    let began = Instant::now();
    let most = arguments.show;
    let plan = Plan::new(arguments, shells);
    writeln!(
        out,
        "{} collected texts in {} s, up to {} in all; seed {}",
        plan.collected.len(),
        began.elapsed().as_secs(),
        plan.jobs.len(),
        plan.seed
    )?;
    let (tally, failures) = compare_all(&plan, &directory.path, &rules)?;
    tally.print(out, &rules)?;
    show(out, most, &directory.path, &rules, failures)?;
    anyhow::ensure!(
        tally.unexplained() == 0,
        "{} differences are not explained; fix the reader, or list the reason in \
         xtask/data/differences.toml",
        tally.unexplained()
    );
    writeln!(out, "no unexplained differences after {} s", began.elapsed().as_secs())?;
    Ok(())
}

/// A directory for the texts that are asked about, gone after the run.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> anyhow::Result<Scratch> {
        // Memory is faster than a disk, where there is such a directory.
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = base.join(format!("portcullis-differential-{}", std::process::id()));
        fs::create_dir_all(&path).context("no directory for the texts")?;
        Ok(Scratch { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind is only a few small files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Which texts are compared, in which order.
struct Plan {
    collected: Vec<Text>,
    jobs: Vec<Job>,
    shells: Vec<Shell>,
    /// Whether `shells` were named, so that every text goes to each of them.
    named: bool,
    seed: u64,
    deadline: Option<Instant>,
}

#[derive(Clone, Copy)]
enum Job {
    Collected(usize),
    Generated(u64),
    Mutated(u64),
}

impl Plan {
    fn new(arguments: &Arguments, shells: Vec<Shell>) -> Plan {
        let seconds = arguments.seconds.or((!arguments.long).then_some(60));
        let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
        let breadth = if arguments.long { Breadth::Everything } else { Breadth::Sample };
        let collected = collect::collect(breadth, &arguments.root, &arguments.corpus);
        let count = arguments.count.unwrap_or(if arguments.long { 240_000 } else { 200_000 });
        let made = (0..count)
            .map(|index| if index % 2 == 0 { Job::Generated(index) } else { Job::Mutated(index) });
        let mut scripts: Vec<Job> = Vec::new();
        let mut others: Vec<Job> = Vec::new();
        for (index, text) in collected.iter().enumerate() {
            let is_script = matches!(text.source, Source::Script | Source::Corpus);
            if is_script { &mut scripts } else { &mut others }.push(Job::Collected(index));
        }
        let mut chance = Chance::new(arguments.seed);
        chance.shuffle(&mut scripts);
        chance.shuffle(&mut others);
        if let Some(most) = arguments.collected {
            scripts.truncate(most / 2);
            others.truncate(most - most / 2);
        }
        let jobs = if arguments.made_only {
            made.collect()
        } else if arguments.long {
            scripts.into_iter().chain(others).chain(made).collect()
        } else {
            // A run that stops early has seen something of everything.
            let mut scripts = scripts.into_iter();
            let mut others = others.into_iter();
            let mut jobs = Vec::new();
            for (index, job) in made.enumerate() {
                jobs.push(job);
                if index % 4 == 0 {
                    jobs.extend(others.next());
                    jobs.extend(scripts.next());
                }
            }
            jobs
        };
        let named = !arguments.dialect.is_empty();
        Plan { collected, jobs, shells, named, seed: arguments.seed, deadline }
    }

    fn text(&self, position: usize) -> Option<Text> {
        let extglob = position.is_multiple_of(6);
        match *self.jobs.get(position)? {
            Job::Collected(index) => self.collected.get(index).cloned(),
            Job::Generated(index) => Some(Text {
                bytes: generate::generate(Chance::split(self.seed, index), extglob),
                source: Source::Generated,
            }),
            Job::Mutated(index) => {
                let mut chance = Chance::split(self.seed, index);
                let [first, second] = [0, 1].map(|_| {
                    let known = chance.below(self.collected.len());
                    match self.collected.get(known) {
                        Some(text) if chance.percent(50) => text.bytes.clone(),
                        _ => generate::generate(Chance::new(chance.next()), extglob),
                    }
                });
                let bytes = mutate::mutate(&mut chance, &first, &second);
                Some(Text { bytes, source: Source::Mutated })
            }
        }
    }

    /// bash reads every text, the others read some.
    fn shells(&self, position: usize, text: &Text) -> impl Iterator<Item = Shell> {
        let extended = text
            .bytes
            .windows(2)
            .any(|pair| matches!(pair, [b'?' | b'*' | b'+' | b'@' | b'!', b'(']));
        let is_script = text.source == Source::Script;
        let share = Chance::split(self.seed, position as u64).below(4);
        self.shells.iter().copied().filter(move |shell| {
            self.named
                || match shell {
                    Shell::Bash => true,
                    Shell::Extglob => extended || share == 0,
                    Shell::Sh => is_script || share == 1,
                    Shell::Zsh => is_script || share == 2,
                }
        })
    }
}

/// One text that failed.
struct Failure {
    shell: Shell,
    source: Source,
    text: Vec<u8>,
    relation: Relation,
}

/// Failures that look alike, with how many there were.
type Failures = BTreeMap<String, (usize, Vec<Failure>)>;

fn compare_all(
    plan: &Plan,
    directory: &Path,
    rules: &Arc<Rules>,
) -> anyhow::Result<(Tally, Failures)> {
    let next = AtomicUsize::new(0);
    let seen: Mutex<HashSet<u64>> = Mutex::default();
    let failures: Mutex<Failures> = Mutex::default();
    let work = |worker: usize| -> anyhow::Result<Tally> {
        let comparer = Comparer::new(directory, &format!("text-{worker}"), Arc::clone(rules));
        let mut tally = Tally::default();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            if plan.deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Ok(tally);
            }
            let Some(text) = plan.text(position) else { return Ok(tally) };
            let mut hasher = DefaultHasher::new();
            text.bytes.hash(&mut hasher);
            if text.bytes.contains(&0) || !lock(&seen).insert(hasher.finish()) {
                continue;
            }
            for shell in plan.shells(position, &text) {
                let relation = comparer.compare(shell, &text.bytes)?;
                let Some(key) = relation.key() else {
                    tally.count(shell, text.source, &relation, None);
                    continue;
                };
                let explained = comparer.explain(shell, &text.bytes, &relation)?;
                tally.count(shell, text.source, &relation, explained);
                if explained.is_none() {
                    let mut failures = lock(&failures);
                    let (count, alike) =
                        failures.entry(format!("{}: {key}", shell.name())).or_default();
                    *count += 1;
                    // The shortest are the quickest to make small.
                    let (source, text) = (text.source, text.bytes.clone());
                    alike.push(Failure { shell, source, text, relation });
                    alike.sort_by_key(|failure| failure.text.len());
                    alike.truncate(ALIKE);
                }
            }
        }
    };
    let tally = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let work = &work;
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || work(worker))
            })
            .collect::<Result<_, _>>()?;
        let mut tally = Tally::default();
        for worker in workers {
            tally.add(worker.join().map_err(|_| anyhow::anyhow!("a worker panicked"))??);
        }
        anyhow::Ok(tally)
    })?;
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((tally, failures))
}

/// Makes failures small and prints each small text once.
fn show(
    out: &mut impl Write,
    most: usize,
    directory: &Path,
    rules: &Arc<Rules>,
    failures: Failures,
) -> anyhow::Result<()> {
    let comparer = Comparer::new(directory, "small", Arc::clone(rules)).remembering();
    let began = Instant::now();
    let mut shown: HashSet<Vec<u8>> = HashSet::new();
    let mut failures: Vec<_> = failures.into_iter().collect();
    failures.sort_by_key(|(_, (count, _))| Reverse(*count));
    for (alike, (count, failures)) in failures {
        writeln!(out, "\n{count} times {alike}")?;
        for failure in failures {
            if shown.len() >= most || began.elapsed() > MINIMISING {
                writeln!(out, "  as it was: `{}`", failure.text.escape_ascii())?;
                break;
            }
            let Some(key) = failure.relation.key() else { continue };
            let shell = failure.shell;
            let small = comparer.smallest(shell, &failure.text, &key)?;
            if !shown.insert(small.clone()) {
                continue;
            }
            let source = failure.source.name();
            writeln!(out, "  `{}` ({source})", small.escape_ascii())?;
            match comparer.compare(shell, &small)? {
                Relation::WeRefuse { message, span, .. } => {
                    writeln!(out, "    we say at {}..{}: {message}", span.start, span.end)?;
                }
                Relation::WeAccept { complaint } => {
                    writeln!(out, "    they say: {complaint}")?;
                    if let Read::Accepted(tree) = compare::read(shell, &small) {
                        writeln!(out, "    we read: {}", tree.shape().replace('\n', " "))?;
                    }
                }
                Relation::Unlawful { law } => writeln!(out, "    law: {law}")?,
                Relation::BothAccept | Relation::BothRefuse | Relation::Silent => {}
            }
        }
    }
    Ok(())
}

/// A poisoned lock only means that another worker failed; what it guards is still sound.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
