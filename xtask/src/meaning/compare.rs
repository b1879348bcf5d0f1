//! Comparing: what ran against what was named.

use portcullis_shell::{Reader, RefusalKind};

use super::descriptors::is_named;
use super::fields::Claim;
use super::naming::{Naming, name};
use super::record::Record;
use super::sandbox::Observation;

/// The ways in which a tree can be wrong about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// A program ran that no command names.
    LostCommand,
    /// A command is named, and its words are not what the program got.
    WrongValue,
    /// A command's redirections are not where its descriptors led.
    WrongDescriptor,
    /// A file was made or changed that no redirection names.
    LostFile,
    /// Data was read as a command.
    Invented,
}

impl FaultKind {
    /// Every kind, for the summary.
    pub const ALL: [FaultKind; 5] = [
        FaultKind::LostCommand,
        FaultKind::WrongValue,
        FaultKind::WrongDescriptor,
        FaultKind::LostFile,
        FaultKind::Invented,
    ];

    /// The kind in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            FaultKind::LostCommand => "commands lost",
            FaultKind::WrongValue => "values contradicted",
            FaultKind::WrongDescriptor => "descriptors contradicted",
            FaultKind::LostFile => "files lost",
            FaultKind::Invented => "data read as commands",
        }
    }
}

/// One way in which the tree of a text was wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// What ran or was written, for a person.
    pub seen: String,
}

/// What the comparison of one text yields.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// The tree in its short form.
    pub shape: String,
    /// Why the text was not read.
    pub refused: Option<(RefusalKind, String)>,
    /// How many programs a command accounts for whose words are all known.
    pub exact: usize,
    /// How many programs only text accounts for that the reader does not know.
    pub open: usize,
}

/// Compares what a text did with what the reader says about it.
pub fn compare(reader: &Reader, text: &[u8], seen: &Observation) -> Comparison {
    let (naming, shape) = match name(reader, text) {
        Ok(named) => named,
        Err(refusal) => {
            let refused = Some((refusal.kind, refusal.message));
            return Comparison { refused, ..Comparison::default() };
        }
    };
    let mut comparison = Comparison { shape, ..Comparison::default() };
    for record in &seen.records {
        comparison.look_at(&naming, record);
    }
    for path in &seen.written {
        let is_accounted = naming.is_open
            || naming.targets.iter().any(|claims| {
                claims.iter().any(|claim| match claim {
                    Claim::Exactly(name) => is_named(path, name),
                    Claim::One(_) | Claim::Some(_) | Claim::Any(_) => true,
                })
            });
        if !is_accounted {
            comparison.fault(FaultKind::LostFile, String::from_utf8_lossy(path).into_owned());
        }
    }
    comparison.look_for_decoys(&naming, seen);
    comparison
}

impl Comparison {
    fn fault(&mut self, kind: FaultKind, seen: String) {
        self.faults.push(Fault { kind, seen });
    }

    fn look_at(&mut self, naming: &Naming, record: &Record) {
        let mut matching = naming.commands.iter().filter(|named| named.accounts(record)).peekable();
        if matching.peek().is_none() {
            if naming.is_open {
                self.open += 1;
                return;
            }
            let is_tagged = |word: &Vec<u8>| is_tag(word, b't');
            let is_named = record
                .arguments
                .iter()
                .filter(|word| is_tagged(word))
                .any(|word| naming.commands.iter().any(|named| named.says(word)));
            let kind = if is_named { FaultKind::WrongValue } else { FaultKind::LostCommand };
            self.fault(kind, describe(record));
            return;
        }
        let mut holding = matching.filter(|named| named.leads.hold(record)).peekable();
        if holding.peek().is_none() {
            if !naming.is_open {
                let leads = format!("{} with {:?}", describe(record), readable(record));
                self.fault(FaultKind::WrongDescriptor, leads);
            }
        } else if holding.any(super::naming::Named::is_exact) {
            self.exact += 1;
        }
    }

    /// A decoy that is named as a command was data, unless it ran all the same.
    fn look_for_decoys(&mut self, naming: &Naming, seen: &Observation) {
        for named in &naming.commands {
            let is_program = matches!(named.claims.first(), Some(Claim::Exactly(program)) if program == b"p1" || program == b"p2");
            let Some(Claim::Exactly(tag)) = named.claims.get(1) else { continue };
            let is_decoy = !named.is_data && is_program && is_tag(tag, b'd') && tag != b"d0";
            let has_run = seen.records.iter().any(|record| record.arguments.contains(tag));
            if is_decoy && !has_run {
                self.fault(FaultKind::Invented, String::from_utf8_lossy(tag).into_owned());
            }
        }
    }
}

fn is_tag(word: &[u8], letter: u8) -> bool {
    word.split_first().is_some_and(|(first, digits)| {
        *first == letter && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    })
}

/// A record for a person.
pub fn describe(record: &Record) -> String {
    let words: Vec<String> = record
        .arguments
        .iter()
        .map(|word| format!("{:?}", String::from_utf8_lossy(word)))
        .collect();
    let text = words.join(" ");
    if record.input.is_empty() {
        return text;
    }
    format!("{text} reading {:?}", String::from_utf8_lossy(&record.input))
}

fn readable(record: &Record) -> Vec<String> {
    let own = record.descriptors.iter().filter(|(number, _)| **number < 20);
    own.map(|(number, path)| {
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        format!("{number}={}", String::from_utf8_lossy(last))
    })
    .collect()
}
