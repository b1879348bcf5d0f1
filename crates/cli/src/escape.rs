//! Escaping: bytes as a person can see them, with the columns they take.
//!
//! Nothing that reaches a terminal from here can move its cursor, turn the direction of writing,
//! hide or pose as something else: [`portcullis_shell::glyphs`] spells it out.

use unicode_width::UnicodeWidthStr;

/// One character of a text, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// What is shown for it.
    pub shown: String,
    /// How many columns that takes.
    pub width: usize,
    /// Offset of its first byte.
    pub start: usize,
    /// Whether it is spelled out because it is not what it looks like.
    pub is_escaped: bool,
}

/// The characters of `text`, in order.
pub fn glyphs(text: &[u8]) -> Vec<Glyph> {
    let wide = |glyph: portcullis_shell::Glyph| Glyph {
        width: glyph.shown.width(),
        shown: glyph.shown,
        start: glyph.start,
        is_escaped: glyph.is_spelled,
    };
    portcullis_shell::glyphs(text).into_iter().map(wide).collect()
}

/// `text` on one line.
pub fn line(text: &[u8]) -> String {
    glyphs(text).into_iter().map(|glyph| glyph.shown).collect()
}

/// `text` so that no two texts look the same: backslashes are doubled, bytes that are not UTF-8
/// are `\xNN`, and everything else stands for itself.
pub fn exact(text: &[u8]) -> String {
    let mut exact = String::new();
    for chunk in text.utf8_chunks() {
        exact.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            exact.push_str(&byte_spelled(*byte));
        }
    }
    exact
}

fn byte_spelled(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_text_tells_a_byte_from_its_name() {
        assert_eq!(exact(b"caf\xe9"), "caf\\xe9");
        assert_eq!(exact(b"caf\\xe9"), "caf\\\\xe9");
    }

    #[test]
    fn columns_are_those_of_a_terminal() {
        let widths =
            |text: &str| glyphs(text.as_bytes()).iter().map(|glyph| glyph.width).sum::<usize>();
        assert_eq!(widths("ab"), 2);
        assert_eq!(widths("\u{65e5}\u{672c}"), 4);
        assert_eq!(widths("e\u{301}"), 8);
        assert_eq!(widths("\u{200b}"), 8);
    }

    #[test]
    fn every_character_takes_its_own_columns() {
        let hidden = |character: &char| {
            glyphs(character.to_string().as_bytes()).iter().any(|glyph| glyph.width == 0)
        };
        let hidden: Vec<String> = ('\0'..=char::MAX)
            .filter(hidden)
            .map(|sign| sign.escape_unicode().to_string())
            .collect();
        assert!(hidden.is_empty(), "no column for {}", hidden.join(" "));
    }
}
