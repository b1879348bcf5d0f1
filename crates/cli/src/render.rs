//! Rendering: everything the binary shows, one file per thing shown.
//!
//! Renderers take what is shown and a writer, and decide nothing.

pub mod ask;
pub mod excerpt;
pub mod explanation;
pub mod fault;
pub mod json;
pub mod notes;
pub mod paragraph;
pub mod policy;
pub mod refusal;
pub mod tree;
pub mod verdict;
