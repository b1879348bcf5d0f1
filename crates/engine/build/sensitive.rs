//! Compiles the sensitive paths: `data/sensitive_paths.toml` becomes a static table.
//!
//! Every pattern is filed under one of its segments that has no star, so that a path is held
//! only against patterns that share a segment with it; the others by how their names end or begin,
//! and where that is open by what they demand.

use std::collections::BTreeMap;
use std::fmt::Write;

use toml::{Table, Value};

use crate::shelves;

/// The text of `sensitive.rs`.
pub fn compile(text: &str) -> Result<String, String> {
    let table: Table = text.parse().map_err(|error| format!("{error}").replace('\n', " | "))?;
    let paths = table.get("path").and_then(Value::as_array).ok_or("`path` is no list")?;
    let mut out = String::from("pub(super) static PATTERNS: &[Pattern] = &[\n");
    let mut filed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut loose, mut hints) = (String::new(), String::new());
    let (mut plain, mut open, mut open_ending) = (Vec::new(), Vec::new(), Vec::new());
    let (mut ending, mut beginning) = (Vec::new(), Vec::new());
    for (place, path) in paths.iter().enumerate() {
        let path = path.as_table().ok_or("a path is no table")?;
        let known = ["pattern", "read", "write", "except", "finding", "why", "match", "not"];
        if let Some(key) = path.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(format!("unknown key `{key}`; known are {}", known.join(", ")));
        }
        let text = |key: &str| path.get(key).and_then(Value::as_str);
        let pattern = text("pattern").ok_or("a path has no `pattern`")?;
        if pattern != pattern.to_lowercase() {
            return Err(format!("pattern `{pattern}` is not in lower case"));
        }
        let flag = |key: &str| path.get(key).and_then(Value::as_bool).unwrap_or_default();
        let list = |key: &str| -> Vec<&str> {
            let items = path.get(key).and_then(Value::as_array);
            items.into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let split: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
        let _ = writeln!(
            out,
            "Pattern {{ pattern: {pattern:?}, segments: &{split:?}, reads: {}, writes: {}, except: &{:?}, denies: {}, why: {:?}, fits: {:?}, not: {:?} }},",
            flag("read"),
            flag("write"),
            list("except"),
            text("finding") == Some("self_protection"),
            text("why").unwrap_or_default(),
            list("match").join("\u{1f}"),
            list("not").join("\u{1f}"),
        );
        let is_directory = split.last() == Some(&"**");
        let named = split.iter().rev().nth(usize::from(is_directory)).unwrap_or(&"*");
        let (reads, writes) = (flag("read"), flag("write"));
        let _ = writeln!(hints, "Hint::of(&{split:?}, {reads}, {writes}),");
        if !named.contains(['*', '?', '[']) {
            plain.push((named.as_bytes(), place));
        } else if is_directory || named.ends_with(['*', '?', ']', '\\']) {
            open.push(place);
        } else {
            open_ending.push((named.as_bytes(), place));
        }
        let mut segments = split.iter();
        match segments.rfind(|segment| !segment.contains(['*', '?', '['])) {
            Some(segment) => filed.entry((*segment).to_owned()).or_default().push(place),
            None if is_directory || named.contains('\\') => {
                let _ = writeln!(loose, "(Letters::demanded({named:?}), {place}),");
            }
            None if !named.ends_with(['*', '?', ']']) => ending.push((named.as_bytes(), place)),
            None if !named.starts_with(['*', '?', '[']) => {
                beginning.push((named.as_bytes(), place));
            }
            None => {
                let _ = writeln!(loose, "(Letters::demanded({named:?}), {place}),");
            }
        }
    }
    let _ = writeln!(out, "];\npub(super) static FILED: &[(&str, &[u16])] = &[");
    let mut filed: Vec<(String, Vec<usize>)> = filed.into_iter().collect();
    let starts = shelves::sort(&mut filed);
    for (segment, places) in filed {
        let _ = writeln!(out, "({segment:?}, &{places:?}),");
    }
    let _ = writeln!(out, "];\npub(super) static STARTS: &[u16] = &{starts:?};");
    let _ = writeln!(out, "pub(super) static LOOSE: &[(Letters, u16)] = &[\n{loose}];");
    let ending = by_byte(&ending, from_the_end);
    let _ = writeln!(out, "pub(super) static ENDING: ByByte = {ending};");
    let beginning = by_byte(&beginning, <[u8]>::to_vec);
    let _ = writeln!(out, "pub(super) static BEGINNING: ByByte = {beginning};");
    let _ = writeln!(out, "pub(super) static HINTS: &[Hint] = &[\n{hints}];");
    let _ = writeln!(out, "pub(super) static OPEN: &[u16] = &{open:?};");
    let open_ending = by_byte(&open_ending, from_the_end);
    let _ = writeln!(out, "pub(super) static OPEN_ENDING: ByByte = {open_ending};");
    let first = by_byte(&plain, <[u8]>::to_vec);
    let _ = writeln!(out, "pub(super) static FIRST: ByByte = {first};");
    let last = by_byte(&plain, from_the_end);
    let _ = writeln!(out, "pub(super) static LAST: ByByte = {last};");
    Ok(out)
}

/// The places of names in the order in which they are read, and where each first byte begins.
fn by_byte(names: &[(&[u8], usize)], read: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let mut places: Vec<(Vec<u8>, usize)> =
        names.iter().map(|(name, place)| (read(name), *place)).collect();
    places.sort_unstable();
    let first = |name: &[u8]| name.first().copied().map_or(0, u16::from);
    let starts: Vec<usize> =
        (0..=256_u16).map(|byte| places.partition_point(|(name, _)| first(name) < byte)).collect();
    let places: Vec<usize> = places.into_iter().map(|(_, place)| place).collect();
    format!("ByByte {{ places: &{places:?}, starts: &{starts:?} }}")
}

fn from_the_end(name: &[u8]) -> Vec<u8> {
    name.iter().rev().copied().collect()
}
