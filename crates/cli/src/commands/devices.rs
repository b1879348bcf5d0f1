//! `portcullis devices`: devices that act as the approver who paired them.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use portcullis_approval::Moment;
use portcullis_daemon::clock::Clock;
use serde_json::{Value, json};

use crate::escape;
use crate::palette::{Ink, Palette};
use crate::reach::{self, Reach, block_on, find, short};
use crate::render::ask::{ago, text};

/// Pairs, lists and revokes devices.
#[derive(Args)]
pub struct Devices {
    #[command(flatten)]
    reach: Reach,
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
    /// Makes a token that one device may be paired with, within ten minutes.
    Pair {
        /// The agent the device is told about; the latest one if not given.
        #[arg(long)]
        agent: Option<String>,
        /// The device waits until it is accepted.
        #[arg(long)]
        confirm: bool,
    },
    /// Lets a device in that waits.
    Accept {
        /// Its id, or a part of it as the list shows it.
        device: String,
    },
    /// Turns a device away that waits.
    Refuse {
        /// Its id, or a part of it as the list shows it.
        device: String,
    },
    /// Revokes a device: its connections end.
    Revoke {
        /// Its id, or a part of it as the list shows it.
        device: String,
    },
}

impl Devices {
    /// Does what was asked.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let client = self.reach.approver()?;
        block_on(async {
            if let Some(Action::Pair { agent, confirm }) = &self.action {
                let body = match agent {
                    Some(agent) => json!({ "agent": agent, "confirm": confirm }),
                    None => json!({ "confirm": confirm }),
                };
                match client.pair_device(&body).await {
                    Ok(pairing) if self.json => writeln!(out, "{pairing}")?,
                    Ok(pairing) => show_pairing(out, &pairing, *confirm)?,
                    Err(error) => return reach::refused(out, error, self.json),
                }
                return Ok(ExitCode::SUCCESS);
            }
            let all = match client.devices().await {
                Ok(all) => all,
                Err(error) => return reach::refused(out, error, self.json),
            };
            let (devices, waiting) = (list(&all, "devices"), list(&all, "waiting"));
            let (said, done) = match &self.action {
                None | Some(Action::List | Action::Pair { .. }) => {
                    if self.json {
                        writeln!(out, "{all}")?;
                    } else {
                        show(out, devices, waiting, palette)?;
                    }
                    return Ok(ExitCode::SUCCESS);
                }
                Some(Action::Accept { device }) => {
                    let id = text(find(waiting, device, "waiting device")?, "id");
                    (client.answer_device(id, true).await, format!("accepted {}", short(id)))
                }
                Some(Action::Refuse { device }) => {
                    let id = text(find(waiting, device, "waiting device")?, "id");
                    (client.answer_device(id, false).await, format!("refused {}", short(id)))
                }
                Some(Action::Revoke { device }) => {
                    let id = text(find(devices, device, "device")?, "id");
                    (client.revoke_device(id).await, format!("revoked {}", short(id)))
                }
            };
            match said {
                Ok(said) if self.json => writeln!(out, "{said}")?,
                Ok(_) => writeln!(out, "{done}")?,
                Err(error) => return reach::refused(out, error, self.json),
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}

fn list<'a>(all: &'a Value, name: &str) -> &'a [Value] {
    all.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn show_pairing(out: &mut impl Write, pairing: &Value, confirm: bool) -> anyhow::Result<()> {
    for (name, key) in [("url", "url"), ("hub", "hub_id"), ("token", "token")] {
        writeln!(out, "{name:<6} {}", text(pairing, key))?;
    }
    writeln!(out, "the token works once, until {}", text(pairing, "expires_at"))?;
    if confirm {
        writeln!(out, "the device then waits 25 seconds for `portcullis devices accept`")?;
    }
    Ok(())
}

fn show(
    out: &mut impl Write,
    devices: &[Value],
    waiting: &[Value],
    palette: Palette,
) -> anyhow::Result<()> {
    if devices.is_empty() && waiting.is_empty() {
        writeln!(out, "no devices")?;
    }
    let now = Clock::new().now();
    for device in waiting {
        let id = palette.paint(Ink::Title, short(text(device, "id")));
        writeln!(out, "{id}  waits to be accepted: {}", about(device))?;
    }
    for device in devices {
        let ago = |name: &str| Moment::parse(text(device, name)).map(|at| ago(now.ms() - at.ms()));
        let mut parts = vec![format!("acts as {}", text(device, "approver"))];
        let agent = device.get("agent").and_then(Value::as_str);
        parts.extend(agent.map(|agent| format!("agent {agent}")));
        parts.extend(ago("paired_at").map(|ago| format!("paired {ago}")));
        parts.extend(ago("revoked_at").map(|ago| format!("revoked {ago}")));
        let id = palette.paint(Ink::Title, short(text(device, "id")));
        writeln!(out, "{id}  {}", about(device))?;
        let line = escape::line(parts.join(", ").as_bytes());
        writeln!(out, "        {}", palette.paint(Ink::Frame, &line))?;
    }
    Ok(())
}

/// What a device says about itself.
fn about(device: &Value) -> String {
    let members = device.get("about").and_then(Value::as_object);
    let said: Vec<&str> = members
        .into_iter()
        .flat_map(|members| members.values())
        .filter_map(Value::as_str)
        .collect();
    let said =
        if said.is_empty() { "says nothing about itself".to_owned() } else { said.join(", ") };
    escape::line(said.as_bytes())
}
