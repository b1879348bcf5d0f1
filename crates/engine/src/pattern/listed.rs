//! Patterns of an allowlist of commands: `**` any text, `*` any but blanks, `?` one but a blank.

/// Stands for an argument that is not known: only `**` crosses it.
pub const UNKNOWN: &str = "\u{1} \u{1}";

/// Whether the whole text fits; letters were folded by [`folded`] on both sides.
#[must_use]
pub fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut here) = (0, 0);
    // Where to go on: a star that crosses blanks, and behind it one that does not.
    let mut wide: Option<(usize, usize)> = None;
    let mut narrow: Option<(usize, usize)> = None;
    loop {
        let takes = match pattern.get(at..).unwrap_or_default() {
            [b'*', b'*', ..] => {
                wide = Some((at + 2, here));
                narrow = None;
                at += 2;
                continue;
            }
            [b'*', ..] => {
                narrow = Some((at + 1, here));
                at += 1;
                continue;
            }
            [] if here == text.len() => return true,
            [] => false,
            [b'?', ..] => text.get(here).is_some_and(|&byte| !is_blank(byte)),
            [byte, ..] => text.get(here) == Some(byte),
        };
        if takes {
            // One character of several bytes is one.
            let is_any = pattern.get(at) == Some(&b'?');
            here += 1;
            while is_any && text.get(here).is_some_and(|byte| byte & 0xC0 == 0x80) {
                here += 1;
            }
            at += 1;
            continue;
        }
        let grows = |star: &(usize, usize), crosses: bool| {
            text.get(star.1).is_some_and(|&byte| crosses || !is_blank(byte))
        };
        if let Some(star) = narrow.filter(|star| grows(star, false)) {
            narrow = Some((star.0, star.1 + 1));
            (at, here) = (star.0, star.1 + 1);
        } else if let Some(star) = wide.filter(|star| grows(star, true)) {
            narrow = None;
            wide = Some((star.0, star.1 + 1));
            (at, here) = (star.0, star.1 + 1);
        } else {
            return false;
        }
    }
}

/// Words joined by single blanks; letter case counts only in those that begin with `-`.
#[must_use]
pub fn folded<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        if word.starts_with('-') { out.push_str(word) } else { out.push_str(&word.to_lowercase()) }
    }
    out
}

/// A list of words as an exact entry has it: a word that a shell would read otherwise is quoted.
#[must_use]
pub fn exact(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| {
        let is_plain = !word.is_empty()
            && word.chars().all(|letter| letter.is_alphanumeric() || "_./:=@%+,-".contains(letter));
        if is_plain { (*word).to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Whether an exact entry names this list of words. Without quotes it does so where no word could
/// be taken for two.
#[must_use]
pub fn is_exactly(pattern: &str, words: &[&str]) -> bool {
    let is_whole = words.iter().all(|word| !word.is_empty() && !word.contains(char::is_whitespace));
    exact(words) == pattern || (is_whole && words.join(" ") == pattern)
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::{fits, folded};

    #[test]
    fn stars_differ_in_blanks() {
        #[rustfmt::skip]
        let cases = [
            ("git **", "git log -1",    true),  ("git **", "git",            false),
            ("git **", "gitx y",        false), ("git *",  "git log",        true),
            ("git *",  "git log -1",    false), ("git *",  "git ",           true),
            ("a?c",    "abc",           true),  ("a?c",    "a c",            false),
            ("ls [a]", "ls [a]",        true),  ("ls [a]", "ls a",           false),
            ("* b **", "a b c d",       true),  ("**x*y",  "a b x z y",      false),
            ("**x*y",  "a x b xzy",     true),  ("",       "a",              false),
            ("a**",    "a",             true),  ("*b*",    "aba",            true),
        ];
        for (pattern, text, want) in cases {
            assert_eq!(fits(pattern, text), want, "`{pattern}` on `{text}`");
        }
        assert_eq!(folded(["Git", "-C", "Dir"].into_iter()), "git -C dir");
    }
}
