//! Installing hooks: what is written into which host's configuration, and how it is taken out.
//!
//! [`hosts`] knows the places and what is written there, [`mod@entries`] finds it again, [`jsonc`] changes files in place, [`files`] writes
//! them safely, [`codex`] makes Codex trust its entry, [`diff`] shows what would change.

pub mod codex;
pub mod diff;
mod entries;
pub mod files;
pub mod hosts;
pub mod jsonc;
pub mod record;
