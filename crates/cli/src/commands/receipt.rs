//! `portcullis receipt`: whether a receipt holds, without asking anybody.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use portcullis_approval::receipt::Receipt as Signed;
use portcullis_daemon::clock::Clock;
use portcullis_wire::calls::Call;
use serde_json::json;

use crate::commands::REFUSED;
use crate::data_dir::checking_key;
use crate::escape;
use crate::outlet::aside;
use crate::palette::{Ink, Palette};

/// Checks receipts.
#[derive(Args)]
pub struct Receipt {
    #[command(subcommand)]
    action: Action,
}

/// What to do.
#[derive(Subcommand)]
enum Action {
    /// Checks signature, time and call: 0 only for an allow that holds.
    Verify(Verify),
}

/// Checks one receipt.
#[derive(Args)]
struct Verify {
    /// The receipt; `-` reads standard input.
    receipt: String,
    /// The public key, 64 hexadecimal digits in a file; that of the data directory if not given.
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,
    /// Where `signing.pub` lies.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// The digest of the call that is about to run.
    #[arg(long, value_name = "DIGEST", conflicts_with = "call")]
    digest: Option<String>,
    /// The call that is about to run, as `POST /v1/calls` takes it.
    #[arg(long, value_name = "JSON")]
    call: Option<String>,
    /// Shows JSON.
    #[arg(long)]
    json: bool,
}

impl Receipt {
    /// Checks it.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let Action::Verify(verify) = self.action;
        verify.run(out, palette)
    }
}

impl Verify {
    fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let public = checking_key(self.public_key.as_deref(), self.data_dir.as_deref())?;
        let digest = match (&self.digest, &self.call) {
            (Some(digest), _) => Some(digest.clone()),
            (None, Some(call)) => Some(digest_of(call)?),
            (None, None) => None,
        };
        let mut text = self.receipt.clone();
        if text == "-" {
            text.clear();
            std::io::stdin().read_to_string(&mut text)?;
        }
        let now = Clock::new().now();
        match Signed::verify(text.trim(), &public, digest.as_deref(), now) {
            Ok(receipt) => {
                let is_allow = receipt.outcome == "allow";
                if self.json {
                    let shape = json!({
                        "holds": true, "outcome": receipt.outcome, "by": receipt.by,
                        "id": receipt.id.to_string(), "digest": receipt.digest,
                        "ask": receipt.ask.map(|ask| ask.to_string()),
                        "at": receipt.at.to_string(), "expires_at": receipt.expires_at.to_string(),
                        "call_was_compared": digest.is_some(),
                    });
                    writeln!(out, "{shape}")?;
                } else {
                    show(out, &receipt, digest.is_some(), palette)?;
                }
                Ok(if is_allow { ExitCode::SUCCESS } else { REFUSED.into() })
            }
            Err(bad) => {
                if self.json {
                    writeln!(out, "{}", json!({ "holds": false, "why": bad.to_string() }))?;
                } else {
                    let word = palette.paint(Ink::Deny, "does not hold");
                    writeln!(out, "{word}: {}", escape::line(bad.to_string().as_bytes()))?;
                }
                Ok(REFUSED.into())
            }
        }
    }
}

fn digest_of(call: &str) -> anyhow::Result<String> {
    let text = Call::read(call.as_bytes()).and_then(|call| call.text());
    let (text, _) = text.map_err(|error| anyhow::anyhow!("`--call`: {}", error.message))?;
    text.digest().ok_or_else(|| anyhow::anyhow!("`--call`: its input is not JSON"))
}

fn show(
    out: &mut impl Write,
    receipt: &Signed,
    was_compared: bool,
    palette: Palette,
) -> anyhow::Result<()> {
    let ink = if receipt.outcome == "allow" { Ink::Allow } else { Ink::Deny };
    let word = palette.paint(ink, &format!("holds, {}", escape::line(receipt.outcome.as_bytes())));
    writeln!(out, "{word}: by {} at {}", escape::line(receipt.by.as_bytes()), receipt.at)?;
    writeln!(out, "  call     {}", escape::line(receipt.digest.as_bytes()))?;
    if let Some(ask) = receipt.ask {
        writeln!(out, "  ask      {ask}")?;
    }
    writeln!(out, "  id       {} (let each id pass once)", receipt.id)?;
    writeln!(out, "  until    {}", receipt.expires_at)?;
    if !was_compared {
        aside!("no call was compared; give `--digest` or `--call`");
    }
    Ok(())
}
