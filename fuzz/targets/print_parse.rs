//! What is read has sound spans, and reads the same when it is printed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::print_parse;

fuzz_target!(|data: &[u8]| print_parse::try_input(data));
