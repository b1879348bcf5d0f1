//! Compiles the table of tools: `data/tools.toml` becomes `tools.rs`.

use std::collections::BTreeSet;
use std::fmt::Write;

use toml::Value;

const KINDS: [&str; 10] =
    ["shell", "read", "write", "edit", "patch", "search", "fetch", "agent", "mcp", "other"];

const FIELDS: [&str; 17] = [
    "command", "cwd", "shell", "path", "paths", "content", "pattern", "url", "query", "prompt",
    "patch", "agent", "server", "tool", "input", "timeout", "glob",
];

const KEYS: [&str; 12] = [
    "name",
    "hosts",
    "kind",
    "rule",
    "fields",
    "shell",
    "also",
    "read_only",
    "read_only_when",
    "listing",
    "separator",
    "about",
];

/// The text of `tools.rs`.
pub fn compile(text: &str) -> Result<String, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let listed = table.get("tool").and_then(Value::as_array).ok_or("`tool` is no list")?;
    let mut exact = Vec::new();
    let mut globs = Vec::new();
    let mut seen = BTreeSet::new();
    for entry in listed {
        let entry = entry.as_table().ok_or("a tool is no table")?;
        let name = text_of(entry, "name")?.ok_or("a tool has no name")?;
        let spec = spec(entry).map_err(|error| format!("tool `{name}`: {error}"))?;
        for host in texts_of(entry.get("hosts"))? {
            if !seen.insert((name.clone(), host.clone())) {
                return Err(format!("tool `{name}` of `{host}` stands there twice"));
            }
        }
        if name.contains('*') { globs.push(spec) } else { exact.push((name, spec)) }
    }
    // A stable sort keeps a name's entries in the order of the data.
    exact.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut out = String::from("pub(super) static EXACT: &[Spec] = &[\n");
    for (_, spec) in exact {
        let _ = writeln!(out, "{spec},");
    }
    out.push_str("];\npub(super) static GLOBS: &[Spec] = &[\n");
    for spec in globs {
        let _ = writeln!(out, "{spec},");
    }
    out.push_str("];\n");
    Ok(out)
}

fn spec(entry: &toml::Table) -> Result<String, String> {
    if let Some(key) = entry.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("unknown key `{key}`"));
    }
    let kind = text_of(entry, "kind")?.ok_or("no kind")?;
    if !KINDS.contains(&kind.as_str()) {
        return Err(format!("unknown kind `{kind}`"));
    }
    let rule = text_of(entry, "rule")?.ok_or("no rule name")?;
    let shell = text_of(entry, "shell")?;
    let is_foreign = matches!(shell.as_deref(), Some("powershell" | "cmd"));
    if shell.is_some() && !is_foreign {
        return Err("`shell` is powershell or cmd".into());
    }
    let mut fields = Vec::new();
    if let Some(given) = entry.get("fields") {
        for (field, names) in given.as_table().ok_or("`fields` is no table")? {
            if !FIELDS.contains(&field.as_str()) {
                return Err(format!("unknown field `{field}`"));
            }
            let names = borrowed(&texts_of(Some(names))?);
            fields.push(format!("(Field::{}, Cow::Borrowed(&[{names}]))", capital(field)));
        }
    }
    Ok(format!(
        "Spec {{ name: Cow::Borrowed({:?}), hosts: Cow::Borrowed(&[{}]), kind: ToolKind::{}, has_kind: true, \
         rule: Cow::Borrowed({rule:?}), also: {}, fields: Cow::Borrowed(&[{}]), is_foreign_shell: {is_foreign}, \
         is_listing: {}, is_read_only: {}, read_only_unless: {}, read_only_when: Vec::new(), \
         safety: Vec::new(), separator: {} }}",
        text_of(entry, "name")?.unwrap_or_default(),
        borrowed(&texts_of(entry.get("hosts"))?),
        capital(&kind),
        optional(text_of(entry, "also")?),
        fields.join(", "),
        flag(entry, "listing")?,
        flag(entry, "read_only")?,
        optional(unless(entry)?),
        optional(text_of(entry, "separator")?),
    ))
}

/// The field whose absence makes a tool read-only: the one condition the data has.
fn unless(entry: &toml::Table) -> Result<Option<String>, String> {
    let Some(conditions) = entry.get("read_only_when") else { return Ok(None) };
    let conditions = conditions.as_array().ok_or("`read_only_when` is no list")?;
    match conditions.as_slice() {
        [Value::Table(only)] if only.get("absent") == Some(&Value::Boolean(true)) => {
            text_of(only, "field")
        }
        _ => Err("`read_only_when` of the table is one field that must be absent".into()),
    }
}

fn text_of(entry: &toml::Table, key: &str) -> Result<Option<String>, String> {
    match entry.get(key) {
        None => Ok(None),
        Some(value) => {
            value.as_str().map(|text| Some(text.to_owned())).ok_or(format!("`{key}` is no text"))
        }
    }
}

fn texts_of(value: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(value) = value else { return Ok(Vec::new()) };
    if let Some(text) = value.as_str() {
        return Ok(vec![text.to_owned()]);
    }
    let texts = value.as_array().ok_or("neither a text nor a list of texts")?;
    texts.iter().map(|text| text.as_str().map(str::to_owned).ok_or("no text".into())).collect()
}

fn flag(entry: &toml::Table, key: &str) -> Result<bool, String> {
    match entry.get(key) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or(format!("`{key}` is neither true nor false")),
    }
}

fn borrowed(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("Cow::Borrowed({text:?})")).collect();
    texts.join(", ")
}

fn optional(text: Option<String>) -> String {
    text.map_or("None".into(), |text| format!("Some(Cow::Borrowed({text:?}))"))
}

/// The name of the variant for a word of the data.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
