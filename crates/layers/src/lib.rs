//! Finds, reads and merges policy files, and looks at the disk for the engine.
//!
//! This is where policies meet the machine: [`files`] knows the places, [`merge`] puts the layers
//! together, [`trust`] knows which project files may say more than "stricter", and [`world`] what
//! paths really lead to. A layer that cannot be read or understood is an error, never a weaker
//! policy.

use std::path::PathBuf;

use portcullis_engine::PolicyError;

pub mod canary;
pub mod files;
pub mod merge;
pub mod trust;
pub mod world;

pub use files::Places;
pub use merge::{Layer, Layers};
pub use world::Live;

/// Why a policy could not be put together. It never means a weaker policy: there is none.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// A file is there and cannot be read, or was named and is not there.
    #[error("cannot read policy file `{}`: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A file was read and is no policy. Whoever shows it underlines the place in the text.
    #[error("broken policy file `{}`: {error}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What stands in it.
        text: String,
        /// What is wrong with it.
        error: Box<PolicyError>,
    },
}
