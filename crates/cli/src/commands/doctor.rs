//! `portcullis doctor`: does the gate hold?

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use portcullis_daemon::clock::Clock;
use portcullis_hook_static::installed::Installed;
use portcullis_live::alone;
use serde_json::json;

use super::{REFUSED, TROUBLE};
use crate::data_dir::DataDir;
use crate::doctor::proven::{Proof, Proven};
use crate::doctor::{Check, State, drills, gaps, live, slow, statics, version};
use crate::install::hosts::{self, Host};
use crate::palette::{Ink, Palette};
use crate::reach::Reach;
use crate::{ancestors, escape};

/// Proves that installed hooks hold: sends canary calls and faults through the installed command
/// lines, as the hosts would, and looks at every answer; and looks for calls that ran although
/// nothing had let them. Exit code 0 all hold, 1 one does not, 2 nothing could be tested.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct Doctor {
    /// The hosts; those that are installed if none is given.
    hosts: Vec<String>,
    /// The data directory.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// The store in which gaps are looked for: `sqlite:FILE` or `postgres://…`; that of the data
    /// directory if not given.
    #[arg(long, env = "PORTCULLIS_STORE", value_name = "ADDRESS")]
    store: Option<String>,
    /// Drives the real clients too, against a scripted model, where only loopback is there: a
    /// forbidden command must not run, and one that is let through must.
    #[arg(long)]
    live: bool,
    /// Lets an answer come later than the client waits by itself; takes up to eleven minutes for
    /// each host, and needs the daemon.
    #[arg(long, requires = "live")]
    slow: bool,
    /// This process is where only loopback is there.
    #[arg(long, hide = true, requires = "live")]
    inside: bool,
    /// Shows JSON.
    #[arg(long)]
    json: bool,
}

impl Doctor {
    /// Checks, and shows a table.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let data = DataDir::find(self.data_dir.as_deref())?;
        if self.live {
            ancestors::refuse_agents("driving real clients")?;
            if !self.inside {
                return self.elsewhere(data.path());
            }
        }
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
                checks.extend(gaps(host, &installed, &data, self.store.as_deref()));
                if self.live {
                    checks.extend(self.driven(host, &installed, data.path())?);
                }
            }
            reports.push(Report::new(host, checks, data.path()));
        }
        if self.json {
            show_json(out, &reports)?;
        } else {
            show(out, &reports, palette)?;
        }
        let is_any = |state: State| reports.iter().any(|report| report.state == state);
        Ok(if is_any(State::Open) {
            REFUSED.into()
        } else if is_any(State::Holds) && !is_any(State::Untested) {
            ExitCode::SUCCESS
        } else {
            TROUBLE.into()
        })
    }

    /// Runs this very program again where only loopback is there.
    fn elsewhere(&self, data: &Path) -> anyhow::Result<ExitCode> {
        let mut command = alone::command(std::env::current_exe()?);
        command.args(["doctor", "--live", "--inside", "--data-dir"]).arg(data).args(&self.hosts);
        if let Some(store) = &self.store {
            command.arg("--store").arg(store);
        }
        let flags = [("--slow", self.slow), ("--json", self.json)];
        command.args(flags.iter().filter(|(_, is_on)| *is_on).map(|(flag, _)| flag));
        let status = command.status().context(
            "cannot start `unshare`, which makes a place with loopback alone; \
             it comes with the package util-linux",
        )?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.unwrap_or(TROUBLE).into())
    }

    /// The checks with the real client, and what they prove from now on.
    fn driven(&self, host: &Host, record: &Installed, data: &Path) -> anyhow::Result<Vec<Check>> {
        let mut checks = live(host, record, data);
        if self.slow {
            checks.push(slow(host, record, Reach::new(Some(data.to_owned()), None).approver()));
        }
        let holds = checks.iter().any(|check| check.step == "live" && check.state == State::Holds);
        let version = version(host.program).filter(|_| holds);
        if holds && version.is_none() {
            // Nobody could tell later whether it is still the same client.
            checks.retain(|check| check.step != "live");
            let told = "a forbidden command did not run, but the client does not say its version";
            checks.push(Check::new("live", State::Untested, told));
        }
        let on = Clock::new().now().to_string();
        let on = on.get(..10).unwrap_or_default().to_owned();
        let proof = version.map(|version| Proof { version, on });
        Proven::read(data).take(data, host.name, proof)?;
        Ok(checks)
    }
}

/// What was seen of a host.
struct Report<'a> {
    host: &'a Host,
    version: Option<String>,
    checks: Vec<Check>,
    state: State,
    line: String,
}

impl<'a> Report<'a> {
    fn new(host: &'a Host, checks: Vec<Check>, data: &Path) -> Report<'a> {
        let version = version(host.program);
        let proven = Proven::read(data);
        let proof = version.as_deref().and_then(|version| proven.of(host.name, version));
        let other = proven.any(host.name).filter(|_| proof.is_none());
        let undriven = |check: &&Check| check.step == "live" && check.state == State::Untested;
        let (state, line) = if let Some(open) = checks.iter().find(|check| check.is_failed()) {
            (State::Open, format!("open: {}: {}", open.step, open.told))
        } else if !checks.iter().any(|check| check.state == State::Holds) {
            (State::Untested, "not proven".to_owned())
        } else if let Some(undriven) = checks.iter().find(undriven) {
            (State::Untested, format!("not proven: live: {}", undriven.told))
        } else if let Some(other) = other {
            let is = version.as_deref().unwrap_or("one that does not say its version");
            let told = format!("proven live was {}, on {}; this is {is}", other.version, other.on);
            (State::Untested, format!("not proven: {told}"))
        } else if let Some(proof) = proof {
            (State::Holds, format!("holds (live, {}, {})", proof.version, proof.on))
        } else {
            let told = "holds (static and drills; `--live` proves it with the real client)";
            (State::Holds, told.to_owned())
        };
        Report { host, version, checks, state, line }
    }
}

fn show(out: &mut impl Write, reports: &[Report<'_>], palette: Palette) -> anyhow::Result<()> {
    if reports.is_empty() {
        writeln!(out, "no host is installed; run `portcullis install <host>`")?;
    }
    for Report { host, checks, line, .. } in reports {
        writeln!(out, "{}  {line}", palette.paint(Ink::Title, host.name))?;
        for check in checks {
            let (word, ink) = match check.state {
                State::Holds => ("holds   ", Ink::Allow),
                State::Open => ("open    ", Ink::Deny),
                State::Untested => ("untested", Ink::Ask),
            };
            let told = escape::line(check.told.as_bytes());
            writeln!(out, "  {} {:<14} {told}", palette.paint(ink, word), check.step)?;
        }
        writeln!(out, "  not covered: {}", host.limits)?;
    }
    Ok(())
}

fn show_json(out: &mut impl Write, reports: &[Report<'_>]) -> anyhow::Result<()> {
    let hosts: Vec<_> = reports
        .iter()
        .map(|Report { host, version, checks, state, line }| {
            json!({
                "host": host.name, "state": state, "report": line, "checks": checks,
                "version": version, "not_covered": host.limits,
            })
        })
        .collect();
    writeln!(out, "{}", json!({ "hosts": hosts }))?;
    Ok(())
}
