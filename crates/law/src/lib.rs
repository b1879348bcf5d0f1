//! Tries laws: what must hold for every case is tried on many of them.
//!
//! Only tests use this room. Without settings a law sees the same [`CASES`] in every run;
//! `PORTCULLIS_CASES` asks for fewer or more of them, `PORTCULLIS_SEED` for others.
//! `cargo xtask laws` sets both.

use std::fmt::Debug;
use std::str::FromStr;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};

/// How many cases each law is tried on with every change.
pub const CASES: u32 = 10_000;

/// Where chance begins unless somebody asks for other cases.
const SEED: u64 = 2;

/// Tries a law on every case that was asked for.
///
/// # Panics
/// If one of them breaks it, with the smallest such case that was found.
#[expect(clippy::panic, reason = "a test that fails panics")]
pub fn law<T: Debug>(strategy: impl Strategy<Value = T>, test: impl Fn(T) -> TestCaseResult) {
    if let Err(broken) = TestRunner::new(config()).run(&strategy, test) {
        panic!("{broken}");
    }
}

/// How many cases, and which; for laws that are written with `proptest!`.
#[must_use]
pub fn config() -> Config {
    Config {
        cases: asked("PORTCULLIS_CASES").unwrap_or(CASES),
        rng_seed: RngSeed::Fixed(asked("PORTCULLIS_SEED").unwrap_or(SEED)),
        // Cases that say nothing are many among a million.
        max_global_rejects: u32::MAX,
        failure_persistence: None,
        ..Config::default()
    }
}

/// What a variable asks for.
#[expect(clippy::panic, reason = "a test that cannot know what was asked for must not pass")]
fn asked<T: FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?;
    let Ok(asked) = text.parse() else { panic!("`{name}` is `{text}`; give it a whole number") };
    Some(asked)
}
