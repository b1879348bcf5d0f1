//! What became of each mutant, kept from run to run: what was tried need not be tried again.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::Path;

use anyhow::Context;

use super::listing::Mutant;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It does not compile.
    Unviable,
    /// It cannot stand behind a switch, and was not built alone yet.
    Apart,
    /// A test failed.
    Caught,
    /// A test did not end.
    Timeout,
    /// No test noticed.
    Missed,
}

impl End {
    const ALL: [End; 5] = [End::Unviable, End::Apart, End::Caught, End::Timeout, End::Missed];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            End::Unviable => "unviable",
            End::Apart => "apart",
            End::Caught => "caught",
            End::Timeout => "timeout",
            End::Missed => "MISSED",
        }
    }
}

/// An end, and the test that brought it about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// What became of the mutant.
    pub end: End,
    /// The test that noticed, or a remark.
    pub by: String,
}

/// The ends of all runs over texts as they are now.
pub struct Ends {
    file: File,
    known: BTreeMap<String, (String, Ended)>,
}

impl Ends {
    /// Reads what earlier runs kept; of two ends of one mutant the later one counts.
    pub fn read(path: &Path) -> anyhow::Result<Ends> {
        let mut known = BTreeMap::new();
        for line in fs::read_to_string(path).unwrap_or_default().lines() {
            let mut cells = line.splitn(4, '\t');
            let mut cell = || cells.next().unwrap_or("").to_owned();
            let (word, text, by, name) = (cell(), cell(), cell(), cell());
            let end = End::ALL.into_iter().find(|end| end.name() == word);
            if let Some(end) = end.filter(|_| !name.is_empty()) {
                known.insert(name, (text, Ended { end, by }));
            }
        }
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Ends { file: file.context("cannot keep the ends")?, known })
    }

    /// What became of a mutant of this very text.
    pub fn of(&self, mutant: &Mutant, text: &str) -> Option<&Ended> {
        let known = self.known.get(&mutant.name);
        known.filter(|(of, _)| *of == mark(text)).map(|(_, ended)| ended)
    }

    /// Keeps what became of a mutant.
    pub fn keep(&mut self, mutant: &Mutant, text: &str, ended: Ended) -> anyhow::Result<()> {
        let mark = mark(text);
        let cells = [ended.end.name(), &mark, &ended.by, &mutant.name];
        writeln!(self.file, "{}", cells.join("\t")).context("cannot keep an end")?;
        self.known.insert(mutant.name.clone(), (mark, ended));
        Ok(())
    }
}

/// A few letters that tell one text from another.
fn mark(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::super::listing::{Span, Spot};
    use super::*;

    #[test]
    fn an_end_is_kept_for_its_text() {
        let path = std::env::temp_dir().join(format!("portcullis-ends-{}", std::process::id()));
        let spot = Spot { line: 1, column: 1 };
        let mutant = Mutant {
            file: "a.rs".to_owned(),
            name: "a.rs:1:1: replace f with ()".to_owned(),
            function: None,
            span: Span { start: spot, end: spot },
            replacement: String::new(),
        };
        let of = |end| Ended { end, by: "verdicts".to_owned() };
        let mut ends = Ends::read(&path).unwrap();
        ends.keep(&mutant, "text", of(End::Missed)).unwrap();
        ends.keep(&mutant, "text", of(End::Caught)).unwrap();
        let again = Ends::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(again.of(&mutant, "text"), Some(&of(End::Caught)), "the later one");
        assert_eq!(again.of(&mutant, "another text"), None, "it may be another change there");
    }
}
