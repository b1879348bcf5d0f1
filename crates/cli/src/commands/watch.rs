//! `portcullis watch`: the inbox in a terminal.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use crate::palette::Palette;
use crate::reach::{Reach, block_on};
use crate::watch::{self, Manner};

/// Shows what waits for a person, live, and takes the answers.
#[derive(Args)]
pub struct Watch {
    #[command(flatten)]
    reach: Reach,
    /// No colours; `NO_COLOR` does the same.
    #[arg(long)]
    no_color: bool,
    /// Rings the terminal's bell when an ask comes.
    #[arg(long)]
    bell: bool,
    /// Shows a notification of the desktop when an ask comes (by `notify-send`).
    #[arg(long)]
    notify: bool,
}

impl Watch {
    /// Shows the inbox until it is ended.
    pub fn run(self, palette: Palette) -> anyhow::Result<ExitCode> {
        if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
            bail!("`watch` needs a terminal; `portcullis asks --watch` follows without one");
        }
        let client = self.reach.approver()?;
        let has_colours = palette == Palette::Terminal && !self.no_color;
        let manner = Manner { has_colours, rings: self.bell, notifies: self.notify };
        block_on(watch::run(client, manner))?;
        Ok(ExitCode::SUCCESS)
    }
}
