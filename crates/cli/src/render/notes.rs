//! Notes: where in a text something stands, and what in it misleads the eye.

use std::io::{self, Write};

use portcullis_shell::{Hazard, HazardKind};

use crate::escape;
use crate::palette::{Ink, Palette};

/// So many notes are read; more would push the answer off the screen.
const MOST: usize = 8;

/// A place as editors count it: both from one, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character on the line.
    pub column: usize,
    /// Offset of the line's first byte.
    pub line_start: usize,
}

/// The position of the byte at `offset`.
pub fn position(text: &[u8], offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = before.split(|&byte| byte == b'\n').count();
    let column = escape::glyphs(before.get(line_start..).unwrap_or_default()).len() + 1;
    Position { line, column, line_start }
}

/// Writes one note for each misleading character, up to a few.
pub fn hazards(
    out: &mut impl Write,
    text: &[u8],
    hazards: &[Hazard],
    palette: Palette,
) -> io::Result<()> {
    let note = palette.paint(Ink::Unknown, "note");
    for hazard in hazards.iter().take(MOST) {
        let Position { line, column, .. } = position(text, hazard.span.start as usize);
        let shown = palette.paint(Ink::Hazard, &escape::line(hazard.span.of(text)));
        writeln!(out, "{note}: {shown} at {line}:{column} is {}", what(hazard.kind))?;
    }
    match hazards.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "{note}: and {more} more such characters"),
    }
}

const fn what(kind: HazardKind) -> &'static str {
    match kind {
        HazardKind::CarriageReturn => {
            "a carriage return: part of the word for a shell, and a terminal overwrites the line"
        }
        HazardKind::LookalikeBlank => "a blank for the eye and part of the word for a shell",
        HazardKind::Invisible => "an invisible character, and part of the word for a shell",
        HazardKind::Bidirectional => {
            "a character that turns the direction of writing: what follows is read in another order"
        }
        HazardKind::Control => "a control character, and part of the word for a shell",
        HazardKind::NotUtf8 => "a byte that is not UTF-8",
        HazardKind::OptionSign => "a sign by which a shell may take the whole text for options",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "echo é\n  x\n".as_bytes();
        #[rustfmt::skip]
        let cases = [
            (0,  1, 1, "the first byte"),
            (5,  1, 6, "behind a blank"),
            (7,  1, 7, "behind a character of two bytes"),
            (8,  2, 1, "the next line"),
            (10, 2, 3, "and on it"),
            (99, 3, 1, "beyond the end is the end"),
        ];
        for (offset, line, column, why) in cases {
            let found = position(text, offset);
            assert_eq!((found.line, found.column), (line, column), "{why}");
        }
    }
}
