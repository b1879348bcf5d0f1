//! Any bytes are a body, a frame or a line of any door, or are refused with a sentence.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::wire;

fuzz_target!(|data: &[u8]| wire::try_input(data));
