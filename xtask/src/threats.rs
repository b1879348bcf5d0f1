//! `cargo xtask threats`: every requirement of the threat model has a test that lives, and every
//! incident a case that would have stopped it.
//!
//! What is required and what proves it is data, `xtask/data/threats.toml`; the tables of
//! `docs/threat-model.md` are written from it (`--write`) and must not differ. How a proof is
//! spelled, and what makes one live, stands in [`proof`].

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::checkout::{self, File};
use proof::Proofs;

mod page;
mod proof;

/// How many requirements there are; their numbers are never used again.
const REQUIREMENTS: usize = 98;

/// The data.
const DATA: &str = "xtask/data/threats.toml";

/// The page whose tables are made from it.
const PAGE: &str = "docs/threat-model.md";

/// What `cargo xtask threats` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Writes the tables of the page anew instead of comparing them.
    #[arg(long)]
    write: bool,
}

/// Everything that is required, and what it answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Threats {
    part: Vec<Part>,
    incident: Vec<Incident>,
}

/// Requirements about one thing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    title: String,
    requirement: Vec<Requirement>,
}

/// What must hold.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Requirement {
    /// `T1` to `T98`.
    id: String,
    /// What is promised, in one line.
    promise: String,
    /// What happened to others, by the ids of [`Incident`].
    #[serde(default)]
    incidents: Vec<String>,
    /// What shows that it holds.
    proofs: Vec<String>,
    /// What the proofs do not show.
    weak: Option<String>,
}

/// Something that happened to a peer, or a class of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Incident {
    /// Its number, with the product where the number alone says too little.
    id: String,
    /// What the case or test repeats of it.
    what: String,
    /// Whether it is known from secondary sources only.
    #[serde(default)]
    secondary: bool,
    /// Tests that repeat it; cases that carry `incident = "id"` count without being named.
    #[serde(default)]
    proofs: Vec<String>,
}

/// Checks, or writes the page.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let root = checkout::root();
    let mut out = std::io::stdout().lock();
    if arguments.write {
        let files = checkout::files(&root)?;
        let threats = read(&files)?;
        let proofs = Proofs::of(&files)?;
        let text = page::with_tables(text_of(&files, PAGE)?, &threats, &proofs)?;
        std::fs::write(root.join(PAGE), text)?;
    }
    let checked = check(&root)?;
    for fault in &checked.faults {
        writeln!(out, "{fault}")?;
    }
    writeln!(out, "threats: {}", checked.counts)?;
    match checked.faults.len() {
        0 => Ok(()),
        count => bail!("{count} of the threat model's promises lack a proof that lives"),
    }
}

/// What was found.
pub struct Checked {
    /// What is not proven, one line each.
    pub faults: Vec<String>,
    /// How much is, in one line.
    pub counts: String,
}

/// Holds the data against the tests of the checkout at `root`.
pub fn check(root: &Path) -> anyhow::Result<Checked> {
    let files = checkout::files(root)?;
    let threats = read(&files)?;
    let proofs = Proofs::of(&files)?;
    let mut faults = faults(&threats, &proofs);
    let page = text_of(&files, PAGE)?;
    if page::with_tables(page, &threats, &proofs)? != page {
        faults.push(format!("{PAGE}: its tables differ from {DATA}; run with `--write`"));
    }
    let requirements: Vec<&Requirement> = threats.requirements().collect();
    let named: BTreeSet<&String> = requirements
        .iter()
        .flat_map(|one| &one.proofs)
        .chain(threats.incident.iter().flat_map(|one| &one.proofs))
        .collect();
    let counts = format!(
        "{} requirements and {} incidents, proven by {} tests and {} cases that state their incident",
        requirements.len(),
        threats.incident.len(),
        named.len(),
        proofs.case_count(),
    );
    Ok(Checked { faults, counts })
}

impl Threats {
    fn requirements(&self) -> impl Iterator<Item = &Requirement> {
        self.part.iter().flat_map(|part| &part.requirement)
    }
}

fn read(files: &[File]) -> anyhow::Result<Threats> {
    toml::from_str(text_of(files, DATA)?).with_context(|| format!("cannot read `{DATA}`"))
}

fn text_of<'a>(files: &'a [File], path: &str) -> anyhow::Result<&'a str> {
    let file = files.iter().find(|file| file.path == path);
    file.map(|file| file.text.as_str()).with_context(|| format!("there is no `{path}`"))
}

/// What is not proven.
fn faults(threats: &Threats, proofs: &Proofs) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut motives = BTreeSet::new();
    for one in threats.requirements() {
        *seen.entry(&one.id).or_default() += 1;
        motives.extend(one.incidents.iter().map(String::as_str));
        if one.proofs.is_empty() {
            faults.push(format!("{}: nothing proves it", one.id));
        }
        for proof in &one.proofs {
            faults.extend(proofs.fault(proof).map(|fault| format!("{}: {fault}", one.id)));
        }
    }
    for id in (1..=REQUIREMENTS).map(|number| format!("T{number}")) {
        match seen.remove(id.as_str()) {
            Some(1) => {}
            Some(_) => faults.push(format!("{id}: stands there more than once")),
            None => faults.push(format!("{id}: is missing")),
        }
    }
    faults.extend(seen.keys().map(|id| format!("{id}: no such requirement")));

    let mut known = BTreeSet::new();
    for one in &threats.incident {
        if !known.insert(one.id.as_str()) {
            faults.push(format!("{}: stands there more than once", one.id));
        }
        if !motives.contains(one.id.as_str()) {
            faults.push(format!("{}: no requirement names it", one.id));
        }
        if one.proofs.is_empty() && proofs.cases_of(&one.id) == 0 {
            faults.push(format!("{}: no case states it, and no test is named", one.id));
        }
        for proof in &one.proofs {
            faults.extend(proofs.fault(proof).map(|fault| format!("{}: {fault}", one.id)));
        }
    }
    let unknown = motives.iter().copied().chain(proofs.incidents()).collect::<BTreeSet<_>>();
    let unknown = unknown.into_iter().filter(|id| !known.contains(id));
    faults.extend(unknown.map(|id| format!("{id}: is named and not described as an incident")));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::root;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn what_is_missing_dead_or_unknown_is_named() {
        let files = [
            file(
                "a/tests/x.rs",
                "#[test]\nfn lives() {}\n#[test]\n#[ignore = \"#1\"]\nfn rests() {}",
            ),
            file(
                "crates/engine/tests/verdicts/incidents.toml",
                "[[group]]\ncase = [{ command = \"a\", incident = \"CVE-1, CVE-9\" }]",
            ),
        ];
        let threats: Threats = toml::from_str(
            r#"
            [[part]]
            title = "p"
            requirement = [
              { id = "T1", promise = "x", incidents = ["CVE-1", "CVE-2"], proofs = ["a/tests/x.rs#lives"] },
              { id = "T2", promise = "x", proofs = ["a/tests/x.rs#rests", "a/tests/x.rs#gone"] },
              { id = "T3", promise = "x", proofs = [] },
              { id = "T99", promise = "x", proofs = ["cargo xtask tidy"] },
            ]
            [[incident]]
            id = "CVE-1"
            what = "x"
            [[incident]]
            id = "CVE-2"
            what = "x"
            "#,
        )
        .unwrap();
        let found = faults(&threats, &Proofs::of(&files).unwrap());
        for want in [
            "T2: `rests` in `a/tests/x.rs` is ignored",
            "T2: there is no test `gone` in `a/tests/x.rs`",
            "T3: nothing proves it",
            "T98: is missing",
            "T99: no such requirement",
            "CVE-2: no case states it, and no test is named",
            "CVE-9: is named and not described as an incident",
        ] {
            assert!(found.iter().any(|fault| fault == want), "{want}\n{found:#?}");
        }
        assert!(!found.iter().any(|fault| fault.starts_with("T1:")), "{found:#?}");
        assert!(!found.iter().any(|fault| fault.starts_with("CVE-1:")), "{found:#?}");
    }

    #[test]
    fn every_promise_has_a_proof_that_lives() {
        let checked = check(&root()).unwrap();
        assert!(checked.faults.is_empty(), "{}", checked.faults.join("\n"));
    }
}
