//! `portcullis policy lint`: what in a policy does not do what it seems to.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use portcullis_layers::Places;
use portcullis_wire::policy as wire;

use crate::local::Ground;
use crate::palette::{Ink, Palette};
use crate::render::fault::Fault;

/// Finds rules that can never match, are shadowed, or are wider than they look: exit code 1 if any.
#[derive(Args)]
pub struct Lint {
    /// Looks at this file alone, as if it were the user's.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

impl Lint {
    /// Reads the files and shows what was found.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let ground = Ground { mode: None, policy: self.file, cwd: None };
        let layers = ground.layers(&Places::of_this_user(), &ground.directory()?)?;
        let warnings = layers.policy()?.lint();
        let mut shapes = Vec::new();
        for warning in &warnings {
            let Some(layer) = layers.layers.get(warning.layer) else { continue };
            let code = warning.code;
            let message = format!("{} ({code})", warning.message);
            let (path, text, span) = (&layer.path, &layer.text, warning.span.clone());
            if self.json {
                let (message, path) = (&warning.message, path.to_string_lossy());
                let span = span.map(|span| [span.start, span.end]);
                shapes.push(wire::Warning { code, message, path, span });
                continue;
            }
            let title = ("warning", Ink::Unknown);
            Fault { title, message: &message, path, text, span, help: None }.write(out, palette)?;
        }
        if self.json {
            serde_json::to_writer(&mut *out, &shapes)?;
            writeln!(out)?;
        } else if warnings.is_empty() {
            let count = layers.layers.len();
            let files = if count == 1 { "file" } else { "files" };
            writeln!(out, "nothing found in {count} policy {files}")?;
        }
        Ok(if warnings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
