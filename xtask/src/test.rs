//! `cargo xtask test`: everything a change must pass, in one command.
//!
//! Every step runs, also after one has failed; the last line counts. What builds in a directory of
//! its own runs beside what mostly waits. To add a step, add a row to [`STEPS`].

use std::io::{Stdout, Write};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Instant;

use anyhow::{anyhow, ensure};

use crate::checkout;
use crate::threats;
use crate::tidy;
use process::run as run_process;
use tally::Tally;
use tools::Tool;

mod process;
mod tally;
mod tools;

/// How much of the long proofs every change must pass: texts and seconds.
const DIFFERENTIAL_TEXTS: &str = "2400";
const DIFFERENTIAL_COLLECTED: &str = "600";
const MEANING_TEXTS: &str = "1500";
const ORACLE_COMMANDS: &str = "300";
const ORACLE_SECONDS: &str = "60";
const KILLS: &str = "20";
const SOAK_SECONDS: &str = "20";
const NODE_ROUNDS: &str = "8";
const WORLDS: &str = "2000";
const SCHEMA_EXAMPLES: &str = "10";
const FUZZ_SECONDS: &str = "120";
const FUZZ_RUNS: &[&str] = &["--", "-seed=1", "-runs=100000"];
const FUZZ_TARGETS: &[&str] =
    &["parse", "fold", "scan", "languages", "policy", "wire", "frames", "hook"];
// A finding of these is a text that prints wrongly, not one that does harm: every change must
// keep what was found, and only the long run looks for more.
const FUZZ_KEPT: &[&str] = &["print_parse", "--", "-runs=0"];

/// What `cargo xtask test` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The steps to run; all of them if none is named.
    #[arg(value_name = "STEP")]
    steps: Vec<String>,
}

/// One thing that must hold.
struct Step {
    name: &'static str,
    lane: Lane,
    /// What must be installed for it.
    needs: &'static [Tool],
    check: fn(&Path) -> anyhow::Result<Report>,
}

/// What else may run meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// Nothing: it keeps every core busy, or what it finds makes the rest pointless.
    Alone,
    /// Whatever stands in [`Lane::Beside`]: it keeps one core busy, or waits.
    Main,
    /// Whatever stands in [`Lane::Main`]: it builds in a directory of its own.
    Beside,
}

/// What became of a step.
struct Report {
    tally: Tally,
    /// What is worth a few words beside the time.
    note: String,
    /// What the step said, shown if it failed.
    output: String,
}

const SHELLS: &[Tool] = &[Tool::Bash, Tool::Dash, Tool::Zsh];

/// What the tests of the crates start.
const UNIT: &[Tool] = &[Tool::Bash, Tool::Dash, Tool::Zsh, Tool::Postgres, Tool::Tmux];

const WATCH: &[Tool] = &[Tool::Bash, Tool::Strace, Tool::Unshare];

/// In the order they run, each in its lane: what is quick and breaks often comes first.
#[rustfmt::skip]
const STEPS: &[Step] = &[
    Step { name: "format",       lane: Lane::Alone,  needs: &[],                   check: format },
    Step { name: "tidy",         lane: Lane::Alone,  needs: &[],                   check: tidy },
    Step { name: "threats",      lane: Lane::Alone,  needs: &[],                   check: threats },
    Step { name: "lint",         lane: Lane::Alone,  needs: &[],                   check: lint },
    Step { name: "docs",         lane: Lane::Alone,  needs: &[],                   check: docs },
    Step { name: "unit",         lane: Lane::Alone,  needs: UNIT,                  check: unit },
    Step { name: "examples",     lane: Lane::Alone,  needs: &[],                   check: examples },
    Step { name: "differential", lane: Lane::Main,   needs: SHELLS,                check: differential },
    Step { name: "meaning",      lane: Lane::Main,   needs: SHELLS,                check: meaning },
    Step { name: "oracle",       lane: Lane::Main,   needs: WATCH,                 check: oracle },
    Step { name: "kill",         lane: Lane::Main,   needs: &[],                   check: kill },
    Step { name: "soak",         lane: Lane::Main,   needs: &[],                   check: soak },
    Step { name: "nodes",        lane: Lane::Main,   needs: &[Tool::Postgres, Tool::CppCompiler], check: nodes },
    Step { name: "simulate",     lane: Lane::Main,   needs: &[],                   check: simulate },
    Step { name: "clients",      lane: Lane::Main,   needs: &[Tool::Node, Tool::Npm], check: clients },
    Step { name: "web",          lane: Lane::Main,   needs: &[Tool::Node, Tool::Npm, Tool::Chromium], check: web },
    Step { name: "schemathesis", lane: Lane::Main,   needs: &[Tool::Python],       check: schemathesis },
    Step { name: "benches",      lane: Lane::Beside, needs: &[Tool::CppCompiler],  check: benches },
    Step { name: "deny",         lane: Lane::Beside, needs: &[Tool::CargoDeny],    check: deny },
    Step { name: "advisories",   lane: Lane::Beside, needs: &[Tool::CargoDeny],    check: advisories },
    Step { name: "fuzz",         lane: Lane::Beside, needs: &[Tool::CppCompiler],  check: fuzz },
];

/// Runs the steps, shows what failed, and ends with the count.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = checkout::root();
    let steps = chosen(&arguments.steps)?;
    let mut out = std::io::stdout();
    let began = Instant::now();

    let mut needs: Vec<Tool> = steps.iter().flat_map(|step| step.needs).copied().collect();
    needs.sort_unstable();
    needs.dedup();

    let mut total = Tally::default();
    let mut failed = Vec::new();
    if let Err(error) = tools::provide(&needs, &root, &mut out) {
        // The steps that lack their tools will fail by themselves; the others still can tell.
        writeln!(out, "error: {error:#}\n")?;
        total.add(Tally::of(false));
    }
    let lane = |lane| steps.iter().copied().filter(move |step| step.lane == lane);
    let mut reports = walk(lane(Lane::Alone), &root)?;
    let (main, beside) = thread::scope(|scope| {
        let beside = scope.spawn(|| walk(lane(Lane::Beside), &root));
        (walk(lane(Lane::Main), &root), beside.join())
    });
    reports.extend(main?);
    reports.extend(beside.map_err(|_| anyhow!("a step broke"))??);
    for (step, report) in &reports {
        if report.tally.failed > 0 {
            failed.push(step.name);
        }
        total.add(report.tally);
    }

    let seconds = began.elapsed().as_secs();
    writeln!(out, "\n{} min {} s in all", seconds / 60, seconds % 60)?;
    if !failed.is_empty() {
        writeln!(
            out,
            "failed: {}; again with `cargo xtask test {}`",
            failed.join(", "),
            failed.join(" ")
        )?;
    }
    writeln!(out, "{} passed, {} failed", total.passed, total.failed)?;
    out.flush()?;
    if total.failed > 0 {
        // The last line has said it; an error message would stand below the count.
        std::process::exit(1);
    }
    Ok(())
}

/// Whether there is a step of this name.
pub fn has_step(name: &str) -> bool {
    STEPS.iter().any(|step| step.name == name)
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Step>> {
    let known: Vec<_> = STEPS.iter().map(|step| step.name).collect();
    for name in names {
        ensure!(
            known.contains(&name.as_str()),
            "no step `{name}`; the steps are {}",
            known.join(", ")
        );
    }
    let is_chosen = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.name);
    Ok(STEPS.iter().filter(is_chosen).collect())
}

/// Runs steps one after the other, and says what became of each.
fn walk(
    steps: impl Iterator<Item = &'static Step>,
    root: &Path,
) -> anyhow::Result<Vec<(&'static Step, Report)>> {
    let mut out = std::io::stdout();
    steps.map(|step| Ok((step, take(step, root, &mut out)?))).collect()
}

/// Runs one step and says its result, and all it said if it failed. Of one that runs alone the
/// name is said before.
fn take(step: &Step, root: &Path, out: &mut Stdout) -> anyhow::Result<Report> {
    let mut text = format!("{:<13}", step.name);
    if step.lane == Lane::Alone {
        out.write_all(text.as_bytes())?;
        out.flush()?;
        text.clear();
    }
    let began = Instant::now();
    let report = (step.check)(root).unwrap_or_else(|error| Report {
        tally: Tally::of(false),
        note: String::new(),
        output: format!("error: {error:#}"),
    });
    let mark = match (report.tally.passed, report.tally.failed) {
        (0, 0) => "-",
        (_, 0) => "ok",
        (_, _) => "FAILED",
    };
    let seconds = began.elapsed().as_secs_f64();
    text.push_str(format!("{mark:<7}{seconds:>6.1} s  {}", report.note).trim_end());
    text.push('\n');
    if report.tally.failed > 0 {
        text.push_str(report.output.trim_end());
        text.push_str("\n\n");
    }
    // In one piece: another lane writes too.
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(report)
}

fn format(root: &Path) -> anyhow::Result<Report> {
    let mut report = whole(cargo(root).args(["fmt", "--all", "--check"]))?;
    for apart in ["fuzz/Cargo.toml", "benches/Cargo.toml"] {
        if root.join(apart).exists() {
            report.join(&whole(cargo(root).args(["fmt", "--check", "--manifest-path", apart]))?);
        }
    }
    report.tally = Tally::of(report.tally.failed == 0);
    Ok(report)
}

fn lint(root: &Path) -> anyhow::Result<Report> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    whole(cargo(root).args(arguments))
}

/// Benchmarks are checked here and measured elsewhere: a verdict on time needs a quiet machine.
fn benches(root: &Path) -> anyhow::Result<Report> {
    let arguments = ["clippy", "--all-targets", "--", "-D", "warnings"];
    whole(cargo(&root.join("benches")).args(arguments))
}

fn docs(root: &Path) -> anyhow::Result<Report> {
    let arguments = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    whole(cargo(root).args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
}

fn tidy(root: &Path) -> anyhow::Result<Report> {
    let faults: Vec<_> = tidy::faults(root)?.iter().map(ToString::to_string).collect();
    Ok(Report {
        tally: Tally::of(faults.is_empty()),
        note: String::new(),
        output: faults.join("\n"),
    })
}

fn threats(root: &Path) -> anyhow::Result<Report> {
    let checked = threats::check(root)?;
    Ok(Report {
        tally: Tally::of(checked.faults.is_empty()),
        note: checked.counts,
        output: checked.faults.join("\n"),
    })
}

fn unit(root: &Path) -> anyhow::Result<Report> {
    if tools::answers("cargo-nextest") {
        counted(cargo(root).args(["nextest", "run", "--workspace", "--no-fail-fast"]))
    } else {
        counted(cargo(root).args(["test", "--workspace", "--all-targets", "--no-fail-fast"]))
    }
}

fn examples(root: &Path) -> anyhow::Result<Report> {
    counted(cargo(root).args(["test", "--workspace", "--doc", "--no-fail-fast"]))
}

/// Some of the texts of this machine, and the same made ones in every run, so that a change is
/// judged by what it changes; the long run compares every collected text and makes new ones.
fn differential(root: &Path) -> anyhow::Result<Report> {
    whole(
        xtask(root)
            .args(["differential", "--long", "--show", "5"])
            .args(["--count", DIFFERENTIAL_TEXTS, "--collected", DIFFERENTIAL_COLLECTED])
            .args(["--dialect", "bash", "--dialect", "sh", "--dialect", "zsh"]),
    )
    .map(|report| report.noted("no unexplained"))
}

fn meaning(root: &Path) -> anyhow::Result<Report> {
    whole(xtask(root).args(["meaning", "--seed", "2", "--count", MEANING_TEXTS]))
        .map(|report| report.noted("meaning: "))
}

/// A sample of the commands that are judged read-only; the long run takes them all. Where they
/// cannot be kept apart they are not run, which is said and counted neither way.
fn oracle(root: &Path) -> anyhow::Result<Report> {
    let arguments = ["--seed", "2", "--count", ORACLE_COMMANDS, "--seconds", ORACLE_SECONDS];
    let report = whole(xtask(root).arg("oracle").args(arguments))?;
    if report.output.contains("no command can be watched here") {
        let note = "not checked: this machine allows no namespaces or no tracing".to_owned();
        return Ok(Report { tally: Tally::default(), note, ..report });
    }
    Ok(report.noted("oracle: "))
}

/// A few kills of a daemon at work; the long run kills a thousand times.
fn kill(root: &Path) -> anyhow::Result<Report> {
    let report = whole(xtask(root).arg("kill").args(["--cycles", KILLS]))?;
    Ok(report.noted("kill: "))
}

/// A moment of mixed load; the long run takes two hours and looks whether anything grows.
fn soak(root: &Path) -> anyhow::Result<Report> {
    let report = whole(xtask(root).arg("soak").args(["--seconds", SOAK_SECONDS]))?;
    Ok(report.noted("soak: "))
}

/// A few rounds of what can go wrong on several nodes; the long run takes three hundred.
fn nodes(root: &Path) -> anyhow::Result<Report> {
    let report = whole(xtask(root).arg("nodes").args(["--rounds", NODE_ROUNDS]))?;
    Ok(report.noted("nodes: "))
}

/// Some small simulated worlds; the long run takes a million, and large ones.
fn simulate(root: &Path) -> anyhow::Result<Report> {
    let report = whole(xtask(root).arg("simulate").args(["--seeds", WORLDS, "--large", "0"]))?;
    Ok(report.noted("simulate: "))
}

/// The real clients of other systems against the daemon.
fn clients(root: &Path) -> anyhow::Result<Report> {
    Ok(whole(xtask(root).arg("clients"))?.noted("clients: "))
}

/// The dashboard: types, components, the build compared with what is committed, and Chromium.
fn web(root: &Path) -> anyhow::Result<Report> {
    Ok(whole(xtask(root).arg("web"))?.noted("browser: "))
}

/// Requests made from the description of the API.
fn schemathesis(root: &Path) -> anyhow::Result<Report> {
    let mut command = xtask(root);
    command.args(["schemathesis", "--examples", SCHEMA_EXAMPLES]);
    Ok(whole(&mut command)?.noted("schemathesis: "))
}

fn deny(root: &Path) -> anyhow::Result<Report> {
    let mut command = tools::cargo_deny(root);
    let report = whole(command.args(["check", "licenses", "bans", "sources"]))?;
    Ok(Report { note: "licences, bans, sources".to_owned(), ..report })
}

/// The advisories come from a database on the network; without it nothing is known, which is
/// said and counted neither way.
fn advisories(root: &Path) -> anyhow::Result<Report> {
    let report = whole(tools::cargo_deny(root).args(["check", "advisories"]))?;
    if report.output.contains("failed to fetch advisory database") {
        let note = "not checked: the advisory database is out of reach".to_owned();
        return Ok(Report { tally: Tally::default(), note, ..report });
    }
    Ok(report)
}

/// A short run of every target; `cargo xtask fuzz` runs them longer.
fn fuzz(root: &Path) -> anyhow::Result<Report> {
    let mut command = xtask(root);
    command.args(["fuzz", "--seconds", FUZZ_SECONDS]).args(FUZZ_TARGETS).args(FUZZ_RUNS);
    let mut report = whole(&mut command)?;
    let mut command = xtask(root);
    report.join(&whole(command.args(["fuzz", "--seconds", FUZZ_SECONDS]).args(FUZZ_KEPT))?);
    Ok(report.noted("nothing broke"))
}

impl Report {
    /// With the line that holds `sign` as its note, or else the last one, which says what failed.
    fn noted(self, sign: &str) -> Report {
        let line = self.output.lines().find(|line| line.contains(sign));
        let note = line.or(self.output.lines().last()).unwrap_or("").trim().to_owned();
        Report { note, ..self }
    }

    fn join(&mut self, other: &Report) {
        self.tally.add(other.tally);
        self.output.push_str(&other.output);
    }
}

/// A command that counts as one, whatever it does inside.
fn whole(command: &mut Command) -> anyhow::Result<Report> {
    let (succeeded, output) = run_process(command)?;
    Ok(Report { tally: Tally::of(succeeded), note: String::new(), output })
}

/// A command that runs tests and says how many.
fn counted(command: &mut Command) -> anyhow::Result<Report> {
    let (succeeded, output) = run_process(command)?;
    let mut tally = tally::read(&output);
    if !succeeded && tally.failed == 0 {
        tally.add(Tally::of(false));
    }
    Ok(Report { tally, note: format!("{} tests", tally.passed + tally.failed), output })
}

fn cargo(root: &Path) -> Command {
    let mut command = checkout::cargo();
    command.current_dir(root).env("CARGO_TERM_COLOR", "never");
    command
}

fn xtask(root: &Path) -> Command {
    let mut command = cargo(root);
    command.args(["run", "--quiet", "--package", "xtask", "--"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_run_in_their_order_whatever_the_order_asked_for() {
        let names = |asked: &[&str]| {
            let asked: Vec<_> = asked.iter().map(ToString::to_string).collect();
            chosen(&asked).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap().len(), STEPS.len());
        assert_eq!(names(&["lint", "format"]).unwrap(), ["format", "lint"]);
        let error = names(&["speed"]).unwrap_err().to_string();
        assert!(error.starts_with("no step `speed`; the steps are format, tidy,"), "{error}");
    }

    #[test]
    fn a_note_is_the_line_that_sums_up() {
        let note = |output: &str| {
            let output = output.to_owned();
            Report { tally: Tally::of(true), note: String::new(), output }.noted("sum").note
        };
        assert_eq!(note("one\n  sum: two\nthree\n"), "sum: two");
        assert_eq!(note("one\nerror: three\n"), "error: three");
        assert_eq!(note(""), "");
    }
}
