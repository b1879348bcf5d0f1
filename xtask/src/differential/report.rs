//! Reporting: rates for every shell and source, what was explained, and what was not.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::collect::Source;
use super::compare::Relation;
use super::explain::Rules;
use super::oracle::Shell;

/// What was counted for one shell and one source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    both_accept: u64,
    both_refuse: u64,
    we_refuse: u64,
    we_accept: u64,
    unlawful: u64,
    silent: u64,
    explained: u64,
}

/// What was counted in all.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    counts: BTreeMap<(Shell, Source), Count>,
    /// By rule and source.
    explained: BTreeMap<(String, Source), u64>,
    unexplained: u64,
}

impl Tally {
    /// Counts one comparison, and by which rule it was explained if it failed.
    pub fn count(
        &mut self,
        shell: Shell,
        source: Source,
        relation: &Relation,
        explained: Option<&str>,
    ) {
        let count = self.counts.entry((shell, source)).or_default();
        match relation {
            Relation::BothAccept => count.both_accept += 1,
            Relation::BothRefuse => count.both_refuse += 1,
            Relation::WeRefuse { .. } => count.we_refuse += 1,
            Relation::WeAccept { .. } => count.we_accept += 1,
            Relation::Unlawful { .. } => count.unlawful += 1,
            Relation::Silent => count.silent += 1,
        }
        if let Some(rule) = explained {
            count.explained += 1;
            *self.explained.entry((rule.to_owned(), source)).or_default() += 1;
        } else if relation.key().is_some() {
            self.unexplained += 1;
        }
    }

    /// Adds what another worker counted.
    pub fn add(&mut self, other: Tally) {
        for (key, theirs) in other.counts {
            let ours = self.counts.entry(key).or_default();
            ours.both_accept += theirs.both_accept;
            ours.both_refuse += theirs.both_refuse;
            ours.we_refuse += theirs.we_refuse;
            ours.we_accept += theirs.we_accept;
            ours.unlawful += theirs.unlawful;
            ours.silent += theirs.silent;
            ours.explained += theirs.explained;
        }
        for (rule, times) in other.explained {
            *self.explained.entry(rule).or_default() += times;
        }
        self.unexplained += other.unexplained;
    }

    /// How many failures no rule explains.
    pub const fn unexplained(&self) -> u64 {
        self.unexplained
    }

    /// Prints the rates and the reasons.
    pub fn print(&self, out: &mut impl Write, rules: &Rules) -> io::Result<()> {
        writeln!(
            out,
            "\n{:8} {:12} {:>8} {:>8} {:>9} {:>8} {:>9} {:>9} {:>11} {:>6}",
            "shell",
            "texts",
            "compared",
            "valid",
            "accepted",
            "invalid",
            "refused",
            "explained",
            "unexplained",
            "silent"
        )?;
        let mut totals: BTreeMap<Shell, Count> = BTreeMap::new();
        for ((shell, source), count) in &self.counts {
            row(out, shell.name(), source.name(), count)?;
            let total = totals.entry(*shell).or_default();
            total.both_accept += count.both_accept;
            total.both_refuse += count.both_refuse;
            total.we_refuse += count.we_refuse;
            total.we_accept += count.we_accept;
            total.unlawful += count.unlawful;
            total.silent += count.silent;
            total.explained += count.explained;
        }
        for (shell, total) in &totals {
            row(out, shell.name(), "in all", total)?;
        }
        if !self.explained.is_empty() {
            writeln!(out, "\nexplained differences, by their rule:")?;
        }
        for rule in rules.all() {
            let of_rule = self.explained.iter().filter(|((name, _), _)| *name == rule.name);
            let of_sources: Vec<(&str, u64)> =
                of_rule.map(|((_, source), times)| (source.name(), *times)).collect();
            let times: u64 = of_sources.iter().map(|(_, times)| times).sum();
            if times > 0 {
                let sources: Vec<String> =
                    of_sources.iter().map(|(name, times)| format!("{name} {times}")).collect();
                let sources = sources.join(", ");
                writeln!(out, "{times:8} {} ({sources}): {}", rule.name, rule.reason)?;
            }
        }
        Ok(())
    }
}

fn row(out: &mut impl Write, shell: &str, source: &str, count: &Count) -> io::Result<()> {
    let accepted = count.both_accept + count.unlawful;
    let valid = accepted + count.we_refuse;
    let invalid = count.both_refuse + count.we_accept;
    let failed = count.we_refuse + count.we_accept + count.unlawful;
    writeln!(
        out,
        "{shell:8} {source:12} {:8} {valid:8} {:>9} {invalid:8} {:>9} {:9} {:11} {:6}",
        valid + invalid + count.silent,
        rate(accepted, valid),
        rate(count.both_refuse, invalid),
        count.explained,
        failed.saturating_sub(count.explained),
        count.silent,
    )
}

#[expect(clippy::cast_precision_loss, reason = "counts of texts are far below what f64 holds")]
fn rate(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{:.3} %", 100.0 * part as f64 / whole as f64)
}
