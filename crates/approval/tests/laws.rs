//! Laws: what holds for every ask, every answer and every verdict.

#![cfg(test)]

#[path = "laws/chain.rs"]
mod chain;
#[path = "laws/ending.rs"]
mod ending;
#[path = "laws/granting.rs"]
mod granting;
#[path = "laws/samples.rs"]
mod samples;
#[path = "laws/settling.rs"]
mod settling;
#[path = "laws/tampering.rs"]
mod tampering;
#[path = "laws/texts.rs"]
mod texts;
