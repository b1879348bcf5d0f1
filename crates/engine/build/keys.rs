//! Reads the keys of one table: texts, flags, lists, roles and formats.

use toml::{Table, Value};

use crate::entry::Format;
use crate::options;

/// Whether only zsh has a program.
pub fn is_zsh(table: &Table) -> Result<bool, String> {
    match text(table, "dialect")?.as_deref() {
        None => Ok(false),
        Some("zsh") => Ok(true),
        Some(other) => Err(format!("unknown `dialect`: `{other}`; use zsh")),
    }
}

/// Options in one text, or `true` for always, which is `*`.
pub fn options_or_always(table: &Table, key: &str) -> Result<Vec<String>, String> {
    match table.get(key) {
        Some(Value::Boolean(true)) => Ok(vec!["*".to_owned()]),
        _ => Ok(words(text(table, key)?.as_deref().unwrap_or_default())),
    }
}

/// The options that give a format, what is safe in it, and the options that leave it alone.
pub fn format(table: &Table) -> Result<Option<Format>, String> {
    let Some(value) = table.get("format") else { return Ok(None) };
    let table = value.as_table().ok_or("`format` is no table")?;
    let known = ["option", "safe", "with"];
    if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("unknown key `{key}` in `format`; known are {}", known.join(", ")));
    }
    let read = |key: &str| text(table, key).map(|text| words(text.as_deref().unwrap_or_default()));
    Ok(Some(Format { option: read("option")?, safe: read("safe")?, with: read("with")? }))
}

/// Words in one text, or a list of texts.
pub fn word_list(table: &Table, key: &str) -> Result<Vec<String>, String> {
    match table.get(key) {
        Some(Value::String(keys)) => Ok(words(keys)),
        _ => list(table, key),
    }
}

pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

pub fn roles(text: &str) -> Result<Vec<(String, char)>, String> {
    let mut roles = Vec::new();
    for word in text.split_whitespace() {
        let (name, mark) = match word.strip_suffix(['*', '?']) {
            Some(name) => (name, word.chars().last().unwrap_or('1')),
            None => (word, '1'),
        };
        if !options::KINDS.contains(&name) {
            return Err(format!(
                "unknown operand role `{name}`; use one of {}",
                options::KINDS.join(", ")
            ));
        }
        roles.push((name.to_owned(), mark));
    }
    Ok(roles)
}

pub fn text(table: &Table, key: &str) -> Result<Option<String>, String> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` is no text")),
    }
}

pub fn flag(table: &Table, key: &str) -> Result<bool, String> {
    match table.get(key) {
        None => Ok(false),
        Some(Value::Boolean(value)) => Ok(*value),
        Some(_) => Err(format!("`{key}` is neither true nor false")),
    }
}

pub fn list(table: &Table, key: &str) -> Result<Vec<String>, String> {
    let Some(value) = table.get(key) else { return Ok(Vec::new()) };
    let array = value.as_array().ok_or(format!("`{key}` is no list"))?;
    array
        .iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or(format!("`{key}` holds no texts")))
        .collect()
}
