//! Whether two patterns may share a file.

use super::{has_text, is_open};
use crate::glob;

/// Whether a pattern of a command aims at what a pattern of the list names.
///
/// `.en*`, `~/.ssh/*` and `*.pem` do; a bare `*` or `*.json` may happen to hit a secret and does
/// not aim at one.
#[must_use]
pub fn may_share(glob: &[&str], listed: &[&str]) -> bool {
    let is_directory = listed.last() == Some(&"**");
    let named =
        if is_directory { listed.split_last().map_or(&[][..], |(_, rest)| rest) } else { listed };
    if is_directory {
        // Some directory on the way, or the last segment, must be the listed one.
        return (1..=glob.len()).any(|len| glob.get(..len).is_some_and(|head| shares(head, named)));
    }
    shares(glob, named)
}

fn shares(glob: &[&str], listed: &[&str]) -> bool {
    match (glob.split_last(), listed.split_last()) {
        (Some((name, above)), Some((listed_name, listed_above))) => {
            if *name == "**" {
                // Everything below a directory: only the directory itself can aim.
                return false;
            }
            let is_near = if is_open(listed_name) {
                aims(name, listed_name)
            } else {
                let is_met = || has_text(name) && is_told(above, listed_above);
                if is_ending(name) {
                    is_met() && segments(name, listed_name)
                } else {
                    // Few names fit, and what does not fit is not aimed at.
                    segments(name, listed_name) && (comes_near(name, listed_name) || is_met())
                }
            };
            is_near && paths(above, listed_above)
        }
        _ => false,
    }
}

/// Whether directories are written out so that they alone tell a listed one: `~/.docker/*.json`
/// and `/etc/mysql/*.cnf` hit what is listed there.
fn is_told(glob: &[&str], listed: &[&str]) -> bool {
    let is_hidden = |name: &&&str| name.starts_with('.') || **name == "library";
    let mut hidden = listed.iter().filter(is_hidden);
    let (first, last) = (listed.first(), listed.last());
    hidden.any(|name| glob.contains(name))
        || listed.len() > 1 && first != Some(&"**") && glob.last() == last
}

/// Whether directories may be the same; `**` stands for any number of them.
fn paths(glob: &[&str], listed: &[&str]) -> bool {
    match (glob.split_last(), listed.split_last()) {
        (_, Some((&"**", rest))) => {
            (0..=glob.len()).rev().any(|len| glob.get(..len).is_some_and(|head| paths(head, rest)))
        }
        (Some((&"**", rest)), _) => (0..=listed.len())
            .rev()
            .any(|len| listed.get(..len).is_some_and(|head| paths(rest, head))),
        (None, None) => true,
        (Some((name, above)), Some((listed, listed_above))) => {
            segments(name, listed) && paths(above, listed_above)
        }
        _ => false,
    }
}

/// Whether the last segment of a pattern aims at a listed name.
fn aims(name: &str, listed: &str) -> bool {
    if name.len() > LONGEST {
        return segments(name, listed) && comes_near(name, listed);
    }
    comes_near(name, listed) && segments(name, listed)
}

/// Whether a pattern says enough of a listed name to aim at it, if it fits.
fn comes_near(name: &str, listed: &str) -> bool {
    let is_open = |byte: &u8| matches!(byte, b'*' | b'?' | b'[');
    let begins_open = name.as_bytes().first().is_some_and(is_open);
    if !begins_open {
        return meets(name, listed);
    }
    let has_text = name.bytes().any(|byte| !matches!(byte, b'*' | b'?' | b'[' | b']' | b'.'));
    if !has_text {
        return false;
    }
    // `*.pem` aims at keys, `*.json` at no one in particular, and `*test*` not at `.env.test`:
    // what is written out must be a part of the name, and the better one.
    let is_sign = |letter: char| matches!(letter, '*' | '?' | '[' | ']');
    let letters = |text: &str| text.chars().filter(|&letter| !is_sign(letter)).count();
    if is_ending(name) && !listed.starts_with('*') {
        return false;
    }
    let (own, all) = (letters(name) * 2, letters(listed));
    let is_loose = name.starts_with('*') && name.ends_with('*');
    (own > all || own == all && !is_loose) && name.split(is_sign).all(|run| listed.contains(run))
}

/// Whether a pattern says only how names end: that alone aims at none which is written out.
pub(super) fn is_ending(name: &str) -> bool {
    name.starts_with("*.")
}

/// Whether a name that begins with text comes near an ending such as `*.pem`: `server.k*` and
/// `a*.pem` do, `conf*` and `conf*.json` only happen to fit.
fn meets(name: &str, listed: &str) -> bool {
    let Some(ending) = listed.strip_prefix('*') else { return true };
    let runs = |text| str::split(text, ['*', '?', '[', ']']).filter(|run| !run.is_empty());
    let (Some(head), Some(first)) = (runs(name).next(), runs(ending).next()) else { return true };
    if head.len() == name.len() {
        return true;
    }
    // What is written begins the first part of the listed name, and says enough of it.
    let is_marked = first.starts_with(|letter: char| !letter.is_alphanumeric());
    let is_begun = |(_, byte): &(usize, u8)| first.bytes().next() == Some(*byte);
    let begins = head.bytes().enumerate().filter(is_begun).any(|(at, _)| {
        let tail = head.get(at..).unwrap_or_default();
        let is_enough = tail.len() * 2 >= first.len() || is_marked && tail.len() > 1;
        tail.len() > 1 && is_enough && first.starts_with(tail)
    });
    // Or its end is at least half of it.
    let letters: usize = runs(ending).map(str::len).sum();
    let (own, whole) = (name.bytes().rev(), listed.bytes().rev());
    let same = own.zip(whole).take_while(|(one, other)| one == other && !b"*?]".contains(one));
    let ends = same.count() * 2 >= letters;
    begins || ends || runs(name).any(|run| first.len() > 2 && run.contains(first))
}

/// Longer names are no names of files.
pub(super) const LONGEST: usize = 255;

/// Whether some text fits both patterns.
#[must_use]
pub fn share_a_name(one: &str, other: &str) -> bool {
    segments(one, other)
}

/// The same, for one segment of a path.
fn segments(one: &str, other: &str) -> bool {
    // Most differ in their first letter, or in their last.
    let (own, others) = (one.as_bytes(), other.as_bytes());
    let is_apart = |one: Option<&u8>, other: Option<&u8>| apart(one.into_iter(), other.into_iter());
    if is_apart(own.first(), others.first()) || is_apart(own.last(), others.last()) {
        return false;
    }
    // Most names are plain: such a one is the only text that may fit.
    if one.len().max(other.len()) <= LONGEST {
        if !is_open(other) && !one.contains('[') {
            return glob::matches(one, other);
        }
        if !is_open(one) && !other.contains('[') {
            return glob::matches(other, one);
        }
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if apart(one.iter(), other.iter()) || apart(one.iter().rev(), other.iter().rev()) {
        return false;
    }
    let (one, other) = (signs(one), signs(other));
    if one.len().max(other.len()) > LONGEST {
        return true;
    }
    // Row by row: whether the first `i` signs of one and the first `j` of the other may be one text.
    let (mut one_row, mut other_row) = ([false; LONGEST + 1], [false; LONGEST + 1]);
    let (mut row, mut above) = (&mut one_row, &mut other_row);
    for i in 0..=one.len() {
        std::mem::swap(&mut row, &mut above);
        for j in 0..=other.len() {
            let reach = |row: &[bool], at: Option<usize>| {
                at.and_then(|at| row.get(at)).copied().unwrap_or_default()
            };
            let one_sign = i.checked_sub(1).and_then(|at| one.get(at));
            let other_sign = j.checked_sub(1).and_then(|at| other.get(at));
            let both = i > 0 && reach(above, j.checked_sub(1));
            let is_shared = match (one_sign, other_sign) {
                (None, None) => true,
                (Some(Sign::Any), Some(_)) => {
                    reach(above, Some(j)) || reach(row, j.checked_sub(1)) || both
                }
                (Some(Sign::Any), None) => reach(above, Some(j)),
                (Some(_), Some(Sign::Any)) => {
                    reach(row, j.checked_sub(1)) || reach(above, Some(j)) || both
                }
                (None, Some(Sign::Any)) => reach(row, j.checked_sub(1)),
                (Some(Sign::Byte(byte)), Some(Sign::Byte(same))) => byte == same && both,
                (Some(Sign::One), Some(_)) | (Some(_), Some(Sign::One)) => both,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if let Some(cell) = row.get_mut(j) {
                *cell = is_shared;
            }
        }
    }
    row.get(other.len()).copied().unwrap_or_default()
}

/// Whether the texts that two patterns begin with, or end with, cannot be one.
fn apart<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> bool {
    let is_text = |byte: &u8| !matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\');
    let mut pairs = one.zip(other).take_while(|(one, other)| is_text(one) && is_text(other));
    pairs.any(|(one, other)| one != other)
}

/// One sign of a pattern.
enum Sign {
    Byte(u8),
    /// One character, whichever; sets count as that.
    One,
    /// Any text.
    Any,
}

fn signs(pattern: &[u8]) -> Vec<Sign> {
    let mut signs = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        signs.push(match byte {
            b'*' => Sign::Any,
            b'?' => Sign::One,
            b'\\' => {
                at += 1;
                Sign::Byte(pattern.get(at - 1).copied().unwrap_or(byte))
            }
            b'[' => match pattern.iter().skip(at + 1).position(|&end| end == b']') {
                Some(end) => {
                    at += end + 2;
                    Sign::One
                }
                None => Sign::Byte(byte),
            },
            _ => Sign::Byte(byte),
        });
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::may_share;

    fn split(path: &str) -> Vec<&str> {
        path.split('/').filter(|segment| !segment.is_empty()).collect()
    }

    #[test]
    fn a_pattern_aims_at_what_it_names_a_part_of() {
        #[rustfmt::skip]
        let cases = [
            ("/h/.en*", "**/.env", true),        ("/h/*", "**/.env", false),
            ("/h/.ssh/*", "**/.ssh/**", true),   ("/h/.s*/id_rsa", "**/.ssh/**", true),
            ("/h/*.pem", "**/*.pem", true),      ("/h/*.md", "**/*.pem", false),
            ("/h/*.json", "**/credentials.json", false),
            ("/h/id_?sa", "**/id_rsa", true),    ("/h/.e[n]v", "**/.env", true),
            ("/h/src/*.rs", "**/.ssh/**", false), ("/h/cred*", "**/credentials.json", true),
            ("/h/.e\\*", "**/.env", false),     ("/h/*test*", "**/.env.test", false),
            ("/h/conf*", "**/*.tfvars", false),  ("/h/a.tf*", "**/*.tfvars", true),
            ("/h/*env*", "**/.env", true),       ("/h/*_rsa", "**/id_rsa", true),
        ];
        for (glob, listed, want) in cases {
            assert_eq!(may_share(&split(glob), &split(listed)), want, "`{glob}` and `{listed}`");
        }
    }
}
