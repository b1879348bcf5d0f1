//! The summary: figures of a run, and the faults worth showing.

use std::collections::BTreeMap;
use std::io::{self, Write};

use portcullis_shell::RefusalKind;

use super::compare::{Comparison, FaultKind, describe};
use super::sandbox::{Observation, Wall};

/// How many samples of doubtful refusals are kept.
const SAMPLES: usize = 40;

/// How many sentences of refusals are listed.
const SENTENCES: usize = 12;

/// The figures of a run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Texts that were run.
    pub texts: u64,
    /// How texts were kept apart.
    pub wall: Option<Wall>,
    /// Distinct faults, shrunk.
    pub shown: Vec<Shown>,
    records: u64,
    exact: u64,
    open: u64,
    overlong: u64,
    faulty: u64,
    faults: BTreeMap<FaultKind, u64>,
    /// By the kind of refusal: texts, and those of them that ran something.
    refused: BTreeMap<&'static str, (u64, u64)>,
    /// How often each sentence of a refusal was said, without what it quotes.
    sentences: BTreeMap<String, u64>,
    /// Refused as syntax though the shell did not complain, and the other way round.
    doubtful: u64,
    lenient: u64,
    samples: Vec<String>,
}

/// One fault with the shortest text that shows it.
#[derive(Clone, Debug)]
pub struct Shown {
    number: u64,
    kind: FaultKind,
    text: String,
    ran: Vec<String>,
    seen: Vec<String>,
    shape: String,
    times: u64,
}

impl Shown {
    /// What there is to show about a shrunk text.
    pub fn new(
        number: u64,
        kind: FaultKind,
        text: &[u8],
        seen: &Observation,
        comparison: &Comparison,
    ) -> Shown {
        Shown {
            number,
            kind,
            text: String::from_utf8_lossy(text).into_owned(),
            ran: seen.records.iter().map(describe).collect(),
            seen: comparison.faults.iter().map(|fault| fault.seen.clone()).collect(),
            shape: comparison.shape.clone(),
            times: 1,
        }
    }

    /// The text without what tells two texts of the same cause apart.
    fn cause(&self) -> String {
        self.text.replace(|letter: char| letter.is_ascii_digit(), "")
    }
}

impl Summary {
    /// Adds one text; `rejects` says that the shell itself refuses it.
    pub fn count(
        &mut self,
        number: u64,
        text: &[u8],
        seen: &Observation,
        found: &Comparison,
        rejects: bool,
    ) {
        self.texts += 1;
        self.records += seen.records.len() as u64;
        self.exact += found.exact as u64;
        self.open += found.open as u64;
        self.overlong += u64::from(seen.status.is_none());
        self.faulty += u64::from(!found.faults.is_empty());
        for fault in &found.faults {
            *self.faults.entry(fault.kind).or_default() += 1;
        }
        if let Some((kind, message)) = &found.refused {
            let plain = message.split('`').step_by(2).collect::<Vec<_>>().join("…");
            *self.sentences.entry(format!("{}: {plain}", kind.name())).or_default() += 1;
            let (texts, ran) = self.refused.entry(kind.name()).or_default();
            *texts += 1;
            *ran += u64::from(!seen.records.is_empty());
            if *kind == RefusalKind::Syntax && !rejects && seen.status.is_some() {
                self.doubtful += 1;
                self.sample("refused, though the shell reads it", number, text, message);
            }
        } else if rejects {
            self.lenient += 1;
            let said = String::from_utf8_lossy(&seen.complaint);
            self.sample("read, though the shell refuses it", number, text, &said);
        }
    }

    fn sample(&mut self, what: &str, number: u64, text: &[u8], message: &str) {
        if self.samples.len() < SAMPLES {
            let text = String::from_utf8_lossy(text);
            self.samples.push(format!("{what} (text {number}): {}\n{text}\n", message.trim_end()));
        }
    }

    /// Adds a shrunk fault, unless its cause is known.
    pub fn show(&mut self, shown: Shown) {
        let cause = shown.cause();
        match self.shown.iter_mut().find(|known| known.kind == shown.kind && known.cause() == cause)
        {
            Some(known) => known.times += 1,
            None => self.shown.push(shown),
        }
    }

    /// How many texts the tree was wrong about.
    pub fn faults(&self) -> u64 {
        self.faulty
    }

    /// Writes the faults, then the figures.
    pub fn write(&self, out: &mut impl Write, seed: u64) -> io::Result<()> {
        for sample in &self.samples {
            writeln!(out, "{sample}")?;
        }
        let mut shown: Vec<&Shown> = self.shown.iter().collect();
        shown.sort_by_key(|fault| (fault.kind, fault.text.len()));
        for fault in shown {
            writeln!(
                out,
                "== {} (text {}, {} times)",
                fault.kind.name(),
                fault.number,
                fault.times
            )?;
            writeln!(out, "{}", fault.text)?;
            writeln!(out, "-- unaccounted: {}", fault.seen.join("; "))?;
            writeln!(out, "-- ran: {}", fault.ran.join("; "))?;
            writeln!(out, "-- read: {}\n", fault.shape)?;
        }
        writeln!(
            out,
            "meaning: {} texts of seed {seed} run {}, {} programs started",
            self.texts,
            self.wall.map_or("nowhere", Wall::name),
            self.records
        )?;
        writeln!(
            out,
            "  accounted word for word {}, by text the reader does not know {}",
            self.exact, self.open
        )?;
        for (kind, (texts, ran)) in &self.refused {
            writeln!(out, "  refused as {kind}: {texts}, of which {ran} ran something")?;
        }
        let mut sentences: Vec<(&String, &u64)> = self.sentences.iter().collect();
        sentences.sort_by(|left, right| right.1.cmp(left.1));
        for (sentence, times) in sentences.into_iter().take(SENTENCES) {
            writeln!(out, "    {times:5} {sentence}")?;
        }
        writeln!(
            out,
            "  refused as syntax though the shell reads it {}, read though it does not {}, too long {}",
            self.doubtful, self.lenient, self.overlong
        )?;
        for kind in FaultKind::ALL {
            let count = self.faults.get(&kind).copied().unwrap_or_default();
            writeln!(out, "  {}: {count}", kind.name())?;
        }
        Ok(())
    }
}
