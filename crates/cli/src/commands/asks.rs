//! `portcullis asks`: what waits for a person.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use portcullis_client::{Client, ClientError, Event};
use portcullis_daemon::clock::Clock;
use serde_json::{Value, json};

use crate::outlet::aside;
use crate::palette::{Ink, Palette};
use crate::reach::{self, Reach, block_on, short};
use crate::render::ask::{ask, call_line, text};

/// How long is waited before the feed is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Shows the asks that are pending.
#[derive(Args)]
pub struct Asks {
    #[command(flatten)]
    reach: Reach,
    /// Follows the feed: new asks as they come, and how they end.
    #[arg(long)]
    watch: bool,
    /// Shows JSON: the asks, or with `--watch` one event per line.
    #[arg(long)]
    json: bool,
}

impl Asks {
    /// Shows them, and goes on until it is stopped if told to watch.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let client = self.reach.approver()?;
        block_on(async {
            if self.watch {
                return watch(out, &client, self.json, palette).await;
            }
            let asks = match client.pending().await {
                Ok(asks) => asks,
                Err(error) => return reach::refused(out, error, self.json),
            };
            if self.json {
                writeln!(out, "{}", json!({ "asks": asks }))?;
            } else {
                show(out, &asks, palette)?;
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn show(out: &mut impl Write, asks: &[Value], palette: Palette) -> anyhow::Result<()> {
    let now = Clock::new().now();
    match asks.len() {
        0 => writeln!(out, "nothing waits for you")?,
        1 => writeln!(out, "1 ask waits for you\n")?,
        many => writeln!(out, "{many} asks wait for you, the oldest first\n")?,
    }
    for (index, one) in asks.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        ask(out, one, now, palette)?;
    }
    Ok(())
}

async fn watch(
    out: &mut impl Write,
    client: &Client,
    as_json: bool,
    palette: Palette,
) -> anyhow::Result<ExitCode> {
    let mut cursor: Option<String> = None;
    let mut was_there = false;
    loop {
        let mut events = match client.events(cursor.as_deref()).await {
            Ok(events) => events,
            // It was there before: it is being started again.
            Err(ClientError::Unreachable { .. }) if was_there => {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            Err(error) => return reach::refused(out, error, as_json),
        };
        if !was_there && !as_json {
            aside!("watching {}; end with Ctrl-C", client.address());
        }
        was_there = true;
        loop {
            match events.next().await {
                Ok(Some(event)) => {
                    cursor = Some(event.cursor.clone());
                    if as_json {
                        writeln!(out, "{}", event.whole)?;
                    } else {
                        tell(out, client, &event, palette).await?;
                    }
                    out.flush()?;
                }
                Ok(None) | Err(ClientError::Broken(_) | ClientError::Late) => break,
                Err(error) => return Err(error.into()),
            }
        }
        aside!("the daemon went away; waiting for it");
        tokio::time::sleep(AGAIN).await;
    }
}

async fn tell(
    out: &mut impl Write,
    client: &Client,
    event: &Event,
    palette: Palette,
) -> anyhow::Result<()> {
    let one = event.whole.get("ask").unwrap_or(&Value::Null);
    match event.kind.as_str() {
        "ask.opened" if text(one, "state") == "pending" => {
            ask(out, one, Clock::new().now(), palette)?;
            writeln!(out)?;
        }
        "ask.settled" => {
            let decision = one.get("decision").unwrap_or(&Value::Null);
            let state = text(one, "state");
            let ink = if text(decision, "outcome") == "allow" { Ink::Allow } else { Ink::Deny };
            let call = call_line(one.get("call").unwrap_or(&Value::Null), 40);
            let by = crate::escape::line(text(decision, "by").as_bytes());
            let id = palette.paint(Ink::Title, short(text(one, "id")));
            writeln!(out, "{id}  {} by {by}: {call}\n", palette.paint(ink, state))?;
        }
        "resync" => show(out, &client.pending().await?, palette)?,
        _ => {}
    }
    Ok(())
}
