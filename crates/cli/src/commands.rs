//! The commands, all of them: one variant here, one file each under `commands/`.

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;

use crate::palette::Palette;

mod check;
mod explain;
mod parse;
mod policy;
mod serve;
mod trust;

/// The exit code of a call that was wrong or could not be carried out, as clap's own is.
pub const TROUBLE: u8 = 2;

/// What the binary can do.
#[derive(Subcommand)]
pub enum Command {
    /// Shows how a shell text is read.
    Parse(parse::Parse),
    /// Judges a tool call by the policy: 0 allow, 1 deny, 3 ask.
    Check(check::Check),
    /// Shows what a call would do, and why the verdict is what it is.
    Explain(explain::Explain),
    /// Writes, shows, checks and tests policy files.
    Policy(policy::Policy),
    /// Runs the daemon.
    Serve(serve::Serve),
    /// Trusts the project's policy file as it is now.
    Trust(trust::Trust),
}

impl Command {
    /// Runs the command; what it has to say goes to `out`.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        match self {
            Command::Parse(parse) => parse.run(out, palette),
            Command::Check(check) => check.run(out, palette),
            Command::Explain(explain) => explain.run(out, palette),
            Command::Policy(policy) => policy.run(out, palette),
            Command::Serve(serve) => serve.run(out, palette),
            Command::Trust(trust) => trust.run(out, palette),
        }
    }
}
