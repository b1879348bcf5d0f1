//! Local judging: a call from the arguments, the policy from its files, the disk as it is.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use portcullis_engine::call::{Call, Shell};
use portcullis_engine::{Mode, Policy, Verdict, judge};
use portcullis_layers::{Layers, Live, Places};
use serde_json::json;

use crate::outlet::aside;
use crate::palette::{Ink, Palette};

/// Which policy is in force, and where.
#[derive(Args)]
pub struct Ground {
    /// Judges in this mode, whatever the policy says.
    #[arg(long, value_parser = mode)]
    pub mode: Option<Mode>,
    /// This file stands in for the user's and the project's policy.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The directory the call would run in; the current one if not given.
    #[arg(long, value_name = "DIRECTORY")]
    pub cwd: Option<PathBuf>,
}

impl Ground {
    /// The directory, absolute, as text.
    pub fn directory(&self) -> anyhow::Result<String> {
        let directory = match &self.cwd {
            Some(cwd) => std::path::absolute(cwd),
            None => std::env::current_dir(),
        };
        let directory = directory.context("cannot tell the current directory; use `--cwd`")?;
        directory.into_os_string().into_string().map_err(|directory| {
            anyhow!("the directory `{}` is not UTF-8", directory.to_string_lossy())
        })
    }

    /// The policy files for a directory; what is worth knowing goes to standard error.
    pub fn layers(&self, places: &Places, directory: &str) -> anyhow::Result<Layers> {
        let layers = Layers::read(places, directory.as_ref(), self.policy.as_deref())?;
        let palette = Palette::for_output(&std::io::stderr());
        for warning in &layers.warnings {
            aside!("{}: {warning}", palette.paint(Ink::Unknown, "warning"));
        }
        Ok(layers)
    }

    /// The policy in force, in the mode that was asked for.
    pub fn in_mode(&self, policy: Policy) -> Policy {
        match self.mode {
            Some(mode) => policy.with_mode(mode),
            None => policy,
        }
    }
}

/// One call, from the arguments.
#[derive(Args)]
pub struct Asked {
    #[command(flatten)]
    ground: Ground,
    /// The tool, where it is not a shell; its input comes with it.
    #[arg(long, value_name = "NAME", requires = "input", conflicts_with = "command")]
    tool: Option<String>,
    /// The tool's input as JSON; `-` reads standard input.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// The shell that would run the command: bash, sh or zsh; any other asks.
    #[arg(long, value_name = "NAME")]
    shell: Option<String>,
    /// The agent host whose tool names are meant.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// The command; `-` reads standard input.
    pub command: Option<OsString>,
}

/// A call with its verdict.
pub struct Judged {
    /// The call.
    pub call: Call,
    /// The verdict.
    pub verdict: Verdict,
}

impl Asked {
    /// Which policy is in force, and where.
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// Reads the policy files and judges the call.
    pub fn judge(self) -> anyhow::Result<Judged> {
        let places = Places::of_this_user();
        let home = places.home.as_ref().and_then(|home| home.to_str()).map(str::to_owned);
        let cwd = self.ground.directory()?;
        let policy = self.ground.layers(&places, &cwd)?.policy()?;
        let policy = self.ground.in_mode(policy);
        let (tool, input) = match (self.tool, self.input, self.command) {
            (Some(tool), Some(input), _) => {
                let text = if input == "-" { standard_input()? } else { input };
                let input = portcullis_wire::json::value(&text)
                    .map_err(|message| anyhow!("`--input` is not understood: {message}"))?;
                (tool, input)
            }
            (_, _, Some(command)) => ("Bash".to_owned(), json!({ "command": text(command)? })),
            _ => bail!("nothing to judge; give a command, `--tool` with `--input`, or `--batch`"),
        };
        let shell = self.shell.as_deref().map(Shell::named);
        let call = Call { tool, input, cwd, root: None, home, shell, host: self.host };
        let verdict = judge(&policy, &call, &Live::new());
        Ok(Judged { call, verdict })
    }
}

fn text(command: OsString) -> anyhow::Result<String> {
    if command == "-" {
        return standard_input();
    }
    command
        .into_string()
        .map_err(|_| anyhow!("the command is not UTF-8, and no agent could send it"))
}

fn standard_input() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// The mode of this name.
fn mode(name: &str) -> Result<Mode, String> {
    Mode::from_name(name).ok_or_else(|| {
        let known = Mode::ALL.map(Mode::name).join(", ");
        format!("unknown mode `{name}`; use one of {known}")
    })
}
