//! Every example of the sensitive paths is what it says it is.

#![cfg(test)]

use portcullis_engine::sensitive::{self, Access};

#[test]
fn examples_fit_their_own_pattern_and_no_more() {
    let mut wrong = Vec::new();
    assert!(sensitive::patterns().len() > 100, "the list is there");
    for pattern in sensitive::patterns() {
        let fits = |path: &str| {
            let path = path.to_lowercase().replace('\\', "/");
            sensitive::fits(pattern.pattern, &path)
                && !pattern.except.iter().any(|except| sensitive::fits(except, &path))
        };
        for path in pattern.examples() {
            if !fits(path) {
                wrong.push(format!("`{}` must fit `{path}`", pattern.pattern));
            }
        }
        for path in pattern.counterexamples() {
            if fits(path) {
                wrong.push(format!("`{}` must not fit `{path}`", pattern.pattern));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_example_is_found_through_the_index() {
    for pattern in sensitive::patterns() {
        for path in pattern.examples() {
            if pattern.reads {
                assert!(sensitive::find(path, Access::Read).is_some(), "reading `{path}`");
            }
            if pattern.writes {
                assert!(sensitive::find(path, Access::Write).is_some(), "writing `{path}`");
            }
        }
    }
}

#[test]
fn a_pattern_that_aims_at_an_example_is_found_through_the_index() {
    for pattern in sensitive::patterns().iter().filter(|pattern| pattern.reads) {
        for path in pattern.examples().map(str::to_lowercase) {
            for glob in opened(&path) {
                let parts: Vec<&str> = glob.split('/').filter(|part| !part.is_empty()).collect();
                let aims = |other: &&sensitive::Pattern| other.reads && other.is_aimed_at(&parts);
                if let Some(other) = sensitive::patterns().iter().find(aims) {
                    let found = sensitive::aimed_at(&glob, Access::Read, false);
                    assert!(found.is_some(), "`{glob}` aims at `{}`", other.pattern);
                }
                // Where it lies is not known, but the whole path behind that is written.
                let anywhere = format!("/**{glob}");
                if let Some(other) = sensitive::patterns().iter().filter(aims).find(|other| {
                    other.segments.first() == Some(&"**") && other.segments.len() <= parts.len()
                }) {
                    let found = sensitive::aimed_at(&anywhere, Access::Read, true);
                    assert!(found.is_some(), "`{anywhere}` aims at `{}`", other.pattern);
                }
            }
        }
    }
}

#[test]
fn a_pattern_aims_at_a_name_of_which_it_says_enough() {
    #[rustfmt::skip]
    let cases = [
        ("*en*",    ".env",     false, "half of it between stars"),
        ("*nv",     ".env",     true,  "half of it, and how it ends"),
        ("*n",      ".env",     false, "less"),
        ("*env*",   ".env",     true,  "more than half"),
        ("*xy*",    "id_rsa",   false, "letters that it has not"),
    ];
    for (glob, listed, want, why) in cases {
        assert_eq!(sensitive::may_share(&["h", glob], &["**", listed]), want, "`{glob}`: {why}");
    }
}

/// A path with a star, a sign for one letter or a set in several of its places.
fn opened(path: &str) -> Vec<String> {
    let places = path.char_indices().filter(|(_, letter)| letter.is_alphanumeric());
    let mut all = Vec::new();
    for (at, letter) in places.step_by(5) {
        let (before, behind) = path.split_at(at);
        let rest = behind.strip_prefix(letter).unwrap_or_default();
        let below = rest.find('/').map_or("", |end| rest.split_at(end).1);
        all.push(format!("{before}*{below}"));
        all.push(format!("{before}?{rest}"));
        all.push(format!("{before}[{letter}]{rest}"));
    }
    all
}

#[test]
fn a_glob_of_many_parts_is_gone_through_once() {
    // Part by part this would take minutes.
    let glob = "/*q7*".repeat(8_000);
    assert!(sensitive::aimed_at(&glob, Access::Read, false).is_none());
}
