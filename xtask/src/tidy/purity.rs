//! Purity: pure crates reach no disk, environment, network, process or clock, and no wire.
//!
//! Clippy holds the same line by name resolution (`clippy.toml` has the lists); this check sees
//! to it that a pure crate asks clippy, and finds whole modules, which no list of names covers.

use super::edges::PURE;
use super::{Fault, lines};
use crate::checkout::File;

/// Modules of the standard library that a pure crate may not name.
const IMPURE_MODULES: &[&str] = &["env", "fs", "net", "os", "process", "thread"];

/// Types of other modules that a pure crate may not name.
const CLOCKS: &[&str] = &["Instant", "SystemTime"];

/// The line by which the library of a pure crate switches its lints on.
const LINTS: &str = "#![deny(clippy::disallowed_methods, clippy::disallowed_types)]";

/// The faults of one file, if it is code of a pure crate.
pub fn check(file: &File) -> Vec<Fault> {
    let pure = PURE.iter().any(|(room, _)| file.path.starts_with(&format!("crates/{room}/src/")));
    if !pure || file.extension() != "rs" {
        return Vec::new();
    }
    let mut faults = Vec::new();
    if file.path.ends_with("/src/lib.rs") && !file.text.contains(LINTS) {
        let message = format!("a pure crate switches its lints on; add `{LINTS}`");
        faults.push(Fault::new(&file.path, 1, message));
    }
    for (number, line) in lines(file) {
        let code = line.split("//").next().unwrap_or("");
        let mut fault = |message: String| faults.push(Fault::new(&file.path, number, message));
        for name in words(code) {
            if CLOCKS.contains(&name) {
                fault(format!("a pure crate reads no clock; take the `{name}` as an argument"));
            }
            if name == "Serialize" {
                fault("only `wire` writes JSON; give the type a shape there".to_owned());
            }
        }
    }
    for (number, module) in standard_modules(&file.text) {
        if IMPURE_MODULES.contains(&module.as_str()) {
            let message = format!(
                "a pure crate does not use `std::{module}`; take what it gives as an argument"
            );
            faults.push(Fault::new(&file.path, number, message));
        }
    }
    faults
}

/// Every module named directly under `std::`, alone or in braces, with its line.
fn standard_modules(text: &str) -> Vec<(usize, String)> {
    let mut modules = Vec::new();
    let mut line = 1;
    // How deep the braces of a `use std::{ … }` are open; at depth one stand modules.
    let mut depth = 0_usize;
    let mut expects = false;
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect::<Vec<_>>()
        .join("\n");
    for token in tokens(&code) {
        match token {
            "\n" => line += 1,
            "std::" => expects = true,
            "{" if expects || depth > 0 => {
                depth += 1;
                expects = depth == 1;
            }
            "}" if depth > 0 => {
                depth -= 1;
                expects = false;
            }
            "," if depth == 1 => expects = true,
            word => {
                if expects && word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    modules.push((line, word.trim_end_matches(':').to_owned()));
                }
                expects = false;
            }
        }
    }
    modules
}

/// Words (with the `::` behind them, if any), single signs and line ends; blanks are left out.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\r']);
        let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let length = match (word, rest.chars().next()?) {
            (0, sign) => sign.len_utf8(),
            (word, _) if rest.get(word..).is_some_and(|tail| tail.starts_with("::")) => word + 2,
            (word, _) => word,
        };
        let (token, tail) = rest.split_at_checked(length)?;
        rest = tail;
        Some(token)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    #[test]
    fn a_pure_crate_reaches_nothing_outside() {
        #[rustfmt::skip]
        let cases = [
            ("use std::fmt;",                              0, "formatting is pure"),
            ("use std::fs;",                               1, "the disk"),
            ("let x = std::env::var(\"HOME\");",           1, "the environment"),
            ("use std::{fmt, fs};",                        1, "in braces"),
            ("use std::{\n    fmt,\n    net::TcpStream,\n};", 1, "in braces over several lines"),
            ("use std::{io::{self, fs}, fmt};",            0, "deeper braces are other modules"),
            ("use std::time::Duration;",                   0, "a duration is no clock"),
            ("use std::time::Instant;",                    1, "a clock"),
            ("use std::time::{Duration, SystemTime};",     1, "a clock in braces"),
            ("/// Nothing like `std::fs` here.",           0, "a comment is not code"),
            ("#[derive(Clone, Serialize)]",                1, "the wire's business"),
            ("struct Processor; // std::process",          0, "words that only look alike"),
        ];
        for (text, want, why) in cases {
            let faults = check(&file("crates/shell/src/lexer.rs", text));
            assert_eq!(faults.len(), want, "`{text}`: {why}: {faults:?}");
        }
        assert_eq!(check(&file("crates/cli/src/main.rs", "use std::fs;")), []);
        assert_eq!(check(&file("crates/shell/tests/confirm.rs", "use std::process;")), []);
    }

    #[test]
    fn a_fault_names_the_line_of_the_module() {
        let faults =
            check(&file("crates/shell/src/a.rs", "//! A.\nuse std::{\n    fmt,\n    fs,\n};"));
        assert_eq!(faults.first().map(|fault| fault.line), Some(4));
    }

    #[test]
    fn a_pure_crate_switches_its_lints_on() {
        let faults = |text| check(&file("crates/shell/src/lib.rs", text)).len();
        assert_eq!(faults("//! Reads shell text.\n"), 1);
        assert_eq!(faults(&format!("//! Reads shell text.\n\n{LINTS}\n")), 0);
    }
}
