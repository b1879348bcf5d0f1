//! Rows: a text within the width of a screen, so that two texts never look the same.
//!
//! Every character stands for itself or is spelled out; a line end is `⏎`, and a row that ends
//! without one goes on below. A blank at the end of a row is `␣`. A long run of one kind of blank
//! is counted instead of shown (`⋯120 blanks⋯`), so that it pushes nothing out of sight.

use crate::escape::{self, Glyph};

/// So many blanks or tabs in a row are shown as they are.
const MOST_BLANKS: usize = 24;

/// So many line ends in a row are shown as they are.
const MOST_LINE_ENDS: usize = 3;

/// The rows of `text`, each at most `columns` wide; of nothing, none.
pub fn rows(text: &str, columns: usize) -> Vec<Vec<Glyph>> {
    let columns = columns.max(ESCAPE_COLUMNS);
    let mut rows = Vec::new();
    let mut row: Vec<Glyph> = Vec::new();
    let mut used = 0;
    for glyph in counted(&escape::glyphs(text.as_bytes())) {
        if used + glyph.width > columns {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        used += glyph.width;
        let is_end = glyph.shown == "⏎";
        row.push(glyph);
        if is_end {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
    }
    if !row.is_empty() {
        rows.push(row);
    }
    for row in &mut rows {
        if let Some(last) = row.last_mut().filter(|last| last.shown == " ") {
            "␣".clone_into(&mut last.shown);
        }
    }
    rows
}

/// How long a text is, in bytes and lines.
pub fn size(text: &str) -> String {
    let lines = text.lines().count().max(1);
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    format!("{} bytes, {lines}", text.len())
}

/// How many columns a text takes on one line, long runs of blanks counted.
pub fn width(text: &str) -> usize {
    counted(&escape::glyphs(text.as_bytes())).iter().map(|glyph| glyph.width).sum()
}

/// `text` on one line of at most `columns`, long runs of blanks counted; what is cut off is counted
/// too.
pub fn line(text: &str, columns: usize) -> String {
    // More than this many bytes cannot fit, however they are shown.
    let head = text.char_indices().nth(4096).and_then(|(at, _)| text.get(..at)).unwrap_or(text);
    let glyphs = counted(&escape::glyphs(head.as_bytes()));
    let width: usize = glyphs.iter().map(|glyph| glyph.width).sum();
    let is_whole = width <= columns && head.len() == text.len();
    let note = if is_whole { String::new() } else { format!("⋯ ({} bytes)", text.len()) };
    let mut used = note.chars().count();
    let fits = |glyph: &Glyph| {
        used += glyph.width;
        used <= columns
    };
    let mut line: String = glyphs.into_iter().take_while(fits).map(|glyph| glyph.shown).collect();
    line.push_str(&note);
    line
}

/// What the longest spelling and the longest count need.
const ESCAPE_COLUMNS: usize = 30;

/// Long runs of one kind of blank, counted.
fn counted(glyphs: &[Glyph]) -> Vec<Glyph> {
    let mut counted = Vec::with_capacity(glyphs.len());
    let is_same = |one: &Glyph, other: &Glyph| one.shown == other.shown;
    for run in glyphs.chunk_by(is_same) {
        let Some(first) = run.first() else { continue };
        let (name, most) = match first.shown.as_str() {
            " " => ("blanks", MOST_BLANKS),
            "⇥" => ("tabs", MOST_BLANKS),
            "⏎" => ("line ends", MOST_LINE_ENDS),
            _ => ("", usize::MAX),
        };
        if run.len() <= most {
            counted.extend_from_slice(run);
            continue;
        }
        let shown = format!("⋯{} {name}⋯", run.len());
        let width = shown.chars().count();
        counted.push(Glyph { shown, width, start: first.start, is_escaped: true });
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// The rows as they look: nobody sees a blank at the end.
    fn looks(text: &str, columns: usize) -> Vec<String> {
        let line = |row: &Vec<Glyph>| row.iter().map(|glyph| glyph.shown.as_str()).collect();
        let trimmed = |line: String| line.trim_end_matches(' ').to_owned();
        rows(text, columns).iter().map(line).map(trimmed).collect()
    }

    /// The text behind what it looks like.
    fn read(looks: &[String]) -> String {
        let whole = looks.concat();
        let mut text = String::new();
        let mut rest = whole.chars();
        while let Some(sign) = rest.next() {
            match sign {
                '⏎' => text.push('\n'),
                '⇥' => text.push('\t'),
                '␣' => text.push(' '),
                '⋯' => {
                    let (count, behind) = rest.as_str().split_once('⋯').unwrap();
                    rest = behind.chars();
                    let (count, name) = count.split_once(' ').unwrap();
                    let sign = match name {
                        "blanks" => " ",
                        "tabs" => "\t",
                        "line ends" => "\n",
                        other => panic!("{other}"),
                    };
                    text.push_str(&sign.repeat(count.parse().unwrap()));
                }
                '\\' => match spelled(rest.as_str()) {
                    Some((character, behind)) => {
                        text.push(character);
                        rest = behind.chars();
                    }
                    None => text.push('\\'),
                },
                sign => text.push(sign),
            }
        }
        text
    }

    /// What is spelled out behind a backslash, and what follows.
    fn spelled(behind: &str) -> Option<(char, &str)> {
        let read = |digits: &str| char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
        if let Some(code) = behind.strip_prefix("u{") {
            let (code, behind) = code.split_once('}').unwrap();
            return Some((read(code), behind));
        }
        let digits = behind.strip_prefix('x')?;
        let is_one = digits.starts_with(|sign: char| sign.is_ascii_hexdigit());
        is_one.then(|| digits.split_at(2)).map(|(digits, behind)| (read(digits), behind))
    }

    #[test]
    fn rows_hide_nothing() {
        let blanks = " ".repeat(120);
        #[rustfmt::skip]
        let cases: &[(&str, &[&str], &str)] = &[
            ("ls",                           &["ls"],                       "as it is"),
            ("ls ",                          &["ls␣"],                      "a blank at the end"),
            ("a\nb",                         &["a⏎", "b"],                  "lines"),
            ("a\n",                          &["a⏎"],                       "a line end at the end"),
            ("",                             &[],                           "nothing"),
            (&format!("ls{blanks}; rm -rf ~"), &["ls⋯120 blanks⋯; rm -rf ~"], "padding"),
            (&format!("ls{}rm", "\n".repeat(500)), &["ls⋯500 line ends⋯rm"], "empty lines"),
            ("⋯3 blanks⋯",                   &["\\u{22ef}3 blanks\\u{22ef}"], "a written count"),
        ];
        for (text, want, why) in cases {
            assert_eq!(looks(text, 40), *want, "{why}");
        }
    }

    #[test]
    fn one_line_counts_what_it_leaves_out() {
        let padded = format!("ls{}; rm -rf ~", " ".repeat(120));
        assert_eq!(line(&padded, 40), "ls⋯120 blanks⋯; rm -rf ~");
        assert_eq!(line(&padded, 23), "ls⋯ (132 bytes)", "a count is not cut");
        assert_eq!(line(&"x".repeat(9000), 20), "xxxxxx⋯ (9000 bytes)");
        assert_eq!(line("ls", 20), "ls");
    }

    #[test]
    fn a_mebibyte_is_shown_to_its_end() {
        let text = format!("{}rm -rf /", "echo harmless; ".repeat(70_000));
        let rows = looks(&text, 78);
        assert_eq!(read(&rows), text);
        assert!(rows.last().unwrap().ends_with("rm -rf /"));
    }

    const NASTY: &[&str] = &[
        "\\",
        "x41",
        "u{41}",
        " ",
        "  ",
        "\n",
        "\n\n\n\n",
        "\t",
        "                         ",
        "⋯",
        "␣",
        "⏎",
        "12 blanks⋯",
        "日",
        "e\u{301}",
        "\u{1b}[2J",
        "\u{202e}",
        "а",
        "word",
        "\r",
    ];

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            5 => select(NASTY).prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(portcullis_law::config())]

        #[test]
        fn rows_read_back_and_fit(text in texts(), columns in 30_usize..90) {
            let looks = looks(&text, columns);
            let is_moving = looks.iter().any(|row| row.contains(char::is_control));
            prop_assert!(!is_moving);
            let widths = rows(&text, columns);
            let width = |row: &Vec<Glyph>| row.iter().map(|glyph| glyph.width).sum::<usize>();
            prop_assert!(widths.iter().all(|row| width(row) <= columns));
            prop_assert_eq!(read(&looks), text);
        }

        #[test]
        fn two_texts_never_look_the_same(one in texts(), other in texts()) {
            prop_assert_eq!(looks(&one, 40) == looks(&other, 40), one == other);
        }
    }
}
