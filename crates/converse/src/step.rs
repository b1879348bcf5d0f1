//! The lines of a conversation as they are read.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The first line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// What the conversation is about.
    pub about: String,
    /// The requirements it proves.
    #[serde(default)]
    pub proves: Vec<String>,
    /// The configuration of its daemon.
    #[serde(default)]
    pub config: String,
    /// The policy of its daemon.
    #[serde(default)]
    pub policy: String,
    /// How long its daemon stays down when it is restarted.
    #[serde(default)]
    pub down_ms: u64,
}

/// One step; which one it is, its members say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of its own in the file")]
pub struct Line {
    /// A note for the reader.
    #[serde(rename = "#")]
    #[expect(dead_code, reason = "it is for people")]
    note: Option<String>,
    /// The connection.
    pub on: Option<String>,
    /// Opens one.
    pub connect: Option<String>,
    /// The status that refuses it.
    pub refused: Option<u16>,
    /// Another address.
    pub at: Option<String>,
    /// Headers of a request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Sends a frame.
    pub send: Option<Value>,
    /// Sends a binary frame.
    pub send_bytes: Option<Value>,
    /// The next frame, or the body of an answer.
    pub expect: Option<Value>,
    /// Whether frames that do not fit are passed over.
    #[serde(default)]
    pub skipping: bool,
    /// For how long nothing comes.
    pub expect_none: Option<u64>,
    /// The code the connection is closed with.
    pub expect_close: Option<u16>,
    /// Closes the connection.
    #[serde(default)]
    pub disconnect: bool,
    /// A request: method and path.
    pub http: Option<String>,
    /// The key it shows.
    pub key: Option<String>,
    /// Its body.
    pub body: Option<Value>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The name of a request that is left waiting.
    pub later: Option<String>,
    /// Whether the request is repeated until its answer fits.
    #[serde(default)]
    pub eventually: bool,
    /// The name of a request that has no answer yet.
    pub waits: Option<String>,
    /// The name of a request that gets its answer.
    pub done: Option<String>,
    /// The name of a request that gets whatever answer.
    pub answered: Option<String>,
    /// Restarts the daemon.
    #[serde(default)]
    pub restart: bool,
    /// Writes a file.
    pub write: Option<String>,
    /// What it writes.
    pub text: Option<String>,
    /// Reads a file, which is what is expected.
    pub read: Option<String>,
    /// Makes a link.
    pub link: Option<String>,
    /// Where it leads.
    pub to: Option<String>,
    /// Makes a directory.
    pub directory: Option<String>,
    /// Sleeps.
    pub sleep_ms: Option<u64>,
}
