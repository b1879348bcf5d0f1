//! One node: a daemon with a home of its own and its way to the database.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use portcullis_database::Database;

use super::people::Door;
use super::way::Way;
use crate::checkout;
use crate::kill::daemon::{Daemon, Setting, send};

/// Asks end soon, so that their ends are seen too.
const POLICY: &str = "[asks]\ndeadline_s = 2\n";

/// The one agent of a run asks as often as it can.
const LIMITS: &str = "[limits]\npending_asks_per_agent = 100000\nasks_per_minute_per_agent = 0\n";

/// The secret half of the key that all nodes of a run sign with.
const SIGNING_KEY: [u8; 32] = [7; 32];

/// A node.
pub struct Node {
    number: usize,
    home: PathBuf,
    binary: PathBuf,
    layer: PathBuf,
    store: String,
    daemon: Option<Daemon>,
    /// Its way to the database and to those who call.
    pub way: Way,
}

impl Node {
    /// A node that is not running yet.
    pub fn new(
        number: usize,
        home: &Path,
        binary: &Path,
        layer: PathBuf,
        database: &Database,
        way: Way,
    ) -> anyhow::Result<Node> {
        let home = home.join(format!("node-{number}"));
        let policies = home.join(".config/portcullis");
        std::fs::create_dir_all(&policies)?;
        std::fs::write(policies.join("policy.toml"), POLICY)?;
        let (address, port) = way.listen();
        let config = if address.is_loopback() {
            LIMITS.to_owned()
        } else {
            // Who listens to others than this machine says that a proxy stands in front.
            format!("behind_proxy = true\nhost_names = [\"{address}:{port}\"]\n{LIMITS}")
        };
        std::fs::write(policies.join("config.toml"), config)?;
        let data = home.join(".local/share/portcullis");
        std::fs::create_dir_all(&data)?;
        // All nodes sign with one key.
        for (path, mode) in [(&data, 0o700), (&data.join("signing.key"), 0o600)] {
            if mode == 0o600 {
                std::fs::write(path, SIGNING_KEY)?;
            }
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
        }
        let store = way.store(database);
        let binary = binary.to_owned();
        Ok(Node { number, home, binary, layer, store, daemon: None, way })
    }

    /// Gives it another policy.
    pub fn set_policy(&self, policy: &str) -> anyhow::Result<()> {
        std::fs::write(self.home.join(".config/portcullis/policy.toml"), policy)?;
        Ok(())
    }

    /// Starts it with a wall clock that is so many seconds off.
    pub fn start(&mut self, skew_s: i64) -> anyhow::Result<()> {
        let faults = self.home.join("faults");
        std::fs::write(&faults, format!("clock {skew_s}\n"))?;
        let (address, port) = self.way.listen();
        let setting = Setting {
            entrance: self.way.entrance(),
            listen: Some(format!("{address}:{port}")),
            arguments: vec!["--store".to_owned(), self.store.clone()],
            environment: vec![
                ("LD_PRELOAD".to_owned(), self.layer.display().to_string()),
                ("FAULTS".to_owned(), faults.display().to_string()),
            ],
        };
        self.daemon = Some(Daemon::start_with(&self.binary, &self.home, &setting)?);
        Ok(())
    }

    /// Kills it without a word.
    pub fn kill(&mut self) {
        self.daemon = None;
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) -> anyhow::Result<()> {
        let id = self.daemon()?.id().to_string();
        ensure!(Command::new("kill").args(["-s", name, &id]).status()?.success(), "no signal");
        Ok(())
    }

    /// The daemon.
    pub fn daemon(&self) -> anyhow::Result<&Daemon> {
        self.daemon.as_ref().with_context(|| format!("{} does not run", self.name()))
    }

    /// How people reach it.
    pub fn door(&self) -> anyhow::Result<Door> {
        let daemon = self.daemon()?;
        let (agent, approver) = (daemon.agent.clone(), daemon.approver.clone());
        Ok(Door { address: daemon.address, agent, approver })
    }

    /// Whether it can answer.
    pub fn is_ready(&self) -> bool {
        let sent = self
            .daemon()
            .and_then(|daemon| send(daemon.address, &daemon.approver, "GET", "/readyz", ""));
        matches!(sent, Ok((200, _)))
    }

    /// What it is called.
    pub fn name(&self) -> String {
        format!("node {}", self.number)
    }
}

/// The layer that makes wall clocks wrong, built into a directory.
pub fn layer(into: &Path) -> anyhow::Result<PathBuf> {
    let source = checkout::root().join("crates/cli/tests/faults/layer.c");
    let layer = into.join("layer.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&layer, &source])
        .status()
        .context("cannot start cc")?;
    ensure!(built.success(), "the layer does not build");
    Ok(layer)
}
