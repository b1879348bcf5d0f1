//! Checking a chain: every entry follows the one before it, and what was signed is still there.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use portcullis_approval::audit::{Broken, Chain, Checkpoint};
use portcullis_approval::key::hex;
use portcullis_store::{AuditFilter, Store};
use serde_json::{Value, json};

use super::PAGE;
use crate::commands::REFUSED;
use crate::escape;
use crate::palette::{Ink, Palette};

/// What was found so far.
#[derive(Default)]
struct Check {
    chains: BTreeMap<String, Chain>,
    points: Vec<Checkpoint>,
    entries: u64,
    signed: BTreeMap<String, u64>,
    /// The entry a chain begins behind, where older ones were removed.
    begins: BTreeMap<String, u64>,
    public: Option<[u8; 32]>,
}

impl Check {
    fn entry(&mut self, line: &str) -> Result<(), Broken> {
        let node = serde_json::from_str::<Value>(line).ok();
        let node = node.as_ref().and_then(|entry| entry.get("node")?.as_str()).unwrap_or("");
        // A line that names no node is of the only chain there is, if there is one.
        let node = match self.chains.keys().next() {
            Some(only) if node.is_empty() && self.chains.len() == 1 => only.clone(),
            Some(_) | None => node.to_owned(),
        };
        let chain = self.chains.entry(node.clone()).or_default();
        chain.take(line).map_err(|broken| Broken { node: node.clone(), ..broken })?;
        self.entries += 1;
        let (seq, hash) = chain.head();
        for point in self.points.iter().filter(|point| point.node == node && point.seq == seq) {
            if point.hash != hash {
                return Err(wrong(point, "it is not the one that was signed"));
            }
            self.signed.insert(node.clone(), seq);
        }
        Ok(())
    }

    /// Takes a statement: its signature is checked now, what it says when its entry comes.
    fn point(&mut self, point: Checkpoint) -> Result<(), Broken> {
        if self.public.is_some_and(|public| !point.is_signed_by(&public)) {
            return Err(wrong(&point, "its checkpoint is not signed with this key"));
        }
        match self.chains.get(&point.node).map(Chain::head) {
            None if point.seq > 0 => {
                self.chains.insert(point.node.clone(), Chain::after(point.seq, point.hash));
                self.begins.insert(point.node.clone(), point.seq);
                self.signed.insert(point.node.clone(), point.seq);
            }
            Some((seq, hash)) if seq == point.seq => {
                if hash != point.hash {
                    return Err(wrong(&point, "it is not the one that was signed"));
                }
                self.signed.insert(point.node.clone(), seq);
            }
            // Behind its place it would vouch for nothing: the entry it speaks of has gone by.
            Some((seq, _)) if seq > point.seq => {
                return Err(wrong(&point, "its checkpoint stands in the wrong place"));
            }
            // Before its place it is kept until the entry comes.
            None | Some(_) => {}
        }
        self.points.push(point);
        Ok(())
    }

    /// Whatever was signed must have been seen.
    fn end(&self) -> Result<(), Broken> {
        let head =
            |point: &Checkpoint| self.chains.get(&point.node).map_or(0, |chain| chain.head().0);
        match self.points.iter().find(|point| point.seq > head(point)) {
            Some(point) => {
                let missing = Checkpoint { seq: head(point) + 1, ..point.clone() };
                Err(wrong(&missing, "it was signed for and is missing"))
            }
            None => Ok(()),
        }
    }

    fn tell(
        &self,
        out: &mut impl Write,
        found: Result<(), Broken>,
        as_json: bool,
        palette: Palette,
    ) -> anyhow::Result<ExitCode> {
        let unsigned: u64 = self
            .chains
            .iter()
            .map(|(node, chain)| {
                let signed = self.signed.get(node).or_else(|| self.begins.get(node)).copied();
                chain.head().0 - signed.unwrap_or(0)
            })
            .sum();
        let points = self.points.len();
        let has_key = self.public.is_some();
        match (found, as_json) {
            (Ok(()), true) => {
                let shape = json!({
                    "whole": true, "entries": self.entries, "checkpoints": points,
                    "signatures_checked": has_key, "entries_not_signed_yet": unsigned,
                    "begins_behind": self.begins,
                });
                writeln!(out, "{shape}")?;
                Ok(ExitCode::SUCCESS)
            }
            (Ok(()), false) => {
                let word = palette.paint(Ink::Allow, "whole");
                writeln!(out, "{word}: entries {}, checkpoints {points}", self.entries)?;
                for (node, seq) in &self.begins {
                    let node = escape::line(node.as_bytes());
                    writeln!(
                        out,
                        "  node `{node}` begins behind entry {seq}; older ones are gone"
                    )?;
                }
                if !has_key {
                    writeln!(out, "  signatures were not checked; give `--public-key`")?;
                }
                if unsigned > 0 {
                    writeln!(out, "  not signed yet: the last {unsigned}")?;
                }
                Ok(ExitCode::SUCCESS)
            }
            (Err(broken), true) => {
                let first = json!({ "node": broken.node, "seq": broken.seq, "what": broken.what });
                writeln!(out, "{}", json!({ "whole": false, "first_wrong": first }))?;
                Ok(REFUSED.into())
            }
            (Err(broken), false) => {
                let word = palette.paint(Ink::Deny, "broken");
                writeln!(out, "{word}: {}", escape::line(broken.to_string().as_bytes()))?;
                Ok(REFUSED.into())
            }
        }
    }
}

fn wrong(point: &Checkpoint, what: &str) -> Broken {
    Broken { node: point.node.clone(), seq: point.seq, what: what.to_owned() }
}

/// Checks an exported file.
pub fn file(
    out: &mut impl Write,
    path: &Path,
    public: Option<[u8; 32]>,
    as_json: bool,
    palette: Palette,
) -> anyhow::Result<ExitCode> {
    let file = std::fs::File::open(path);
    let file = file.with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut check = Check { public, ..Check::default() };
    let mut found = Ok(());
    for line in BufReader::new(file).lines() {
        let line = line.with_context(|| format!("cannot read `{}`", path.display()))?;
        // Only a checkpoint has a signature; an entry that claims one is no entry.
        let point = Checkpoint::read(&line).filter(|point| point.line() == line);
        found = match point {
            Some(point) => check.point(point),
            None => check.entry(&line),
        };
        if found.is_err() {
            break;
        }
    }
    let found = found.and_then(|()| check.end());
    check.tell(out, found, as_json, palette)
}

/// Checks a store.
pub async fn store(
    out: &mut impl Write,
    store: &dyn Store,
    public: Option<[u8; 32]>,
    as_json: bool,
    palette: Palette,
) -> anyhow::Result<ExitCode> {
    let mut check = Check { public, ..Check::default() };
    // Statements first, then the end, then the entries up to it: a daemon may be writing.
    let points = store.checkpoints().await?;
    let head = store.head().await?;
    if let Some((seq, hash)) = head.base {
        check.chains.insert(store.node().to_owned(), Chain::after(seq, hash));
        check.begins.insert(store.node().to_owned(), seq);
    }
    let base = head.base.map_or(0, |(seq, _)| seq);
    let mut found = Ok(());
    for point in points.into_iter().filter(|point| point.node != store.node() || point.seq >= base)
    {
        // Its entries come from the first one on.
        check.chains.entry(point.node.clone()).or_default();
        found = found.and_then(|()| check.point(point));
    }
    let mut filter = AuditFilter::after(0, PAGE);
    'pages: while found.is_ok() {
        let page = store.audit(&filter).await?;
        for entry in &page {
            filter.after = entry.position;
            let line = entry.line();
            if !line.contains(&format!("\"hash\":\"{}\"", hex(&entry.hash))) {
                let (node, what) = (entry.node.clone(), "its content was changed".to_owned());
                found = Err(Broken { node, seq: entry.seq, what });
                break 'pages;
            }
            found = check.entry(&line);
            if found.is_err() {
                break 'pages;
            }
        }
        if page.len() < PAGE {
            break;
        }
    }
    let found = found.and_then(|()| check.end());
    check.tell(out, found, as_json, palette)
}
