//! Escaping: bytes as a person can see them.
//!
//! Nothing that reaches a terminal from here can move its cursor, turn the direction of writing
//! or hide: controls, misleading characters and bytes that are not UTF-8 are spelled out.

use portcullis_shell::{Hazard, HazardKind, hazards};

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
    // A sign that may begin an option is what it looks like; it only stands in a bad place.
    let misleads = |hazard: &Hazard| hazard.kind != HazardKind::OptionSign;
    let mut hazards = hazards(text).into_iter().filter(misleads).peekable();
    let mut glyphs = Vec::new();
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            let is_hazard = hazards.next_if(|hazard| hazard.span.start as usize == start).is_some();
            let is_escaped = is_hazard || (character.is_control() && !"\n\t".contains(character));
            let shown = if is_escaped { spelled(character) } else { plain(character) };
            let width = if is_escaped { shown.len() } else { columns(character) };
            glyphs.push(Glyph { shown, width, start, is_escaped });
            start += character.len_utf8();
        }
        for byte in chunk.invalid() {
            hazards.next_if(|hazard| hazard.span.start as usize == start);
            glyphs.push(Glyph {
                shown: format!("\\x{byte:02x}"),
                width: 4,
                start,
                is_escaped: true,
            });
            start += 1;
        }
    }
    glyphs
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

/// A character that is what it looks like; line ends and tabs get a sign, so that they differ
/// from a written `\n` and `\t`.
fn plain(character: char) -> String {
    match character {
        '\n' => '⏎'.to_string(),
        '\t' => '⇥'.to_string(),
        _ => character.to_string(),
    }
}

fn spelled(character: char) -> String {
    match character {
        '\r' => "\\r".to_owned(),
        _ if character.is_ascii() => format!("\\x{:02x}", u32::from(character)),
        _ => character.escape_unicode().to_string(),
    }
}

fn byte_spelled(byte: u8) -> String {
    format!("\\x{byte:02x}")
}

/// Characters that take two columns in a terminal, roughly: enough to underline the right place.
const WIDE: &[(char, char)] = &[
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{a4cf}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff01}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

fn columns(character: char) -> usize {
    let is_within = |&(first, last): &(char, char)| (first..=last).contains(&character);
    match character {
        '\u{300}'..='\u{36f}' => 0,
        _ if WIDE.iter().any(is_within) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_or_moves_the_cursor() {
        #[rustfmt::skip]
        let cases: &[(&[u8], &str)] = &[
            (b"ls -la",                  "ls -la"),
            (b"-la",                     "-la"),
            (b"a\nb\tc\rd",              "a⏎b⇥c\\rd"),
            (b"\x1b[2J",                 "\\x1b[2J"),
            ("a\u{a0}b".as_bytes(),      "a\\u{a0}b"),
            ("a\u{202e}b".as_bytes(),    "a\\u{202e}b"),
            (b"caf\xe9 \xff",            "caf\\xe9 \\xff"),
            ("caf\u{e9} \u{65e5}".as_bytes(), "caf\u{e9} \u{65e5}"),
        ];
        for (text, want) in cases {
            assert_eq!(line(text), *want);
        }
    }

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
        assert_eq!(widths("e\u{301}"), 1);
        assert_eq!(widths("\u{200b}"), 8);
    }
}
