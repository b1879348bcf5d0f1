//! `portcullis policy import`: rules of other systems, in our words.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use portcullis_layers::{Places, files};
use serde_json::json;

use crate::commands::PENDING;
use crate::escape;
use crate::import::{Fate, File, Import as Imported, SOURCES, files as found};
use crate::palette::{Ink, Palette};

/// Translates rules of another system: an allow only gets narrower, a deny or ask only wider, and
/// every rule stands in the report. Exit code 3 if something was lost.
#[derive(Args)]
pub struct Import {
    /// Whose rules: claude, codex, gemini, opencode, copilot, multica or agentscope.
    source: String,
    /// The files; where the source keeps them if none is given.
    files: Vec<PathBuf>,
    /// Writes the policy here, and the report beside it.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// How the report is shown.
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    report: String,
    /// Takes over modes that ask nothing.
    #[arg(long)]
    accept_bypass: bool,
}

impl Import {
    /// Reads, reports and writes.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let source =
            SOURCES.iter().find(|source| source.name == self.source).with_context(|| {
                let known: Vec<&str> = SOURCES.iter().map(|source| source.name).collect();
                format!("no source `{}`; use one of {}", self.source, known.join(", "))
            })?;
        let home = Places::of_this_user().home;
        let paths = if self.files.is_empty() {
            found(source, home.as_deref(), &std::env::current_dir()?)
        } else {
            self.files.clone()
        };
        if paths.is_empty() {
            bail!("no files of `{}` were found; name them", source.name);
        }
        let mut import = Imported::default();
        import.accepts_bypass = self.accept_bypass;
        import.is_sole = paths.len() == 1;
        for path in &paths {
            let text = std::fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read `{}`", path.display()))?;
            let directory = std::path::absolute(path)?;
            let directory = directory.parent().unwrap_or(&directory).to_owned();
            let file = File { name: path.display().to_string(), text: &text, directory };
            (source.read)(&mut import, &file)
                .with_context(|| format!("cannot understand `{}`", path.display()))?;
        }
        let policy = import.policy(source.name);
        let report = self.told(&import, Palette::Plain);
        if let Some(path) = &self.write {
            let path = &std::path::absolute(path)?;
            if let Ok(before) = std::fs::read_to_string(path)
                && !before.starts_with("# Imported from")
            {
                bail!("`{}` is no import of ours; name another file", path.display());
            }
            files::replace(path, &policy)
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            let mut beside = path.clone().into_os_string();
            beside.push(if self.report == "json" { ".report.json" } else { ".report.txt" });
            files::replace(beside.as_ref(), &report)?;
        } else if self.report == "text" {
            writeln!(out, "{policy}")?;
        }
        out.write_all(self.told(&import, palette).as_bytes())?;
        Ok(if import.has_losses() { PENDING.into() } else { ExitCode::SUCCESS })
    }

    fn told(&self, import: &Imported, palette: Palette) -> String {
        if self.report == "json" {
            return format!(
                "{}\n",
                json!({ "rules": import.taken, "losses": import.has_losses() })
            );
        }
        let mut text = String::new();
        for taken in &import.taken {
            let (word, ink) = match taken.fate {
                Fate::Exact => ("exact", Ink::Allow),
                Fate::Narrowed => ("narrowed", Ink::Allow),
                Fate::Widened => ("widened", Ink::Allow),
                Fate::Downgraded => ("downgraded", Ink::Ask),
                Fate::Partial => ("partial", Ink::Deny),
                Fate::Unmapped => ("unmapped", Ink::Deny),
            };
            let shown = |text: &str| escape::line(text.as_bytes());
            let _ = write!(
                text,
                "{}:{}: {}: {}",
                shown(&taken.file),
                taken.line,
                palette.paint(ink, word),
                shown(&taken.text)
            );
            if !taken.became.is_empty() {
                let _ = write!(text, " -> {}", shown(&taken.became.join(", ")));
            }
            if !taken.why.is_empty() {
                let _ = write!(text, " ({})", shown(&taken.why));
            }
            text.push('\n');
        }
        text + "built-in defaults of the source are not imported\n"
    }
}
