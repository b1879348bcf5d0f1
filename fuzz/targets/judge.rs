//! Every call gets a verdict under every policy, and the laws of verdicts hold for it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::try_verdict;

fuzz_target!(|data: &[u8]| try_verdict(data));
