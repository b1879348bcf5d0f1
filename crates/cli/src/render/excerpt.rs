//! An excerpt, as compilers show one: where, the line, the place underlined.

use std::io::{self, Write};
use std::ops::Range;

use super::notes::{self, Position};
use crate::escape::{self, Glyph};
use crate::palette::{Ink, Palette};

/// So many columns of a line are shown: the place with what stands around it.
const LINE_COLUMNS: usize = 72;

/// So many of them stand before the place, where the line is too long to be shown whole.
const COLUMNS_BEFORE: usize = 32;

/// A place in a text, with the name of the file the text is from.
pub struct Spot<'a> {
    /// The file, if it is one.
    pub name: Option<&'a str>,
    /// The text.
    pub text: &'a [u8],
    /// The bytes it is about; what lies beyond the text is its end.
    pub bytes: Range<usize>,
    /// How it is underlined.
    pub ink: Ink,
}

impl Spot<'_> {
    /// Writes the place; notes below it begin with the bar that is returned.
    pub fn write(&self, out: &mut impl Write, palette: Palette) -> io::Result<String> {
        let start = self.bytes.start.min(self.text.len());
        let end = self.bytes.end.clamp(start, self.text.len());
        let Position { line, column, line_start } = notes::position(self.text, start);
        let shown = excerpt(self.text, line_start, start, end);

        let frame = |text: &str| palette.paint(Ink::Frame, text);
        let gutter = " ".repeat(line.to_string().len());
        let name = self.name.map(|name| escape::line(name.as_bytes()) + ":").unwrap_or_default();
        writeln!(out, "{gutter}{} {name}{line}:{column}", frame("-->"))?;
        writeln!(out, "{gutter} {}", frame("|"))?;
        writeln!(out, "{} {} {}", frame(&line.to_string()), frame("|"), shown.line(palette))?;
        let underline = palette.paint(self.ink, &"^".repeat(shown.underlined));
        writeln!(out, "{gutter} {} {}{underline}", frame("|"), " ".repeat(shown.before))?;
        Ok(format!("{gutter} {}", frame("=")))
    }
}

/// The part of a line that is shown.
struct Excerpt {
    glyphs: Vec<Glyph>,
    /// Whether the line goes on to the left and to the right.
    is_cut: (bool, bool),
    /// Columns before the place, and under it.
    before: usize,
    underlined: usize,
}

impl Excerpt {
    fn line(&self, palette: Palette) -> String {
        let mut line = String::new();
        if self.is_cut.0 {
            line.push('…');
        }
        for glyph in &self.glyphs {
            let ink = if glyph.is_escaped { Some(Ink::Hazard) } else { None };
            line.push_str(&ink.map_or(glyph.shown.clone(), |ink| palette.paint(ink, &glyph.shown)));
        }
        if self.is_cut.1 {
            line.push('…');
        }
        line
    }
}

/// The line that begins at `line_start`, around the bytes from `start` to `end`.
fn excerpt(text: &[u8], line_start: usize, start: usize, end: usize) -> Excerpt {
    let rest = text.get(line_start..).unwrap_or_default();
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let (start, end) = (start - line_start, (end - line_start).min(line.len()));
    let glyphs = escape::glyphs(line);
    let columns = |from: usize, to: usize| -> usize {
        let inside = |glyph: &&Glyph| glyph.start >= from && glyph.start < to;
        glyphs.iter().filter(inside).map(|glyph| glyph.width).sum()
    };

    // Where the place is far to the right, the line begins a little before it.
    let far = columns(0, start).saturating_sub(COLUMNS_BEFORE);
    let is_long = columns(0, line.len()) > LINE_COLUMNS;
    let skip = if is_long && columns(0, end.max(start + 1)) > LINE_COLUMNS { far } else { 0 };
    let mut shown = Vec::new();
    let mut seen = 0;
    let mut is_cut = (false, false);
    for glyph in &glyphs {
        seen += glyph.width;
        if seen <= skip && glyph.start < start {
            is_cut.0 = true;
        } else if seen > skip + LINE_COLUMNS {
            is_cut.1 = true;
            break;
        } else {
            shown.push(glyph.clone());
        }
    }
    let from = shown.first().map_or(0, |glyph| glyph.start);
    let to = shown.last().map_or(0, |glyph| glyph.start + 1);
    let before = columns(from, start) + usize::from(is_cut.0);
    let underlined = columns(start, end.min(to)).max(1);
    Excerpt { glyphs: shown, is_cut, before, underlined }
}
