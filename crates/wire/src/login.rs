//! Browsers: signed in by a one-time link, listed, signed out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /v1/login`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The one-time code of the link.
    pub code: String,
    /// Whether the page keeps half of the key itself and shows it as `X-Portcullis-Page`, so that
    /// the cookie alone opens nothing.
    #[serde(default)]
    pub page: bool,
}

/// The answer to `POST /v1/login`; the cookie comes with it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoggedIn {
    /// `admin`.
    pub role: &'static str,
    /// The page's half of the key, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// `POST /v1/login/link`: a code for another browser.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Link {
    /// The code, which stands behind `#` in the link; good once and soon.
    pub code: String,
}

/// `GET /v1/login`: whose key was shown, and which browsers are signed in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SignedIn {
    /// The key.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// `approver` or `admin`.
    pub role: &'static str,
    /// The browsers, for admins; oldest first.
    pub browsers: Vec<Browser>,
}

/// One browser that is signed in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Browser {
    /// Its key.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Since when.
    pub made_at: String,
    /// Until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Whether it is the one that asks.
    pub is_this: bool,
}
