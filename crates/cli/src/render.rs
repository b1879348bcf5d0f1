//! Rendering: everything the binary shows, one file per thing shown.
//!
//! Renderers take what is shown and a writer, and decide nothing.

pub mod json;
pub mod notes;
pub mod refusal;
pub mod tree;
