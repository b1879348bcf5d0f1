//! The tests against one mutant after the other.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::ends::{End, Ended};
use super::run::{Ran, Run, spent};
use super::tree::Tree;

/// Tests may take this long, or this many times what they take without a mutant.
const LEAST: Duration = Duration::from_secs(2);
const TIMES: u32 = 4;

/// Slower tests than this are not run for each mutant: what only they notice counts as missed.
const SLOW: Duration = Duration::from_secs(6);

/// What it takes to start a program.
const START: Duration = Duration::from_millis(20);

/// Quicker tests than this run together.
const QUICK: Duration = Duration::from_millis(200);

/// What takes less is tried with every mutant before anything else is.
const CHEAP: Duration = Duration::from_millis(600);

/// How many rows of a table are tried before the others.
const FIRST: usize = 24;

/// What only so few rows reach may be reached once for all of them: then all are tried.
const SEVERAL: usize = 3;

/// One test, with what it takes and reaches without a mutant.
struct Test {
    /// Its program, by its place.
    program: usize,
    name: String,
    took: Duration,
    /// The places whose switch it asks, with those of its rows that come there.
    reached: BTreeMap<u32, Vec<usize>>,
    /// The names of its rows, where it tells them.
    rows: Vec<String>,
}

impl Test {
    /// A test by what it noted: names of rows, and the numbers of the places reached in each.
    fn new(program: usize, name: String, took: Duration, note: &str) -> Test {
        let (mut reached, mut rows) = (BTreeMap::<u32, Vec<usize>>::new(), Vec::new());
        for line in note.lines() {
            match line.parse() {
                Ok(place) => {
                    let of_place = reached.entry(place).or_default();
                    of_place.extend(rows.len().checked_sub(1));
                }
                Err(_) => rows.push(line.to_owned()),
            }
        }
        Test { program, name, took, reached, rows }
    }

    /// Some of the rows, as the test wants them named.
    fn named(&self, rows: &[usize]) -> String {
        let mut tables: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for row in rows.iter().filter_map(|row| self.rows.get(*row)) {
            let (table, row) = row.split_once(':').unwrap_or((row, ""));
            tables.entry(table).or_default().push(row);
        }
        let named = tables.into_iter().map(|(table, rows)| [table, ":", &rows.join(",")].concat());
        named.collect::<Vec<_>>().join(" ")
    }
}

/// Tests of one program that run together.
#[derive(Default)]
struct Portion<'a> {
    name: String,
    program: usize,
    tests: Vec<&'a str>,
    took: Duration,
    /// The rows of its test that are tried; all if none is named.
    rows: String,
}

/// A mutant to try: its number, and the place where its switch stands.
#[derive(Clone, Copy)]
pub struct Switch {
    /// The number that chooses it.
    pub number: u32,
    /// The number of the place.
    pub place: u32,
}

/// The tests of one package.
pub struct Trial {
    directory: PathBuf,
    programs: Vec<(String, PathBuf)>,
    tests: Vec<Test>,
    left_out: Vec<String>,
    /// Of tests with rows only those of these tables count, if any is named.
    tables: Vec<String>,
    luck: Mutex<BTreeMap<String, Luck>>,
}

/// How often tests were tried against a mutant, and how often they noticed.
#[derive(Clone, Copy, Default)]
struct Luck {
    tried: u32,
    noticed: u32,
}

impl Luck {
    /// What it costs to notice something with tests that take so long.
    fn price(self, took: Duration) -> Duration {
        // Nobody's luck is known before the first try.
        (took + START) * (self.tried + 2) / (self.noticed + 1)
    }
}

impl Trial {
    /// Runs every test without a mutant, takes its time and notes which switches it asks; one that
    /// fails or is slow is left out.
    pub fn of(
        tree: &Tree,
        programs: &[(String, PathBuf)],
        wanted: &[String],
    ) -> anyhow::Result<Trial> {
        let directory = tree.directory();
        let tables = wanted.iter().filter_map(|name| Some(name.split_once(':')?.1.to_owned()));
        let programs = programs.to_vec();
        let (mut tests, mut left_out) = (Vec::new(), Vec::new());
        let note = directory.join("reached");
        for (at, (program, path)) in programs.iter().enumerate() {
            for name in names(path, &directory)? {
                let run = |limit: Duration, reached: Option<PathBuf>| {
                    let (directory, tests) = (&directory, &[&*name][..]);
                    let run = Run {
                        program: path,
                        directory,
                        tests,
                        rows: "",
                        number: 0,
                        limit,
                        reached,
                    };
                    run.run()
                };
                let began = spent();
                let ran = run(SLOW, None)?;
                let took = spent().saturating_sub(began);
                match ran {
                    Ran::Failed => {
                        left_out.push(format!("fails without a mutant: {program} {name}"));
                    }
                    Ran::Endless => left_out.push(format!("too slow: {program} {name}")),
                    Ran::Passed => {
                        fs::write(&note, "")?;
                        // To note what is reached takes longer than the test.
                        if run(SLOW * 4, Some(note.clone()))? == Ran::Passed {
                            tests.push(Test::new(at, name, took, &fs::read_to_string(&note)?));
                        } else {
                            left_out.push(format!("too slow with notes: {program} {name}"));
                        }
                    }
                }
            }
        }
        let (tables, luck) = (tables.collect(), Mutex::default());
        Ok(Trial { directory, programs, tests, left_out, tables, luck })
    }

    /// How many tests there are, and how long they take without a mutant.
    pub fn told(&self) -> String {
        let took: Duration = self.tests.iter().map(|test| test.took).sum();
        let count = self.tests.len();
        let mut text = format!("{count} tests, {:.1} s without a mutant", took.as_secs_f64());
        for test in &self.left_out {
            text += "\nleft out, ";
            text += test;
        }
        text
    }

    /// Tries each mutant, several at once, until the time is over, and hands on each end: first
    /// with what is cheap, and with everything else what that did not notice.
    pub fn all(
        &self,
        wanted: &[Switch],
        jobs: usize,
        until: Option<Instant>,
        ended: impl Fn(Switch, Ended) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        let mut wanted = wanted.to_vec();
        for is_cheap in [true, false] {
            let next = AtomicUsize::new(0);
            let left: Mutex<Vec<Switch>> = Mutex::default();
            let work = || -> anyhow::Result<()> {
                while until.is_none_or(|until| Instant::now() < until)
                    && let Some(switch) = wanted.get(next.fetch_add(1, Ordering::Relaxed)).copied()
                {
                    match self.one(switch, is_cheap)? {
                        Some(end) => ended(switch, end)?,
                        None => left.lock().unwrap_or_else(PoisonError::into_inner).push(switch),
                    }
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
            wanted = left.into_inner().unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }

    /// What becomes of a mutant that was built alone.
    pub fn alone(&self, programs: &[(String, PathBuf)]) -> anyhow::Result<Ended> {
        self.end(&self.portions(None), programs, 0)
    }

    /// What becomes of a mutant with cheap tests, or with the others; nothing if the cheap ones do
    /// not tell. Only tests that ask a switch can notice what stands behind it.
    fn one(&self, switch: Switch, is_cheap: bool) -> anyhow::Result<Option<Ended>> {
        let all = self.portions(Some(switch.place));
        if all.is_empty() {
            let by = "no test comes there".to_owned();
            return Ok(Some(Ended { end: End::Missed, by }));
        }
        let is_last = !is_cheap || all.iter().all(|portion| portion.took < CHEAP);
        let now = all.into_iter().filter(|portion| (portion.took < CHEAP) == is_cheap);
        let now: Vec<Portion<'_>> = now.collect();
        let ended = self.end(&now, &self.programs, switch.number)?;
        Ok(Some(ended).filter(|ended| is_last || ended.end != End::Missed))
    }

    /// The tests that come to a place, those first that notice most for their time.
    fn portions(&self, place: Option<u32>) -> Vec<Portion<'_>> {
        let name = |program: usize| self.programs.get(program).map_or("", |(name, _)| name);
        let mut portions: BTreeMap<String, Portion<'_>> = BTreeMap::new();
        for test in &self.tests {
            let rows = match place.map(|place| test.reached.get(&place)) {
                None => &[][..],
                Some(None) => continue,
                Some(Some(rows)) => rows,
            };
            let is_wanted = |row: &usize| {
                let table = test.rows.get(*row).and_then(|row| row.split(':').next());
                table.is_some_and(|table| self.tables.iter().any(|wanted| wanted == table))
            };
            if !self.tables.is_empty() && !test.rows.is_empty() {
                let rows: Vec<usize> = rows.iter().copied().filter(is_wanted).collect();
                if !rows.is_empty() {
                    let name = [name(test.program), " ", &test.name, " (named)"].concat();
                    portions.insert(
                        name.clone(),
                        Portion {
                            name,
                            program: test.program,
                            tests: vec![&test.name],
                            took: QUICK,
                            rows: test.named(&rows),
                        },
                    );
                }
                continue;
            }
            let program = name(test.program);
            let alone = [program, " ", &test.name].concat();
            let key = if test.took < QUICK { program } else { &alone };
            let mut add = |key: &str, took: Duration, rows: String| {
                let portion = portions.entry(key.to_owned()).or_insert_with(|| Portion {
                    name: key.to_owned(),
                    program: test.program,
                    rows,
                    ..Portion::default()
                });
                portion.tests.push(&test.name);
                portion.took += took;
            };
            if rows.len() <= SEVERAL {
                add(key, test.took, String::new());
                continue;
            }
            // A few from everywhere, then the others.
            let step = rows.len().div_ceil(FIRST);
            let of = |is_first: bool| -> Vec<usize> {
                let each = rows.iter().enumerate();
                each.filter(|(at, _)| (at % step == 0) == is_first).map(|(_, row)| *row).collect()
            };
            for (rows, key) in [(of(true), [&alone, " (few)"]), (of(false), [&alone, " (others)"])]
            {
                let share = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).max(1);
                let took = test.took * share(rows.len()) / share(test.rows.len());
                if !rows.is_empty() {
                    add(&key.concat(), took, test.named(&rows));
                }
            }
        }
        let mut portions: Vec<Portion<'_>> = portions.into_values().collect();
        let luck = self.luck.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |portion: &Portion<'_>| luck.get(&portion.name).copied().unwrap_or_default();
        portions.sort_by_cached_key(|portion| of(portion).price(portion.took));
        portions
    }

    /// Runs tests until one notices.
    fn end(
        &self,
        portions: &[Portion<'_>],
        programs: &[(String, PathBuf)],
        number: u32,
    ) -> anyhow::Result<Ended> {
        for portion in portions {
            let name = self.programs.get(portion.program).map_or("", |(name, _)| name.as_str());
            let program = programs.iter().find(|(known, _)| known == name);
            let (_, program) = program.context("a test program is missing")?;
            let run = Run {
                program,
                directory: &self.directory,
                tests: &portion.tests,
                number,
                limit: LEAST.max(portion.took * TIMES),
                rows: &portion.rows,
                reached: None,
            };
            let ran = run.run()?;
            let mut luck = self.luck.lock().unwrap_or_else(PoisonError::into_inner);
            let luck = luck.entry(portion.name.clone()).or_default();
            luck.tried += 1;
            let end = match ran {
                Ran::Passed => continue,
                Ran::Failed => End::Caught,
                Ran::Endless => End::Timeout,
            };
            luck.noticed += 1;
            return Ok(Ended { end, by: portion.name.clone() });
        }
        Ok(Ended { end: End::Missed, by: String::new() })
    }
}

/// The tests of a program by name.
fn names(program: &Path, directory: &Path) -> anyhow::Result<Vec<String>> {
    let mut command = Command::new(program);
    command.args(["--list", "--format", "terse"]).current_dir(directory);
    let listed = command.output().context("cannot list the tests")?;
    let said = String::from_utf8_lossy(&listed.stdout).into_owned();
    Ok(said.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}
