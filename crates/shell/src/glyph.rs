//! Glyphs: a text as a person can see it, so that two texts never look the same.
//!
//! What cannot be seen, moves other signs, joins with its neighbours or looks like another sign is
//! spelled out: `\xNN` for ASCII and for bytes that are not UTF-8, `\u{…}` for the rest. A line end
//! is `⏎`, a tab `⇥`; a written backslash that would read as such a spelling is spelled out itself.
//! `lookalikes` knows which signs look like others.

use crate::hazard;

mod lookalikes;

/// One character of a text, or one byte that is none, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// What is shown for it: one character, or its spelling in ASCII.
    pub shown: String,
    /// Offset of its first byte.
    pub start: usize,
    /// Whether it is spelled out because it is not what it looks like.
    pub is_spelled: bool,
}

/// Signs that stand for something else where texts are shown: line ends, tabs, blanks at the end
/// of a row, what is left out. In a text they are spelled out.
const SIGNS: &[char] = &['⏎', '⇥', '␣', '⋯'];

/// The characters of `text`, in order. Two texts never have the same glyphs.
#[must_use]
pub fn glyphs(text: &[u8]) -> Vec<Glyph> {
    let mut glyphs = Vec::with_capacity(text.len());
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid();
        let mut lookalikes = lookalikes::in_words(valid);
        for (at, character) in valid.char_indices() {
            let behind = valid.get(at + character.len_utf8()..).unwrap_or_default();
            let is_spelled = lookalikes.is_at(at)
                || is_hidden(character)
                || (character == '\\' && reads_as_spelling(behind));
            let shown = if is_spelled { spelled(character) } else { plain(character) };
            glyphs.push(Glyph { shown, start, is_spelled });
            start += character.len_utf8();
        }
        for byte in chunk.invalid() {
            glyphs.push(Glyph { shown: format!("\\x{byte:02x}"), start, is_spelled: true });
            start += 1;
        }
    }
    glyphs
}

/// Whether a character is always spelled out.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        _ => {
            SIGNS.contains(&character)
                || hazard::kind_of(u32::from(character)).is_some()
                || lookalikes::is_always(character)
                // The standard library knows what is printed as a sign of its own.
                || character.escape_debug().len() > 1
        }
    }
}

/// Whether a backslash in front of this text would read as a spelling of ours.
fn reads_as_spelling(behind: &str) -> bool {
    let mut signs = behind.chars();
    match signs.next() {
        Some('x') => signs.next().is_some_and(|sign| sign.is_ascii_hexdigit()),
        Some('u') => signs.next() == Some('{'),
        _ => false,
    }
}

fn plain(character: char) -> String {
    match character {
        '\n' => '⏎'.to_string(),
        '\t' => '⇥'.to_string(),
        _ => character.to_string(),
    }
}

fn spelled(character: char) -> String {
    if character.is_ascii() {
        format!("\\x{:02x}", u32::from(character))
    } else {
        character.escape_unicode().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &[u8]) -> String {
        glyphs(text).into_iter().map(|glyph| glyph.shown).collect()
    }

    #[test]
    fn nothing_hides_moves_or_poses_as_something_else() {
        #[rustfmt::skip]
        let cases: &[(&[u8], &str, &str)] = &[
            (b"ls -la",                  "ls -la",                  "what it looks like"),
            (b"-la",                     "-la",                     "a dash at the start too"),
            (b"a\nb\tc\rd",              "a⏎b⇥c\\x0dd",             "lines and tabs have signs"),
            (b"\x1b[2J",                 "\\x1b[2J",                "an escape sequence"),
            (br"\x1b[2J",                r"\x5cx1b[2J",             "its spelling, written"),
            (br"\\x1b",                  r"\\x5cx1b",               "two backslashes"),
            (br"\u{202e}",               r"\x5cu{202e}",            "the other spelling, written"),
            (br"tr -d '\r\n\\' \xyz",    r"tr -d '\r\n\\' \xyz",    "other backslashes stay"),
            ("⏎ ⋯ ⇥".as_bytes(),         "\\u{23ce} \\u{22ef} \\u{21e5}", "our own signs, written"),
            ("a\u{a0}b".as_bytes(),      "a\\u{a0}b",               "a blank that is none"),
            ("a\u{202e}b".as_bytes(),    "a\\u{202e}b",             "turned writing"),
            (b"caf\xe9 \xff",            "caf\\xe9 \\xff",          "not UTF-8"),
            ("caf\u{e9} \u{65e5}".as_bytes(), "caf\u{e9} \u{65e5}", "letters of other languages"),
            ("cafe\u{301}".as_bytes(),   "cafe\\u{301}",            "an accent of its own"),
            ("\u{2764}\u{fe0f}".as_bytes(), "\u{2764}\\u{fe0f}",    "a selector"),
            ("\u{5d0}1".as_bytes(),      "\\u{5d0}1",               "writing from the right"),
            ("\u{1f1e9}".as_bytes(),     "\\u{1f1e9}",              "half a flag"),
            ("\u{e000}\u{378}".as_bytes(), "\\u{e000}\\u{378}",     "signs that no font has"),
        ];
        for (text, want, why) in cases {
            assert_eq!(line(text), *want, "{why}");
        }
    }
}
