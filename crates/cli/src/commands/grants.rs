//! `portcullis grants`: what wide approvals left behind.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use portcullis_approval::Moment;
use portcullis_daemon::clock::Clock;
use serde_json::{Value, json};

use crate::escape;
use crate::palette::{Ink, Palette};
use crate::reach::{self, Reach, block_on, find, short};
use crate::render::ask::{ago, call_line, duration, text};

/// Lists and revokes grants.
#[derive(Args)]
pub struct Grants {
    #[command(flatten)]
    reach: Reach,
    /// Lists those too that are over.
    #[arg(long)]
    all: bool,
    /// Shows JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do with them.
#[derive(Subcommand)]
enum Action {
    /// Lists them; the same as no word at all.
    List,
    /// Revokes one: the next call is judged without it.
    Revoke {
        /// Its id, or a part of it as the list shows it.
        grant: String,
    },
}

impl Grants {
    /// Lists or revokes.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let client = self.reach.approver()?;
        block_on(async {
            let grants = match client.grants(self.all).await {
                Ok(grants) => grants,
                Err(error) => return reach::refused(out, error, self.json),
            };
            let Some(Action::Revoke { grant }) = &self.action else {
                if self.json {
                    writeln!(out, "{}", json!({ "grants": grants }))?;
                } else {
                    show(out, &grants, palette)?;
                }
                return Ok(ExitCode::SUCCESS);
            };
            let grant = find(&grants, grant, "grant")?;
            match client.revoke_grant(text(grant, "id")).await {
                Ok(grant) if self.json => writeln!(out, "{grant}")?,
                Ok(grant) => {
                    writeln!(out, "revoked {}: {}", short(text(&grant, "id")), what(&grant))?;
                }
                Err(error) => return reach::refused(out, error, self.json),
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn show(out: &mut impl Write, grants: &[Value], palette: Palette) -> anyhow::Result<()> {
    if grants.is_empty() {
        writeln!(out, "no grants")?;
    }
    let now = Clock::new().now();
    for grant in grants {
        writeln!(out, "{}  {}", palette.paint(Ink::Title, short(text(grant, "id"))), what(grant))?;
        writeln!(out, "        {}", palette.paint(Ink::Frame, &about(grant, now)))?;
    }
    Ok(())
}

/// What a grant covers.
fn what(grant: &Value) -> String {
    match grant.get("call") {
        None => escape::line(text(grant, "rule").as_bytes()),
        Some(call) if text(call, "answer") == "reject" => format!("never {}", call_line(call, 60)),
        Some(call) => format!("exactly {}", call_line(call, 60)),
    }
}

fn about(grant: &Value, now: Moment) -> String {
    let reach = match text(grant, "scope") {
        "session" => format!("session {}", text(grant, "session")),
        "run" => format!("run {}", text(grant, "run")),
        scope => scope.to_owned(),
    };
    let ago = |name: &str| Moment::parse(text(grant, name)).map(|at| ago(now.ms() - at.ms()));
    let mut parts = vec![reach, format!("owner {}", text(grant, "owner"))];
    parts.extend(ago("made_at").map(|ago| format!("by {} {ago}", text(grant, "made_by"))));
    parts.push(format!("used {} times", grant.get("used").and_then(Value::as_u64).unwrap_or(0)));
    let end = Moment::parse(text(grant, "expires_at"));
    parts.extend(end.map(|end| format!("{} left", duration(end.ms() - now.ms()))));
    let uses = grant.get("uses_left").and_then(Value::as_u64);
    parts.extend(uses.map(|uses| format!("{uses} uses left")));
    parts.extend(ago("revoked_at").map(|ago| format!("revoked {ago}")));
    escape::line(parts.join(", ").as_bytes())
}
