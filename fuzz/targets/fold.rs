//! Values keep their promises, and reading takes no more memory than a multiple of the text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::fold;
use portcullis_fuzz::memory::Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

fuzz_target!(|data: &[u8]| fold::try_input(data));
