//! The list of mutants, as cargo-mutants makes it.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::packages;

/// The version whose list is read.
const VERSION: &str = "27.1.0";

/// One change of one place.
#[derive(Clone, Debug, Deserialize)]
pub struct Mutant {
    /// The file, from the root of the checkout.
    pub file: String,
    /// One line that says where and what.
    pub name: String,
    /// The function it is in; a constant has none.
    pub function: Option<Function>,
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub replacement: String,
}

/// The function a mutant is in.
#[derive(Clone, Debug, Deserialize)]
pub struct Function {
    /// Its path in its file.
    #[serde(rename = "function_name")]
    pub path: String,
    /// From its attributes to its closing brace.
    pub span: Span,
    /// `-> T`, or nothing.
    pub return_type: String,
}

impl Function {
    /// Its own name.
    pub fn name(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or_default()
    }
}

/// A part of a text; the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Span {
    /// Where it begins.
    pub start: Spot,
    /// Where it ends.
    pub end: Spot,
}

/// A place in a text; lines and columns count from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Spot {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The mutants of one package, in the order of the text.
pub fn list(root: &Path, package: &str, out: &mut impl Write) -> anyhow::Result<Vec<Mutant>> {
    let program = packages::program("cargo-mutants", VERSION, out)?;
    let listed = Command::new(program)
        .args(["mutants", "--list", "--json", "--package", &format!("portcullis-{package}")])
        .current_dir(root)
        .output()
        .context("cannot start cargo-mutants")?;
    let said = String::from_utf8_lossy(&listed.stderr);
    ensure!(listed.status.success(), "cargo-mutants could not list the mutants\n{said}");
    serde_json::from_slice(&listed.stdout).context("cannot read what cargo-mutants lists")
}
