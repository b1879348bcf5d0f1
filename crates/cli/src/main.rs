//! `portcullis`: the one binary.
//!
//! It reads its arguments and hands over to [`commands`], which lists everything it can do.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

mod commands;
mod escape;
mod outlet;
mod outline;
mod palette;
mod render;

/// Decides whether an AI agent's tool call may run, and asks a person when it may not decide alone.
#[derive(Parser)]
#[command(name = "portcullis", version, arg_required_else_help = true)]
struct Portcullis {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let command = Portcullis::parse().command;
    let stdout = std::io::stdout().lock();
    let palette = palette::Palette::for_output(&stdout);
    let mut out = outlet::Outlet::new(stdout);
    let code = command.run(&mut out, palette).and_then(|code| {
        out.flush()?;
        Ok(code)
    });
    code.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        commands::TROUBLE.into()
    })
}
