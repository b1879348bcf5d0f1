//! `portcullis pause`: for a while nobody is asked.
//!
//! The daemon is told so by an approver. Where none runs, hooks judge by themselves, and it is root
//! who may tell them: an agent is another user.

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use portcullis_approval::pause::MOST_MINUTES;
use portcullis_hook_static::pause;
use serde_json::{Value, json};

use crate::ancestors;
use crate::escape;
use crate::palette::Palette;
use crate::reach::{self, Reach, block_on};
use crate::render::ask::text;

/// Allows for a while what would be asked about, or ends that early.
#[derive(Args)]
pub struct Pause {
    #[command(flatten)]
    reach: Reach,
    /// For how long, at most 60; without it the pauses that go on are shown.
    #[arg(long, conflicts_with = "end")]
    minutes: Option<u64>,
    /// Only calls of this agent host.
    #[arg(long, requires = "minutes", conflicts_with = "end")]
    host: Option<String>,
    /// Only calls in this directory, or below it.
    #[arg(long, value_name = "DIRECTORY", requires = "minutes", conflicts_with = "end")]
    workspace: Option<String>,
    /// Ends whatever was paused, all of it.
    #[arg(long)]
    end: bool,
    /// Shows JSON.
    #[arg(long)]
    json: bool,
}

impl Pause {
    /// Pauses, shows what is paused, or ends it.
    pub fn run(self, out: &mut impl Write, _: Palette) -> anyhow::Result<ExitCode> {
        if !self.reach.is_there() {
            return self.without_daemon(out);
        }
        let client = self.reach.approver()?;
        block_on(async {
            let said = match self.minutes {
                Some(minutes) => {
                    let mut body = json!({ "minutes": minutes });
                    if let Some(members) = body.as_object_mut() {
                        let host = self.host.map(|host| ("host".to_owned(), host.into()));
                        let root = self.workspace.map(|root| ("workspace".to_owned(), root.into()));
                        members.extend(host.into_iter().chain(root));
                    }
                    client.pause(&body).await
                }
                None if self.end => client.resume().await,
                None => client.get("/v1/pause").await,
            };
            match said {
                Ok(said) if self.json => writeln!(out, "{said}")?,
                Ok(said) => show(out, &said)?,
                Err(error) => return reach::refused(out, error, self.json),
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Pause {
    fn without_daemon(self, out: &mut impl Write) -> anyhow::Result<ExitCode> {
        ancestors::refuse_agents("`pause`")?;
        let now = portcullis_hook_static::now();
        if self.minutes.is_none() && !self.end {
            let pauses: Vec<Value> = pause::there(now).iter().map(shape).collect();
            return said(out, &json!({ "pauses": pauses }), self.json);
        }
        if !rustix::process::geteuid().is_root() {
            bail!(
                "no daemon runs here; start one with `portcullis serve`, \
                 or run this as root for hooks that judge without one: `sudo portcullis pause`"
            );
        }
        let Some(minutes) = self.minutes else {
            let ended = u64::from(pause::end()?);
            return said(out, &json!({ "ended": ended }), self.json);
        };
        if !(1..=MOST_MINUTES).contains(&minutes) {
            bail!("`--minutes`: a pause takes 1 to {MOST_MINUTES} minutes");
        }
        let is_absolute = self.workspace.as_deref().is_none_or(|root| root.starts_with('/'));
        if !is_absolute {
            bail!("`--workspace`: begin with `/`");
        }
        let new = pause::Pause {
            by: "root".to_owned(),
            from_ms: now.ms(),
            until_ms: now.after_s(minutes * 60).ms(),
            host: self.host,
            workspace: self.workspace,
        };
        pause::write(&new)?;
        said(out, &shape(&new), self.json)
    }
}

fn shape(pause: &pause::Pause) -> Value {
    let mut shape = json!({ "by": pause.by, "until_at": pause.until().to_string() });
    if let Some(members) = shape.as_object_mut() {
        let host = pause.host.clone().map(|host| ("host".to_owned(), host.into()));
        let root = pause.workspace.clone().map(|root| ("workspace".to_owned(), root.into()));
        members.extend(host.into_iter().chain(root));
    }
    shape
}

fn said(out: &mut impl Write, shape: &Value, as_json: bool) -> anyhow::Result<ExitCode> {
    if as_json {
        writeln!(out, "{shape}")?;
    } else {
        show(out, shape)?;
        writeln!(out, "no daemon runs here: this is about hooks that judge by themselves")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(out: &mut impl Write, said: &Value) -> anyhow::Result<()> {
    if let Some(ended) = said.get("ended") {
        match ended.as_u64() {
            Some(0) => writeln!(out, "nothing was paused")?,
            Some(1) => writeln!(out, "1 pause ended")?,
            _ => writeln!(out, "{ended} pauses ended")?,
        }
        return Ok(());
    }
    let Some(pauses) = said.get("pauses").and_then(Value::as_array) else {
        return Ok(writeln!(out, "{}", line(said))?);
    };
    if pauses.is_empty() {
        writeln!(out, "nothing is paused")?;
    }
    for pause in pauses {
        writeln!(out, "{}", line(pause))?;
    }
    Ok(())
}

fn line(pause: &Value) -> String {
    let mut parts =
        vec![format!("paused by {} until {}", text(pause, "by"), text(pause, "until_at"))];
    let some = |name: &str| Some(text(pause, name)).filter(|text| !text.is_empty());
    parts.extend(some("host").map(|host| format!("host {host}")));
    parts.extend(some("workspace").map(|root| format!("in {root}")));
    escape::line(parts.join(", ").as_bytes())
}
