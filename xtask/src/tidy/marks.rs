//! Marks in texts: work put off without an issue, and places that exist on one machine only.

use std::path::Path;

use super::{Fault, lines};
use crate::checkout::File;

/// Marks of work put off; each must name its issue. Split here, so that they do not mark this file.
const PUT_OFF: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// The directories of this machine that no text may name: the checkout and the user's own.
pub fn machine_places(root: &Path) -> Vec<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let cargo = std::env::var("CARGO_HOME").unwrap_or_default();
    [root.to_string_lossy().into_owned(), home, cargo]
        .into_iter()
        // `/src` or `/root` may stand in an example by chance; a longer path does not.
        .filter(|place| place.split('/').filter(|part| !part.is_empty()).count() >= 2)
        .collect()
}

/// The faults of one file.
pub fn check(file: &File, machine_places: &[String]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in lines(file) {
        let mut fault = |message: String| faults.push(Fault::new(&file.path, number, message));
        if let Some(place) = machine_places.iter().find(|place| names(line, place)) {
            fault(format!("`{place}` exists on this machine only; write a relative path"));
        }
        if file.extension() == "rs" {
            if let Some(mark) = PUT_OFF.iter().find(|mark| is_put_off(line, mark)) {
                fault(format!("`{mark}` without an issue; write `{mark}(#12)` or do it now"));
            }
            if line.trim_start().starts_with("#[ignore") && !has_issue(line) {
                fault("an ignored test names its issue: `#[ignore = \"#12: why\"]`".to_owned());
            }
        }
    }
    faults
}

/// Whether `line` names `place` or something inside it, and not merely a longer name.
fn names(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(start, _)| {
        let tail = line.get(start + place.len()..).unwrap_or("");
        !tail.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-')
    })
}

/// Whether a comment of `line` carries `mark` without an issue.
fn is_put_off(line: &str, mark: &str) -> bool {
    let Some((_, comment)) = line.split_once("//") else { return false };
    comment.split_once(mark).is_some_and(|(_, tail)| !tail.starts_with("(#") || !has_issue(tail))
}

/// Whether `text` holds `#` with a number.
fn has_issue(text: &str) -> bool {
    text.match_indices('#').any(|(start, _)| {
        text.get(start + 1..).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    #[test]
    fn texts_put_nothing_off_and_name_no_machine() {
        let places = ["/here/portcullis".to_owned()];
        let mark = PUT_OFF[0];

        #[rustfmt::skip]
        let cases = [
            ("let x = 1; // as the shell counts".to_owned(),     0, "an ordinary comment"),
            (format!("// {mark}: faster"),                       1, "put off"),
            (format!("// {mark}(#7): faster"),                   0, "put off with its issue"),
            (format!("let {mark} = 1;"),                         0, "a name is no comment"),
            ("#[ignore]".to_owned(),                             1, "ignored without a reason"),
            ("#[ignore = \"#9: bash 5.3 only\"]".to_owned(),     0, "ignored with its issue"),
            ("see /here/portcullis/README.md".to_owned(),        1, "a place on this machine"),
            ("see /here/portcullis-site".to_owned(),             0, "a longer name is another place"),
        ];
        for (text, want, why) in cases {
            let faults = check(&file("crates/shell/src/a.rs", &text), &places);
            assert_eq!(faults.len(), want, "`{text}`: {why}: {faults:?}");
        }
    }

    #[test]
    fn short_places_are_no_machine_places() {
        let places = machine_places(Path::new("/src"));
        assert!(!places.iter().any(|place| place == "/src"));
        let places = machine_places(Path::new("/builds/portcullis"));
        assert!(places.iter().any(|place| place == "/builds/portcullis"));
    }
}
