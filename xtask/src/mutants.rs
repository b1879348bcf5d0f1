//! `cargo xtask mutants`: changes the code in one place at a time and looks whether a test notices.
//!
//! cargo-mutants says which changes there are. Building each apart would take days here, so all of
//! them are built at once into a copy of the checkout (`switch.rs`), behind a variable that says
//! which one counts, and the tests of the package run once for each (`trial.rs`). To examine more
//! code, add a row to [`AREAS`]. What was tried is kept (`ends.rs`) and not tried again.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::checkout;
use ends::{End, Ended, Ends};
use listing::Mutant;
use tree::{Numbered, Tree};
use trial::{Switch, Trial};

mod ends;
mod listing;
mod run;
mod switch;
mod tree;
mod trial;

/// Where the ends are kept.
const KEPT: &str = "target/mutants/ends.tsv";

/// What `cargo xtask mutants` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Only mutant number k, k + n, … of each area: `0/4` to `3/4`.
    #[arg(long, value_name = "K/N")]
    shard: Option<String>,
    /// How many mutants are tried at once; the number of cores if not given.
    #[arg(long)]
    jobs: Option<usize>,
    /// Only mutants whose line in the list contains this.
    #[arg(long)]
    only: Option<String>,
    /// Try those again that no test noticed.
    #[arg(long)]
    again: bool,
    /// Build those alone that cannot stand behind a switch, which takes a build for each.
    #[arg(long)]
    alone: bool,
    /// Only these test programs; `lib` for the tests in the package's own text, `verdicts:corners`
    /// for the rows of one table.
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',')]
    tests: Vec<String>,
    /// Begin no further mutant after so many minutes.
    #[arg(long, value_name = "N")]
    minutes: Option<u64>,
    /// The areas to examine; all of them if none is named.
    #[arg(value_name = "AREA")]
    areas: Vec<String>,
}

/// Code that is examined, with the package whose tests must notice.
struct Area {
    name: &'static str,
    package: &'static str,
    /// Files, or directories with a final `/`, under the package's `src`.
    places: &'static [&'static str],
}

const ENGINE: &str = "engine";
const APPROVAL: &str = "approval";

#[rustfmt::skip]
const AREAS: &[Area] = &[
    Area { name: "settle",  package: APPROVAL, places: &["settle.rs", "decision.rs", "ask.rs", "approver.rs", "grant.rs"] },
    Area { name: "record",  package: APPROVAL, places: &["audit.rs", "verify.rs", "receipt.rs", "key.rs", "canonical.rs", "canonical/", "redact.rs", "moment.rs", "id.rs"] },
    Area { name: "ladder",  package: ENGINE,   places: &["judge.rs", "judge/", "mode.rs"] },
    Area { name: "rules",   package: ENGINE,   places: &["rule.rs", "rule/", "pattern/", "glob.rs", "policy/gates.rs", "policy/grants.rs"] },
    Area { name: "guards",  package: ENGINE,   places: &["guard.rs", "guard/", "sensitive.rs", "sensitive/", "environment.rs"] },
    Area { name: "peeling", package: ENGINE,   places: &["peel.rs", "reader/interpreter.rs", "reader/system.rs", "language/env.rs", "language/env/", "language/xargs.rs", "language/options.rs"] },
];

impl Area {
    fn holds(&self, file: &str) -> bool {
        let source = format!("crates/{}/src/", self.package);
        file.strip_prefix(&source).is_some_and(|path| {
            self.places
                .iter()
                .any(|place| path == *place || place.ends_with('/') && path.starts_with(place))
        })
    }
}

/// How many mutants of one area came to which end, or to none yet.
type Counts = BTreeMap<Option<End>, usize>;

/// Builds the mutants of each package once, tries those that were not tried yet, and counts all of
/// them by area.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = checkout::root();
    let areas = chosen(&arguments.areas)?;
    let shard = arguments.shard.as_deref().map_or(Ok((0, 1)), shard)?;
    let mut out = std::io::stdout();
    let began = Instant::now();
    let until = arguments.minutes.map(|minutes| began + Duration::from_mins(minutes));
    let mut ends = Ends::read(&root.join(KEPT))?;

    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut missed = Vec::new();
    for package in [APPROVAL, ENGINE] {
        let areas: Vec<&Area> =
            areas.iter().copied().filter(|area| area.package == package).collect();
        if areas.is_empty() {
            continue;
        }
        let listed = listing::list(&root, package, &mut out)?;
        let of_area = |area: &Area| {
            let numbered = (1..).zip(&listed);
            numbered.filter(|(_, mutant)| area.holds(&mutant.file)).collect::<Numbered<'_>>()
        };
        let all: Numbered<'_> = areas.iter().flat_map(|area| of_area(area)).collect();
        let wanted = areas.iter().flat_map(|area| {
            let each = of_area(area).into_keys().enumerate();
            each.filter(|(at, _)| at % shard.1 == shard.0).map(|(_, number)| number)
        });
        let is_named = |number: &u32| {
            let only = arguments.only.as_ref();
            let mutant = all.get(number);
            only.is_none_or(|only| mutant.is_some_and(|mutant| mutant.name.contains(only)))
        };
        let bench = Bench {
            package,
            mutants: &all,
            wanted: wanted.filter(is_named).collect(),
            again: arguments.again,
            alone: arguments.alone,
            tests: &arguments.tests,
            jobs: arguments.jobs.unwrap_or_else(cores).max(1),
            until,
        };
        bench.examine(&root, &mut ends, &mut out)?;
        let texts = tree::texts(&all)?;
        for area in areas {
            for mutant in of_area(area).into_values() {
                let text = texts.get(&mutant.file).map_or("", String::as_str);
                let ended = ends.of(mutant, text);
                let end = ended.map(|ended| ended.end);
                *counts.entry(area.name).or_default().entry(end).or_default() += 1;
                if let Some(ended) = ended.filter(|ended| ended.end == End::Missed) {
                    missed.push([&mutant.name, "  ", &ended.by].concat());
                }
            }
        }
    }
    for name in missed {
        writeln!(out, "{} {name}", End::Missed.name())?;
    }
    write!(out, "{}", table(&counts))?;
    writeln!(out, "{} s; every end is in {KEPT}", began.elapsed().as_secs())?;
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Area>> {
    let known: Vec<_> = AREAS.iter().map(|area| area.name).collect();
    for name in names {
        let is_known = known.contains(&name.as_str());
        ensure!(is_known, "no area `{name}`; the areas are {}", known.join(", "));
    }
    let is_chosen = |area: &&Area| names.is_empty() || names.iter().any(|name| name == area.name);
    Ok(AREAS.iter().filter(is_chosen).collect())
}

/// `k/n` as numbers.
fn shard(text: &str) -> anyhow::Result<(usize, usize)> {
    let number = |text: &str| text.parse::<usize>().ok();
    let parts = text.split_once('/').and_then(|(at, of)| Some((number(at)?, number(of)?)));
    let (at, of) = parts.with_context(|| format!("`{text}` is no shard; write `0/4`"))?;
    ensure!(at < of, "shard `{text}` does not exist; the last one is `{}/{of}`", of.max(1) - 1);
    Ok((at, of))
}

/// The mutants of one package, and what is wanted of them.
struct Bench<'a> {
    package: &'static str,
    mutants: &'a Numbered<'a>,
    wanted: Vec<u32>,
    again: bool,
    alone: bool,
    tests: &'a [String],
    jobs: usize,
    until: Option<Instant>,
}

impl Bench<'_> {
    /// Tries what is wanted and has no end yet, and keeps the ends.
    fn examine(
        &self,
        root: &Path,
        ends: &mut Ends,
        out: &mut (impl Write + Send),
    ) -> anyhow::Result<()> {
        let texts = tree::texts(self.mutants)?;
        let text = |mutant: &Mutant| texts.get(&mutant.file).map_or("", String::as_str);
        let end = |ends: &Ends, number: u32| {
            let mutant = self.mutants.get(&number)?;
            ends.of(mutant, text(mutant)).map(|ended| ended.end)
        };
        let is_due = |ends: &Ends, number: u32| match end(ends, number) {
            None => true,
            Some(End::Apart) => self.alone,
            Some(End::Missed) => self.again,
            Some(End::Unviable | End::Caught | End::Timeout) => false,
        };
        let is_over = || self.until.is_some_and(|until| Instant::now() >= until);
        let mut due = self.wanted.iter().filter(|number| is_due(ends, **number));
        if due.next().is_none() || is_over() {
            return Ok(());
        }

        let viable = self.mutants.iter().map(|(number, mutant)| (*number, *mutant));
        let is_out = |number| matches!(end(ends, number), Some(End::Unviable | End::Apart));
        let viable: Numbered<'_> = viable.filter(|(number, _)| !is_out(*number)).collect();
        let tree = Tree::copy(root, self.package, self.mutants, self.tests)?;
        let built = tree.build(&viable, out)?;
        for (number, mutant) in &viable {
            let end = match built.apart.contains(number) {
                _ if built.switched.contains_key(number) => continue,
                true => End::Apart,
                false => End::Unviable,
            };
            ends.keep(mutant, text(mutant), Ended { end, by: String::new() })?;
        }
        let trial = Trial::of(&tree, &built.programs, self.tests)?;
        writeln!(out, "{}", trial.told())?;
        let due = self.wanted.iter().copied().filter(|number| is_due(ends, *number));
        let mut due: Vec<u32> = due.collect();
        // From everywhere, so that what was tried is a sample if the time ends first.
        due.sort_by_key(|number| number.wrapping_mul(0x9E37_79B9));
        writeln!(out, "{}: {} of {} to try", self.package, due.len(), self.mutants.len())?;

        let kept = Mutex::new((ends, out));
        let keep = |number: u32, ended: Ended| -> anyhow::Result<()> {
            let mutant = self.mutants.get(&number).context("no such mutant")?;
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            writeln!(kept.1, "{} {}  {}", ended.end.name(), mutant.name, ended.by)?;
            kept.0.keep(mutant, text(mutant), ended)
        };
        let switches: Vec<Switch> = due
            .iter()
            .filter_map(|number| {
                built.switched.get(number).map(|place| Switch { number: *number, place: *place })
            })
            .collect();
        // What a part of the rows does not notice another one may.
        let is_partial = self.tests.iter().any(|name| name.contains(':'));
        trial.all(&switches, self.jobs, self.until, |switch, ended| {
            let is_told = !is_partial || ended.end != End::Missed;
            if is_told { keep(switch.number, ended) } else { Ok(()) }
        })?;
        for number in due.into_iter().filter(|number| !built.switched.contains_key(number)) {
            let Some(mutant) = self.mutants.get(&number).filter(|_| !is_over()) else { break };
            let ended = match tree.build_alone(mutant)? {
                Some(programs) => trial.alone(&programs)?,
                None => Ended { end: End::Unviable, by: "alone".to_owned() },
            };
            keep(number, ended)?;
        }
        Ok(())
    }
}

/// The counts of every area, and the share of those that were noticed.
fn table(counts: &BTreeMap<&str, Counts>) -> String {
    let head = ["mutants", "unviable", "alone", "left", "caught", "timeout", "missed", "noticed"];
    let mut lines = vec![row("area", &head.map(str::to_owned))];
    let mut sum = Counts::new();
    for counts in counts.values() {
        for (end, count) in counts {
            *sum.entry(*end).or_default() += count;
        }
    }
    for (area, counts) in counts.iter().map(|(area, counts)| (*area, counts)).chain([("", &sum)]) {
        let of = |end| counts.get(&end).copied().unwrap_or(0);
        let noticed = of(Some(End::Caught)) + of(Some(End::Timeout));
        let tried = noticed + of(Some(End::Missed));
        let per_mille = (noticed * 1000).checked_div(tried).unwrap_or(1000);
        let counted = [
            counts.values().sum(),
            of(Some(End::Unviable)),
            of(Some(End::Apart)),
            of(None),
            of(Some(End::Caught)),
            of(Some(End::Timeout)),
            of(Some(End::Missed)),
        ];
        let mut cells: Vec<String> = counted.iter().map(ToString::to_string).collect();
        cells.push(format!("{}.{} %", per_mille / 10, per_mille % 10));
        lines.push(row(area, &cells));
    }
    lines.concat()
}

fn row(name: &str, cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>10}")).collect();
    format!("{name:<9}{}\n", cells.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_holds_its_files_and_directories() {
        let ladder = AREAS.iter().find(|area| area.name == "ladder").unwrap();
        assert!(ladder.holds("crates/engine/src/judge.rs"));
        assert!(ladder.holds("crates/engine/src/judge/ladder.rs"));
        assert!(!ladder.holds("crates/engine/src/judges.rs"));
        assert!(!ladder.holds("crates/approval/src/judge.rs"));
    }

    #[test]
    fn every_place_exists() {
        for area in AREAS {
            for place in area.places {
                let source = format!("crates/{}/src/{place}", area.package);
                assert!(checkout::root().join(&source).exists(), "no `{source}`");
            }
        }
    }

    #[test]
    fn a_shard_is_read_or_refused() {
        assert_eq!(shard("1/4").unwrap(), (1, 4));
        for wrong in ["4/4", "0/0", "1", "a/b", ""] {
            assert!(shard(wrong).is_err(), "`{wrong}`");
        }
    }

    #[test]
    fn the_share_counts_what_could_be_built() {
        let counts = [(End::Caught, 17), (End::Timeout, 1), (End::Missed, 2), (End::Unviable, 9)];
        let counts = counts.map(|(end, count)| (Some(end), count));
        let mut counts = BTreeMap::from(counts);
        counts.insert(None, 5);
        let text = table(&BTreeMap::from([("rules", counts)]));
        assert!(text.lines().last().unwrap().ends_with("90.0 %"), "{text}");
    }
}
