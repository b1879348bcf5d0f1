//! Scanning any bytes ends with no more than the text holds, and loses no program that reading
//! finds.

use crate::input;
use portcullis_shell::{Kind, PartKind, Tree, Word, scan};

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    let (reader, text) = input::split(data);
    let tokens = scan(text);
    let bytes: usize = tokens.iter().map(|token| token.text.len()).sum();
    // Every halving of the backslashes may be another reading.
    let layers = 1 + text.len().checked_ilog2().unwrap_or(0) as usize;
    assert!(bytes <= 8 * layers * text.len() + 16, "{bytes} bytes of tokens");
    assert!(tokens.len() <= 4 * layers * text.len() + 4, "{} tokens", tokens.len());
    assert!(tokens.iter().all(|token| token.span.end as usize <= text.len()));

    let Ok(tree) = reader.parse(text) else { return };
    for command in tree.commands() {
        let Kind::Simple(simple) = command.kind else { continue };
        let Some(word) = tree.only(simple.words) else { continue };
        let Some(program) = spelled(&tree, word) else { continue };
        assert!(
            tokens.iter().any(|token| token.text == program),
            "{:?} is not among {tokens:?}",
            String::from_utf8_lossy(&program)
        );
    }
}

/// The program as the text spells it, quotes and escapes taken off; nothing where it is expanded
/// or made of nothing. What holds blanks or operators is no program that a rule names.
fn spelled(tree: &Tree, word: &Word) -> Option<Vec<u8>> {
    let mut program = Vec::new();
    for part in tree.list(word.parts) {
        let span = match part.kind {
            PartKind::Literal => part.span,
            PartKind::Escaped(span) | PartKind::SingleQuoted(span) | PartKind::AnsiC(span) => span,
            PartKind::DoubleQuoted { parts, .. } => {
                for part in tree.list(parts) {
                    match part.kind {
                        PartKind::Literal => program.extend_from_slice(tree.text(part.span)),
                        PartKind::Escaped(span) => program.extend_from_slice(tree.text(span)),
                        _ => return None,
                    }
                }
                continue;
            }
            _ => return None,
        };
        program.extend_from_slice(tree.text(span));
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./+".contains(byte);
    (!program.is_empty() && program.iter().all(is_plain)).then_some(program)
}
