//! Patterns: the part of a rule that names acts.

pub mod json;
pub mod listed;
pub mod path;
pub mod sharing;
pub mod words;
