//! Values keep their promises, and reading takes no more memory than a multiple of the text.

use crate::{input, memory};
use portcullis_shell::{Limits, PartKind, Place, Tree, Value, Word};

/// How many bytes of memory one byte of text may cost at the worst, and what is always allowed.
const BYTES_PER_BYTE: usize = 1024;
const BYTES_ALWAYS: usize = 64 * 1024;

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    let (reader, text) = input::split(data);
    let (tree, peak) = memory::peak(|| reader.parse(text));
    assert!(peak <= BYTES_ALWAYS + BYTES_PER_BYTE * text.len(), "{peak} bytes of memory");
    let Ok(tree) = tree else { return };
    for word in tree.words() {
        check(&tree, word);
    }
}

fn check(tree: &Tree, word: &Word) {
    let value = tree.value(word);
    match &value {
        Value::Literal(text) => assert!(text.len() <= Limits::VALUE_BYTES.max(word.span.len())),
        Value::Set(fields) => {
            assert!(fields.len() <= Limits::FIELDS, "{} fields", fields.len());
            assert!(fields.iter().all(|field| !matches!(field, Value::Set(_))), "a set in a set");
        }
        Value::Pattern { prefix } => assert!(prefix.len() <= Limits::VALUE_BYTES),
        Value::Tainted(taint) => {
            assert_eq!(tree.text(taint.span).len(), taint.span.len(), "{taint:?} has no text");
            let place = tree.locate(taint.span);
            assert!(place.end as usize <= tree.source().len(), "{taint:?}");
        }
    }
    // A word of nothing but plain text is worth that text, whatever stands around it.
    let parts = tree.list(word.parts);
    let plain = |kind: &PartKind| matches!(kind, PartKind::Literal);
    if word.place == Place::Argument
        && !parts.is_empty()
        && parts.iter().all(|part| plain(&part.kind))
    {
        let text: Vec<u8> = parts.iter().flat_map(|part| tree.text(part.span)).copied().collect();
        assert_eq!(value, Value::Literal(&text), "a plain word");
    }
}
