//! Every small language reads any text: it ends, and what it names stands in the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::languages;

fuzz_target!(|data: &[u8]| languages::try_input(data));
