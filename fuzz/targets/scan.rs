//! Scanning any bytes ends with no more than the text holds, and loses no program that reading
//! finds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::scan;

fuzz_target!(|data: &[u8]| scan::try_input(data));
