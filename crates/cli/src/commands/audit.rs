//! `portcullis audit`: the record of everything, shown, exported and checked. Opens the store
//! itself, daemon or not.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use portcullis_approval::audit::Checkpoint;
use portcullis_store::{AuditFilter, AuditRecord, Store};
use serde_json::Value;

use crate::data_dir::{DataDir, checking_key};
use crate::palette::{Ink, Palette};
use crate::reach::{block_on, short};
use crate::render;

pub mod verify;

/// So many entries are read at once.
const PAGE: usize = 1000;

/// What matters most of what an entry says, by its kind; of other kinds the last row counts.
#[rustfmt::skip]
const SAID: &[(&str, &[&str])] = &[
    ("call.judged", &["outcome"]),
    ("ask.opened",  &["tier", "tool"]),
    ("ask.settled", &["outcome", "reason", "scope"]),
    ("",            &["role", "name", "rule", "reason", "status", "after"]),
];

/// Shows, exports and checks the audit.
#[derive(Args)]
pub struct Audit {
    /// Where the store lies.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY", global = true)]
    data_dir: Option<PathBuf>,
    /// The store: `sqlite:FILE` or `postgres://…`.
    #[arg(long, env = "PORTCULLIS_STORE", value_name = "ADDRESS", global = true)]
    store: Option<String>,
    /// Shows JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

/// What to do.
#[derive(Subcommand)]
enum Action {
    /// Shows the newest entries, the newest last.
    Tail {
        /// How many.
        #[arg(short = 'n', long, default_value_t = 20)]
        count: usize,
    },
    /// Shows one entry, or all entries about an ask, a key or a grant.
    Show {
        /// The number of an entry, or the id or digest it is about.
        about: String,
    },
    /// Writes everything as JSON Lines, with the signed checkpoints in their places.
    Export {
        /// The file; standard output if not given.
        file: Option<PathBuf>,
    },
    /// Checks the chain and its checkpoints: 0 whole, 1 broken.
    Verify {
        /// An exported file; the store if not given.
        file: Option<PathBuf>,
        /// The public key, 64 hexadecimal digits in a file; that of the data directory if not
        /// given.
        #[arg(long, value_name = "FILE")]
        public_key: Option<PathBuf>,
        /// A checkpoint that was kept elsewhere, as `GET /v1/audit/checkpoint` gave it: whatever
        /// was cut off since then is missed.
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
    },
}

impl Audit {
    /// Shows, exports or checks.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        if let Action::Verify { file: Some(file), public_key, checkpoint } = &self.action {
            let found = checking_key(public_key.as_deref(), self.data_dir.as_deref());
            // Whoever checks a file may have no data directory.
            let public = if public_key.is_some() { Some(found?) } else { found.ok() };
            let kept = checkpoint.as_deref();
            let how = verify::How { public, kept, as_json: self.json, palette };
            return verify::file(out, file, how);
        }
        let data = DataDir::find(self.data_dir.as_deref())?;
        let is_there = self.store.is_some() || data.file("portcullis.db").exists();
        if !is_there {
            bail!(
                "there is no store in `{}`; start with `portcullis serve`",
                data.path().display()
            );
        }
        block_on(async {
            let store = data.store(self.store.as_deref().unwrap_or("")).await?;
            let done = self.with(out, &*store, palette).await;
            store.close().await;
            done
        })
    }

    async fn with(
        &self,
        out: &mut impl Write,
        store: &dyn Store,
        palette: Palette,
    ) -> anyhow::Result<ExitCode> {
        match &self.action {
            Action::Tail { count } => {
                let mut filter = AuditFilter::after(0, *count);
                filter.before = Some(u64::MAX >> 1);
                let mut entries = store.audit(&filter).await?;
                entries.reverse();
                self.show(out, &entries, palette)?;
            }
            Action::Show { about } => {
                let entries = about_entries(store, about).await?;
                if entries.is_empty() {
                    bail!("no entry is about `{about}`");
                }
                self.show(out, &entries, palette)?;
            }
            Action::Export { file: None } => export(out, store).await?,
            Action::Export { file: Some(file) } => {
                let made = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
                let made = made.with_context(|| format!("cannot make `{}`", file.display()))?;
                let mut made = std::io::BufWriter::new(made);
                export(&mut made, store).await?;
                made.flush()?;
            }
            Action::Verify { public_key, checkpoint, .. } => {
                let public = Some(checking_key(public_key.as_deref(), self.data_dir.as_deref())?);
                let kept = checkpoint.as_deref();
                let how = verify::How { public, kept, as_json: self.json, palette };
                return verify::store(out, store, how).await;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn show(
        &self,
        out: &mut impl Write,
        entries: &[AuditRecord],
        palette: Palette,
    ) -> anyhow::Result<()> {
        for entry in entries {
            if self.json {
                writeln!(out, "{}", entry.line())?;
                continue;
            }
            match self.action {
                Action::Show { .. } => whole(out, entry, palette)?,
                Action::Tail { .. } | Action::Export { .. } | Action::Verify { .. } => {
                    brief(out, entry, palette)?;
                }
            }
        }
        Ok(())
    }
}

/// One entry on one line: when, what, who, about what, and what matters most of the rest.
fn brief(out: &mut impl Write, entry: &AuditRecord, palette: Palette) -> std::io::Result<()> {
    let at = entry.at.to_string();
    let time = at.get(5..19).unwrap_or(&at).replace('T', " ");
    let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
    let input = data.get("input").map(|input| match input.get("command") {
        Some(Value::String(command)) => command.clone(),
        Some(_) | None => input.to_string(),
    });
    let row = SAID.iter().find(|(kind, _)| kind.is_empty() || *kind == entry.kind);
    let names = row.map_or(&[][..], |(_, names)| names);
    let said = names.iter().filter_map(|name| data.get(name)?.as_str().map(str::to_owned));
    let said: Vec<String> = said.chain(input).collect();
    let about = format!("{} {}  {}", entry.actor, short(&entry.subject), said.join(", "));
    let seq = palette.paint(Ink::Frame, &format!("{:>6}  {time}", entry.seq));
    let kind = palette.paint(Ink::Title, &format!("{:<14}", entry.kind));
    writeln!(out, "{seq}  {kind}  {}", render::paragraph::cut(&about, 40))
}

/// One entry with everything it says.
fn whole(out: &mut impl Write, entry: &AuditRecord, palette: Palette) -> std::io::Result<()> {
    writeln!(out, "{}  {}", palette.paint(Ink::Title, &entry.kind), entry.at)?;
    let seq = entry.seq.to_string();
    let parts = [
        ("entry", seq.as_str()),
        ("actor", &entry.actor),
        ("subject", &entry.subject),
        ("data", &entry.data),
    ];
    for (label, text) in parts {
        render::explanation::labelled(out, label, text, Ink::Frame, palette)?;
    }
    Ok(())
}

/// The entry of a number, or the entries about a subject or the end of one.
async fn about_entries(store: &dyn Store, about: &str) -> anyhow::Result<Vec<AuditRecord>> {
    let seq: Option<u64> = about.parse().ok();
    let mut found = Vec::new();
    let mut filter = AuditFilter::after(0, PAGE);
    loop {
        let page = store.audit(&filter).await?;
        let is_last = page.len() < PAGE;
        filter.after = page.last().map_or(filter.after, |entry| entry.position);
        let is_meant = |entry: &AuditRecord| match seq {
            Some(seq) if about.len() < 6 => entry.seq == seq,
            Some(_) | None => {
                entry.subject == about || (about.len() >= 4 && entry.subject.ends_with(about))
            }
        };
        found.extend(page.into_iter().filter(is_meant));
        if is_last {
            return Ok(found);
        }
    }
}

async fn export(out: &mut impl Write, store: &dyn Store) -> anyhow::Result<()> {
    let checkpoints = store.checkpoints().await?;
    let base = store.head().await?.base.map_or(0, |(seq, _)| seq);
    let at = |node: &str, seq: u64| {
        let node = node.to_owned();
        checkpoints.iter().filter(move |point| point.node == node && point.seq == seq)
    };
    // What the chain begins behind comes first: a reader has nothing else to begin with.
    for point in at(store.node(), base).take(1) {
        writeln!(out, "{}", Checkpoint::line(point))?;
    }
    let mut filter = AuditFilter::after(0, PAGE);
    loop {
        let page = store.audit(&filter).await?;
        for entry in &page {
            filter.after = entry.position;
            writeln!(out, "{}", entry.line())?;
            for point in at(&entry.node, entry.seq).take(1) {
                writeln!(out, "{}", point.line())?;
            }
        }
        if page.len() < PAGE {
            return Ok(());
        }
    }
}
