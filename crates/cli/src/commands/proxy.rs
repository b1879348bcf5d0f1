//! `portcullis mcp`, `mcp-approver` and `acp`: the proxies, on standard input and output.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use portcullis_approval::CallText;
use portcullis_approval::receipt::Receipt;
use portcullis_daemon::clock::Clock;
use portcullis_proxy::approver::Approver;
use portcullis_proxy::gate::{Act, Check, Gate};
use portcullis_proxy::{acp, mcp};
use tokio::fs::File;
use tokio::io::{BufReader, stdin};

use super::call::new_id;
use crate::reach::{Reach, block_on};

/// How long a person is waited for, where nothing is said, in seconds.
const WAIT_S: u64 = 600;

/// What every proxy takes.
#[derive(Args)]
struct Common {
    /// The daemon's data directory.
    #[arg(long, env = "PORTCULLIS_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// A daemon elsewhere; the key comes from `PORTCULLIS_AGENT_KEY`.
    #[arg(long, env = "PORTCULLIS_URL", value_name = "URL")]
    daemon_url: Option<String>,
    /// How many seconds a person is waited for.
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT_S)]
    wait: u64,
}

/// Stands in front of an MCP server: every `tools/call` is judged, the rest passes as it is.
#[derive(Args)]
pub struct Mcp {
    #[command(flatten)]
    common: Common,
    /// What rules call the server; the name of its program or host if not given.
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// A server behind a URL, instead of a command.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The variable with the value of the header `Authorization` that the server wants.
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    authorization_env: Option<String>,
    /// The server's command, behind `--`.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "url")]
    command: Vec<String>,
}

/// Answers Claude's permission prompts in headless runs: `--permission-prompt-tool
/// mcp__portcullis__approve`.
#[derive(Args)]
pub struct McpApprover {
    #[command(flatten)]
    common: Common,
}

/// Stands between an editor and an ACP agent: what the agent asks for is judged, the rest passes.
#[derive(Args)]
pub struct Acp {
    #[command(flatten)]
    common: Common,
    /// The agent's command, behind `--`.
    #[arg(last = true, value_name = "COMMAND", required = true)]
    command: Vec<String>,
}

impl Common {
    fn reach(&self) -> Reach {
        Reach::new(self.data_dir.clone(), self.daemon_url.clone())
    }

    fn gate(&self, door: &'static str) -> anyhow::Result<Gate> {
        let client = self.reach().agent()?.through(door);
        Ok(Gate::new(client, Duration::from_secs(self.wait), self.check()?))
    }

    /// Checks receipts with the key that `install` pinned, or that lies beside the socket.
    fn check(&self) -> anyhow::Result<Check> {
        let directory = self.reach().directory()?;
        Ok(Box::new(move |act: &Act, input: &str, receipt: &str| {
            let key = pinned(&directory).map_err(|error| format!("{error:#}"))?;
            let text = CallText {
                tool: act.tool.clone(),
                input: input.to_owned(),
                cwd: act.cwd.clone(),
                host: act.host.clone(),
                session: Some(act.session.clone()),
                ..CallText::default()
            };
            let digest = text.digest().ok_or("the input is not JSON")?;
            let now = Clock::new().now();
            let receipt = Receipt::verify(receipt, &key, Some(&digest), now)
                .map_err(|error| error.to_string())?;
            if receipt.outcome == "allow" { Ok(()) } else { Err("it does not allow".to_owned()) }
        }))
    }
}

/// The daemon's public key.
fn pinned(directory: &Path) -> anyhow::Result<[u8; 32]> {
    let installed =
        portcullis_hook_static::installed::Installed::read(directory)?.unwrap_or_default();
    let key = match installed.key {
        Some(key) => key,
        None => std::fs::read_to_string(directory.join("signing.pub"))
            .context("no key of the daemon is known here; run `portcullis install`")?,
    };
    portcullis_approval::audit::unhex(key.trim()).context("the daemon's key is none")
}

impl Mcp {
    /// Stands between both until one of them ends.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let authorization = match &self.authorization_env {
            None => None,
            Some(name) => {
                Some(std::env::var(name).with_context(|| format!("`{name}` is not set"))?)
            }
        };
        let server = match &self.url {
            None => None,
            Some(_) if !self.command.is_empty() => bail!("give a command or a URL, not both"),
            Some(url) => Some(mcp::http::Server::new(url, authorization)?),
        };
        let program = self.command.first().map(Path::new).and_then(Path::file_stem);
        let name = match (&self.server, &server, program) {
            (Some(name), ..) => name.clone(),
            (None, Some(server), _) => server.host().to_owned(),
            (None, None, Some(program)) => program.to_string_lossy().into_owned(),
            (None, None, None) => bail!("give the server's command behind `--`, or `--url`"),
        };
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_.".contains(sign);
        if name.is_empty() || name.contains("__") || !name.chars().all(is_plain) {
            bail!("`{name}` is no name of a server; give one of letters and digits by `--server`");
        }
        let directory = self.common.reach().directory()?;
        let setting = mcp::Setting {
            gate: self.common.gate("mcp")?,
            session: format!("mcp-{name}-{}", new_id()?),
            cwd: here(),
            pins: Some(directory.join("mcp").join(format!("{name}.json"))),
            server: name,
        };
        let output = output()?;
        block_on(async {
            let input = BufReader::new(stdin());
            match server {
                Some(server) => mcp::http::run(setting, server, input, output).await?,
                None => mcp::stdio::run(setting, &self.command, input, output).await?,
            }
            Ok(())
        })?;
        leave()
    }
}

impl McpApprover {
    /// Serves until the client ends.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let session = format!("mcp-approver-{}", new_id()?);
        let approver = Approver::new(self.common.gate("mcp")?, session, here());
        let output = output()?;
        block_on(async { Ok(approver.serve(stdin(), output).await?) })?;
        leave()
    }
}

impl Acp {
    /// Stands between both until one of them ends.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let setting = acp::Setting {
            gate: self.common.gate("acp")?,
            session: format!("acp-{}", new_id()?),
            cwd: here(),
        };
        let output = output()?;
        block_on(async {
            let input = BufReader::new(stdin());
            Ok(acp::run(setting, &self.command, input, output).await?)
        })?;
        leave()
    }
}

/// Standard output, of which nobody else holds the lock.
fn output() -> anyhow::Result<File> {
    let output = std::io::stdout().as_fd().try_clone_to_owned();
    Ok(File::from_std(output.context("standard output is closed")?.into()))
}

fn here() -> Option<String> {
    let cwd: Option<PathBuf> = std::env::current_dir().ok();
    cwd.and_then(|cwd| cwd.into_os_string().into_string().ok())
}

/// Ends at once: a thread that still reads standard input would hold the process.
fn leave() -> anyhow::Result<ExitCode> {
    std::process::exit(0)
}
