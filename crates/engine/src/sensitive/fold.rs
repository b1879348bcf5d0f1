//! Folding: one form for all spellings of a path that some volume takes for the same.

use std::borrow::Cow;

/// The path as the list has it: lower case, `\` as a separator.
pub(super) fn folded(path: &str) -> Cow<'_, str> {
    if is_folded(path.as_bytes()) {
        return Cow::Borrowed(path);
    }
    let out = match path.is_ascii() {
        true if path.contains('\\') => path.to_ascii_lowercase().replace('\\', "/"),
        true => path.to_ascii_lowercase(),
        false => lowered(path),
    };
    // Most have nothing but capital letters.
    if is_folded(out.as_bytes()) || !out.split('/').any(|name| stripped(name) != name) {
        return Cow::Owned(out);
    }
    let names: Vec<&str> = out.split('/').map(stripped).collect();
    Cow::Owned(names.join("/"))
}

/// Whether nothing in a path has to be folded.
fn is_folded(path: &[u8]) -> bool {
    let (mut odd, mut before) = (0, 0);
    for byte in path {
        let sort = SORTS.get(usize::from(*byte)).copied().unwrap_or(ODD);
        // A dot before a separator, or at the end, may not count.
        odd |= sort & ODD | before & DOT & sort >> 1;
        before = sort;
    }
    odd == 0 && before != DOT
}

/// Sorts of bytes in a path: those that are folded, dots, separators; nothing else has one.
const ODD: u8 = 1;
const DOT: u8 = 2;
const SEPARATOR: u8 = 4;

#[expect(clippy::indexing_slicing, reason = "made by the compiler, which sees the bounds")]
static SORTS: [u8; 256] = {
    let mut sorts = [ODD; 256];
    let mut byte = b'!';
    while byte <= b'}' {
        sorts[byte as usize] = match byte {
            b'A'..=b'Z' | b':' | b'\\' => ODD,
            b'.' => DOT,
            b'/' => SEPARATOR,
            _ => 0,
        };
        byte += 1;
    }
    sorts
};

/// The path in lower case, `\` as a separator: some volumes take letters for one another that only
/// look alike in other case, and ignore characters that nobody sees.
fn lowered(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for letter in path.chars().flat_map(char::to_lowercase) {
        match letter {
            '\\' => out.push('/'),
            '\u{ad}'
            | '\u{34f}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{307}' => {}
            'ſ' => out.push('s'),
            'ß' => out.push_str("ss"),
            'ﬀ' => out.push_str("ff"),
            'ﬁ' => out.push_str("fi"),
            'ﬂ' => out.push_str("fl"),
            'ﬃ' => out.push_str("ffi"),
            'ﬄ' => out.push_str("ffl"),
            'ﬅ' | 'ﬆ' => out.push_str("st"),
            _ => out.push(letter),
        }
    }
    out
}

/// A name as some volumes take it: without dots and blanks at its end, without the stream behind
/// a colon, and its short form as the long one.
fn stripped(name: &str) -> &str {
    let end = |letter: char| letter == '.' || letter.is_whitespace() || letter.is_control();
    let bare = name.trim_end_matches(end);
    let bare = if bare.is_empty() { name } else { bare };
    match bare.split_once(':') {
        Some((file, _)) if file.len() > 1 && file.starts_with('.') => file.trim_end_matches(end),
        _ if bare == "git~1" => ".git",
        _ => bare,
    }
}
