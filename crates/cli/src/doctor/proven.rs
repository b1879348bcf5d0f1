//! What was proven with a real client, and of which version: kept in the data directory.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file in the data directory.
const FILE: &str = "live.json";

/// The last proof of each host.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Proven(BTreeMap<String, Proof>);

/// One proof.
#[derive(Debug, Deserialize, Serialize)]
pub struct Proof {
    /// The version of the client.
    pub version: String,
    /// The day.
    pub on: String,
}

impl Proven {
    /// Reads it; what cannot be read proves nothing.
    pub fn read(data: &Path) -> Proven {
        let text = std::fs::read_to_string(data.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Takes up what was seen now: a proof, or that there is none any more.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn take(&mut self, data: &Path, host: &str, proof: Option<Proof>) -> anyhow::Result<()> {
        match proof {
            Some(proof) => self.0.insert(host.to_owned(), proof),
            None => self.0.remove(host),
        };
        Ok(std::fs::write(data.join(FILE), serde_json::to_string(self)?)?)
    }

    /// The proof of a host, of whatever version.
    pub fn any(&self, host: &str) -> Option<&Proof> {
        self.0.get(host)
    }

    /// The proof of this version of a host.
    pub fn of(&self, host: &str, version: &str) -> Option<&Proof> {
        self.0.get(host).filter(|proof| proof.version == version)
    }
}
