//! `portcullis call`: submits one call, as an agent would, and waits for the outcome.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use portcullis_client::{Answered, Client, Outcome, shell_call};
use serde_json::{Value, json};

use crate::commands::{PENDING, REFUSED};
use crate::escape;
use crate::outlet::aside;
use crate::palette::{Ink, Palette};
use crate::reach::{self, Reach, block_on, short};
use crate::render::ask::{list, text};

/// How long is waited for a person, where nothing is said, in seconds.
const WAIT_S: u64 = 600;

/// Submits one call and waits: 0 allow, 1 deny, 3 still pending.
#[derive(Args)]
pub struct Call {
    #[command(flatten)]
    reach: Reach,
    /// The command of a shell.
    #[arg(required_unless_present = "tool", conflicts_with = "tool")]
    command: Option<String>,
    /// The tool, where it is not a shell; its input comes with it.
    #[arg(long, value_name = "NAME", requires = "input")]
    tool: Option<String>,
    /// The tool's input as JSON.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// The directory it would run in; the current one if not given.
    #[arg(long, value_name = "DIRECTORY")]
    cwd: Option<String>,
    /// The session it belongs to.
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The run it belongs to.
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Which agent speaks.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// What the agent says about it; shown and never judged.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// How many seconds a person is waited for; 0 does not wait.
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_S)]
    wait: u64,
    /// Gives the receipt of an allow, too.
    #[arg(long)]
    receipt: bool,
    /// Shows the daemon's answer as JSON.
    #[arg(long)]
    json: bool,
}

impl Call {
    /// Submits and waits.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let client = self.reach.agent()?;
        let call = self.call()?;
        block_on(async {
            let answered = match submit(&client, &call, Duration::from_secs(self.wait)).await {
                Ok(answered) => answered,
                Err(error) => return reach::refused(out, error, self.json),
            };
            if self.json {
                writeln!(out, "{}", answered.whole)?;
            } else {
                tell(out, &answered, palette)?;
                if let Some(receipt) = answered.receipt.as_ref().filter(|_| self.receipt) {
                    writeln!(out, "{receipt}")?;
                }
            }
            Ok(match answered.outcome {
                Outcome::Allow => ExitCode::SUCCESS,
                Outcome::Deny => REFUSED.into(),
                Outcome::Ask => PENDING.into(),
            })
        })
    }

    fn call(&self) -> anyhow::Result<Value> {
        let here = || {
            let cwd = std::env::current_dir().context("cannot tell the current directory")?;
            cwd.into_os_string().into_string().ok().context("the directory is not UTF-8")
        };
        let cwd = self.cwd.clone().map_or_else(here, Ok)?;
        let mut call = match (&self.command, &self.tool, &self.input) {
            (Some(command), ..) => shell_call(command, Some(&cwd)),
            (None, Some(tool), Some(input)) => {
                let input = portcullis_wire::json::value(input);
                let input = input.map_err(|what| anyhow::anyhow!("`--input`: {what}"))?;
                json!({ "tool": tool, "input": input, "cwd": cwd })
            }
            (None, ..) => bail!("give a command, or `--tool` with `--input`"),
        };
        let id = new_id()?;
        let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
        let members = [
            ("home", home),
            ("session", self.session.clone()),
            ("run", self.run.clone()),
            ("agent", self.agent.clone()),
            ("description", self.description.clone()),
            ("call_id", Some(id)),
        ];
        if let Some(call) = call.as_object_mut() {
            for (name, value) in members {
                call.extend(value.map(|value| (name.to_owned(), value.into())));
            }
            call.insert("receipt".to_owned(), self.receipt.into());
        }
        Ok(call)
    }
}

/// A name that no other call has.
pub fn new_id() -> anyhow::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    Ok(portcullis_approval::key::hex(&bytes))
}

/// Submits a call; where it asks, says so and waits. Whoever is interrupted takes the ask back.
pub async fn submit(
    client: &Client,
    call: &Value,
    wait: Duration,
) -> Result<Answered, portcullis_client::ClientError> {
    let first = client.submit(call).await?;
    let (Outcome::Ask, Some(ask)) = (first.outcome, first.ask.clone()) else { return Ok(first) };
    let id = short(&ask);
    if wait.is_zero() {
        return Ok(first);
    }
    aside!("asked as {id}; waiting for a person: portcullis approve {id}");
    tokio::select! {
        answered = client.submit_and_outlast(call, wait) => answered,
        _ = tokio::signal::ctrl_c() => {
            client.withdraw(&ask).await?;
            aside!("taken back");
            client.submit(call).await
        }
    }
}

/// Says what became of a call.
pub fn tell(out: &mut impl Write, answered: &Answered, palette: Palette) -> anyhow::Result<()> {
    let whole = &answered.whole;
    let verdict = whole.get("verdict").unwrap_or(&Value::Null);
    let (ink, word) = match answered.outcome {
        Outcome::Allow => (Ink::Allow, "allow"),
        Outcome::Ask => (Ink::Ask, "ask"),
        Outcome::Deny => (Ink::Deny, "deny"),
    };
    let why = whole.get("decision").map_or_else(|| judged(verdict), decided);
    let word = palette.paint(ink, word);
    match &answered.ask {
        Some(ask) if answered.outcome == Outcome::Ask => {
            writeln!(
                out,
                "{word}: still pending as {}: {}",
                short(ask),
                escape::line(why.as_bytes())
            )?;
        }
        Some(_) | None => writeln!(out, "{word}: {}", escape::line(why.as_bytes()))?,
    }
    if let Some(input) = &answered.input {
        writeln!(out, "  runs instead: {}", escape::line(input.to_string().as_bytes()))?;
    }
    Ok(())
}

/// Why a verdict fell, in a sentence.
fn judged(verdict: &Value) -> String {
    let reason = list(verdict, "reasons").first().unwrap_or(&Value::Null);
    let (code, tier) = (text(reason, "code"), text(verdict, "tier"));
    format!("{} ({code}, {tier})", text(reason, "message"))
}

/// How an ask ended, in a sentence.
fn decided(decision: &Value) -> String {
    let by = text(decision, "by");
    let mut why = match (text(decision, "reason"), text(decision, "outcome")) {
        ("approver", "allow") => format!("approved by {by} ({})", text(decision, "scope")),
        ("approver", _) => format!("rejected by {by}"),
        ("fallback", "allow") => "nobody answered in time, and the policy lets it run".to_owned(),
        ("fallback", _) => "nobody answered in time".to_owned(),
        ("withdrawn", _) => "taken back".to_owned(),
        ("grant", _) => format!("a grant of {by} covers it by now"),
        (reason, _) => format!("ended by {by} ({reason})"),
    };
    if !text(decision, "feedback").is_empty() {
        why += ": ";
        why += text(decision, "feedback");
    }
    why
}
