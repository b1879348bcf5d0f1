//! The commands that are measured.

use std::fs;
use std::path::Path;

/// Everyday commands of agents, written for this bench; `⏎` stands for a newline.
const TYPICAL: &str = include_str!("../data/typical.txt");

/// A typical command has from 50 to 200 bytes.
const TYPICAL_BYTES: std::ops::RangeInclusive<usize> = 50..=200;

/// Typical commands: our own, and those of a collection at `PORTCULLIS_CORPUS` (lines of JSON
/// with a `command`) where there is one.
#[must_use]
pub fn typical() -> Vec<String> {
    let mut commands: Vec<String> = TYPICAL.lines().map(|line| line.replace('⏎', "\n")).collect();
    if let Some(path) = std::env::var_os("PORTCULLIS_CORPUS") {
        commands.extend(collected(Path::new(&path)));
    }
    commands.retain(|command| TYPICAL_BYTES.contains(&command.len()));
    commands
}

/// The everyday lines of the engine's lists, as agents write them: most of them short.
#[must_use]
pub fn everyday() -> Vec<String> {
    let lists = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/engine/tests/everyday");
    let mut files: Vec<_> =
        fs::read_dir(lists).into_iter().flatten().flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "txt"));
    files.sort();
    let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with("# ");
    texts
        .flat_map(|text| {
            text.lines().filter(is_command).map(|line| line.replace('⏎', "\n")).collect::<Vec<_>>()
        })
        .collect()
}

fn collected(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let rows = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    rows.filter_map(|row| Some(row.get("command")?.as_str()?.to_owned())).collect()
}
