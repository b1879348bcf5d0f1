//! `portcullis check`: may this call run?

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use portcullis_engine::Outcome;
use portcullis_wire::verdict::Verdict;

use crate::local::Asked;
use crate::palette::Palette;
use crate::render;

mod batch;
mod lines;

/// The exit code of a call that a person must decide about.
const ASK: u8 = 3;

/// Judges one tool call, or a stream of them: exit code 0 allow, 1 deny, 3 ask.
#[derive(Args)]
pub struct Check {
    #[command(flatten)]
    asked: Asked,
    /// Writes the whole verdict as JSON.
    #[arg(long)]
    json: bool,
    /// Reads calls from standard input, one JSON object per line, and answers each with one line:
    /// exit code 0, or 2 if a line was not understood.
    #[arg(long, conflicts_with_all = ["command", "tool", "json"])]
    batch: bool,
    /// Whose words the lines of a batch are in.
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
}

/// The dialects of a batch.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dialect {
    /// Bodies of `check`, answered with decisions.
    Agentscope,
}

impl Check {
    /// Judges, and shows the verdict.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        if self.batch {
            let batch = batch::Batch::new(self.asked.ground())?;
            return match self.dialect {
                None => batch.run(out, batch::Batch::native),
                Some(Dialect::Agentscope) => batch.run(out, batch::Batch::agentscope),
            };
        }
        if self.dialect.is_some() {
            bail!("`--dialect` is about the lines of a batch; add `--batch`");
        }
        let judged = self.asked.judge()?;
        if self.json {
            serde_json::to_writer(&mut *out, &Verdict::new(&judged.verdict))?;
            writeln!(out)?;
        } else {
            render::verdict::verdict(out, &judged.verdict, palette)?;
        }
        Ok(exit_code(judged.verdict.outcome))
    }
}

/// The exit code that says an outcome.
pub fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Allow => ExitCode::SUCCESS,
        Outcome::Deny => ExitCode::FAILURE,
        Outcome::Ask => ASK.into(),
    }
}
