//! `portcullis doctor`: does the gate hold?

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use portcullis_hook_static::installed::Installed;
use serde_json::json;

use super::{REFUSED, TROUBLE};
use crate::data_dir::DataDir;
use crate::doctor::{Check, State, drills, statics, version};
use crate::install::hosts::{self, Host};
use crate::palette::{Ink, Palette};

/// Proves that installed hooks hold: sends canary calls and faults through the installed command
/// lines, as the hosts would, and looks at every answer. Exit code 0 all hold, 1 one does not, 2
/// nothing could be tested.
#[derive(Args)]
pub struct Doctor {
    /// The hosts; those that are installed if none is given.
    hosts: Vec<String>,
    /// The data directory.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// Shows JSON.
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// Checks, and shows a table.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let data = DataDir::find(self.data_dir.as_deref())?;
        let installed = Installed::read(data.path())?.unwrap_or_default();
        let is_installed =
            |host: &&Host| installed.entries.iter().any(|entry| entry.host == host.name);
        let chosen: Vec<&Host> = if self.hosts.is_empty() {
            hosts::HOSTS.iter().filter(is_installed).collect()
        } else {
            self.hosts.iter().map(|name| hosts::find(name)).collect::<Result<_, _>>()?
        };
        let mut reports = Vec::new();
        for host in chosen {
            let mut checks = statics(host, &installed, data.path());
            if is_installed(&host) {
                checks.extend(drills(host, &installed, data.path()));
            }
            reports.push((host, checks));
        }
        if self.json {
            show_json(out, &reports)?;
        } else {
            show(out, &reports, palette)?;
        }
        let all = || reports.iter().flat_map(|(_, checks)| checks);
        Ok(if all().any(Check::is_failed) {
            REFUSED.into()
        } else if all().any(|check| check.state == State::Holds) {
            ExitCode::SUCCESS
        } else {
            TROUBLE.into()
        })
    }
}

/// One line about a host.
fn report(checks: &[Check]) -> (State, String) {
    if let Some(open) = checks.iter().find(|check| check.is_failed()) {
        return (State::Open, format!("open: {}: {}", open.step, open.told));
    }
    if checks.iter().any(|check| check.state == State::Holds) {
        return (
            State::Holds,
            "holds (static and drills; not proven with the real client)".to_owned(),
        );
    }
    (State::Untested, "not proven".to_owned())
}

fn show(
    out: &mut impl Write,
    reports: &[(&Host, Vec<Check>)],
    palette: Palette,
) -> anyhow::Result<()> {
    if reports.is_empty() {
        writeln!(out, "no host is installed; run `portcullis install <host>`")?;
    }
    for (host, checks) in reports {
        let (_, line) = report(checks);
        writeln!(out, "{}  {line}", palette.paint(Ink::Title, host.name))?;
        for check in checks {
            let (word, ink) = match check.state {
                State::Holds => ("holds   ", Ink::Allow),
                State::Open => ("open    ", Ink::Deny),
                State::Untested => ("untested", Ink::Ask),
            };
            writeln!(out, "  {} {:<14} {}", palette.paint(ink, word), check.step, check.told)?;
        }
        writeln!(out, "  not covered: {}", host.limits)?;
    }
    Ok(())
}

fn show_json(out: &mut impl Write, reports: &[(&Host, Vec<Check>)]) -> anyhow::Result<()> {
    let hosts: Vec<_> = reports
        .iter()
        .map(|(host, checks)| {
            let (state, line) = report(checks);
            json!({
                "host": host.name, "state": state, "report": line, "checks": checks,
                "version": version(host.program), "not_covered": host.limits,
            })
        })
        .collect();
    writeln!(out, "{}", json!({ "hosts": hosts }))?;
    Ok(())
}
