//! The summary: what was run, what was seen, what nothing explains.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use portcullis_engine::Verdict;

use super::effects::Seen;
use super::sandbox::Observation;
use super::table::{Finding, Table};

/// How many of the commands that were stopped are shown.
const STOPPED: usize = 20;

/// Everything that was counted.
#[derive(Debug, Default)]
pub struct Summary {
    /// The commands that ran.
    pub runs: u64,
    /// Of those, the ones with an effect that nothing explains.
    pub faulty: u64,
    /// Examples whose program is not here.
    pub not_installed: u64,
    /// Examples that are not judged read-only here.
    pub not_read_only: u64,
    /// Numbers for which no variation was found.
    pub not_guessed: u64,
    /// The distinct faults, shrunk.
    pub faults: Vec<Fault>,
    stopped: u64,
    /// Some of the commands that were stopped.
    long: Vec<String>,
    calls: usize,
    programs: BTreeSet<String>,
    soft: BTreeMap<String, u64>,
    known: Vec<Seen>,
}

/// One fault.
#[derive(Debug)]
pub struct Fault {
    /// The number of the command.
    pub number: u64,
    /// The command, shrunk.
    pub text: String,
    /// What it did.
    pub seen: Seen,
    /// What else it did, once each.
    pub others: Vec<Seen>,
}

impl Fault {
    /// The fault as it is shown.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Fault { number, text, seen, others } = self;
        let (kind, what) = (seen.kind.name(), seen.short());
        writeln!(out, "fault {number}: {kind} {what} by {}", seen.lineage.join(" > "))?;
        writeln!(out, "    {text}\n    {}", seen.line)?;
        for other in others {
            let (kind, by) = (other.kind.name(), other.program());
            writeln!(out, "    also {kind} {} by {by}", other.short())?;
        }
        writeln!(out)?;
        out.flush()
    }
}

impl Summary {
    /// Counts one run.
    pub fn count(
        &mut self,
        text: &str,
        observation: &Observation,
        verdict: &Verdict,
        table: &Table,
    ) {
        self.runs += 1;
        self.calls += observation.calls;
        if observation.is_stopped() {
            self.stopped += 1;
            if self.long.len() < STOPPED {
                self.long.push(text.to_owned());
            }
        }
        let named = verdict.acts.iter().filter_map(|judged| judged.act.base_name());
        self.programs.extend(named.map(str::to_owned));
        let mut reasons = BTreeSet::new();
        for seen in &observation.seen {
            if let Finding::Soft(reason) = table.explain(seen, verdict) {
                reasons.insert(reason);
            }
        }
        for reason in reasons {
            *self.soft.entry(reason.to_owned()).or_default() += 1;
        }
    }

    /// Whether no fault like this one was seen before; from now on one was.
    pub fn is_new(&mut self, seen: &Seen) -> bool {
        let is_known = self.known.iter().any(|known| known.is_like(seen));
        if !is_known {
            self.known.push(seen.clone());
        }
        !is_known
    }

    /// The summary as it is shown; its last line counts.
    pub fn write(&self, out: &mut impl Write, seed: u64) -> io::Result<()> {
        for (reason, count) in &self.soft {
            writeln!(out, "{count:>7}  soft: {reason}")?;
        }
        for text in &self.long {
            writeln!(out, "stopped: {text}")?;
        }
        writeln!(
            out,
            "left out: {} examples whose program is not here, {} not read-only; {} numbers without \
             a variation; {} commands were stopped",
            self.not_installed, self.not_read_only, self.not_guessed, self.stopped
        )?;
        writeln!(
            out,
            "oracle: {} commands of {} programs, {} system calls, {} hard effects in {} commands \
             (seed {seed})",
            self.runs,
            self.programs.len(),
            self.calls,
            self.known.len(),
            self.faulty,
        )
    }
}
