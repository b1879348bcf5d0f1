//! Policies: what each layer says, and what is in force, in the words of a policy file.

use std::io::{self, Write};

use portcullis_layers::{Layer, Layers};
use serde_json::Value;

use super::paragraph::COLUMNS;
use crate::escape;
use crate::palette::{Ink, Palette};
use crate::settings::{self, Effective, Setting};

/// Writes the layers one after the other.
pub fn layers(out: &mut impl Write, layers: &Layers, palette: Palette) -> io::Result<()> {
    if layers.layers.is_empty() {
        writeln!(out, "no policy file is in force; `portcullis policy init` writes one")?;
    }
    for layer in &layers.layers {
        heading(out, layer, palette)?;
        for setting in settings::said(&layer.said) {
            let is_out = layer.left_out.iter().any(|name| settings::covers(name, setting.key));
            let note = if is_out { Some("left out") } else { None };
            write_setting(out, &setting, note, "  ", palette)?;
        }
        let tests = layer.said.tests.len();
        if tests > 0 {
            writeln!(out, "  {}", palette.paint(Ink::Frame, &format!("# tests: {tests}")))?;
        }
    }
    Ok(())
}

fn heading(out: &mut impl Write, layer: &Layer, palette: Palette) -> io::Result<()> {
    let source = palette.paint(Ink::Title, layer.source.name());
    let path = escape::line(layer.path.to_string_lossy().as_bytes());
    let trust = if layer.left_out.is_empty() { "" } else { " (not trusted)" };
    writeln!(out, "{source}: {path}{}", palette.paint(Ink::Unknown, trust))
}

/// Writes what is in force, each value with where it comes from.
pub fn effective(out: &mut impl Write, settings: &[Effective], palette: Palette) -> io::Result<()> {
    for Effective { setting, sources } in settings {
        write_setting(out, setting, Some(&sources.join(", ")), "", palette)?;
    }
    Ok(())
}

/// Writes one key and its value, on several lines where one is too short.
pub fn write_setting(
    out: &mut impl Write,
    setting: &Setting,
    note: Option<&str>,
    indent: &str,
    palette: Palette,
) -> io::Result<()> {
    let key = palette.paint(Ink::Name, setting.key);
    let note =
        note.map(|note| palette.paint(Ink::Frame, &format!("  # {note}"))).unwrap_or_default();
    let whole = value(&setting.value);
    let is_short = indent.len() + setting.key.len() + whole.chars().count() + 24 <= COLUMNS;
    match setting.value.as_array() {
        Some(items) if !is_short => {
            writeln!(out, "{indent}{key} = [{note}")?;
            for item in items {
                writeln!(out, "{indent}  {},", value(item))?;
            }
            writeln!(out, "{indent}]")
        }
        Some(_) | None => writeln!(out, "{indent}{key} = {whole}{note}"),
    }
}

/// A value as a policy file would have it.
fn value(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(self::value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{key} = {}", self::value(value));
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            escape::line(value.to_string().as_bytes())
        }
    }
}
