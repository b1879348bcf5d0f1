//! Every call gets a verdict under every policy, and the laws of verdicts hold for it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::judge;

fuzz_target!(|data: &[u8]| judge::try_input(data));
