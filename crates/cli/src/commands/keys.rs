//! `portcullis keys`: the secrets programs show. Opens the store itself, daemon or not.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use portcullis_approval::key::LOCAL;
use portcullis_approval::{Moment, Owners, Role};
use portcullis_client::{Address, Client};
use portcullis_daemon::clock::Clock;
use portcullis_daemon::identity::{NewKey, key_entry, make_key};
use portcullis_store::Store;
use portcullis_wire::body;
use portcullis_wire::grants::{Key, Keys as Shape};

use crate::ancestors;
use crate::commands::serve::user_name;
use crate::data_dir::DataDir;
use crate::escape;
use crate::outlet::aside;
use crate::palette::{Ink, Palette};
use crate::reach::{block_on, short};

/// How often a new key is tried at a running daemon, and how long is waited between.
const TRIES: usize = 40;
const BETWEEN: Duration = Duration::from_millis(25);

/// Makes, lists and revokes keys.
#[derive(Args)]
pub struct Keys {
    /// Where the store lies.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY", global = true)]
    data_dir: Option<PathBuf>,
    /// The store: `sqlite:FILE` or `postgres://…`.
    #[arg(long, env = "PORTCULLIS_STORE", value_name = "ADDRESS", global = true)]
    store: Option<String>,
    /// Shows JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

/// What a key is for.
#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    /// Submits calls and waits for its own asks.
    Agent,
    /// Sees and answers asks.
    Approver,
    /// Everything.
    Admin,
}

/// What to do.
#[derive(Subcommand)]
enum Action {
    /// Makes a key and prints it, once.
    Create {
        /// What it is for.
        #[arg(long)]
        role: RoleName,
        /// What people call it.
        #[arg(long)]
        name: String,
        /// Whose calls it makes, or whose asks it answers; can be given again for approvers.
        #[arg(long = "owner", value_name = "NAME")]
        owners: Vec<String>,
        /// For how many days it counts; for good if not given.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=36_500))]
        days: Option<u64>,
    },
    /// Lists them, without their secrets.
    List,
    /// Revokes one: it counts no longer.
    Revoke {
        /// Its id, a part of it, or its name.
        key: String,
    },
}

impl Keys {
    /// Makes, lists or revokes.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        if !matches!(self.action, Action::List) {
            ancestors::refuse_agents("making and revoking keys")?;
        }
        let named = self.data_dir.as_deref();
        let data = match &self.action {
            Action::Create { .. } => DataDir::open(named)?,
            Action::List | Action::Revoke { .. } => DataDir::look(named)?,
        };
        // Where nothing was ever kept, whoever only looks makes nothing.
        let is_kept = self.store.is_some() || data.file("portcullis.db").exists();
        match &self.action {
            Action::List if !is_kept => {
                show(out, Vec::new(), self.json, palette)?;
                return Ok(ExitCode::SUCCESS);
            }
            Action::Revoke { key } if !is_kept => bail!("no key that counts is called `{key}`"),
            Action::Create { .. } | Action::List | Action::Revoke { .. } => {}
        }
        block_on(async {
            let store = data.store(self.store.as_deref().unwrap_or("")).await?;
            let done = match &self.action {
                Action::Create { role, name, owners, days } => {
                    let new = new_key(*role, name, owners, *days)?;
                    create(out, &*store, new, &data, self.json).await
                }
                Action::List => {
                    let keys = store.keys().await?;
                    let keys = keys.iter().map(|record| Key::new(&record.key)).collect();
                    show(out, keys, self.json, palette)
                }
                Action::Revoke { key } => revoke(out, &*store, key, &data, self.json).await,
            };
            store.close().await;
            done.map(|()| ExitCode::SUCCESS)
        })
    }
}

fn new_key(
    role: RoleName,
    name: &str,
    owners: &[String],
    days: Option<u64>,
) -> anyhow::Result<NewKey> {
    let role = match role {
        RoleName::Agent => Role::Agent,
        RoleName::Approver => Role::Approver,
        RoleName::Admin => Role::Admin,
    };
    let checked = |field: &str, text: &str| {
        body::name(field, text).map_err(|error| anyhow::Error::msg(error.message))
    };
    checked("--name", name)?;
    owners.iter().try_for_each(|owner| checked("--owner", owner))?;
    let owners = match (role, owners) {
        (Role::Agent, []) => Owners::Some(vec![LOCAL.to_owned()]),
        (Role::Agent, [_, _, ..]) => bail!("an agent's key has one owner"),
        (Role::Admin, [_, ..]) => {
            bail!("an admin's key is for everybody's asks; leave `--owner` out")
        }
        (Role::Approver | Role::Admin, []) => Owners::All,
        (Role::Agent | Role::Approver, owners) => Owners::Some(owners.to_vec()),
    };
    let expires_at = days.map(|days| Clock::new().now().after_s(days * 86_400));
    Ok(NewKey { role, name: name.to_owned(), owners, expires_at })
}

async fn create(
    out: &mut impl Write,
    store: &dyn Store,
    new: NewKey,
    data: &DataDir,
    as_json: bool,
) -> anyhow::Result<()> {
    let (key, secret) = make_key(store, new, &user_name(), now(store).await?).await?;
    tell_daemon(data, Some(secret.reveal())).await;
    if as_json {
        let shape = Key { key: Some(secret.reveal().to_owned()), ..Key::new(&key) };
        writeln!(out, "{}", serde_json::to_string(&shape)?)?;
    } else {
        writeln!(out, "{}", secret.reveal())?;
        aside!(
            "this is shown once; revoke it with `portcullis keys revoke {}`",
            short(&key.id.to_string())
        );
    }
    Ok(())
}

/// Has a running daemon look at the keys now; it would by itself within a second. A new key is
/// tried until it counts, so that whoever reads it can use it.
async fn tell_daemon(data: &DataDir, secret: Option<&str>) {
    let Ok(socket) = data.socket() else { return };
    let client = Client::new(Address::Socket(socket)).through("terminal");
    let Ok(own) = std::fs::read_to_string(data.file("cli.key")) else { return };
    // Signing the end of the audit is something to write, and whoever writes looks.
    if client.clone().with_key(own.trim_end()).get("/v1/audit/checkpoint").await.is_err() {
        return;
    }
    let Some(secret) = secret else { return };
    let client = client.with_key(secret);
    for _ in 0..TRIES {
        tokio::time::sleep(BETWEEN).await;
        let known = client.get("/v1/asks?limit=1").await;
        if known.is_ok_and(|asks| asks.get("asks").is_some()) {
            return;
        }
    }
}

fn show(
    out: &mut impl Write,
    keys: Vec<Key>,
    as_json: bool,
    palette: Palette,
) -> anyhow::Result<()> {
    if as_json {
        writeln!(out, "{}", serde_json::to_string(&Shape { keys })?)?;
        return Ok(());
    }
    if keys.is_empty() {
        writeln!(out, "no keys")?;
    }
    for key in keys {
        let id = palette.paint(Ink::Title, short(&key.id));
        let name = escape::line(key.name.as_bytes());
        let owners = key.owners.map_or_else(|| "everybody".to_owned(), |owners| owners.join(", "));
        let state = match (&key.revoked_at, &key.expires_at) {
            (Some(at), _) => format!(", revoked {at}"),
            (None, Some(at)) => format!(", until {at}"),
            (None, None) => String::new(),
        };
        let about = format!("for {}, made {}{state}", escape::line(owners.as_bytes()), key.made_at);
        writeln!(out, "{id}  {:<8}  {name}  {}", key.role, palette.paint(Ink::Frame, &about))?;
    }
    Ok(())
}

async fn revoke(
    out: &mut impl Write,
    store: &dyn Store,
    named: &str,
    data: &DataDir,
    as_json: bool,
) -> anyhow::Result<()> {
    let now = now(store).await?;
    let keys = store.keys().await?;
    let is_meant = |id: &str, name: &str| {
        name == named || id == named || (named.len() >= 4 && id.ends_with(named))
    };
    let mut meant = keys
        .into_iter()
        .map(|record| record.key)
        .filter(|key| key.revoked_at.is_none() && is_meant(&key.id.to_string(), &key.name));
    let mut key = match (meant.next(), meant.next()) {
        (Some(key), None) => key,
        (Some(_), Some(_)) => bail!("more than one key is called `{named}`; give its id"),
        (None, _) => bail!("no key that counts is called `{named}`"),
    };
    let entry = key_entry("key.revoked", &key, &user_name(), now);
    if !store.revoke_key(key.id, now, vec![entry]).await? {
        bail!("`{named}` was revoked already");
    }
    tell_daemon(data, None).await;
    key.revoked_at = Some(now);
    if as_json {
        writeln!(out, "{}", serde_json::to_string(&Key::new(&key))?)?;
    } else {
        let name = escape::line(key.name.as_bytes());
        writeln!(
            out,
            "revoked {}, the {} key `{name}`",
            short(&key.id.to_string()),
            key.role.name()
        )?;
    }
    Ok(())
}

/// The present moment, by the clock that counts for this store.
async fn now(store: &dyn Store) -> anyhow::Result<Moment> {
    Ok(store.clock().await?.unwrap_or_else(|| Clock::new().now()))
}
