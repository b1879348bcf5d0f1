//! Our entries in a host's file: those that the host heeds, and those that merely stand there.
//!
//! A host heeds an entry at its event, in a group that fits every tool; the same words elsewhere in
//! the file gate nothing. Of two members with one name the last one counts, as for every host here.

use serde_json::{Map, Value, json};

use super::hosts::{Host, Shape};
use super::jsonc;

impl Host {
    /// Whether the text of a file has exactly these entries of ours, where the host heeds them, and
    /// no other.
    pub(super) fn holds(&self, text: &str, wanted: &[(&str, Value)]) -> anyhow::Result<bool> {
        if text.trim().is_empty() {
            return Ok(false);
        }
        let place = |(event, item): &(&str, Value)| match item.pointer("/hooks/0") {
            Some(hook) => json!([event, around(item), hook]),
            None => json!([event, item]),
        };
        let wanted: Vec<Value> = wanted.iter().map(place).collect();
        Ok(self.heeded(text)? == wanted && self.entries(text)?.len() == wanted.len())
    }

    /// Our entries where the host heeds them, each with its event and what its group says.
    pub fn heeded(&self, text: &str) -> anyhow::Result<Vec<Value>> {
        if self.shape == Shape::Whole || text.trim().is_empty() {
            return self.entries(text);
        }
        let all = jsonc::value(text, &jsonc::read(text)?);
        let list =
            |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
        let hooks = all.get("hooks");
        let mut found = Vec::new();
        for event in self.events {
            let items = match self.shape {
                Shape::First => list(all.get("amp.permissions")).into_iter().take(1).collect(),
                Shape::Groups | Shape::Flat | Shape::Whole => {
                    list(hooks.and_then(|hooks| hooks.get(event)))
                }
            };
            for item in items {
                if self.shape == Shape::Groups {
                    let own = list(item.get("hooks")).into_iter().filter(|hook| self.is_ours(hook));
                    found.extend(own.map(|hook| json!([event, around(&item), hook])));
                } else if self.is_ours(&item) {
                    found.push(json!([event, item]));
                }
            }
        }
        Ok(found)
    }

    /// The entry that the host heeds at its gate.
    pub fn gate(&self, text: &str) -> anyhow::Result<Option<Value>> {
        let event = self.events.first().copied().unwrap_or_default();
        let heeded = self.heeded(text)?;
        let at_gate = heeded.iter().find(|entry| entry.get(0).is_some_and(|it| it == event));
        Ok(at_gate.and_then(|entry| entry.as_array()?.last().cloned()))
    }

    /// Our entries in the text of a file, wherever they stand.
    pub fn entries(&self, text: &str) -> anyhow::Result<Vec<Value>> {
        if self.shape == Shape::Whole {
            return Ok(if self.is_own_file(text) { vec![json!(text)] } else { Vec::new() });
        }
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        jsonc::find(text, &|value| self.is_ours(value))
    }

    /// Whether a file, where the host has one for each hook, is ours.
    pub(super) fn is_own_file(&self, text: &str) -> bool {
        let is_hook = text.contains(&format!("hook {}", self.name));
        text.contains("portcullis") && (is_hook || text.contains("tool.execute.before"))
    }

    /// Whether a value is an entry of ours, of any version.
    pub(super) fn is_ours(&self, value: &Value) -> bool {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
        if self.shape == Shape::First {
            return text("to").ends_with("portcullis-hook-amp");
        }
        if text("type") == "http" {
            return text("url").ends_with(&format!("/v1/hooks/{}", self.name));
        }
        let mut line = text("command").to_owned();
        let arguments = value.get("args").and_then(Value::as_array);
        for word in arguments.into_iter().flatten().filter_map(Value::as_str) {
            line = format!("{line} {word}");
        }
        line.contains("portcullis") && format!("{line} ").contains(&format!("hook {} ", self.name))
    }
}

/// What a group says beside its hooks.
fn around(group: &Value) -> Map<String, Value> {
    let mut group = group.as_object().cloned().unwrap_or_default();
    group.remove("hooks");
    group
}
