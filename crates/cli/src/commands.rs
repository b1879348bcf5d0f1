//! The commands, all of them: one variant here, one file each under `commands/`.

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;

use crate::palette::Palette;

mod parse;

/// The exit code of a call that was wrong or could not be carried out, as clap's own is.
pub const TROUBLE: u8 = 2;

/// What the binary can do.
#[derive(Subcommand)]
pub enum Command {
    /// Shows how a shell text is read.
    Parse(parse::Parse),
}

impl Command {
    /// Runs the command; what it has to say goes to `out`.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        match self {
            Command::Parse(parse) => parse.run(out, palette),
        }
    }
}
