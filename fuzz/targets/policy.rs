//! Any text is a policy or is refused with a sentence and a place in the text; a policy judges.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::policy;

fuzz_target!(|data: &[u8]| policy::try_input(data));
