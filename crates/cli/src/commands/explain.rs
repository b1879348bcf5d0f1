//! `portcullis explain`: the whole way from a call to its verdict.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use portcullis_wire::explanation::Explanation;

use super::check::exit_code;
use crate::local::Asked;
use crate::palette::Palette;
use crate::render;

/// Shows what a call would do and why it is allowed, asked about or denied.
#[derive(Args)]
pub struct Explain {
    #[command(flatten)]
    asked: Asked,
    /// Writes the same as JSON.
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Judges, and shows everything; the exit code is that of `check`.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let judged = self.asked.judge()?;
        let (call, verdict) = (&judged.call, &judged.verdict);
        if self.json {
            let (tool, input, cwd) = (&call.tool, &call.input, &call.cwd);
            serde_json::to_writer(&mut *out, &Explanation { tool, input, cwd, verdict })?;
            writeln!(out)?;
        } else {
            render::explanation::explanation(out, call, verdict, palette)?;
        }
        Ok(exit_code(verdict.outcome))
    }
}
