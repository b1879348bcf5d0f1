//! `portcullis approve` and `portcullis reject`: a person's answer to an ask.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use portcullis_client::Client;
use serde_json::{Map, Value, json};

use crate::palette::{Ink, Palette};
use crate::reach::{self, Reach, block_on, find, short};
use crate::render::ask::{call_line, list, text};

/// How far an approval reaches.
#[derive(Clone, Copy, ValueEnum)]
pub enum Scope {
    /// This call.
    Once,
    /// The run it belongs to.
    Run,
    /// The session it belongs to.
    Session,
    /// For good.
    Always,
}

/// Approves an ask.
#[derive(Args)]
pub struct Approve {
    #[command(flatten)]
    reach: Reach,
    /// The ask: its id, a part of it as `asks` shows it, or `latest`.
    ask: String,
    /// How far the approval reaches; once if not given.
    #[arg(long)]
    scope: Option<Scope>,
    /// Stores one of the offers, as `asks` shows it; can be given again.
    #[arg(long = "rule", value_name = "RULE")]
    rules: Vec<String>,
    /// For how long: 30s, 10m, 2h, 1d.
    #[arg(long = "for", value_name = "TIME", value_parser = seconds)]
    valid_s: Option<u64>,
    /// For how many executions, this one included.
    #[arg(long, value_name = "NUMBER")]
    uses: Option<u32>,
    /// Runs this input instead, as JSON.
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    input: Option<String>,
    /// Runs this command instead.
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,
    /// What the agent is told.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    /// Shows the decision as JSON.
    #[arg(long)]
    json: bool,
}

/// Rejects an ask.
#[derive(Args)]
pub struct Reject {
    #[command(flatten)]
    reach: Reach,
    /// The ask: its id, a part of it as `asks` shows it, or `latest`.
    ask: String,
    /// Rejects the same call for the rest of its run.
    #[arg(long)]
    for_run: bool,
    /// What the agent is told.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    /// Shows the decision as JSON.
    #[arg(long)]
    json: bool,
}

impl Approve {
    /// Approves.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let client = self.reach.approver()?;
        block_on(async {
            let ask = match pending(&client, &self.ask).await? {
                Ok(ask) => ask,
                Err(error) => return reach::refused(out, error, self.json),
            };
            let mut answer = Map::new();
            answer.insert("answer".to_owned(), "approve".into());
            let scope =
                self.scope.and_then(|scope| Some(scope.to_possible_value()?.get_name().to_owned()));
            let input = self.changed(&ask)?;
            let rules = (!self.rules.is_empty()).then(|| json!(self.rules));
            let members = [
                ("scope", scope.map(Value::from)),
                ("rules", rules),
                ("valid_s", self.valid_s.map(Value::from)),
                ("uses", self.uses.map(Value::from)),
                ("feedback", self.feedback.clone().map(Value::from)),
                ("input", input),
            ];
            for (name, value) in members {
                answer.extend(value.map(|value| (name.to_owned(), value)));
            }
            decide(out, &client, &ask, &answer.into(), self.json, palette).await
        })
    }

    /// The input to run instead.
    fn changed(&self, ask: &Value) -> anyhow::Result<Option<Value>> {
        if let Some(input) = &self.input {
            let input = portcullis_wire::json::value(input);
            return input.map(Some).map_err(|what| anyhow::anyhow!("`--input`: {what}"));
        }
        let Some(command) = &self.command else { return Ok(None) };
        let input = ask.get("call").and_then(|call| call.get("input"));
        let mut input = input.and_then(Value::as_object).cloned().unwrap_or_default();
        if !input.contains_key("command") {
            bail!("this call has no command; use `--input`");
        }
        input.insert("command".to_owned(), command.clone().into());
        Ok(Some(input.into()))
    }
}

impl Reject {
    /// Rejects.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let client = self.reach.approver()?;
        block_on(async {
            let ask = match pending(&client, &self.ask).await? {
                Ok(ask) => ask,
                Err(error) => return reach::refused(out, error, self.json),
            };
            let mut answer = json!({ "answer": "reject" });
            if let Some(members) = answer.as_object_mut() {
                let scope = self.for_run.then(|| "run".into());
                members.extend(scope.map(|scope| ("scope".to_owned(), scope)));
                let feedback = self.feedback.clone().map(Value::from);
                members.extend(feedback.map(|text| ("feedback".to_owned(), text)));
            }
            decide(out, &client, &ask, &answer, self.json, palette).await
        })
    }
}

/// The ask that is meant. A whole id is asked for even if it is settled: the daemon tells how.
async fn pending(
    client: &Client,
    name: &str,
) -> anyhow::Result<Result<Value, portcullis_client::ClientError>> {
    let asks = match client.pending().await {
        Ok(asks) => asks,
        Err(error) => return Ok(Err(error)),
    };
    if name == "latest" {
        return Ok(Ok(asks.last().context("nothing waits for you")?.clone()));
    }
    if name.len() == 36 && !asks.iter().any(|ask| text(ask, "id") == name) {
        return Ok(client.ask(name, std::time::Duration::ZERO).await);
    }
    let found = find(&asks, name, "pending ask").map_err(|error| {
        // Somebody else may have been first.
        let is_settled = error.to_string().starts_with("no pending ask");
        let way_out = format!("; if it was settled, `portcullis audit show {name}` tells how");
        anyhow::anyhow!("{error}{}", if is_settled { way_out.as_str() } else { "" })
    });
    Ok(Ok(found?.clone()))
}

async fn decide(
    out: &mut impl Write,
    client: &Client,
    ask: &Value,
    answer: &Value,
    as_json: bool,
    palette: Palette,
) -> anyhow::Result<ExitCode> {
    let decision = match client.decide(text(ask, "id"), answer).await {
        Ok(decision) => decision,
        Err(error) => return reach::refused(out, error, as_json),
    };
    if as_json {
        writeln!(out, "{decision}")?;
    } else {
        tell(out, ask, &decision, palette)?;
    }
    // A deny that stands over an approval is not what was wanted.
    let is_done = text(answer, "answer") == "reject" || text(&decision, "outcome") == "allow";
    Ok(if is_done { ExitCode::SUCCESS } else { crate::commands::REFUSED.into() })
}

/// Says what was decided.
pub fn tell(
    out: &mut impl Write,
    ask: &Value,
    decision: &Value,
    palette: Palette,
) -> anyhow::Result<()> {
    let is_allowed = text(decision, "outcome") == "allow";
    let (ink, word) = match (is_allowed, text(decision, "answer")) {
        (true, _) => (Ink::Allow, "approved"),
        (false, "approve") => (Ink::Deny, "denied by the policy"),
        (false, _) => (Ink::Deny, "rejected"),
    };
    let call = ask.get("call").unwrap_or(&Value::Null);
    let id = short(text(ask, "id"));
    let word = palette.paint(ink, word);
    let scope = text(decision, "scope");
    writeln!(out, "{word} {id}, {scope}: {}", call_line(call, 50))?;
    if let Some(input) = decision.get("input") {
        writeln!(out, "  runs instead: {}", crate::escape::line(input.to_string().as_bytes()))?;
    }
    for grant in list(decision, "grants").iter().filter_map(Value::as_str).map(short) {
        writeln!(out, "  made grant {grant}; take it back: portcullis grants revoke {grant}")?;
    }
    let waiting = ask.get("waiting").and_then(Value::as_u64);
    if is_allowed && scope == "once" && waiting == Some(0) {
        writeln!(out, "  nobody waits for it now; the next such call passes, once")?;
    }
    Ok(())
}

/// A time such as `10m`, in seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
    let found = units.iter().find_map(|(unit, seconds)| {
        let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*seconds).filter(|seconds| *seconds > 0)
    });
    found.ok_or_else(|| "a number with s, m, h or d, as in 10m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(seconds("10m"), Ok(600));
        assert_eq!(seconds("1d"), Ok(86_400));
        assert!(
            ["10", "m", "-1m", "0s", "99999999999999999999d", "1w"]
                .iter()
                .all(|text| seconds(text).is_err())
        );
    }
}
