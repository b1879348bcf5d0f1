//! What is read has sound spans, and reads the same when it is printed.

#[path = "../../crates/shell/tests/laws/spans.rs"]
mod spans;

use crate::input;
use portcullis_shell::{Reader, print};

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    let (reader, text) = input::split(data);
    let Ok(tree) = reader.parse(text) else { return };
    if let Err(wrong) = spans::check(&tree) {
        panic!("{wrong}");
    }
    let printed = print(&tree);
    // A blank behind a `!` may go, and an interactive shell would then recall its history.
    let reader = Reader { interactive: false, ..reader };
    match reader.parse(&printed) {
        Ok(again) => {
            let (before, after) = (tree.shape(), again.shape());
            assert!(
                before == after,
                "printed as {:?}\n{before}\n{after}",
                String::from_utf8_lossy(&printed)
            );
        }
        Err(refusal) => panic!("printed as {:?}: {refusal}", String::from_utf8_lossy(&printed)),
    }
}
