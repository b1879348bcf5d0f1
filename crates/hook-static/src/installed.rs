//! `install.json`: what `install` wrote down about this machine, for the hooks and for `doctor`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use portcullis_layers::Places;
use serde::{Deserialize, Serialize};

/// The file in the data directory.
pub const FILE: &str = "install.json";

/// What `install` wrote down.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Installed {
    /// The user's home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<PathBuf>,
    /// The user's directory for configuration of this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The public key of the daemon, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// A daemon elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What was written into which host's configuration.
    #[serde(default)]
    pub entries: Vec<Entry>,
}

/// One host's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Entry {
    /// The host.
    pub host: String,
    /// The scope.
    pub scope: String,
    /// The file that was changed or written.
    pub file: PathBuf,
    /// SHA-256 of what is ours in it.
    pub ours_sha256: String,
    /// The program it starts.
    pub program: PathBuf,
    /// SHA-256 of the program.
    pub program_sha256: String,
    /// How long the hook waits.
    pub wait_s: u64,
    /// How long the host waits for it, in the host's own unit.
    pub host_timeout: u64,
    /// The host's version, if it could be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_version: Option<String>,
    /// When.
    pub at: String,
    /// SHA-256 of the whole file as we left it.
    pub file_sha256: String,
    /// What stood there before us; none where there was no file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// The directories that were made for the file, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made: Vec<PathBuf>,
    /// The keys of entries that Codex was told to trust.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trusted: Vec<String>,
}

impl Installed {
    /// Reads it; none where it is not there.
    ///
    /// # Errors
    /// It cannot be read or understood.
    pub fn read(directory: &Path) -> anyhow::Result<Option<Installed>> {
        let path = directory.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
            }
        };
        let installed = serde_json::from_str(&text);
        installed.map(Some).with_context(|| format!("cannot understand `{}`", path.display()))
    }

    /// Where policy files lie for hooks that were installed: nothing of it comes from variables.
    ///
    /// # Errors
    /// Nothing was installed, or what was written down cannot be read.
    pub fn places(directory: &Path) -> anyhow::Result<Places> {
        let Some(installed) = Installed::read(directory)? else {
            bail!("`{}` has no {FILE}; run `portcullis install` again", directory.display());
        };
        Ok(Places {
            config: installed.config,
            home: installed.home,
            data: Some(directory.to_owned()),
            ..Places::of_this_user()
        })
    }
}
