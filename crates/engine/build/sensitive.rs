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
    let mut wild = Vec::new();
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
        let _ = writeln!(
            out,
            "Pattern {{ pattern: {pattern:?}, reads: {}, writes: {}, except: &{:?}, denies: {}, why: {:?}, fits: &{:?}, not: &{:?} }},",
            flag("read"),
            flag("write"),
            list("except"),
            text("finding") == Some("self_protection"),
            text("why").unwrap_or_default(),
            list("match"),
            list("not"),
        );
        let mut segments = pattern.split('/').filter(|segment| !segment.is_empty());
        match segments.rfind(|segment| !segment.contains(['*', '?', '['])) {
            Some(segment) => filed.entry(segment.to_owned()).or_default().push(place),
            None => wild.push(place),
        }
    }
    let _ = writeln!(out, "];\npub(super) static FILED: &[(&str, &[u16])] = &[");
    for (segment, places) in filed {
        let _ = writeln!(out, "({segment:?}, &{places:?}),");
    }
    let _ = writeln!(out, "];\npub(super) static WILD: &[u16] = &{wild:?};");
    Ok(out)
}
