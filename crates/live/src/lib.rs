//! Real agent hosts against a scripted model: what runs behind a hook, and what does not.
//!
//! [`model`] is a server on loopback that asks for one shell call in whatever protocol it is spoken
//! to and remembers what it was told about it; [`host`] knows how each client is started headless,
//! so that it talks to nobody else; [`alone`] makes sure of that.

pub mod alone;
pub mod host;
pub mod model;
