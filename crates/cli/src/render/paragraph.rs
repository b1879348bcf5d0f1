//! Paragraphs: sentences within the width of a terminal.

use crate::escape;

/// How wide everything is that is read by people.
pub const COLUMNS: usize = 80;

/// `text` in lines of at most `columns`, broken at blanks where there are any; nothing in it can
/// move the cursor or hide.
pub fn lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    let glyphs = escape::glyphs(text.as_bytes());
    for word in glyphs.split_inclusive(|glyph| glyph.shown == " ") {
        let width: usize = word.iter().map(|glyph| glyph.width).sum();
        let trimmed = width - word.last().map_or(0, |glyph| usize::from(glyph.shown == " "));
        if used > 0 && used + trimmed > columns {
            lines.push(String::new());
            used = 0;
        }
        for glyph in word {
            // A word longer than a line is broken anywhere.
            if used + glyph.width > columns && glyph.shown != " " {
                lines.push(String::new());
                used = 0;
            }
            used += glyph.width;
            if let Some(line) = lines.last_mut() {
                line.push_str(&glyph.shown);
            }
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end_matches(' ').len());
    }
    lines
}

/// `text` on one line of at most `columns`; what is cut off is counted.
pub fn cut(text: &str, columns: usize) -> String {
    let glyphs = escape::glyphs(text.as_bytes());
    let width: usize = glyphs.iter().map(|glyph| glyph.width).sum();
    if width <= columns {
        return glyphs.into_iter().map(|glyph| glyph.shown).collect();
    }
    let note = format!("⋯ ({} bytes)", text.len());
    let mut line = String::new();
    let mut used = note.chars().count();
    for glyph in glyphs {
        used += glyph.width;
        if used > columns {
            break;
        }
        line.push_str(&glyph.shown);
    }
    line + &note
}

/// `text` as it is, of at most `most` characters; what is left out is counted. It is still to be
/// shown by [`lines`].
pub fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => {
            let head = text.get(..at).unwrap_or_default();
            format!("{head} (and {} bytes more)", text.len() - at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks() {
        #[rustfmt::skip]
        let cases: &[(&str, usize, &[&str])] = &[
            ("one two three", 7,  &["one two", "three"]),
            ("one two three", 80, &["one two three"]),
            ("unbreakable",   4,  &["unbr", "eaka", "ble"]),
            ("a unbreakable", 4,  &["a", "unbr", "eaka", "ble"]),
            ("",              4,  &[""]),
            ("a\u{1b}[2Jb",   80, &["a\\x1b[2Jb"]),
        ];
        for (text, columns, want) in cases {
            assert_eq!(lines(text, *columns), *want, "`{text}` in {columns}");
        }
    }

    #[test]
    fn what_is_cut_off_is_counted() {
        assert_eq!(cut("short", 20), "short");
        assert_eq!(cut(&"x".repeat(100), 20), "xxxxxxx⋯ (100 bytes)");
        assert_eq!(shorten("short", 5), "short");
        assert_eq!(shorten("shorter", 5), "short (and 2 bytes more)");
    }
}
