//! Laws: what holds for every ask, every answer and every verdict.

#![cfg(test)]

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

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

/// Tries a law on so many cases, at most `PORTCULLIS_CASES`, always the same ones.
fn law<T: std::fmt::Debug>(
    cases: u32,
    strategy: impl Strategy<Value = T>,
    test: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let asked = std::env::var("PORTCULLIS_CASES").ok().map(|text| text.parse().unwrap());
    let config = Config {
        cases: cases.min(asked.unwrap_or(cases)),
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng).run(&strategy, test).unwrap();
}
