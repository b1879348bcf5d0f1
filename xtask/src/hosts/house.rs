//! A home for one client: the policy, the daemon and the hook in it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, ensure};
use serde_json::Value;

/// A home, gone when it is dropped.
pub struct House {
    /// The home.
    pub home: PathBuf,
    /// The project in it.
    pub project: PathBuf,
    binary: PathBuf,
    path: String,
    daemon: Option<Child>,
}

impl House {
    /// A home; the client's program is found in it by its name.
    pub fn new(name: &str, binary: &Path, programs: &Path) -> anyhow::Result<House> {
        let root = std::env::temp_dir().canonicalize()?;
        // Some clients refuse homes below a directory for temporary files.
        let root = if Path::new("/var/tmp").is_dir() { PathBuf::from("/var/tmp") } else { root };
        let home = root.join(format!("pcl-hosts-{}-{name}", std::process::id()));
        let project = home.join("project");
        std::fs::create_dir_all(&project)?;
        std::fs::create_dir_all(home.join(".config/portcullis"))?;
        // The binary must lie where no workspace contains it and nobody else writes.
        let bin = home.join("bin");
        std::fs::create_dir_all(&bin)?;
        let own = bin.join("portcullis");
        std::fs::copy(binary, &own)?;
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", programs.display());
        Ok(House { home, project, binary: own, path, daemon: None })
    }

    /// Writes the user's policy.
    pub fn policy(&self, text: &str) -> anyhow::Result<()> {
        Ok(std::fs::write(self.home.join(".config/portcullis/policy.toml"), text)?)
    }

    /// Runs a command of ours.
    pub fn portcullis(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        Ok(self.command(arguments).output()?)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env_clear().env("HOME", &self.home).env("USER", "dev");
        command.env("PATH", &self.path).current_dir(&self.home).stdin(Stdio::null());
        command
    }

    /// Starts the daemon.
    pub fn serve(&mut self) -> anyhow::Result<()> {
        self.stop();
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut daemon = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut first = String::new();
        let mut said = BufReader::new(daemon.stdout.take().context("no output")?);
        said.read_line(&mut first)?;
        std::thread::spawn(move || said.lines().for_each(drop));
        self.daemon = Some(daemon);
        ensure!(first.starts_with("listening"), "the daemon does not start");
        Ok(())
    }

    /// Stops the daemon.
    pub fn stop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }

    /// The ask about a command that names this, if it waits.
    pub fn ask(&self, name: &str) -> Option<Value> {
        let said = self.portcullis(&["asks", "--json"]).ok()?;
        let said: Value = serde_json::from_slice(&said.stdout).ok()?;
        let asks = said.get("asks")?.as_array()?;
        let is_it =
            |ask: &&Value| ask.get("call").is_some_and(|call| call.to_string().contains(name));
        asks.iter().find(is_it).cloned()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop();
        let _ = std::fs::remove_dir_all(&self.home);
    }
}
