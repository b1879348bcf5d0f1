//! Compiles the lists: every text of `data/lists.toml` becomes a static list of words.

use std::fmt::Write;

use toml::{Table, Value};

/// The text of `lists.rs`.
pub fn compile(text: &str) -> Result<String, String> {
    let table: Table = text.parse().map_err(|error| format!("{error}").replace('\n', " | "))?;
    let mut out = String::new();
    for (name, value) in &table {
        let Value::String(text) = value else { return Err(format!("`{name}` is no text")) };
        let words: Vec<&str> = text.split_whitespace().collect();
        let _ = writeln!(out, "pub(crate) const {}: &[&str] = &{words:?};", name.to_uppercase());
    }
    Ok(out)
}
