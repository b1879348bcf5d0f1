//! A refusal, as compilers show an error: where, the line, the place underlined, the sentence.

use std::io::{self, Write};

use portcullis_shell::{Refusal, RefusalKind, hazards};

use super::notes::{self, Position};
use crate::escape::{self, Glyph};
use crate::palette::{Ink, Palette};

/// So many columns of a line are shown: the place with what stands around it.
const LINE_COLUMNS: usize = 96;

/// So many of them stand before the place, where the line is too long to be shown whole.
const COLUMNS_BEFORE: usize = 32;

/// Writes a refusal, and below it what in the text misleads the eye.
pub fn refusal(
    out: &mut impl Write,
    text: &[u8],
    refusal: &Refusal,
    palette: Palette,
) -> io::Result<()> {
    let start = (refusal.span.start as usize).min(text.len());
    let end = (refusal.span.end as usize).clamp(start, text.len());
    let Position { line, column, line_start } = notes::position(text, start);
    let shown = excerpt(text, line_start, start, end);

    let frame = |text: &str| palette.paint(Ink::Frame, text);
    let gutter = " ".repeat(line.to_string().len());
    let kind = palette.paint(Ink::Refused, &format!("refused ({})", refusal.kind.name()));
    writeln!(out, "{kind}: {}", refusal.message)?;
    writeln!(out, "{gutter}{} {line}:{column}", frame("-->"))?;
    writeln!(out, "{gutter} {}", frame("|"))?;
    writeln!(out, "{} {} {}", frame(&line.to_string()), frame("|"), shown.line(palette))?;
    let underline = palette.paint(Ink::Refused, &"^".repeat(shown.underlined));
    writeln!(out, "{gutter} {} {}{underline}", frame("|"), " ".repeat(shown.before))?;
    if refusal.kind == RefusalKind::Syntax && line > 1 {
        let note = "a shell still runs the commands that end on the lines before this one";
        writeln!(out, "{gutter} {} note: {note}", frame("="))?;
    }
    notes::hazards(out, text, &hazards(text), palette)
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

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_shell::Span;

    fn rendered(text: &[u8], start: usize, end: usize) -> String {
        let span = Span::new(start, end);
        let refused =
            Refusal { kind: RefusalKind::Syntax, span, message: "no such thing".to_owned() };
        let mut out = Vec::new();
        refusal(&mut out, text, &refused, Palette::Plain).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_place_is_underlined() {
        let want = "\
refused (syntax): no such thing
 --> 1:6
  |
1 | echo (ls
  |      ^
";
        assert_eq!(rendered(b"echo (ls", 5, 6), want);
    }

    #[test]
    fn the_end_of_a_text_can_be_underlined() {
        assert!(rendered(b"if x", 4, 4).ends_with("1 | if x\n  |     ^\n"));
        assert!(rendered(b"", 0, 0).ends_with("1 | \n  | ^\n"));
        assert!(rendered(b"x", 90, 99).ends_with("1 | x\n  |  ^\n"), "a span beyond the text");
    }

    #[test]
    fn later_lines_are_counted_and_the_earlier_ones_warned_about() {
        let want = "\
refused (syntax): no such thing
 --> 2:1
  |
2 | )
  | ^
  = note: a shell still runs the commands that end on the lines before this one
";
        assert_eq!(rendered(b"ls\n)\nls", 3, 4), want);
    }

    #[test]
    fn a_span_over_several_lines_is_underlined_on_the_first() {
        assert!(rendered(b"a 'b\nc'", 2, 7).ends_with("1 | a 'b\n  |   ^^\n"));
    }

    #[test]
    fn escapes_take_the_room_they_need() {
        let text = "a\u{200b} (b".as_bytes();
        let shown = rendered(text, 5, 6);
        assert!(shown.contains("1 | a\\u{200b} (b\n  |           ^\n"), "{shown}");
        assert!(shown.contains("note: \\u{200b} at 1:2 is an invisible character"), "{shown}");
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let mut text = vec![b'x'; 5000];
        text[3000] = b'(';
        let shown = rendered(&text, 3000, 3001);
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines[3].starts_with("1 | …x") && lines[3].ends_with("x…"), "{shown}");
        let place = lines[4].find('^').unwrap();
        assert_eq!(lines[3].chars().nth(place), Some('('), "{shown}");
        assert!(lines.iter().all(|line| line.chars().count() < 110), "{shown}");
    }
}
