//! Any bytes in any dialect are read or refused; hazards are found in them.

use crate::input;
use portcullis_shell::hazards;

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    let (reader, text) = input::split(data);
    match reader.parse(text) {
        Ok(tree) => assert_eq!(tree.source(), text),
        Err(refusal) => {
            assert!(refusal.span.start <= refusal.span.end, "{refusal:?}");
            assert!(refusal.span.end as usize <= text.len(), "{refusal:?}");
            assert!(!refusal.message.is_empty());
        }
    }
    for hazard in hazards(text) {
        assert!(!hazard.span.is_empty() && hazard.span.end as usize <= text.len());
    }
}
