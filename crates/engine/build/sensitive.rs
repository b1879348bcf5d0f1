//! Compiles the sensitive paths: `data/sensitive_paths.toml` becomes a static table.
//!
//! Every pattern is filed under one of its segments that has no star, so that a path is held
//! only against patterns that share a segment with it.

use std::collections::BTreeMap;
use std::fmt::Write;

use toml::{Table, Value};

/// The text of `sensitive.rs`.
pub fn compile(text: &str) -> Result<String, String> {
    let table: Table = text.parse().map_err(|error| format!("{error}").replace('\n', " | "))?;
    let paths = table.get("path").and_then(Value::as_array).ok_or("`path` is no list")?;
    let mut out = String::from("pub(super) static PATTERNS: &[Pattern] = &[\n");
    let mut filed: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut ends, mut begins, mut wild) = (Vec::new(), Vec::new(), Vec::new());
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
        let mut segments = split.iter();
        let literal = segments.rfind(|segment| !segment.contains(['*', '?', '[']));
        match (literal, split.as_slice()) {
            (Some(segment), _) => filed.entry((*segment).to_owned()).or_default().push(place),
            // Names that only end or begin so are told apart without looking further.
            (None, ["**", name]) if is_end(name) => ends.push((name.trim_matches('*'), place)),
            (None, ["**", name]) if is_beginning(name) => {
                begins.push((name.trim_matches('*'), place));
            }
            (None, _) => wild.push(place),
        }
    }
    let _ = writeln!(out, "];\npub(super) static FILED: &[(&str, &[u16])] = &[");
    let mut filed: Vec<(String, Vec<usize>)> = filed.into_iter().collect();
    filed.sort_by_key(|(segment, _)| segment.len());
    for (segment, places) in filed {
        let _ = writeln!(out, "({segment:?}, &{places:?}),");
    }
    let _ = writeln!(out, "];\npub(super) static ENDS: &[(&str, u16)] = &{ends:?};");
    let _ = writeln!(out, "pub(super) static BEGINS: &[(&str, u16)] = &{begins:?};");
    let _ = writeln!(out, "pub(super) static WILD: &[u16] = &{wild:?};");
    Ok(out)
}

/// Whether a name is one star and then text.
fn is_end(name: &str) -> bool {
    name.strip_prefix('*').is_some_and(|rest| !rest.contains(['*', '?', '[']))
}

/// Whether a name is text and then one star.
fn is_beginning(name: &str) -> bool {
    name.strip_suffix('*').is_some_and(|rest| !rest.contains(['*', '?', '[']))
}
