//! Globs over plain text: `*` any text, `?` one character, `[ab]` and `[!ab]` one of a set.

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
    let rest = pattern.get(at + 1..)?;
    let is_negated = matches!(rest.first(), Some(b'!' | b'^'));
    let from = usize::from(is_negated);
    // A bracket right behind the opener is a member, not the end.
    let len = rest.iter().skip(from + 1).position(|&byte| byte == b']')? + from + 1;
    let members = rest.get(from..len)?;
    let mut found = false;
    let mut here = 0;
    while let Some(&first) = members.get(here) {
        if let (Some(b'-'), Some(&last)) = (members.get(here + 1), members.get(here + 2)) {
            found |= (first..=last).contains(&byte);
            here += 3;
        } else {
            found |= first == byte;
            here += 1;
        }
    }
    (found != is_negated).then_some(at + len + 2)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn the_whole_text_must_fit() {
        #[rustfmt::skip]
        let cases = [
            ("*", "", true),            ("a*c", "abc", true),       ("a*c", "abcd", false),
            ("?", "", false),           ("[ab]x", "bx", true),      ("[!ab]x", "bx", false),
            ("[0-7][0-7]", "17", true), ("[]x]", "]", true),        ("*a*b*", "xaxbx", true),
            ("[a", "a", false),         ("\\*", "*", true),         ("\\*", "x", false),
        ];
        for (pattern, text, fits) in cases {
            assert_eq!(matches(pattern, text), fits, "`{pattern}` on `{text}`");
        }
    }
}
