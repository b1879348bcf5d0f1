//! `portcullis policy`: writes, shows, checks and tests policy files.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::palette::Palette;

mod import;
mod init;
mod lint;
mod show;
mod test;

/// Writes, shows, checks and tests policy files.
#[derive(Args)]
pub struct Policy {
    #[command(subcommand)]
    action: Action,
}

/// What can be done with policies.
#[derive(Subcommand)]
enum Action {
    /// Writes a short policy for you to change; one that exists stays as it is.
    Init(init::Init),
    /// Shows the policy files in force here, or what they make together.
    Show(show::Show),
    /// Finds rules that can never match, are shadowed, or are wider than they look.
    Lint(lint::Lint),
    /// Runs the `[[test]]` entries of the policy files.
    Test(test::Test),
    /// Translates the rules of another system, and reports what became of each.
    Import(import::Import),
}

impl Policy {
    /// Does it.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::Init(init) => init.run(out),
            Action::Show(show) => show.run(out, palette),
            Action::Lint(lint) => lint.run(out, palette),
            Action::Test(test) => test.run(out, palette),
            Action::Import(import) => import.run(out, palette),
        }
    }
}
