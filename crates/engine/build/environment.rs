//! Compiles the variables: `data/environment.toml` becomes static tables.

use std::fmt::Write;

use toml::{Table, Value};

/// The text of `environment.rs`.
pub fn compile(text: &str) -> Result<String, String> {
    let table: Table = text.parse().map_err(|error| format!("{error}").replace('\n', " | "))?;
    let mut out = String::new();
    for key in [
        "harmless", "covered", "named", "numbers", "zsh", "tied", "loader", "values", "secret",
        "unmoved",
    ] {
        let text = table.get(key).and_then(Value::as_str).ok_or(format!("`{key}` is no text"))?;
        let mut words: Vec<&str> = text.split_whitespace().collect();
        words.sort_unstable();
        words.dedup();
        let has_globs = matches!(key, "harmless" | "covered" | "named" | "loader" | "secret");
        let (globs, names): (Vec<&str>, Vec<&str>) =
            words.into_iter().partition(|word| word.contains('*') && has_globs);
        let upper = key.to_uppercase();
        let _ = writeln!(out, "static {upper}: &[&str] = &{names:?};");
        if has_globs {
            let globs: Vec<String> =
                globs.iter().map(|glob| format!("Glob::new({glob:?})")).collect();
            let _ = writeln!(out, "static {upper}_GLOBS: &[Glob] = &[{}];", globs.join(", "));
        }
    }
    Ok(out)
}
