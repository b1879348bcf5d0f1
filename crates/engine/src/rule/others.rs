//! Rules about other tools: the exact input, one of its fields, an address, a name.

use std::collections::HashMap;

use serde_json::Value as Json;

use super::words::RuleId;
use crate::glob;
use crate::pattern::json;

/// The key of contents that name no field: another agent or a skill.
pub(super) const NAME: &str = "";

/// The key of contents that name a host: `domain:example.com`.
pub(super) const DOMAIN: &str = "domain";

/// The key of contents that are addresses.
pub(super) const URL: &str = "url";

/// Rules about inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct InputIndex {
    exact: HashMap<Box<str>, RuleId>,
    fields: HashMap<Box<str>, Values>,
}

#[derive(Clone, Debug, Default)]
struct Values {
    exact: HashMap<Box<str>, RuleId>,
    globs: Vec<(Box<str>, RuleId)>,
}

/// What a call says for one key of a rule.
pub(super) type Lookup<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// What the content of a rule about another tool says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// This very input.
    Exact(Json),
    /// A field that fits a glob.
    Field(String, String),
}

/// Reads the content of a rule about another tool.
pub(crate) fn content(text: &str) -> Content {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str::<Json>(text)
        && !value.is_string()
    {
        return Content::Exact(value);
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        return Content::Field(URL.to_owned(), text.to_owned());
    }
    let is_field = |name: &str| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
    };
    match text.split_once(':') {
        Some((field, value)) if is_field(field) => {
            let value = value.trim();
            let is_domain = field == DOMAIN;
            let value = if is_domain { value.to_ascii_lowercase() } else { value.to_owned() };
            Content::Field(field.to_owned(), value)
        }
        _ => Content::Field(NAME.to_owned(), text.to_owned()),
    }
}

impl InputIndex {
    pub(super) fn insert(&mut self, text: &str, rule: RuleId) {
        match content(text) {
            Content::Exact(value) => {
                self.exact.entry(json::canonical(&value).into()).or_insert(rule);
            }
            Content::Field(field, glob) => {
                let values = self.fields.entry(field.into()).or_default();
                if glob.contains(['*', '?', '[', '\\']) {
                    values.globs.push((glob.into(), rule));
                } else {
                    values.exact.entry(glob.into()).or_insert(rule);
                }
            }
        }
    }

    /// A rule that every value of its field fits, and there is one.
    pub(super) fn covers(&self, input: &str, lookup: Lookup<'_>) -> Option<RuleId> {
        self.exact.get(input).copied().or_else(|| {
            self.fields.iter().find_map(|(field, values)| {
                let given = lookup(field);
                let first = values.find(given.first()?)?;
                given.iter().all(|value| values.find(value).is_some()).then_some(first)
            })
        })
    }

    /// A rule that one value of its field fits.
    pub(super) fn speaks(&self, input: &str, lookup: Lookup<'_>) -> Option<RuleId> {
        self.exact.get(input).copied().or_else(|| {
            self.fields.iter().find_map(|(field, values)| {
                let given = lookup(field);
                let mut all = given.clone();
                if &**field == DOMAIN {
                    // Whoever denies a host denies those below it.
                    for host in &given {
                        all.extend(
                            host.match_indices('.')
                                .filter_map(|(at, _)| host.get(at + 1..).map(str::to_owned)),
                        );
                    }
                }
                all.iter().find_map(|value| values.find(value))
            })
        })
    }
}

impl Values {
    fn find(&self, value: &str) -> Option<RuleId> {
        self.exact.get(value).copied().or_else(|| {
            let mut fitting = self.globs.iter().filter(|(glob, _)| glob::matches(glob, value));
            fitting.next().map(|(_, rule)| *rule)
        })
    }
}
