//! The life of one ask, from open to settled.
//!
//! Everything here is a function of its arguments: the clock, chance and the fresh verdict are
//! handed in, and what comes out is a value that a store commits. [`ask`] says what is asked,
//! [`mod@settle`] how it ends, [`grant`] what a wide answer leaves behind, [`audit`] how all of it is
//! recorded, and [`receipt`] how an executor can check a decision by itself.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod approver;
pub mod ask;
pub mod audit;
pub mod cache;
pub mod canonical;
pub mod decision;
pub mod grant;
pub mod id;
pub mod key;
pub mod moment;
pub mod pause;
pub mod receipt;
pub mod redact;
pub mod settle;
pub mod verify;

pub use approver::Approver;
pub use ask::{Ask, Asker, CallText, Offer};
pub use decision::{Answer, Decision, Reply, Scope, State};
pub use grant::{Grant, Granted, Reach};
pub use id::Id;
pub use key::{Key, Owners, Role};
pub use moment::Moment;
pub use settle::{Refusal, Settlement, cancel, expire, settle};
