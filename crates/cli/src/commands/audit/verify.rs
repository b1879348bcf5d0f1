//! Checking a record: every entry follows the one before it, and what was signed is still there.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use portcullis_approval::audit::{Broken, Checkpoint};
use portcullis_approval::key::hex;
use portcullis_approval::verify::Verifier;
use portcullis_store::{AuditFilter, Store};
use serde_json::json;

use super::PAGE;
use crate::commands::REFUSED;
use crate::escape;
use crate::palette::{Ink, Palette};

/// With what a record is checked, and how the result is told.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// The key that checkpoints are signed with.
    pub public: Option<[u8; 32]>,
    /// A file with a checkpoint that was kept elsewhere.
    pub kept: Option<&'a Path>,
    /// Whether the result is told in JSON.
    pub as_json: bool,
    /// The colours it is told in.
    pub palette: Palette,
}

impl How<'_> {
    fn verifier(&self) -> anyhow::Result<(Verifier, Result<(), Broken>)> {
        let mut verifier = Verifier::new(self.public);
        let Some(path) = self.kept else { return Ok((verifier, Ok(()))) };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        let point = Checkpoint::read(text.trim()).with_context(|| {
            format!(
                "`{}` is no checkpoint; keep what `GET /v1/audit/checkpoint` says",
                path.display()
            )
        })?;
        let expected = verifier.expect(point);
        Ok((verifier, expected))
    }
}

/// Checks an exported file.
pub fn file(out: &mut impl Write, path: &Path, how: How<'_>) -> anyhow::Result<ExitCode> {
    let file = std::fs::File::open(path);
    let file = file.with_context(|| format!("cannot read `{}`", path.display()))?;
    let (mut verifier, mut found) = how.verifier()?;
    for line in BufReader::new(file).lines() {
        let line = line.with_context(|| format!("cannot read `{}`", path.display()))?;
        found = found.and_then(|()| verifier.line(&line));
        if found.is_err() {
            break;
        }
    }
    let found = found.and_then(|()| verifier.end());
    tell(out, &verifier, found, how)
}

/// Checks a store.
pub async fn store(
    out: &mut impl Write,
    store: &dyn Store,
    how: How<'_>,
) -> anyhow::Result<ExitCode> {
    let (mut verifier, mut found) = how.verifier()?;
    // Statements first, then the end, then the entries up to it: a daemon may be writing.
    let points = store.checkpoints().await?;
    let head = store.head().await?;
    if let Some((seq, hash)) = head.base {
        verifier.begin_behind(store.node(), seq, hash);
    }
    let base = head.base.map_or(0, |(seq, _)| seq);
    for point in points.into_iter().filter(|point| point.node != store.node() || point.seq >= base)
    {
        verifier.await_node(&point.node);
        found = found.and_then(|()| verifier.point(point));
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
            found = verifier.entry(&line);
            if found.is_err() {
                break 'pages;
            }
        }
        if page.len() < PAGE {
            break;
        }
    }
    let found = found.and_then(|()| verifier.end());
    tell(out, &verifier, found, how)
}

fn tell(
    out: &mut impl Write,
    verifier: &Verifier,
    found: Result<(), Broken>,
    how: How<'_>,
) -> anyhow::Result<ExitCode> {
    let How { as_json, palette, .. } = how;
    let (points, unsigned) = (verifier.checkpoints(), verifier.unsigned());
    let has_key = how.public.is_some();
    let others = verifier.of_other_keys();
    match (found, as_json) {
        (Ok(()), true) => {
            let shape = json!({
                "whole": true, "entries": verifier.entries(), "checkpoints": points,
                "signatures_checked": has_key, "entries_not_signed_yet": unsigned,
                "begins_behind": verifier.begins(), "checkpoints_of_other_keys": others,
            });
            writeln!(out, "{shape}")?;
            Ok(ExitCode::SUCCESS)
        }
        (Ok(()), false) => {
            let word = palette.paint(Ink::Allow, "whole");
            writeln!(out, "{word}: entries {}, checkpoints {points}", verifier.entries())?;
            for (node, seq) in verifier.begins() {
                let node = escape::line(node.as_bytes());
                writeln!(out, "  node `{node}` begins behind entry {seq}; older ones are gone")?;
            }
            if !has_key {
                writeln!(out, "  signatures were not checked; give `--public-key`")?;
            }
            if others > 0 {
                writeln!(
                    out,
                    "  signed with another key: {others} of the checkpoints; this key vouches for \
                     all they speak of"
                )?;
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
