//! The index of rules: by tool, then by what their contents say.

use std::collections::BTreeMap;

use super::heads::Heads;
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
    /// The same by the tool they are for; what follows says at which place here.
    tools: Vec<ToolRules>,
    /// Rules for tools of one name.
    by_name: BTreeMap<Box<str>, usize>,
    /// Rules for tools whose names begin so, by that beginning.
    by_beginning: BTreeMap<Box<str>, usize>,
    /// How long those beginnings are.
    lengths: Vec<usize>,
    /// Rules for tools whose names fit another glob.
    by_glob: Vec<(Box<str>, usize)>,
}

/// Where rules for the same tools go: they often stand behind each other.
#[derive(Default)]
struct Target {
    /// The tools, as the rule names them.
    names: Box<str>,
    /// The places of these tools, and what contents mean there.
    places: Vec<(usize, Vec<Family>)>,
    /// Whether the rule asks or denies.
    is_strict: bool,
}

/// The rules for one tool name.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolRules {
    allow: Option<Box<Contents>>,
    ask: Option<Box<Contents>>,
    deny: Option<Box<Contents>>,
    /// How those that ask or deny begin, where they are about commands.
    pub(super) heads: Heads,
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

    fn insert(
        &mut self,
        content: Option<&str>,
        families: &[Family],
        outcome: Outcome,
        rule: RuleId,
    ) {
        let content = content.filter(|content| !content.trim().is_empty());
        let contents = self.of_mut(outcome);
        contents.all.push(rule);
        let Some(content) = content else {
            contents.whole.get_or_insert(rule);
            return;
        };
        for family in families {
            match family {
                Family::Words => self.insert_words(content, outcome, rule),
                Family::Paths | Family::Inputs | Family::Whole => {
                    self.of_mut(outcome).insert(content, *family, outcome, rule);
                }
            }
        }
    }

    /// Adds a rule about commands.
    fn insert_words(&mut self, content: &str, outcome: Outcome, rule: RuleId) {
        let is_strict = outcome != Outcome::Allow;
        let pattern = WordPattern::parse(content);
        // Without quotes both are the same.
        let raw = (is_strict && content.contains(['\'', '"']))
            .then(|| WordPattern::parse_raw(content))
            .filter(|raw| *raw != pattern);
        for pattern in raw.iter().chain([&pattern]) {
            let words = self.of_mut(outcome).words.get_or_insert_default();
            if is_strict {
                words.insert_strict(pattern, rule);
                self.heads.insert(pattern);
            } else {
                words.insert(pattern, rule);
            }
        }
    }
}

impl Rules {
    /// Takes rules in; `tools` are those that the policy declares.
    #[must_use]
    pub fn new(rules: Vec<Rule>, tools: &[Spec]) -> Rules {
        let mut index = Rules { listed: Vec::with_capacity(rules.len()), ..Rules::default() };
        let mut target = Target::default();
        for rule in rules {
            index.insert(rule, tools, &mut target);
        }
        index
    }

    /// The same rules and one more.
    #[must_use]
    pub fn with(&self, rule: Rule, tools: &[Spec]) -> Rules {
        let mut index = self.clone();
        index.insert(rule, tools, &mut Target::default());
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
        let mut hand = |at: usize| {
            if let Some(found) = self.tools.get(at) {
                hand(found);
            }
        };
        if let Some(at) = self.by_name.get(name) {
            hand(*at);
        }
        for length in &self.lengths {
            if let Some(beginning) = name.get(..*length)
                && let Some(at) = self.by_beginning.get(beginning)
            {
                hand(*at);
            }
        }
        for (pattern, at) in &self.by_glob {
            if glob::matches(pattern, name) {
                hand(*at);
            }
        }
    }

    fn insert(&mut self, rule: Rule, tools: &[Spec], target: &mut Target) {
        let Ok(id) = RuleId::try_from(self.listed.len()) else { return };
        let Ok((names, content)) = split(&rule.text) else { return };
        let is_strict = rule.outcome != Outcome::Allow;
        if target.places.is_empty() || *target.names != *names || target.is_strict != is_strict {
            let each = names.split('|').map(str::trim);
            // Who stops both edits and writes of a file stops a patch of it, which is either.
            let has = |wanted: &str| each.clone().any(|name| name == wanted);
            let patches = is_strict && has("Edit") && has("Write") && !has("Patch");
            let each = each.clone().chain(patches.then_some("Patch"));
            let places = each.map(|name| (self.place(name), families(name, tools)));
            *target = Target { names: names.into(), places: places.collect(), is_strict };
        }
        for (at, families) in &target.places {
            if let Some(tool) = self.tools.get_mut(*at) {
                tool.insert(content, families, rule.outcome, id);
            }
        }
        self.listed.push(rule);
    }

    /// The place for rules of a tool name or a glob over names.
    fn place(&mut self, name: &str) -> usize {
        let new = self.tools.len();
        let beginning = name.strip_suffix('*').filter(|rest| !has_meaning(rest));
        let at = if let Some(beginning) = beginning {
            if !self.lengths.contains(&beginning.len()) {
                self.lengths.push(beginning.len());
            }
            *self.by_beginning.entry(beginning.into()).or_insert(new)
        } else if !has_meaning(name) {
            *self.by_name.entry(name.into()).or_insert(new)
        } else if let Some((_, at)) = self.by_glob.iter().find(|(known, _)| **known == *name) {
            *at
        } else {
            self.by_glob.push((name.into(), new));
            new
        };
        if at == new {
            self.tools.push(ToolRules::default());
        }
        at
    }
}

impl Contents {
    /// Adds a rule about anything but commands.
    fn insert(&mut self, content: &str, family: Family, outcome: Outcome, rule: RuleId) {
        match family {
            Family::Paths => {
                let paths = self.paths.get_or_insert_default();
                if outcome == Outcome::Allow {
                    paths.insert(content, Reach::Root, rule);
                } else {
                    paths.insert_strict(content, Reach::Everywhere, rule);
                }
            }
            Family::Inputs if content.trim() == "*" => {
                self.whole.get_or_insert(rule);
            }
            Family::Inputs => self.inputs.get_or_insert_default().insert(content, rule),
            Family::Words | Family::Whole => {}
        }
    }
}

/// Whether a tool's name is a glob.
fn has_meaning(name: &str) -> bool {
    name.contains(['*', '?', '['])
}
