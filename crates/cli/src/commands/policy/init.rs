//! `portcullis policy init`: a policy to begin with.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use portcullis_engine::Policy;
use portcullis_layers::{Places, files};

/// Writes a short, commented policy; one that exists stays as it is (exit code 1).
#[derive(Args)]
pub struct Init {
    /// Writes this file instead of the user's policy.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Init {
    /// Writes the file and says where.
    pub fn run(self, out: &mut impl Write) -> anyhow::Result<ExitCode> {
        let file = match self.file {
            Some(file) => file,
            None => Places::of_this_user()
                .user_policy()
                .context("there is no home directory to write to; name a file")?,
        };
        let shown = file.display();
        match files::write_new(&file, Policy::STARTER) {
            Ok(()) => {
                writeln!(out, "wrote `{shown}`; try `portcullis explain 'npm publish'`")?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                writeln!(out, "`{shown}` exists and stays as it is")?;
                Ok(ExitCode::FAILURE)
            }
            Err(error) => Err(error).with_context(|| format!("cannot write `{shown}`")),
        }
    }
}
