//! The inbox in a terminal: `portcullis watch`.
//!
//! `state` is a function from what happens to what is to be done, `draw` a function from the state
//! to a screen; only `feed` and `screen` touch the world. To add a key, add it to
//! `state/pressed.rs`, to the help in `draw/dialog.rs`, and its case to `state/tests.rs`.

mod answer;
mod card;
mod diff;
mod draw;
mod editor;
mod feed;
mod keys;
mod rows;
mod screen;
mod state;

pub use screen::{Manner, run};
