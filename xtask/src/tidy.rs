//! `cargo xtask tidy`: the rules of the house that a machine can check.
//!
//! Each check is a function from what it looks at to the faults it saw; only this file reads
//! the disk. To add a check, write the function with its tests in a file under `tidy/` and call
//! it in [`faults`].

use std::fmt;
use std::io::Write;
use std::path::Path;

use anyhow::bail;

use crate::checkout::{self, File};

mod edges;
mod files;
mod marks;
mod purity;

/// What `cargo xtask tidy` takes: nothing.
#[derive(clap::Args)]
pub struct Arguments {}

/// One broken rule: where, and the way out.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    path: String,
    line: usize,
    message: String,
}

impl Fault {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Fault {
        Fault { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// Prints every fault and fails if there is one.
pub fn run(_arguments: &Arguments) -> anyhow::Result<()> {
    let faults = faults(&checkout::root())?;
    let mut out = std::io::stdout().lock();
    for fault in &faults {
        writeln!(out, "{fault}")?;
    }
    match faults.len() {
        0 => Ok(()),
        1 => bail!("1 rule of the house is broken"),
        count => bail!("{count} rules of the house are broken"),
    }
}

/// Every fault of the checkout at `root`, sorted by place.
pub fn faults(root: &Path) -> anyhow::Result<Vec<Fault>> {
    let files = checkout::files(root)?;
    let places = marks::machine_places(root);
    let mut faults = edges::check(&checkout::metadata(root)?);
    for file in &files {
        faults.extend(files::check(file));
        faults.extend(purity::check(file));
        faults.extend(marks::check(file, &places));
    }
    faults.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(faults)
}

/// The lines of a file with their numbers, as editors count them.
fn lines(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// A file for tests.
#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), text: text.to_owned() }
}
