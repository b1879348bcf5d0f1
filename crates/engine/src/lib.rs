//! Judges one tool call: from the text of a command to its acts and what they do.
//!
//! So far it takes a command apart, reads each program's options by the catalog, and knows the
//! small languages inside arguments. Rules, guards, modes and the verdict are not written yet.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod act;
pub mod analysis;
pub mod arg;
pub mod call;
pub mod catalog;
pub mod effect;
pub mod environment;
pub mod error;
pub mod glob;
pub mod guard;
pub mod judge;
pub mod language;
pub mod mode;
pub mod pattern;
mod peel;
pub mod place;
pub mod policy;
pub mod policy_text;
mod reader;
pub mod rule;
pub mod sensitive;
mod suggest;
pub mod tool;
pub mod usage;
pub mod verdict;
pub mod world;

pub use call::Call;
pub use error::PolicyError;
pub use judge::judge;
pub use mode::Mode;
pub use policy::{Policy, Source};
pub use policy_text::PolicyText;
pub use verdict::{Outcome, Verdict};
pub use world::{Lexical, World};
