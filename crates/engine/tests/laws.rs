//! Laws: what holds for every policy and every call. `portcullis_law` says how many are tried.

#![cfg(test)]

#[path = "laws/around.rs"]
mod around;
#[path = "laws/calls.rs"]
mod calls;
#[path = "laws/rules.rs"]
mod rules;
#[path = "laws/samples.rs"]
mod samples;
