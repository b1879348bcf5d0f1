//! The law of what a person sees: two different texts never look the same.
//!
//! It is proved by reading back: from what is shown, [`read`] finds the text again. What could
//! hide, move, join or pose as another sign must not be shown as it is.

#![cfg(test)]

use std::collections::HashMap;

use portcullis_law::config;
use portcullis_shell::glyphs;
use proptest::prelude::*;
use proptest::sample::select;

fn shown(text: &[u8]) -> String {
    glyphs(text).into_iter().map(|glyph| glyph.shown).collect()
}

/// The text behind what is shown.
fn read(shown: &str) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = shown.chars();
    while let Some(sign) = rest.next() {
        match sign {
            '⏎' => text.push(b'\n'),
            '⇥' => text.push(b'\t'),
            '\\' => match spelled(rest.as_str()) {
                Some((bytes, behind)) => {
                    text.extend(bytes);
                    rest = behind.chars();
                }
                None => text.push(b'\\'),
            },
            sign => text.extend(sign.to_string().bytes()),
        }
    }
    text
}

/// What is spelled out behind a backslash, and what follows.
fn spelled(behind: &str) -> Option<(Vec<u8>, &str)> {
    if let Some(code) = behind.strip_prefix("u{") {
        let (code, behind) = code.split_once('}').unwrap();
        let code = u32::from_str_radix(code, 16).unwrap();
        return Some((char::from_u32(code).unwrap().to_string().into_bytes(), behind));
    }
    let digits = behind.strip_prefix('x')?;
    digits.starts_with(|sign: char| sign.is_ascii_hexdigit()).then(|| {
        let (digits, behind) = digits.split_at(2);
        (vec![u8::from_str_radix(digits, 16).unwrap()], behind)
    })
}

#[test]
fn no_two_code_points_and_no_two_bytes_look_the_same() {
    let mut seen: HashMap<String, Vec<u8>> = HashMap::new();
    let mut hold = |text: Vec<u8>| {
        let shown = shown(&text);
        assert_eq!(read(&shown), text, "`{shown}`");
        assert!(!shown.contains(char::is_control), "{text:x?} moves the cursor");
        assert!(!shown.is_empty(), "{text:x?} cannot be seen");
        if let Some(other) = seen.insert(shown, text.clone()) {
            panic!("{text:x?} looks like {other:x?}");
        }
    };
    for character in '\0'..=char::MAX {
        hold(character.to_string().into_bytes());
    }
    // A byte beyond ASCII alone is no character.
    for byte in 0x80..=0xff {
        hold(vec![byte]);
    }
}

/// Signs that texts are disguised with.
const NASTY: &[&str] = &[
    "\\",
    "x",
    "u{",
    "}",
    "1b",
    "5c",
    "202e",
    "\u{1b}",
    "\u{202e}",
    "\u{200b}",
    "\u{a0}",
    "\r",
    "\n",
    "\t",
    " ",
    "⏎",
    "⇥",
    "␣",
    "⋯",
    "…",
    "e",
    "\u{301}",
    "é",
    "а",
    "a",
    "п",
    "ο",
    "\u{ff0f}",
    "/",
    "\u{2215}",
    "\u{85}",
    "\u{feff}",
    "\u{e0041}",
    "日",
    "\u{1f1e9}",
    "\u{5d0}",
    "0",
    "blanks",
];

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => select(NASTY).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => any::<char>().prop_map(|character| character.to_string().into_bytes()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_shown_reads_back(text in texts()) {
        prop_assert_eq!(read(&shown(&text)), text);
    }

    #[test]
    fn two_texts_never_look_the_same(one in texts(), other in texts()) {
        prop_assert_eq!(shown(&one) == shown(&other), one == other);
    }

    #[test]
    fn glyphs_follow_the_bytes(text in texts()) {
        let glyphs = glyphs(&text);
        prop_assert!(glyphs.windows(2).all(|pair| pair[0].start < pair[1].start));
        prop_assert!(glyphs.iter().all(|glyph| glyph.start < text.len()));
        prop_assert!(glyphs.iter().all(|glyph| glyph.is_spelled || glyph.shown.chars().count() == 1));
    }
}
