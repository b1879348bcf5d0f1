//! Reaching a daemon: where it is, and which key is shown there.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use portcullis_client::{Address, Client, ClientError};
use serde_json::{Value, json};

use crate::ancestors;
use crate::data_dir::DataDir;
use crate::outlet::aside;
use crate::palette::{Ink, Palette};

/// The variable with an agent's key.
const AGENT_KEY: &str = "PORTCULLIS_AGENT_KEY";

/// The variable with an approver's key.
const APPROVER_KEY: &str = "PORTCULLIS_APPROVER_KEY";

/// How few characters may stand for an id.
const LEAST_SHORT: usize = 4;

/// Where the daemon is.
#[derive(Args)]
pub struct Reach {
    /// The daemon's data directory: its socket and the key of the command line.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// A daemon elsewhere; the key comes from `PORTCULLIS_APPROVER_KEY` or `PORTCULLIS_AGENT_KEY`.
    #[arg(long, env = "PORTCULLIS_URL", value_name = "URL")]
    url: Option<String>,
}

impl Reach {
    /// The daemon of this directory, or the one behind a URL.
    pub fn new(data_dir: Option<PathBuf>, url: Option<String>) -> Reach {
        Reach { data_dir, url }
    }

    /// A client that submits calls.
    pub fn agent(&self) -> anyhow::Result<Client> {
        let key = variable(AGENT_KEY, "pcl_agent_")?;
        let client = Client::new(self.address()?).through("terminal");
        match (key, &self.url) {
            (Some(key), _) => Ok(client.with_key(key)),
            (None, None) => Ok(client),
            (None, Some(_)) => bail!("a daemon at a URL wants a key; set `{AGENT_KEY}`"),
        }
    }

    /// A client that sees and answers asks. The key of the command line goes over the socket of
    /// its own directory alone, and never for an agent.
    pub fn approver(&self) -> anyhow::Result<Client> {
        let client = Client::new(self.address()?).through("terminal");
        if let Some(key) = variable(APPROVER_KEY, "pcl_")? {
            return Ok(client.with_key(key));
        }
        if self.url.is_some() {
            bail!("a daemon at a URL wants a key; set `{APPROVER_KEY}`");
        }
        ancestors::refuse_agents("the key of the command line")?;
        let file = DataDir::find(self.data_dir.as_deref())?.file("cli.key");
        let key = std::fs::read_to_string(&file);
        let key = key.with_context(|| {
            format!("cannot read `{}`; the first `portcullis serve` makes it", file.display())
        })?;
        Ok(client.with_key(key.trim_end()))
    }

    /// Whether a daemon can be asked: one is named, or somebody hears at the socket.
    pub fn is_there(&self) -> bool {
        let socket = || DataDir::find(self.data_dir.as_deref()).and_then(|data| data.socket());
        self.url.is_some() || socket().is_ok_and(|socket| UnixStream::connect(socket).is_ok())
    }

    /// The data directory.
    pub fn directory(&self) -> anyhow::Result<PathBuf> {
        Ok(DataDir::find(self.data_dir.as_deref())?.path().to_owned())
    }

    fn address(&self) -> anyhow::Result<Address> {
        match &self.url {
            Some(url) => Ok(Address::url(url)?),
            None => Ok(Address::Socket(DataDir::find(self.data_dir.as_deref())?.socket()?)),
        }
    }
}

/// A key from the environment.
fn variable(name: &str, prefix: &str) -> anyhow::Result<Option<String>> {
    let Some(key) = std::env::var(name).ok().filter(|key| !key.is_empty()) else {
        return Ok(None);
    };
    // A shared key of another system has no prefix; a key of ours shows its role.
    if key.starts_with("pcl_") && !key.starts_with(prefix) {
        bail!("`{name}` holds a key of another role");
    }
    Ok(Some(key))
}

/// Runs what waits for others.
pub fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// The short name of an id: its end, which is what differs.
pub fn short(id: &str) -> &str {
    let start = id.len().saturating_sub(6);
    id.get(start..).unwrap_or(id)
}

/// The one of these items whose id is `text`, or begins or ends with it.
pub fn find<'a>(items: &'a [Value], text: &str, what: &str) -> anyhow::Result<&'a Value> {
    let id = |item: &Value| item.get("id").and_then(Value::as_str).unwrap_or("").to_owned();
    if let Some(item) = items.iter().find(|item| id(item) == text) {
        return Ok(item);
    }
    if text.len() < LEAST_SHORT {
        bail!("`{text}` is too short; give at least {LEAST_SHORT} characters of the id");
    }
    let fits = |item: &&Value| id(item).starts_with(text) || id(item).ends_with(text);
    let mut found = items.iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(item), None) => Ok(item),
        (Some(_), Some(_)) => bail!("more than one {what} is called `{text}`; give more of the id"),
        (None, _) => bail!("no {what} is called `{text}`"),
    }
}

/// What the daemon refused is an answer with an exit code of its own; the rest is trouble.
pub fn refused(
    out: &mut impl std::io::Write,
    error: ClientError,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let ClientError::Refused { status, code, message, details } = error else {
        return Err(error.into());
    };
    if as_json {
        let mut shape = json!({ "code": code, "message": message });
        if let (Some(details), Some(members)) = (details, shape.as_object_mut()) {
            members.insert("details".to_owned(), details);
        }
        writeln!(out, "{}", json!({ "error": shape }))?;
    } else {
        let palette = Palette::for_output(&std::io::stderr());
        let title = palette.paint(Ink::Refused, "refused");
        aside!("{title}: {} ({code})", crate::escape::line(message.as_bytes()));
    }
    // What could not be understood or was not allowed to this key is trouble, not a refusal.
    let is_trouble = matches!(status, 400 | 401 | 403) || status >= 500;
    Ok(if is_trouble { crate::commands::TROUBLE } else { crate::commands::REFUSED }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_by_its_end_or_its_beginning() {
        let items = [json!({ "id": "0199aaaa-1111" }), json!({ "id": "0199bbbb-2222" })];
        let found = |text: &str| find(&items, text, "ask").ok().map(|item| item["id"].clone());
        assert_eq!(found("2222"), Some("0199bbbb-2222".into()));
        assert_eq!(found("0199a"), Some("0199aaaa-1111".into()));
        assert_eq!(found("0199"), None, "two begin so");
        assert_eq!(found("222"), None, "too short");
        assert_eq!(found("3333"), None);
        assert_eq!(short("0199aaaa-1111"), "a-1111");
    }
}
