//! `portcullis`: the one binary.
//!
//! It reads its arguments and hands over to [`commands`], which lists everything it can do. A hook
//! is handed over before: it must start at once, and answer whatever its arguments are.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

mod ancestors;
mod commands;
mod data_dir;
mod doctor;
mod escape;
mod import;
mod install;
mod local;
mod outlet;
mod outline;
mod palette;
mod reach;
mod render;
mod settings;
mod watch;

/// Decides whether an AI agent's tool call may run, and asks a person when it may not decide alone.
#[derive(Parser)]
#[command(
    name = "portcullis",
    version,
    arg_required_else_help = true,
    after_help = "Agent hosts start `portcullis hook <host>`: their document in, the exact answer out."
)]
struct Portcullis {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    if let Some(words) = portcullis_hook_static::words() {
        return portcullis_hook_static::run(words);
    }
    let command = Portcullis::parse().command;
    let stdout = std::io::stdout().lock();
    let palette = palette::Palette::for_output(&stdout);
    let mut out = outlet::Outlet::new(stdout);
    let code = command.run(&mut out, palette).and_then(|code| {
        out.flush()?;
        Ok(code)
    });
    code.unwrap_or_else(|error| {
        complain(&error);
        commands::TROUBLE.into()
    })
}

/// Says on standard error why a command could not be carried out.
fn complain(error: &anyhow::Error) {
    let mut out = std::io::stderr().lock();
    let palette = palette::Palette::for_output(&out);
    // Nobody is left to tell where even this cannot be written.
    let _ = match (error.downcast_ref(), error.downcast_ref()) {
        (Some(error), _) => render::fault::layer_error(&mut out, error, palette),
        (None, Some(broken)) => render::fault::config_error(&mut out, broken, palette),
        (None, None) => {
            let title = palette.paint(palette::Ink::Refused, "error");
            writeln!(out, "{title}: {}", escape::line(format!("{error:#}").as_bytes()))
        }
    };
}
