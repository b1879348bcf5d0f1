//! Globs over plain text: `*` any text, `?` one character, `[ab]` and `[!ab]` one of a set.

use std::borrow::Cow;

/// Whether the whole text fits the pattern.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    // Most that do not fit end otherwise.
    let last = pattern.bytes().next_back();
    let is_open = matches!(last, None | Some(b'*' | b'?' | b']' | b'\\'));
    (is_open || text.bytes().next_back() == last) && fits(pattern, text, one)
}

/// Whether the whole text fits a pattern in which `*` is any text; `one` says where the part of
/// the pattern at a place ends if it fits one byte.
pub(crate) fn fits(
    pattern: &str,
    text: &str,
    one: impl Fn(&[u8], usize, u8) -> Option<usize>,
) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut here) = (0, 0);
    // Where to go on after the last star: the pattern behind it, the text it has not taken yet.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, here));
                at += 1;
                continue;
            }
            None if here == text.len() => return true,
            None => None,
            Some(_) => text.get(here).and_then(|&byte| one(pattern, at, byte)),
        };
        match (step, star) {
            (Some(next), _) => {
                at = next;
                here += 1;
            }
            (None, Some((behind, taken))) if taken < text.len() => {
                star = Some((behind, taken + 1));
                at = behind;
                here = taken + 1;
            }
            _ => return false,
        }
    }
}

/// The place behind the part of the pattern at `at` if it fits one byte.
fn one(pattern: &[u8], at: usize, byte: u8) -> Option<usize> {
    match *pattern.get(at)? {
        b'?' => Some(at + 1),
        b'\\' => (pattern.get(at + 1) == Some(&byte)).then_some(at + 2),
        b'[' => set(pattern, at, byte),
        literal => (literal == byte).then_some(at + 1),
    }
}

fn set(pattern: &[u8], at: usize, byte: u8) -> Option<usize> {
    let end = set_end(pattern, at)?;
    let inner = pattern.get(at + 1..end - 1)?;
    let is_negated = matches!(inner.first(), Some(b'!' | b'^'));
    let mut members = inner.get(usize::from(is_negated)..)?;
    let mut found = false;
    while let Some((&first, rest)) = members.split_first() {
        (found, members) = match (first, rest) {
            (b'[', [kind @ (b':' | b'.' | b'='), named @ ..]) if closer(named, *kind).is_some() => {
                let name = named.get(..closer(named, *kind)?)?;
                let is_member = if *kind == b':' { is_of(name, byte) } else { name == [byte] };
                (found || is_member, named.get(name.len() + 2..)?)
            }
            (b'\\', [escaped, behind @ ..]) => (found || *escaped == byte, behind),
            (_, [b'-', last, behind @ ..]) => (found || (first..=*last).contains(&byte), behind),
            _ => (found || first == byte, rest),
        };
    }
    (found != is_negated).then_some(end)
}

/// The place behind the set that opens at `at`, if it is closed: `[ab]`, `[!]x]`, `[[:digit:]]`.
pub(crate) fn set_end(pattern: &[u8], at: usize) -> Option<usize> {
    let mut here = at + 1 + usize::from(matches!(pattern.get(at + 1), Some(b'!' | b'^')));
    // A bracket right behind the opener is a member, not the end.
    here += usize::from(pattern.get(here) == Some(&b']'));
    loop {
        let rest = pattern.get(here + 1..);
        here += match (*pattern.get(here)?, rest.unwrap_or_default()) {
            (b']', _) => return Some(here + 1),
            (b'\\', _) => 2,
            (b'[', [kind @ (b':' | b'.' | b'='), named @ ..]) => {
                closer(named, *kind).map_or(1, |len| len + 4)
            }
            _ => 1,
        };
    }
}

/// No name of a class is longer.
const LONGEST_CLASS: usize = 64;

/// How long the name of a class is that `:]` and its like end.
fn closer(named: &[u8], kind: u8) -> Option<usize> {
    named.windows(2).take(LONGEST_CLASS).position(|two| two == [kind, b']'])
}

/// Whether a byte belongs to a class that shells know by name.
fn is_of(class: &[u8], byte: u8) -> bool {
    match class {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"ascii" => byte.is_ascii(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"upper" => byte.is_ascii_uppercase(),
        b"word" => byte.is_ascii_alphanumeric() || byte == b'_',
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

/// So many brackets of one name may open nothing; behind more of them it is anything.
const MOST_UNCLOSED: usize = 8;

/// A pattern of paths in which a set is any one character, and a bracket that opens none itself.
pub(crate) fn without_sets(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains('[') {
        return Cow::Borrowed(pattern);
    }
    // No set reaches beyond a name.
    let names: Vec<String> = pattern.split('/').map(name_without_sets).collect();
    Cow::Owned(names.join("/"))
}

fn name_without_sets(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let (mut rest, mut unclosed) = (name, 0);
    while let Some(letter) = rest.chars().next() {
        let mut len = letter.len_utf8();
        let end = (letter == '[').then(|| set_end(rest.as_bytes(), 0)).flatten();
        match (letter, end) {
            ('[', Some(end)) => {
                out.push('?');
                len = end;
            }
            ('[', None) if unclosed == MOST_UNCLOSED => return out + "*",
            ('[', None) => {
                unclosed += 1;
                out.push_str("\\[");
            }
            ('\\', _) => {
                len += rest.chars().nth(1).map_or(0, char::len_utf8);
                out.push_str(rest.get(..len).unwrap_or_default());
            }
            _ => out.push(letter),
        }
        rest = rest.get(len..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{matches, without_sets};

    #[test]
    fn the_whole_text_must_fit() {
        #[rustfmt::skip]
        let cases = [
            ("*", "", true),            ("a*c", "abc", true),       ("a*c", "abcd", false),
            ("?", "", false),           ("[ab]x", "bx", true),      ("[!ab]x", "bx", false),
            ("[0-7][0-7]", "17", true), ("[]x]", "]", true),        ("*a*b*", "xaxbx", true),
            ("[a", "a", false),         ("\\*", "*", true),         ("\\*", "x", false),
            ("[[:alpha:]]", "v", true), ("[[:alpha:]]", "1", false), ("[![:digit:]_]", "v", true),
            ("[[:nobody:]]", "v", false), ("[[.v.]]", "v", true),    ("[\\]x]", "]", true),
            ("[^a]", "b", true),        ("[a-]", "-", true),        ("[[]", "[", true),
        ];
        for (pattern, text, fits) in cases {
            assert_eq!(matches(pattern, text), fits, "`{pattern}` on `{text}`");
        }
    }

    #[test]
    fn a_class_holds_what_its_name_says() {
        #[rustfmt::skip]
        let cases = [
            ("alnum", "aZ7", "-_ "),  ("alpha", "aZ", "7-"),     ("ascii", "a~ ", ""),
            ("blank", " \t", "\na"),  ("cntrl", "\x01\n", "a "), ("digit", "07", "a-"),
            ("graph", "a!", " \n"),   ("lower", "az", "AZ1"),    ("print", "a !", "\n"),
            ("punct", "!-_", "a1 "),  ("space", " \n\x0b", "a"), ("upper", "AZ", "az1"),
            ("word", "a_7", "- "),    ("xdigit", "0fF", "g-"),
        ];
        for (class, within, beyond) in cases {
            let fits = |letter: char| matches(&format!("[[:{class}:]]"), &letter.to_string());
            assert!(within.chars().all(fits), "{class} holds all of {within:?}");
            assert!(!beyond.chars().any(fits), "{class} holds none of {beyond:?}");
        }
    }

    #[test]
    fn a_set_is_one_character() {
        #[rustfmt::skip]
        let cases = [
            (".en[v]", ".en?"),           ("[!~]d_rsa", "?d_rsa"),      ("[]v]x", "?x"),
            (".en[[:alpha:]]", ".en?"),   ("a[/b]", "a\\[/b]"),         ("\\[a]", "\\[a]"),
            ("[[:alpha:]", "\\[?"),       ("[a\\]b]c", "?c"),           ("*.k[ae]y", "*.k?y"),
        ];
        for (pattern, want) in cases {
            assert_eq!(without_sets(pattern), want, "`{pattern}`");
        }
        assert_eq!(without_sets(&"[".repeat(1 << 16)).len(), 8 * 2 + 1);
    }
}
