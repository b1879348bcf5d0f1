//! Pauses: begun, listed and ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/pause`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPause {
    /// For how long: 1 to 60.
    pub minutes: u64,
    /// Calls of this host only.
    #[serde(default)]
    pub host: Option<String>,
    /// Calls in this directory, or below it, only.
    #[serde(default)]
    pub workspace: Option<String>,
}

/// A pause that goes on.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pause {
    /// Who paused.
    pub by: String,
    /// The host it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The directory it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// When it ends by itself.
    pub until_at: String,
}

/// `GET /v1/pause`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pauses {
    /// The pauses that go on.
    pub pauses: Vec<Pause>,
}

/// `DELETE /v1/pause`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Resumed {
    /// How many pauses ended.
    pub ended: usize,
}
