//! The tests against one mutant after the other.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::listing::Mutant;
use super::tree::Tree;

/// Tests may take this long, or this many times what they take without a mutant.
const LEAST: Duration = Duration::from_secs(20);
const TIMES: u32 = 8;

/// How long one test may take without a mutant.
const PATIENCE: Duration = Duration::from_mins(30);

/// Slower tests than this are not run for each mutant: what only they notice counts as missed.
const SLOW: Duration = Duration::from_secs(4);

/// Quicker tests than this run together.
const QUICK: Duration = Duration::from_millis(200);

/// How much memory a mutant may take.
const MEMORY_KB: u32 = 4_000_000;

/// How many cases of a law are tried for each mutant; a law that runs with the unit tests tries
/// thousands.
const CASES: &str = "100";

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It does not compile.
    Unviable,
    /// A test failed.
    Caught,
    /// A test did not end.
    Timeout,
    /// No test noticed.
    Missed,
}

impl End {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            End::Unviable => "unviable",
            End::Caught => "caught",
            End::Timeout => "timeout",
            End::Missed => "MISSED",
        }
    }
}

/// Tests of one program that run together.
struct Portion {
    program: String,
    tests: Vec<String>,
    took: Duration,
}

/// The tests of one package, the quickest first.
pub struct Trial {
    directory: PathBuf,
    programs: Vec<(String, PathBuf)>,
    portions: Vec<Portion>,
    left_out: Vec<String>,
}

impl Trial {
    /// Runs every test without a mutant and takes its time; one that fails or is slow is left out.
    pub fn of(tree: &Tree, programs: &[(String, PathBuf)]) -> anyhow::Result<Trial> {
        let directory = tree.directory();
        let mut trial = Trial {
            directory,
            programs: programs.to_vec(),
            portions: Vec::new(),
            left_out: Vec::new(),
        };
        for (name, program) in programs {
            let mut quick =
                Portion { program: name.clone(), tests: Vec::new(), took: Duration::ZERO };
            for test in trial.tests(program)? {
                let began = Instant::now();
                let end = trial.run(program, std::slice::from_ref(&test), 0, PATIENCE)?;
                let took = began.elapsed();
                if end.is_some() {
                    trial.left_out.push(format!("fails without a mutant: {name} {test}"));
                } else if took > SLOW {
                    trial.left_out.push(format!("too slow: {name} {test}"));
                } else if took < QUICK {
                    quick.tests.push(test);
                    quick.took += took;
                } else {
                    let program = name.clone();
                    trial.portions.push(Portion { program, tests: vec![test], took });
                }
            }
            trial.portions.push(quick);
        }
        trial.portions.retain(|portion| !portion.tests.is_empty());
        trial.portions.sort_by_key(|portion| portion.took);
        Ok(trial)
    }

    /// The tests of a program by name.
    fn tests(&self, program: &Path) -> anyhow::Result<Vec<String>> {
        let mut command = Command::new(program);
        command.args(["--list", "--format", "terse"]).current_dir(&self.directory);
        let listed = command.output().context("cannot list the tests")?;
        let said = String::from_utf8_lossy(&listed.stdout).into_owned();
        Ok(said.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    /// How many tests there are, and how long they take without a mutant.
    pub fn told(&self) -> String {
        let tests: usize = self.portions.iter().map(|portion| portion.tests.len()).sum();
        let took: Duration = self.portions.iter().map(|portion| portion.took).sum();
        let mut text = format!("{tests} tests, {:.1} s without a mutant", took.as_secs_f64());
        for test in &self.left_out {
            text += "\nleft out, ";
            text += test;
        }
        text
    }

    /// Tries each mutant that is behind a switch, several at once; the others are unviable.
    pub fn all(
        &self,
        mutants: &[&Mutant],
        switched: &BTreeSet<usize>,
        jobs: usize,
        out: &mut (impl Write + Send),
    ) -> anyhow::Result<Vec<End>> {
        let wanted: Vec<usize> = switched.iter().copied().collect();
        let next = AtomicUsize::new(0);
        let ends = Mutex::new(vec![End::Unviable; mutants.len()]);
        let shown = Mutex::new(out);
        let work = || -> anyhow::Result<()> {
            while let Some(at) = wanted.get(next.fetch_add(1, Ordering::Relaxed)).copied() {
                let end = self.one(at + 1)?;
                if let Some(place) = ends.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at)
                {
                    *place = end;
                }
                let name = mutants.get(at).map_or("", |mutant| mutant.name.as_str());
                let mut out = shown.lock().unwrap_or_else(PoisonError::into_inner);
                writeln!(out, "{} {name}", end.name())?;
            }
            Ok(())
        };
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                worker.join().map_err(|_| anyhow::anyhow!("a worker broke off"))??;
            }
            Ok(())
        })?;
        Ok(ends.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// What becomes of a mutant that was built alone.
    pub fn alone(&self, programs: &[(String, PathBuf)]) -> anyhow::Result<End> {
        self.portions_of(programs, 0)
    }

    fn one(&self, number: usize) -> anyhow::Result<End> {
        self.portions_of(&self.programs, number)
    }

    fn portions_of(&self, programs: &[(String, PathBuf)], number: usize) -> anyhow::Result<End> {
        for portion in &self.portions {
            let program = programs.iter().find(|(name, _)| *name == portion.program);
            let (_, program) = program.context("a test program is missing")?;
            let limit = LEAST.max(portion.took * TIMES);
            if let Some(end) = self.run(program, &portion.tests, number, limit)? {
                return Ok(end);
            }
        }
        Ok(End::Missed)
    }

    /// Runs tests with the mutant of this number; nothing if all of them pass.
    fn run(
        &self,
        program: &Path,
        tests: &[String],
        number: usize,
        limit: Duration,
    ) -> anyhow::Result<Option<End>> {
        let mut child = Command::new("nice")
            .args([
                "-n",
                "10",
                "sh",
                "-c",
                &format!("ulimit -v {MEMORY_KB}; ulimit -c 0; exec \"$@\""),
                "sh",
            ])
            .arg(program)
            .arg("--exact")
            .args(tests)
            .current_dir(&self.directory)
            .env("PORTCULLIS_MUTANT", number.to_string())
            .env("PORTCULLIS_CASES", CASES)
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .env("RUST_TEST_THREADS", "1")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the tests")?;
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok((!status.success()).then_some(End::Caught));
            }
            if began.elapsed() > limit {
                child.kill().ok();
                child.wait().ok();
                return Ok(Some(End::Timeout));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
