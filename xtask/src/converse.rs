//! `cargo xtask converse FILE URL`: plays a conversation against a running daemon.
//!
//! The crate `converse` says what a conversation is and how to write one; it is as useful to
//! somebody who writes a client of their own as it is to the tests. The recorded ones expect a
//! daemon on which nothing has happened, and the keys that `--admin` makes; `--set socket=PATH`
//! names the daemon's socket for those that use it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use portcullis_converse::{Conversation, Stage, keys, play};

/// What `cargo xtask converse` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The conversation, or a directory of them.
    file: PathBuf,
    /// Where the daemon is: `http://127.0.0.1:4283`.
    url: String,
    /// An admin's key: with it the keys of the recorded conversations are made, and taken back.
    #[arg(long, value_name = "KEY")]
    admin: Option<String>,
    /// Values the conversation uses: keys (`approver=pcl_approver_…`), other addresses.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    values: Vec<String>,
}

/// Plays it and says how it went.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let address = address(&arguments.url)?;
    let mut values = BTreeMap::new();
    for pair in &arguments.values {
        let (name, value) =
            pair.split_once('=').with_context(|| format!("`{pair}`: `--set` takes NAME=VALUE"))?;
        values.insert(name.to_owned(), value.to_owned());
    }
    let runtime = tokio::runtime::Runtime::new()?;
    let made = match &arguments.admin {
        None => keys::Made::default(),
        Some(admin) => {
            let made = runtime.block_on(keys::make(&address, admin));
            made.map_err(|fault| anyhow::anyhow!("{fault}"))?
        }
    };
    values.extend(made.values.clone());
    let done = play_all(arguments, &runtime, &address, &values);
    if let Some(admin) = &arguments.admin {
        runtime.block_on(keys::revoke(&address, admin, &made));
    }
    done
}

fn play_all(
    arguments: &Arguments,
    runtime: &tokio::runtime::Runtime,
    address: &str,
    values: &BTreeMap<String, String>,
) -> anyhow::Result<()> {
    let conversations = if arguments.file.is_dir() {
        Conversation::all(&arguments.file)?
    } else {
        vec![Conversation::read(&arguments.file)?]
    };
    let mut out = std::io::stdout();
    let mut failed = 0;
    for conversation in &conversations {
        let shown = conversation.file.display();
        if conversation.restarts() {
            writeln!(out, "-       {shown}: it restarts the daemon, which only the tests do")?;
            continue;
        }
        let stage = Stage { address: address.to_owned(), values: values.clone() };
        let never = async || Err("only the tests restart a daemon".to_owned());
        match runtime.block_on(play(conversation, stage, never)) {
            Ok(()) => writeln!(out, "ok      {shown}: {}", conversation.about)?,
            Err(fault) => {
                failed += 1;
                writeln!(out, "FAILED  {fault}")?;
            }
        }
    }
    ensure!(failed == 0, "{failed} of {} conversations went otherwise", conversations.len());
    Ok(())
}

/// The address in a URL.
fn address(url: &str) -> anyhow::Result<String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("ws://"));
    let Some(rest) = rest else { bail!("`{url}`: use `http://127.0.0.1:4283`") };
    Ok(rest.trim_end_matches('/').to_owned())
}
