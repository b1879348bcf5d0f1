//! A daemon that will be killed, and a client that notices.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

/// How long a request may take before the daemon counts as stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running daemon.
pub struct Daemon {
    child: Mutex<Child>,
    /// Where it listens.
    pub address: SocketAddr,
    /// A key of an agent.
    pub agent: String,
    /// A key of an approver.
    pub approver: String,
}

/// What a daemon is started with besides the usual.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// Arguments behind `serve`.
    pub arguments: Vec<String>,
    /// Variables of its environment.
    pub environment: Vec<(String, String)>,
    /// What it is started with, where it lives elsewhere than this program.
    pub entrance: Vec<String>,
    /// Where it listens, where that is not a free port of loopback.
    pub listen: Option<String>,
}

impl Daemon {
    /// Starts the binary on a home, and makes its keys at the first start.
    pub fn start(binary: &Path, home: &Path) -> anyhow::Result<Daemon> {
        Daemon::start_with(binary, home, &Setting::default())
    }

    /// The same with a setting.
    pub fn start_with(binary: &Path, home: &Path, setting: &Setting) -> anyhow::Result<Daemon> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(home.join("log"))?;
        let mut words = setting.entrance.iter().map(OsStr::new).chain([binary.as_os_str()]);
        let mut child = Command::new(words.next().context("nothing to start")?)
            .args(words)
            .args(["serve", "--listen", setting.listen.as_deref().unwrap_or("127.0.0.1:0")])
            .args(&setting.arguments)
            .env_clear()
            .envs(setting.environment.iter().cloned())
            .env("HOME", home)
            .env("INTERNAL_API_KEY", "agent-of-the-harness")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let first = lines.next().context("it said nothing")??;
        let address = first
            .strip_prefix("listening on http://")
            .with_context(|| format!("it said `{first}`"))?
            .parse()?;
        // The rest of what it says goes nowhere; the pipe must not fill.
        std::thread::spawn(move || lines.for_each(drop));
        let approver = home.join(".local/share/portcullis/cli.key");
        let approver = std::fs::read_to_string(approver)?.trim().to_owned();
        Ok(Daemon {
            child: Mutex::new(child),
            address,
            agent: "agent-of-the-harness".to_owned(),
            approver,
        })
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    /// Kills it without a word.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended by itself, which the next look will tell.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends a request; an error means that nothing was acknowledged.
pub fn send(
    address: SocketAddr,
    key: &str,
    method: &str,
    path: &str,
    body: &str,
) -> anyhow::Result<(u16, Value)> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let (head, body) = text.split_once("\r\n\r\n").context("half an answer")?;
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, length)| length.trim().parse::<usize>().ok());
    if length != Some(body.len()) {
        bail!("half an answer");
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.context("no status")?, serde_json::from_str(body)?))
}
