//! Any bytes in any dialect are read or refused; hazards are found in them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::parse;

fuzz_target!(|data: &[u8]| parse::try_input(data));
