//! What is wrong with a configuration, in our words: the sentence, its place, the way out.

use std::ops::Range;

use portcullis_wire::nearest::nearest;

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", help.as_ref().map(|help| format!("; {help}")).unwrap_or_default())]
pub struct ConfigError {
    /// One sentence.
    pub message: String,
    /// The bytes of the text it is about.
    pub span: Option<Range<usize>>,
    /// The way out, where the sentence does not name it.
    pub help: Option<String>,
}

impl ConfigError {
    /// A sentence about what the file says as a whole; it begins with the key in backticks.
    #[must_use]
    pub const fn new(message: String) -> ConfigError {
        ConfigError { message, span: None, help: None }
    }

    /// What the reader of TOML says about a text.
    #[must_use]
    pub fn of_toml(error: &toml::de::Error, text: &str) -> ConfigError {
        let span = error.span();
        let said = error.message();
        let names: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
        if said.starts_with("unknown field")
            && let [name, known @ ..] = names.as_slice()
        {
            let help = match nearest(name, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here are `{}`", known.join("`, `")),
            };
            return ConfigError {
                message: format!("unknown key `{name}`"),
                span,
                help: Some(help),
            };
        }
        let key = span.as_ref().and_then(|span| key_before(text, span.start));
        let wrong = said.split_once(": ").filter(|(what, _)| what.starts_with("invalid "));
        let (found, wanted) = wrong.and_then(|(_, rest)| rest.rsplit_once(", expected ")).unzip();
        let message = match (key, found.map(kind), wanted.map(kind)) {
            (Some(key), Some(found), Some(wanted)) if found == wanted => {
                format!("`{key}` cannot be {}", found_value(text, span.as_ref()))
            }
            (Some(key), Some(found), Some(wanted)) => {
                format!("`{key}` must be {wanted}, not {found}")
            }
            _ => said.to_owned(),
        };
        ConfigError { message, span, help: None }
    }

    /// The same with the place of the key that it begins with.
    #[must_use]
    pub fn in_text(self, text: &str) -> ConfigError {
        let span = self.message.split('`').nth(1).and_then(|key| place(text, key));
        ConfigError { span: self.span.or(span), ..self }
    }
}

/// A kind of value in our words, by what serde calls it.
fn kind(name: &str) -> &'static str {
    let first = name.split([' ', '`', '"']).find(|word| !word.is_empty() && *word != "a");
    match first.unwrap_or_default() {
        "string" | "socket" => "a text",
        "integer" | "usize" | "u64" | "u32" | "u16" | "nonzero" => "a whole number",
        "floating" | "float" => "a fraction",
        "boolean" => "true or false",
        "sequence" => "a list",
        "map" | "struct" => "a table",
        _ => "that",
    }
}

fn found_value<'a>(text: &'a str, span: Option<&Range<usize>>) -> &'a str {
    span.and_then(|span| text.get(span.clone())).unwrap_or("that")
}

/// The key on whose line a value stands.
fn key_before(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let line = before.rsplit('\n').next()?;
    let (key, _) = line.split_once('=')?;
    let key = key.trim();
    (!key.is_empty()).then_some(key)
}

/// The line that gives a key, which is named with its table.
fn place(text: &str, key: &str) -> Option<Range<usize>> {
    let mut table = "";
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let said = line.trim();
        if let Some(name) = said.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = name.trim();
        } else if let Some((name, _)) = said.split_once('=') {
            let name = name.trim();
            let is_it = match key.strip_suffix(name).map(|before| before.strip_suffix('.')) {
                Some(Some(before)) => before == table,
                Some(None) => table.is_empty() && key == name,
                None => false,
            };
            if is_it {
                let indent = line.len() - line.trim_start().len();
                return Some(begin + indent..begin + indent + said.len());
            }
        }
        begin += line.len();
    }
    None
}
