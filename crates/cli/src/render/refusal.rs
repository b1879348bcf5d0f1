//! A refusal, as compilers show an error: the sentence, and where.

use std::io::{self, Write};

use portcullis_shell::{Refusal, RefusalKind, hazards};

use super::excerpt::Spot;
use super::notes;
use crate::palette::{Ink, Palette};

/// Writes a refusal, and below it what in the text misleads the eye.
pub fn refusal(
    out: &mut impl Write,
    text: &[u8],
    refusal: &Refusal,
    palette: Palette,
) -> io::Result<()> {
    let kind = palette.paint(Ink::Refused, &format!("refused ({})", refusal.kind.name()));
    writeln!(out, "{kind}: {}", refusal.message)?;
    let (start, end) = (refusal.span.start as usize, refusal.span.end as usize);
    let bar =
        Spot { name: None, text, bytes: start..end, ink: Ink::Refused }.write(out, palette)?;
    if refusal.kind == RefusalKind::Syntax && notes::position(text, start).line > 1 {
        let note = "a shell still runs the commands that end on the lines before this one";
        writeln!(out, "{bar} note: {note}")?;
    }
    notes::hazards(out, text, &hazards(text), palette)
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
