//! What a client of Socket.IO sends, by polling or as messages of a WebSocket, is read to the
//! envelope inside or refused: by the crates that the Multica door hands it to, and by us.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_fuzz::frames;

fuzz_target!(|data: &[u8]| frames::try_input(data));
