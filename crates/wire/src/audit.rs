//! The state of an audit chain.

use schemars::JsonSchema;
use serde::Serialize;

/// `GET /v1/audit/state`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditState {
    /// The node whose chain it is.
    pub node: String,
    /// The number of the last entry.
    pub seq: u64,
    /// Its hash.
    pub hash: String,
    /// How many entries were checked.
    pub checked: usize,
    /// Whether all of those follow one another and are what was signed.
    pub is_whole: bool,
    /// Whether every entry was checked.
    pub is_complete: bool,
    /// The first entry that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<BrokenEntry>,
    /// How many signed statements there are.
    pub checkpoints: usize,
    /// The last entry that is signed for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_seq: Option<u64>,
    /// When it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<String>,
    /// The name of the key that signs.
    pub key: String,
}

/// An entry that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrokenEntry {
    /// Its number.
    pub seq: u64,
    /// What is wrong with it.
    pub what: String,
}
