//! Every requirement of this dialect is named by a test.

use std::fs;
use std::path::{Path, PathBuf};

/// So many requirements there are.
const LAST: usize = 26;

/// Where tests lie that play this dialect: with the daemon, as conversations, and of the hook.
const ROOMS: [&str; 4] =
    ["crates/daemon/tests", "tests/conversations/agentbot", "crates/cli/tests", "crates/hook"];

fn texts(directory: &Path, found: &mut String) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let is_text = path.extension().is_some_and(|end| end == "rs" || end == "jsonl");
        if path.is_dir() {
            texts(&path, found);
        } else if is_text && !path.ends_with("requirements.rs") {
            found.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_requirement_is_named_by_a_test() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut found = String::new();
    for room in ROOMS {
        texts(&root.join(room), &mut found);
    }
    let is_named = |number: &usize| {
        found.contains(&format!("fn ab_{number}_")) || found.contains(&format!("\"AB-{number}\""))
    };
    let missing: Vec<usize> = (1..=LAST).filter(|number| !is_named(number)).collect();
    assert!(missing.is_empty(), "AB-{missing:?}: no test is named after them");
}
