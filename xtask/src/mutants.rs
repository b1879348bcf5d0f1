//! `cargo xtask mutants`: changes the code in one place at a time and looks whether a test notices.
//!
//! cargo-mutants says which changes there are. Building each apart would take days here, so all of
//! them are built at once into a copy of the checkout (`switch.rs`), behind a variable that says
//! which one counts, and the tests of the package run once for each (`trial.rs`). To examine more
//! code, add a row to [`AREAS`].

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};

use crate::checkout;
use listing::Mutant;
use tree::Tree;
use trial::{End, Trial};

mod listing;
mod switch;
mod tree;
mod trial;

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

/// How many mutants of one area came to which end.
type Counts = BTreeMap<End, usize>;

/// Builds the mutants of each package once, tries each, and counts them by area.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = checkout::root();
    let areas = chosen(&arguments.areas)?;
    let shard = arguments.shard.as_deref().map_or(Ok((0, 1)), shard)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(cores).max(1);
    let mut out = std::io::stdout();
    let began = Instant::now();

    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut told = Vec::new();
    for package in [APPROVAL, ENGINE] {
        let areas: Vec<&Area> =
            areas.iter().copied().filter(|area| area.package == package).collect();
        if areas.is_empty() {
            continue;
        }
        let listed = listing::list(&root, package, &mut out)?;
        let mut mutants: Vec<(&Area, Mutant)> = Vec::new();
        for area in areas {
            let of_area = listed.iter().filter(|mutant| area.holds(&mutant.file));
            let wanted = of_area.enumerate().filter(|(at, mutant)| {
                let only = arguments.only.as_ref();
                at % shard.1 == shard.0 && only.is_none_or(|only| mutant.name.contains(only))
            });
            mutants.extend(wanted.map(|(_, mutant)| (area, mutant.clone())));
        }
        writeln!(out, "{package}: {} of {} mutants", mutants.len(), listed.len())?;
        let ends = examine(&root, package, &mutants, jobs, &mut out)?;
        for ((area, mutant), end) in mutants.iter().zip(ends) {
            *counts.entry(area.name).or_default().entry(end).or_default() += 1;
            told.push(format!("{} {}", end.name(), mutant.name));
        }
    }
    let kept = root.join("target/mutants/outcomes.txt");
    fs::write(&kept, told.join("\n") + "\n").context("cannot keep the outcomes")?;
    for line in told.iter().filter(|line| line.starts_with(End::Missed.name())) {
        writeln!(out, "{line}")?;
    }
    write!(out, "{}", table(&counts))?;
    writeln!(out, "{} s; every end is in target/mutants/outcomes.txt", began.elapsed().as_secs())?;
    Ok(())
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

/// What became of each mutant of a package.
fn examine(
    root: &Path,
    package: &str,
    mutants: &[(&Area, Mutant)],
    jobs: usize,
    out: &mut (impl Write + Send),
) -> anyhow::Result<Vec<End>> {
    let mutants: Vec<&Mutant> = mutants.iter().map(|(_, mutant)| mutant).collect();
    let tree = Tree::copy(root, package)?;
    let built = tree.build(&mutants, out)?;
    let trial = Trial::of(&tree, &built.programs)?;
    writeln!(out, "{}", trial.told())?;
    let mut ends = trial.all(&mutants, &built.switched, jobs, out)?;
    // What cannot stand behind a switch is built alone.
    for (at, mutant) in mutants.iter().enumerate() {
        if built.apart.contains(&at)
            && let Some(end) = ends.get_mut(at)
        {
            *end = match tree.build_alone(mutant)? {
                Some(programs) => trial.alone(&programs)?,
                None => End::Unviable,
            };
            writeln!(out, "{} (alone) {}", end.name(), mutant.name)?;
        }
    }
    Ok(ends)
}

/// The counts of every area, and the share of those that were noticed.
fn table(counts: &BTreeMap<&str, Counts>) -> String {
    let head = ["mutants", "unviable", "caught", "timeout", "missed", "noticed"];
    let mut lines = vec![row("area", &head.map(str::to_owned))];
    for (area, counts) in counts {
        let of = |end| counts.get(&end).copied().unwrap_or(0);
        let noticed = of(End::Caught) + of(End::Timeout);
        let viable = noticed + of(End::Missed);
        let per_mille = (noticed * 1000).checked_div(viable).unwrap_or(1000);
        let counted = [
            viable + of(End::Unviable),
            of(End::Unviable),
            of(End::Caught),
            of(End::Timeout),
            of(End::Missed),
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
        let text = table(&BTreeMap::from([("rules", BTreeMap::from(counts))]));
        assert!(text.lines().last().unwrap().ends_with("90.0 %"), "{text}");
    }
}
