//! Documents: the command lines that manual pages and other documents show.
//!
//! What a document shows as an example stands apart: between `.nf` and `.fi` or `.EX` and `.EE`
//! in a manual page, between fences, or indented. Such a block is a text; a block with prompts
//! gives one text for each prompt. Much of it is no shell at all; the shells decide that.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::collect::logical_lines;

/// Longer blocks are listings of something else.
const LONGEST: usize = 4_000;

/// The examples in the documents, compressed or not.
pub fn examples(documents: &[PathBuf]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let (pages, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        documents.iter().partition(|document| document.to_string_lossy().contains("/share/man/"));
    // Many pages at once: nothing in a page depends on the one before.
    for pages in pages.chunks(100) {
        let text = decompress(pages);
        let mut block: Option<Vec<String>> = None;
        for line in text.lines() {
            match line.split_whitespace().next() {
                Some(".nf" | ".EX" | ".Bd") => block = Some(Vec::new()),
                Some(".fi" | ".EE" | ".Ed" | ".TH" | ".SH" | ".Dd") => {
                    give(&block.take().unwrap_or_default(), &mut found);
                }
                Some(request) if request.starts_with(".B") => {
                    let bold = unroff(line.get(request.len()..).unwrap_or_default().trim());
                    give(&[bold.trim_matches('"').to_owned()], &mut found);
                }
                Some(request) if request.starts_with('.') || request.starts_with('\'') => {}
                _ => {
                    if let Some(block) = &mut block {
                        block.push(unroff(line));
                    } else if line.starts_with("$ ") || line.starts_with("\\fB") {
                        give(&[unroff(line)], &mut found);
                    }
                }
            }
        }
    }
    for document in others {
        plain(&decompress(&[document]), &mut found);
    }
    found
}

/// Blocks of a plain text: fenced, or indented by a tab or four blanks.
fn plain(text: &str, found: &mut Vec<Vec<u8>>) {
    let mut block = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let indented = line.strip_prefix('\t').or_else(|| line.strip_prefix("    "));
        match (is_fence, fenced, indented) {
            (true, _, _) => {
                fenced = !fenced;
                give(&std::mem::take(&mut block), found);
            }
            (false, true, _) => block.push(line.to_owned()),
            (false, false, Some(inner)) => block.push(inner.to_owned()),
            (false, false, None) => {
                give(&std::mem::take(&mut block), found);
                if let Some(line) = line.strip_prefix("$ ") {
                    give(&[line.to_owned()], found);
                }
                // What stands between backquotes in a sentence is often a command.
                for quoted in line.split('`').skip(1).step_by(2) {
                    give(&[quoted.to_owned()], found);
                }
            }
        }
    }
    give(&block, found);
}

/// Turns the lines of a block into texts.
fn give(block: &[String], found: &mut Vec<Vec<u8>>) {
    let indent = |line: &String| line.len() - line.trim_start().len();
    let least = block.iter().filter(|line| !line.trim().is_empty()).map(indent).min();
    let lines: Vec<&str> = block
        .iter()
        .map(|line| line.get(least.unwrap_or(0)..).unwrap_or_default().trim_end())
        .collect();
    let prompted = lines.iter().any(|line| line.starts_with("$ ") || line.starts_with("# $ "));
    if prompted {
        // What the commands printed stands between the prompts and is left out; a command goes
        // on after a backslash.
        let mut command = String::new();
        for line in lines {
            if let Some(line) = line.strip_prefix("# $ ").or_else(|| line.strip_prefix("$ ")) {
                put(&std::mem::replace(&mut command, line.to_owned()), found);
            } else if command.ends_with('\\') {
                command.push('\n');
                command.push_str(line.strip_prefix("> ").unwrap_or(line));
            }
        }
        put(&command, found);
    } else {
        let whole = lines.join("\n");
        put(&whole, found);
        for line in logical_lines(whole.as_bytes()) {
            put(String::from_utf8_lossy(&line).trim_start(), found);
        }
    }
}

fn put(text: &str, found: &mut Vec<Vec<u8>>) {
    let mut text = text.trim_matches('\n');
    // Where the document breaks off what goes on, the command is what stands before.
    if text.chars().rev().take_while(|sign| *sign == '\\').count() % 2 == 1 {
        text = text.strip_suffix('\\').unwrap_or(text).trim_end();
    }
    if !text.trim().is_empty() && text.len() <= LONGEST {
        found.push(text.as_bytes().to_vec());
    }
}

/// Takes the escapes of a manual page off a line.
fn unroff(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            plain.push(next);
            continue;
        }
        match rest.next() {
            Some('f') => match rest.next() {
                Some('(') => drop(rest.by_ref().take(2).count()),
                Some('[') => drop(rest.by_ref().take_while(|byte| *byte != ']').count()),
                _ => {}
            },
            Some('(') => {
                let name: String = rest.by_ref().take(2).collect();
                plain.push_str(special(&name));
            }
            Some('[') => {
                let name: String = rest.by_ref().take_while(|byte| *byte != ']').collect();
                plain.push_str(special(&name));
            }
            Some('*') => {
                if rest.next() == Some('(') {
                    let name: String = rest.by_ref().take(2).collect();
                    plain.push_str(special(&name));
                }
            }
            Some('e' | '\\') => plain.push('\\'),
            Some('s') => {
                let mut size = rest.clone();
                while size.next().is_some_and(|byte| byte.is_ascii_digit() || "+-".contains(byte)) {
                    rest.next();
                }
            }
            Some('"') => break,
            Some('&' | '/' | ',' | '|' | '^' | '%' | ':' | 'c') | None => {}
            Some(other) => plain.push(other),
        }
    }
    plain
}

fn special(name: &str) -> &'static str {
    match name {
        "aq" => "'",
        "dq" | "lq" | "rq" => "\"",
        "oq" | "ga" => "`",
        "cq" => "\u{2019}",
        "rs" => "\\",
        "ha" => "^",
        "ti" => "~",
        "mi" | "hy" | "en" | "em" => "-",
        "bv" | "or" | "ba" => "|",
        "bu" => "*",
        "at" => "@",
        "sh" => "#",
        "Do" => "$",
        "lB" => "[",
        "rB" => "]",
        "lC" => "{",
        "rC" => "}",
        _ => "",
    }
}

/// The texts of the files one after the other, uncompressed.
fn decompress(files: &[impl AsRef<Path>]) -> String {
    let output = Command::new("gzip")
        .args(["-d", "-c", "-f", "-q", "--"])
        .args(files.iter().map(AsRef::as_ref))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}
