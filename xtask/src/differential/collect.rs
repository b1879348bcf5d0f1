//! Collecting: the shell texts that are already on this machine.
//!
//! Scripts are found by their first line, their name or their place; each is a text, and so is
//! each of its lines by itself, however broken it is alone. Command lines in documentation are
//! [`document`]'s. Every distinct text is kept once, in the order in which
//! it was found, and that order does not depend on the directory's.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::document;

/// Where a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A whole script of this machine.
    Script,
    /// One line of such a script, with those it goes on in.
    Line,
    /// A script for zsh, or one of its lines.
    Zsh,
    /// An example in a manual page or another document.
    Document,
    /// The recorded command lines given with `--corpus`.
    Corpus,
    /// Made by the grammar.
    Generated,
    /// One or two of the others, changed.
    Mutated,
}

impl Source {
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Source::Script => "scripts",
            Source::Line => "their lines",
            Source::Zsh => "for zsh",
            Source::Document => "documents",
            Source::Corpus => "corpora",
            Source::Generated => "generated",
            Source::Mutated => "mutated",
        }
    }
}

/// One text to be read by us and by them.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub bytes: Vec<u8>,
    /// Where it comes from.
    pub source: Source,
}

/// Where scripts and documents are looked for.
const ROOTS: [&str; 6] = ["/usr", "/etc", "/var/lib/dpkg/info", "/opt", "/lib/init", "/lib/lsb"];

/// Nothing that a person wrote as a script is longer.
const LONGEST: u64 = 4 << 20;

/// Longer lines are data, and are read as part of their script anyway.
const LONGEST_LINE: usize = 2_000;

/// How much to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// Every script, and a part of the documents.
    Sample,
    /// Everything.
    Everything,
}

/// Collects from this machine, from more directories, and from recorded command lines: files of
/// JSON objects, one on a line, whose `command` is the text.
pub fn collect(breadth: Breadth, roots: &[PathBuf], corpora: &[PathBuf]) -> Vec<Text> {
    let mut shelf = Shelf::default();
    for corpus in corpora {
        for line in fs::read_to_string(corpus).unwrap_or_default().lines() {
            if let Ok(serde_json::Value::Object(entry)) = serde_json::from_str(line)
                && let Some(serde_json::Value::String(command)) = entry.get("command")
            {
                shelf.put(command.clone().into_bytes(), Source::Corpus);
            }
        }
    }
    let mut files = Vec::new();
    for root in ROOTS.iter().map(Path::new).chain(roots.iter().map(PathBuf::as_path)) {
        walk(root, &mut files);
    }
    let mut documents = Vec::new();
    for file in files {
        if is_document(&file) {
            documents.push(file);
        } else if let Some(script) = script(&file) {
            let for_zsh = is_for_zsh(&file, &script);
            let (whole, part) =
                if for_zsh { (Source::Zsh, Source::Zsh) } else { (Source::Script, Source::Line) };
            for line in logical_lines(&script) {
                if line.len() <= LONGEST_LINE && line.iter().any(|byte| !byte.is_ascii_whitespace())
                {
                    shelf.put(line.trim_ascii_start().to_vec(), part);
                }
            }
            shelf.put(script, whole);
        }
    }
    if breadth == Breadth::Sample {
        documents = documents.into_iter().step_by(16).collect();
    }
    for example in document::examples(&documents) {
        shelf.put(example, Source::Document);
    }
    shelf.texts
}

/// The lines of a script, each with those it goes on in after a backslash.
pub fn logical_lines(script: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut goes_on = false;
    for line in script.split(|byte| *byte == b'\n') {
        match lines.last_mut() {
            Some(last) if goes_on => {
                last.push(b'\n');
                last.extend_from_slice(line);
            }
            _ => lines.push(line.to_vec()),
        }
        goes_on = line.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    }
    lines
}

/// Keeps each distinct text once.
#[derive(Default)]
struct Shelf {
    seen: HashSet<Vec<u8>>,
    texts: Vec<Text>,
}

impl Shelf {
    fn put(&mut self, bytes: Vec<u8>, source: Source) {
        // A text with a byte of zero cannot be handed to a shell.
        if !bytes.contains(&0) && self.seen.insert(bytes.clone()) {
            self.texts.push(Text { bytes, source });
        }
    }
}

/// Every plain file below `directory`, sorted by name; links are not followed.
fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
}

/// Manual pages, and the texts of `doc` directories that are not scripts.
fn is_document(file: &Path) -> bool {
    let path = file.to_string_lossy();
    let ends_in = |endings: &[&str]| {
        let name = path.strip_suffix(".gz").unwrap_or(&path);
        endings.iter().any(|ending| name.ends_with(ending))
    };
    if let Some((_, page)) = path.split_once("/share/man/man") {
        return page.starts_with(|section: char| ('1'..='8').contains(&section));
    }
    let is_readme = path.rsplit('/').next().is_some_and(|name| name.starts_with("README"));
    (path.contains("/share/doc/") && (is_readme || ends_in(&[".txt", ".md", ".rst", ".org"])))
        || (ends_in(&[".md"]) && path.starts_with("/usr/"))
}

/// Where scripts stand that neither their name nor their first line gives away.
const PLACES: [&str; 11] = [
    "/bash-completion/completions/",
    "/bash_completion.d/",
    "/etc/default/",
    "/etc/init.d/",
    "/etc/profile",
    "/etc/bash.bashrc",
    "/etc/skel/.bash",
    "/zsh/functions/",
    "/zsh/vendor-completions/",
    "/initramfs-tools/",
    "/dracut/",
];

/// The endings of most files of a machine, which need not be opened.
const FOREIGN: [&str; 12] =
    ["so", "py", "pyc", "h", "hpp", "js", "ts", "mo", "html", "rb", "pm", "json"];

/// The text of a file that is a shell script.
fn script(file: &Path) -> Option<Vec<u8>> {
    let path = file.to_string_lossy();
    let name = file.file_name()?.to_string_lossy();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let by_name = match ending {
        "sh" | "bash" | "dash" | "ksh" | "zsh" | "ash" | "bats" | "init" => true,
        "preinst" | "postinst" | "prerm" | "postrm" | "config" => {
            path.starts_with("/var/lib/dpkg/info/")
        }
        _ => false,
    };
    let by_place = PLACES.iter().any(|place| path.contains(place));
    if fs::metadata(file).ok()?.len() > LONGEST {
        return None;
    }
    if by_name || by_place {
        return fs::read(file).ok();
    }
    if FOREIGN.contains(&ending) || !begins_like_a_script(file) {
        return None;
    }
    let text = fs::read(file).ok()?;
    is_shebang(text.split(|byte| *byte == b'\n').next()?).then_some(text)
}

/// Whether a script is written for zsh, whose expansions bash accepts unread.
fn is_for_zsh(file: &Path, script: &[u8]) -> bool {
    let path = file.to_string_lossy();
    let first = script.split(|byte| *byte == b'\n').next().unwrap_or_default();
    path.ends_with(".zsh")
        || path.contains("/zsh/")
        || String::from_utf8_lossy(first).contains("zsh")
        || first.starts_with(b"#compdef")
}

/// Whether the first two bytes are `#!`, without reading the rest of a large program.
fn begins_like_a_script(file: &Path) -> bool {
    let mut first = [0_u8; 2];
    fs::File::open(file).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == *b"#!"
}

/// Whether a first line names a shell.
fn is_shebang(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    line.starts_with("#!")
        && line
            .split(|byte: char| byte.is_whitespace() || byte == '/' || byte == '!')
            .any(|word| matches!(word, "sh" | "bash" | "dash" | "ksh" | "zsh" | "ash" | "bats"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_after_an_odd_number_of_backslashes() {
        let lines = logical_lines(b"a \\\nb\nc\\\\\nd");
        assert_eq!(lines, [&b"a \\\nb"[..], b"c\\\\", b"d"]);
    }

    #[test]
    fn shells_are_known_by_the_first_line() {
        let cases = [
            ("#!/bin/sh", true, "plain"),
            ("#! /usr/bin/env bash", true, "through env"),
            ("#!/usr/bin/python3", false, "another language"),
            ("# sh", false, "a comment"),
        ];
        for (line, want, why) in cases {
            assert_eq!(is_shebang(line.as_bytes()), want, "`{line}`: {why}");
        }
    }
}
