//! Tables: typed reading of a policy text's keys, each mistake with its place and the way out.

use std::ops::Range;

use super::node::{Node, Value};
use crate::error::PolicyError;

/// One table of a policy text whose keys are all known.
pub(super) struct Table<'a> {
    /// Its dotted name with a final dot; empty for the whole text.
    prefix: String,
    entries: &'a [super::node::Entry],
    pub(super) span: Option<Range<usize>>,
}

impl<'a> Table<'a> {
    /// The table in a node; refuses any key that is not among `known`.
    pub(super) fn open(
        node: &'a Node,
        name: &str,
        known: &[&str],
    ) -> Result<Table<'a>, PolicyError> {
        let Value::Table(entries) = &node.value else {
            let what = if name.is_empty() { "a policy" } else { name };
            return Err(wrong_sort(what, "a table", node));
        };
        let prefix = if name.is_empty() { String::new() } else { format!("{name}.") };
        for entry in entries {
            if !known.contains(&entry.key.as_str()) {
                let message = format!("unknown key `{prefix}{}`", entry.key);
                let error = PolicyError::new(message, entry.span.clone());
                return Err(error.with_help(match nearest(&entry.key, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known are {}", listed(known)),
                }));
            }
        }
        Ok(Table { prefix, entries, span: node.span.clone() })
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The dotted name of a key.
    pub(super) fn name(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// A text.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, PolicyError> {
        self.get(key).map(|node| text(&self.name(key), node).map(str::to_owned)).transpose()
    }

    /// A text that must be there.
    pub(super) fn required(&self, key: &str) -> Result<String, PolicyError> {
        self.text(key)?.filter(|text| !text.is_empty()).ok_or_else(|| {
            PolicyError::new(format!("`{}` is missing", self.name(key)), self.span.clone())
        })
    }

    /// True or false.
    pub(super) fn bool(&self, key: &str) -> Result<Option<bool>, PolicyError> {
        match self.get(key) {
            None => Ok(None),
            Some(Node { value: Value::Bool(is_true), .. }) => Ok(Some(*is_true)),
            Some(node) => Err(wrong_sort(&self.name(key), "true or false", node)),
        }
    }

    /// A number of seconds or anything else that is not negative.
    pub(super) fn natural(&self, key: &str) -> Result<Option<u64>, PolicyError> {
        match self.get(key) {
            None => Ok(None),
            Some(Node { value: Value::Integer(integer), span }) => {
                u64::try_from(*integer).map(Some).map_err(|_| {
                    let message = format!("`{}` is negative", self.name(key));
                    PolicyError::new(message, span.clone()).with_help("use 0 or more")
                })
            }
            Some(node) => Err(wrong_sort(&self.name(key), "an integer", node)),
        }
    }

    /// A list of values.
    pub(super) fn list(&self, key: &str) -> Result<Option<&'a [Node]>, PolicyError> {
        match self.get(key) {
            None => Ok(None),
            Some(Node { value: Value::List(items), .. }) => Ok(Some(items)),
            Some(node) => Err(wrong_sort(&self.name(key), "a list", node)),
        }
    }

    /// A list of texts; none where the key is absent.
    pub(super) fn texts(&self, key: &str) -> Result<Option<Vec<String>>, PolicyError> {
        let Some(items) = self.list(key)? else { return Ok(None) };
        let name = self.name(key);
        items
            .iter()
            .map(|item| text(&name, item).map(str::to_owned))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, PolicyError> {
        self.get(key).map(|node| choose(&self.name(key), node, choices)).transpose()
    }
}

/// The text in a node.
pub(super) fn text<'a>(name: &str, node: &'a Node) -> Result<&'a str, PolicyError> {
    match &node.value {
        Value::Text(text) => Ok(text),
        Value::Integer(_)
        | Value::Bool(_)
        | Value::List(_)
        | Value::Table(_)
        | Value::Other(..) => Err(wrong_sort(name, "a text", node)),
    }
}

fn choose<T: Copy>(name: &str, node: &Node, choices: &[(&str, T)]) -> Result<T, PolicyError> {
    let word = text(name, node)?;
    let found = choices.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        PolicyError::new(format!("unknown value `{word}` of `{name}`"), node.span.clone())
            .with_help(format!("use one of {}", listed(&names)))
    })
}

/// The error for a value of the wrong sort.
pub(super) fn wrong_sort(name: &str, wanted: &str, node: &Node) -> PolicyError {
    let message = format!("`{name}` must be {wanted}, not {}", node.sort());
    PolicyError::new(message, node.span.clone())
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The known word that differs least, if any differs little.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = 1 + word.len() / 3;
    known
        .iter()
        .map(|known| (distance(word, known), *known))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// How many letters must be added, left out, changed or swapped.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().take(64).collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.iter().enumerate() {
        let mut row = vec![at + 1];
        for (to_at, wanted) in to.iter().enumerate() {
            let cell =
                |row: &[usize], place: usize| row.get(place).copied().unwrap_or(usize::MAX / 2);
            let mut best = (cell(&last, to_at) + usize::from(letter != wanted))
                .min(cell(&last, to_at + 1) + 1)
                .min(cell(&row, to_at) + 1);
            let is_swap = at.checked_sub(1).and_then(|before| from.get(before)) == Some(wanted)
                && to_at.checked_sub(1).and_then(|before| to.get(before)) == Some(letter);
            if is_swap && let Some(before) = to_at.checked_sub(1) {
                best = best.min(cell(&before_last, before) + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(from.len())
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_known_key_is_named() {
        let known = ["mode", "workspace", "sensitive_reads", "network_reads", "rules"];
        #[rustfmt::skip]
        let cases = [
            ("mdoe", Some("mode")),     ("rule", Some("rules")),    ("senstive_reads", Some("sensitive_reads")),
            ("zzz", None),              ("sensitive-reads", Some("sensitive_reads")),
        ];
        for (word, want) in cases {
            assert_eq!(nearest(word, &known), want, "`{word}`");
        }
    }
}
