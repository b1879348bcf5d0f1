//! The index of rules: by tool, then by what their contents say.

use std::collections::HashMap;

use super::others::InputIndex;
use super::paths::PathIndex;
use super::words::{RuleId, WordIndex};
use super::{Rule, split};
use crate::glob;
use crate::pattern::path::Reach;
use crate::pattern::words::WordPattern;
use crate::tool::{Family, Spec, families};
use crate::verdict::Outcome;

/// Many rules, found without looking at each.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    listed: Vec<Rule>,
    /// Rules for tools of one name.
    by_name: HashMap<Box<str>, ToolRules>,
    /// Rules for tools whose names begin so, by that beginning.
    by_beginning: HashMap<Box<str>, ToolRules>,
    /// How long those beginnings are.
    lengths: Vec<usize>,
    /// Rules for tools whose names fit another glob.
    by_glob: Vec<(Box<str>, ToolRules)>,
}

/// The rules for one tool name.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolRules {
    allow: Option<Box<Contents>>,
    ask: Option<Box<Contents>>,
    deny: Option<Box<Contents>>,
}

/// Rules of one outcome for one tool name, by their contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    /// All of them.
    pub(super) all: Vec<RuleId>,
    /// One without content.
    pub(super) whole: Option<RuleId>,
    pub(super) words: Option<Box<WordIndex>>,
    pub(super) paths: Option<Box<PathIndex>>,
    pub(super) inputs: Option<Box<InputIndex>>,
}

impl ToolRules {
    pub(super) fn of(&self, outcome: Outcome) -> Option<&Contents> {
        match outcome {
            Outcome::Allow => self.allow.as_deref(),
            Outcome::Ask => self.ask.as_deref(),
            Outcome::Deny => self.deny.as_deref(),
        }
    }

    fn of_mut(&mut self, outcome: Outcome) -> &mut Contents {
        match outcome {
            Outcome::Allow => self.allow.get_or_insert_default(),
            Outcome::Ask => self.ask.get_or_insert_default(),
            Outcome::Deny => self.deny.get_or_insert_default(),
        }
    }
}

impl Rules {
    /// Takes rules in; `tools` are those that the policy declares.
    #[must_use]
    pub fn new(rules: Vec<Rule>, tools: &[Spec]) -> Rules {
        let mut index = Rules::default();
        let mut known: HashMap<String, Vec<Family>> = HashMap::new();
        for rule in rules {
            index.insert(rule, tools, &mut known);
        }
        index
    }

    /// The same rules and one more.
    #[must_use]
    pub fn with(&self, rule: Rule, tools: &[Spec]) -> Rules {
        let mut index = self.clone();
        index.insert(rule, tools, &mut HashMap::new());
        index
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.listed.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Every rule.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.listed.iter()
    }

    pub(super) fn get(&self, rule: RuleId) -> Option<&Rule> {
        self.listed.get(rule as usize)
    }

    /// Hands over the rules for a tool of this name.
    pub(super) fn for_tool<'a>(&'a self, name: &str, mut hand: impl FnMut(&'a ToolRules)) {
        if self.listed.is_empty() {
            return;
        }
        if let Some(found) = self.by_name.get(name) {
            hand(found);
        }
        for length in &self.lengths {
            if let Some(beginning) = name.get(..*length)
                && let Some(found) = self.by_beginning.get(beginning)
            {
                hand(found);
            }
        }
        for (pattern, found) in &self.by_glob {
            if glob::matches(pattern, name) {
                hand(found);
            }
        }
    }

    fn insert(&mut self, rule: Rule, tools: &[Spec], known: &mut HashMap<String, Vec<Family>>) {
        let Ok(id) = RuleId::try_from(self.listed.len()) else { return };
        let Ok((names, content)) = split(&rule.text) else { return };
        for name in names.split('|').map(str::trim) {
            if !known.contains_key(name) {
                known.insert(name.to_owned(), families(name, tools));
            }
            let families = known.get(name).map_or(&[][..], Vec::as_slice);
            let contents = self.place(name).of_mut(rule.outcome);
            contents.insert(content, families, rule.outcome, id);
        }
        self.listed.push(rule);
    }

    /// The place for rules of a tool name or a glob over names.
    fn place(&mut self, name: &str) -> &mut ToolRules {
        let beginning = name.strip_suffix('*').filter(|rest| !has_meaning(rest));
        if let Some(beginning) = beginning {
            if !self.lengths.contains(&beginning.len()) {
                self.lengths.push(beginning.len());
            }
            return self.by_beginning.entry(beginning.into()).or_default();
        }
        if !has_meaning(name) {
            return self.by_name.entry(name.into()).or_default();
        }
        let known = self.by_glob.iter().position(|(known, _)| **known == *name);
        let at = known.unwrap_or_else(|| {
            self.by_glob.push((name.into(), ToolRules::default()));
            self.by_glob.len() - 1
        });
        // The entry at `at` was found or made just now.
        match self.by_glob.get_mut(at) {
            Some((_, found)) => found,
            None => self.by_name.entry(name.into()).or_default(),
        }
    }
}

impl Contents {
    fn insert(
        &mut self,
        content: Option<&str>,
        families: &[Family],
        outcome: Outcome,
        rule: RuleId,
    ) {
        self.all.push(rule);
        let Some(content) = content.filter(|content| !content.trim().is_empty()) else {
            self.whole.get_or_insert(rule);
            return;
        };
        let is_strict = outcome != Outcome::Allow;
        for family in families {
            match family {
                Family::Words => {
                    let index = self.words.get_or_insert_default();
                    let pattern = WordPattern::parse(content);
                    let raw = WordPattern::parse_raw(content);
                    if is_strict && raw != pattern {
                        index.insert(&raw, rule);
                    }
                    index.insert(&pattern, rule);
                }
                Family::Paths => {
                    let paths = self.paths.get_or_insert_default();
                    if is_strict {
                        paths.insert_strict(content, Reach::Everywhere, rule);
                    } else {
                        paths.insert(content, Reach::Root, rule);
                    }
                }
                Family::Inputs if content.trim() == "*" => {
                    self.whole.get_or_insert(rule);
                }
                Family::Inputs => self.inputs.get_or_insert_default().insert(content, rule),
                Family::Whole => {}
            }
        }
    }
}

/// Whether a tool's name is a glob.
fn has_meaning(name: &str) -> bool {
    name.contains(['*', '?', '['])
}
