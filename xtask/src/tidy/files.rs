//! Files: how long they are, what they are called, how they begin.

use super::{Fault, lines};
use crate::checkout::File;

/// A source file longer than this is refused; about 100 is normal.
const SOURCE_LINES: usize = 600;

/// The map of the code stays one that is read in one sitting.
const ARCHITECTURE_LINES: usize = 150;

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] =
    &["common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"];

/// The faults of one file.
pub fn check(file: &File) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(check_length(file));
    faults.extend(check_name(file));
    if file.extension() == "rs" {
        faults.extend(check_header(file));
        faults.extend(check_modules(file));
    }
    if file.path.ends_with("Cargo.toml") {
        faults.extend(check_lints(file));
    }
    faults
}

fn check_length(file: &File) -> Option<Fault> {
    let limit = match (file.path.as_str(), file.extension()) {
        ("ARCHITECTURE.md", _) => ARCHITECTURE_LINES,
        (_, "rs" | "ts" | "tsx" | "css") => SOURCE_LINES,
        _ => return None,
    };
    let length = file.text.lines().count();
    (length > limit).then(|| {
        let message =
            format!("{length} lines, and {limit} is the end; split it by a word of GLOSSARY.md");
        Fault::new(&file.path, limit + 1, message)
    })
}

fn check_name(file: &File) -> Option<Fault> {
    if file.path.ends_with("/mod.rs") {
        let message = "the door of a directory `x/` is `x.rs` beside it; rename this file";
        return Some(Fault::new(&file.path, 1, message));
    }
    let empty = file
        .path
        .split('/')
        .map(|part| part.split_once('.').map_or(part, |(stem, _)| stem))
        .find(|stem| EMPTY_NAMES.contains(stem))?;
    Some(Fault::new(&file.path, 1, empty_name(empty)))
}

fn check_header(file: &File) -> Option<Fault> {
    let first = file.text.lines().next().unwrap_or("");
    (!first.starts_with("//!")).then(|| {
        let message = "no header; begin with `//!` and what this file is and leaves to others";
        Fault::new(&file.path, 1, message)
    })
}

fn check_modules(file: &File) -> Vec<Fault> {
    let declared = |line: &str| {
        let rest = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        let name = rest.strip_prefix("mod ")?.trim_end_matches([';', ' ', '{']);
        EMPTY_NAMES.iter().find(|empty| **empty == name)
    };
    lines(file)
        .filter_map(|(number, line)| {
            let name = declared(line)?;
            Some(Fault::new(&file.path, number, empty_name(name)))
        })
        .collect()
}

/// The wall of lints stands in the root manifest; a member must say that it stands behind it.
fn check_lints(file: &File) -> Option<Fault> {
    let member = file.path.starts_with("crates/") || file.path.starts_with("xtask/");
    let behind = file.text.contains("[lints]\nworkspace = true");
    (member && !behind).then(|| {
        let message = "outside the workspace's lints; add `[lints]` with `workspace = true`";
        Fault::new(&file.path, 1, message)
    })
}

fn empty_name(name: &str) -> String {
    format!("`{name}` says nothing about what is inside; find the word in GLOSSARY.md")
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    #[test]
    fn files_are_judged_by_length_name_and_header() {
        let long = format!("//! Long.\n{}", "\n".repeat(SOURCE_LINES));
        let full = format!("//! Full.\n{}", "\n".repeat(SOURCE_LINES - 1));
        let map = "line\n".repeat(ARCHITECTURE_LINES + 1);

        #[rustfmt::skip]
        let cases = [
            ("crates/shell/src/lexer.rs",        "//! The lexer.\n",                     0, "an ordinary file"),
            ("crates/shell/src/lexer.rs",        full.as_str(),                          0, "as long as it may be"),
            ("crates/shell/src/lexer.rs",        long.as_str(),                          1, "one line longer"),
            ("crates/shell/tests/corpus/a.txt",  long.as_str(),                          0, "data may be long"),
            ("ARCHITECTURE.md",                  map.as_str(),                           1, "a map is short"),
            ("crates/shell/src/utils.rs",        "//! Things.\n",                        1, "an empty name"),
            ("crates/shell/tests/common/a.rs",   "//! Things.\n",                        1, "an empty name on the way"),
            ("crates/shell/src/lexer/mod.rs",    "//! The lexer.\n",                     1, "the door stands inside"),
            ("crates/shell/src/lexer.rs",        "use std::fmt;\n",                      1, "no header"),
            ("crates/shell/src/lib.rs",          "//! Shell.\nmod lexer;\n",             0, "a module with a word"),
            ("crates/shell/src/lib.rs",          "//! Shell.\npub(crate) mod utils {\n", 1, "a module without one"),
            ("crates/shell/Cargo.toml",          "[lints]\nworkspace = true\n",          0, "behind the wall"),
            ("crates/shell/Cargo.toml",          "[package]\n",                          1, "outside the wall"),
            ("Cargo.toml",                       "[workspace]\n",                        0, "the wall itself"),
        ];
        for (path, text, want, why) in cases {
            let faults = check(&file(path, text));
            assert_eq!(faults.len(), want, "`{path}`: {why}: {faults:?}");
        }
    }

    #[test]
    fn a_fault_names_file_line_and_the_way_out() {
        let faults = check(&file("crates/shell/src/lib.rs", "//! Shell.\nmod helpers;\n"));
        assert_eq!(
            faults.first().map(ToString::to_string).as_deref(),
            Some(
                "crates/shell/src/lib.rs:2: `helpers` says nothing about what is inside; \
                 find the word in GLOSSARY.md"
            )
        );
    }
}
