//! Devices: paired, accepted, listed and revoked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// `POST /v1/devices`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewPairing {
    /// The agent the device is told about; the latest where none is named.
    pub agent: Option<String>,
    /// Whether the device must be accepted once it has shown the token.
    pub confirm: bool,
}

/// A token that one device may be paired with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pairing {
    /// What it is called by while a device waits to be accepted.
    pub id: String,
    /// The token, shown once.
    pub token: String,
    /// The id of this hub.
    pub hub_id: String,
    /// Where the device connects.
    pub url: String,
    /// Until when the token counts.
    pub expires_at: String,
}

/// `POST /v1/devices/{id}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// Whether the device is let in.
    pub accept: bool,
}

/// `GET /v1/devices`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Devices {
    /// Devices that were paired, oldest first.
    pub devices: Vec<Device>,
    /// Devices that wait to be accepted.
    pub waiting: Vec<WaitingDevice>,
}

/// A device; the id it shows itself is never told.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Device {
    /// What it is listed under.
    pub id: String,
    /// The approver it acts as.
    pub approver: String,
    /// The agent it was paired for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it says about itself.
    pub about: Box<RawValue>,
    /// When it was paired.
    pub paired_at: String,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

/// A device that waits to be accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WaitingDevice {
    /// What it is accepted by.
    pub id: String,
    /// What it says about itself.
    pub about: Box<RawValue>,
}
