//! Every JSON shape that leaves the process or comes into it, and nothing else.
//!
//! Fields are `snake_case`, values of kinds `kebab-case`, and what is not there is absent. Types of
//! the pure crates are borrowed and given a shape here, so that a rename inside never breaks a
//! reader. To add a dialect, add a file under `dialects/`.

pub mod asks;
pub mod audit;
pub mod batch;
pub mod body;
pub mod calls;
pub mod compact;
pub mod devices;
pub mod dialects;
pub mod errors;
pub mod explanation;
pub mod feed;
pub mod grants;
pub mod json;
pub mod login;
pub mod nearest;
pub mod pause;
pub mod policy;
pub mod stats;
pub mod traces;
pub mod verdict;
