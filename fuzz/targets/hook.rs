//! Any document of any host is understood or refused, and what does not allow never reads as if
//! it did.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::hook;

fuzz_target!(|data: &[u8]| hook::try_input(data));
