//! `portcullis trust`: a project's policy file may say more than "stricter".

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use portcullis_engine::PolicyText;
use portcullis_layers::trust::{self, Trusted};
use portcullis_layers::{LayerError, Places, files};

use crate::palette::{Ink, Palette};
use crate::{escape, render, settings};

/// Trusts the exact content of the project's policy file, after showing what it adds.
#[derive(Args)]
pub struct Trust {
    /// The file, or a directory of the project; the current one if not given.
    path: Option<PathBuf>,
    /// Takes the trust back.
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// Shows what is trusted.
    #[arg(long, conflicts_with = "path")]
    list: bool,
    /// Does not ask on a terminal.
    #[arg(long)]
    yes: bool,
}

impl Trust {
    /// Shows, asks where somebody can answer, and trusts.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let list = Places::of_this_user().trust();
        let list = list.context("there is no home directory; set `PORTCULLIS_DATA_DIR`")?;
        if self.list {
            return show_list(out, &list, palette);
        }
        let file = project_file(self.path.as_deref())?;
        let shown = escape::line(file.to_string_lossy().as_bytes());
        if self.revoke {
            let was_trusted = trust::revoke(&list, &file)?;
            let sentence = if was_trusted { "is no longer trusted" } else { "was not trusted" };
            writeln!(out, "`{shown}` {sentence}")?;
            return Ok(ExitCode::SUCCESS);
        }
        let text = files::read(&file).and_then(|text| text.ok_or("no such file".to_owned()));
        let text = text.map_err(|why| LayerError::Unreadable { path: file.clone(), why })?;
        let said = match PolicyText::from_toml(&text) {
            Ok(said) => said,
            Err(error) => {
                return Err(LayerError::Broken { path: file, text, error: Box::new(error) }.into());
            }
        };
        let (_, left_out) = said.stricter_only();
        if left_out.is_empty() {
            writeln!(out, "`{shown}` can only make the policy stricter and needs no trust")?;
            return Ok(ExitCode::SUCCESS);
        }
        if trust::Trust::read(&list)?.covers(&file, &text) {
            writeln!(out, "`{shown}` is trusted already, as it is now")?;
            return Ok(ExitCode::SUCCESS);
        }
        writeln!(out, "`{shown}` adds, once it is trusted:")?;
        for setting in settings::said(&said) {
            if left_out.iter().any(|name| settings::covers(name, setting.key)) {
                render::policy::write_setting(out, &setting, None, "  ", palette)?;
            }
        }
        out.flush()?;
        if !self.yes && std::io::stdin().is_terminal() && !confirmed()? {
            writeln!(out, "nothing is changed")?;
            return Ok(ExitCode::FAILURE);
        }
        trust::trust(&list, &file, &text)?;
        writeln!(out, "`{shown}` is trusted as it is now; `--revoke` takes it back")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The policy file of the project around a path.
fn project_file(path: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = match path {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_dir().context("cannot tell the current directory")?,
    };
    if !path.is_dir() {
        return Ok(path);
    }
    match files::project_policy(&path) {
        Some(file) => Ok(file),
        None => bail!("there is no `portcullis.toml` in `{}` or above it", path.display()),
    }
}

fn confirmed() -> anyhow::Result<bool> {
    let _ = write!(std::io::stderr(), "trust it? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn show_list(out: &mut impl Write, list: &Path, palette: Palette) -> anyhow::Result<ExitCode> {
    let trust = trust::Trust::read(list)?;
    if trust.trusted().is_empty() {
        writeln!(out, "nothing is trusted")?;
    }
    for Trusted { path, sha256 } in trust.trusted() {
        let state = match files::read(path) {
            Ok(Some(text)) if trust::sha256(&text) == *sha256 => "as it was trusted",
            Ok(Some(_)) => "changed since, not trusted now",
            Ok(None) => "gone",
            Err(_) => "cannot be read",
        };
        let path = escape::line(path.to_string_lossy().as_bytes());
        let short: String = sha256.chars().take(12).collect();
        writeln!(out, "{path}  {}", palette.paint(Ink::Frame, &format!("{short}  {state}")))?;
    }
    Ok(ExitCode::SUCCESS)
}
