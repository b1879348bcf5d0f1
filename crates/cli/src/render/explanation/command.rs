//! The command of an explanation: every byte of it that fits, underlined by act.
//!
//! Below each row stand the numbers of the acts that begin on it, each followed by one sign per
//! column: `-` for an act that may run, `~` for one that asks, `^` for one that is denied.

use std::io::{self, Write};

use portcullis_engine::Outcome;

use crate::escape::{self, Glyph};
use crate::palette::{Ink, Palette};

/// So many columns of the command stand on one row.
const ROW_COLUMNS: usize = 76;

/// A row that ends in the middle of a word gives up to so many columns back to end at a blank.
const GIVEN_BACK: usize = 24;

/// So many rows are shown; of a longer command the beginning, the end and what decides.
const ROWS_AT_START: usize = 16;
const ROWS_AT_END: usize = 4;
const ROWS_AROUND: usize = 2;

/// Acts can overlap; so many lines of marks stand below one row.
const MARK_LINES: usize = 6;

/// One act, as it is underlined.
pub struct Mark {
    /// Its number in the list of acts.
    pub number: usize,
    /// Its bytes.
    pub start: usize,
    /// The byte behind them.
    pub end: usize,
    /// The answer about it.
    pub outcome: Outcome,
}

/// Writes the command with its marks; rows around the byte at `focus` are never left out.
pub fn command(
    out: &mut impl Write,
    text: &str,
    marks: &[Mark],
    focus: usize,
    palette: Palette,
) -> io::Result<()> {
    let glyphs = escape::glyphs(text.as_bytes());
    let rows = rows(&glyphs);
    let focused = rows.iter().position(|row| holds(row, focus)).unwrap_or(0);
    let mut left_out = LeftOut::default();
    for (index, row) in rows.iter().enumerate() {
        let is_shown = index < ROWS_AT_START
            || index + ROWS_AT_END >= rows.len()
            || index.abs_diff(focused) <= ROWS_AROUND;
        if !is_shown {
            left_out.rows += 1;
            left_out.bytes += end(row, &glyphs, text.len()) - start(row);
            continue;
        }
        left_out.write(out, palette)?;
        let blanks = row.iter().rev().take_while(|glyph| glyph.shown == " ").count();
        let (words, _) = row.split_at(row.len() - blanks);
        let shown: String = words.iter().map(|glyph| painted(glyph, palette)).collect();
        // A row may end at one blank; more of them, and those at the very end, would not be seen.
        let is_seen = blanks == 0 || (blanks == 1 && index + 1 < rows.len());
        let signs = if is_seen { String::new() } else { "␣".repeat(blanks) };
        writeln!(out, "  {shown}{}", palette.paint(Ink::Hazard, &signs))?;
        for line in mark_lines(row, end(row, &glyphs, text.len()), marks, palette) {
            writeln!(out, "  {line}")?;
        }
    }
    left_out.write(out, palette)
}

/// Rows that are not shown.
#[derive(Default)]
struct LeftOut {
    rows: usize,
    bytes: usize,
}

impl LeftOut {
    fn write(&mut self, out: &mut impl Write, palette: Palette) -> io::Result<()> {
        let LeftOut { rows, bytes } = std::mem::take(self);
        if rows == 0 {
            return Ok(());
        }
        let note = format!("⋯ {bytes} bytes on {rows} rows are not shown ⋯");
        writeln!(out, "  {}", palette.paint(Ink::Hazard, &note))
    }
}

fn painted(glyph: &Glyph, palette: Palette) -> String {
    if glyph.is_escaped { palette.paint(Ink::Hazard, &glyph.shown) } else { glyph.shown.clone() }
}

fn start(row: &[Glyph]) -> usize {
    row.first().map_or(0, |glyph| glyph.start)
}

/// The byte behind a row: that of the next glyph.
fn end(row: &[Glyph], glyphs: &[Glyph], length: usize) -> usize {
    let last = row.last().map_or(0, |glyph| glyph.start);
    let next = glyphs.partition_point(|glyph| glyph.start <= last);
    glyphs.get(next).map_or(length, |glyph| glyph.start)
}

fn holds(row: &[Glyph], byte: usize) -> bool {
    start(row) <= byte && row.last().is_some_and(|last| byte <= last.start)
}

/// The glyphs in rows: a new one behind each line end, and where a row is full.
fn rows(glyphs: &[Glyph]) -> Vec<&[Glyph]> {
    let mut rows = Vec::new();
    let mut rest = glyphs;
    while !rest.is_empty() {
        let mut used = 0;
        let fits = |glyph: &&Glyph| {
            used += glyph.width;
            used <= ROW_COLUMNS
        };
        let mut count = rest.iter().take_while(fits).count().max(1);
        let line_end = rest.iter().take(count).position(|glyph| glyph.shown == "⏎");
        if let Some(line_end) = line_end {
            count = line_end + 1;
        } else if count < rest.len() {
            let row = rest.get(..count).unwrap_or_default();
            let blank = row.iter().rposition(|glyph| glyph.shown == " ");
            count = blank.filter(|blank| blank + GIVEN_BACK >= count).map_or(count, |at| at + 1);
        }
        let (row, behind) = rest.split_at(count);
        rows.push(row);
        rest = behind;
    }
    rows
}

/// The lines of marks below one row.
fn mark_lines(row: &[Glyph], row_end: usize, marks: &[Mark], palette: Palette) -> Vec<String> {
    let row_start = start(row);
    let column = |byte: usize| -> usize {
        row.iter().take_while(|glyph| glyph.start < byte).map(|glyph| glyph.width).sum()
    };
    // Each line with the column behind its last mark.
    let mut lines: Vec<(usize, String)> = Vec::new();
    for mark in marks {
        if mark.start >= row_end || mark.end <= row_start {
            continue;
        }
        let (from, to) = (column(mark.start), column(mark.end));
        let begins_here = mark.start >= row_start;
        let label = if begins_here { mark.number.to_string() } else { String::new() };
        let sign = match mark.outcome {
            Outcome::Allow => "-",
            Outcome::Ask => "~",
            Outcome::Deny => "^",
        };
        let width = to.saturating_sub(from).max(label.len()).max(1);
        let text = format!("{label}{}", sign.repeat(width - label.len()));
        let painted = palette.paint(Ink::from(mark.outcome), &text);
        let free = lines.iter().position(|(used, _)| *used <= from);
        if free.is_none() && lines.len() < MARK_LINES {
            lines.push((0, String::new()));
        }
        let free = free.unwrap_or(lines.len().saturating_sub(1));
        if let Some((used, line)) = lines.get_mut(free).filter(|(used, _)| *used <= from) {
            line.push_str(&" ".repeat(from - *used));
            line.push_str(&painted);
            *used = from + width;
        }
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, marks: &[(usize, usize, Outcome)]) -> String {
        let mark = |(index, &(start, end, outcome)): (usize, &(usize, usize, Outcome))| Mark {
            number: index + 1,
            start,
            end,
            outcome,
        };
        let marks: Vec<_> = marks.iter().enumerate().map(mark).collect();
        let mut out = Vec::new();
        let focus = marks.last().map_or(0, |mark| mark.start);
        command(&mut out, text, &marks, focus, Palette::Plain).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn acts_stand_below_their_words() {
        use Outcome::{Allow, Ask, Deny};
        let marks = [(0, 5, Allow), (9, 22, Ask), (16, 21, Deny)];
        let want = "
  cd /w && rm -r $(ls x)
  1----    2~~~~~~~~~~~~
                  3^^^^
";
        assert_eq!(format!("\n{}", shown("cd /w && rm -r $(ls x)", &marks)), want);
    }

    #[test]
    fn a_long_command_is_broken_and_an_act_goes_on_below() {
        let text = format!("echo {} && rm x", "word ".repeat(20).trim_end());
        let end = text.len();
        let shown = shown(&text, &[(0, 104, Outcome::Allow), (end - 4, end, Outcome::Ask)]);
        assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines[1].starts_with("  1---") && lines[3].starts_with("  ---"), "{shown}");
        assert!(lines[3].ends_with("2~~~"), "{shown}");
    }

    #[test]
    fn what_is_left_out_is_counted_and_never_what_decides() {
        let text = format!("{}rm x\n{}", "ls\n".repeat(300), "ls\n".repeat(300));
        let shown = shown(&text, &[(900, 904, Outcome::Deny)]);
        assert!(shown.contains("  rm x⏎\n  1^^^\n"), "{shown}");
        assert!(shown.contains("  ⋯ 846 bytes on 282 rows are not shown ⋯\n"), "{shown}");
        assert!(shown.lines().count() < 40, "{shown}");
    }

    #[test]
    fn blanks_at_the_end_are_seen() {
        assert_eq!(shown("ls  ", &[]), "  ls␣␣\n");
        assert_eq!(shown("ls ␣", &[]), "  ls \\u{2423}\n");
    }

    #[test]
    fn nothing_in_it_moves_the_cursor() {
        let shown = shown("echo \u{1b}[2J\u{202e}x", &[(0, 13, Outcome::Allow)]);
        assert!(shown.contains("  echo \\x1b[2J\\u{202e}x\n  1-----------"), "{shown}");
    }
}
