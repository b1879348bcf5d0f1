//! Every example of the sensitive paths is what it says it is.

#![cfg(test)]

use portcullis_engine::sensitive::{self, Access};

#[test]
fn examples_fit_their_own_pattern_and_no_more() {
    let mut wrong = Vec::new();
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
