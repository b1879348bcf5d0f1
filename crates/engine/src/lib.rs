//! Judges one tool call: from a policy, a call and the world to the verdict.
//!
//! [`judge()`] is the one way in. [`tool`] and [`analysis`] turn the call into acts, [`catalog`] and
//! [`language`] know what each of them does, [`guard`] what is found about it, and the rules and
//! dials of a [`policy`] decide.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod act;
pub mod analysis;
pub mod arg;
pub mod call;
pub mod catalog;
pub mod effect;
pub mod environment;
pub mod error;
pub mod few;
pub mod glob;
pub mod guard;
pub mod judge;
pub mod language;
mod lists;
pub mod mode;
pub mod pattern;
mod peel;
pub mod place;
pub mod policy;
pub mod policy_text;
mod reader;
pub mod rule;
pub mod sensitive;
mod shelf;
mod suggest;
pub mod tool;
pub mod usage;
pub mod verdict;
pub mod world;

pub use call::Call;
pub use error::PolicyError;
pub use judge::judge;
pub use mode::Mode;
pub use peel::WRAPPERS;
pub use policy::{Policy, Source};
pub use policy_text::PolicyText;
pub use portcullis_shell::{Glyph, glyphs};
pub use verdict::{Outcome, Verdict};
pub use world::{Lexical, World};
