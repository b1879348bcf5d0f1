//! Explaining: the listed differences, each with its reason.
//!
//! The list is `xtask/data/differences.toml`. A rule names the shells and the side it speaks
//! about and how its differences are recognised; everything that it names must hold. Where a
//! shell does not look into a part of a text, a rule does not simply believe us: see
//! [`blind`].

use anyhow::Context;
use serde::Deserialize;

use super::blind::{self, Part};
use super::compare::{Read, Relation, read};
use super::oracle::{Answer, Oracle, Shell};

/// The listed differences.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    #[serde(default)]
    difference: Vec<Rule>,
}

/// One listed difference.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A short name for the report.
    pub name: String,
    /// Why it is right that we differ.
    pub reason: String,
    /// The shells it is about, by [`Shell::name`].
    shells: Vec<String>,
    /// Who refuses.
    side: Side,
    /// The kind of our refusal.
    kind: Option<String>,
    /// What our sentence contains.
    ours: Option<String>,
    /// What their complaint contains.
    theirs: Option<String>,
    /// What the text contains, all of it.
    #[serde(default)]
    holds: Vec<String>,
    /// What stands in the text and what takes its place; then nobody differs.
    #[serde(default)]
    instead: Vec<(String, String)>,
    /// The only texts it is about.
    #[serde(default)]
    texts: Vec<String>,
    /// A part of the text that the shell does not look into.
    inside: Option<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Side {
    WeRefuse,
    WeAccept,
}

impl Rules {
    /// Reads the list.
    pub fn read(text: &str) -> anyhow::Result<Rules> {
        toml::from_str(text).context("the list of differences cannot be read")
    }

    /// The rules in the order of the list.
    pub fn all(&self) -> &[Rule] {
        &self.difference
    }

    /// The name of the first rule that explains a failure.
    pub fn explain(
        &self,
        oracle: &Oracle,
        shell: Shell,
        text: &[u8],
        relation: &Relation,
    ) -> anyhow::Result<Option<&str>> {
        for rule in &self.difference {
            if rule.shells.iter().any(|name| name == shell.name())
                && rule.speaks_of(text, relation)
                && rule.checks_out(oracle, shell, text, relation)?
            {
                return Ok(Some(&rule.name));
            }
        }
        self.explain_together(oracle, shell, text, relation)
    }

    /// The name of the first of several rules that explain a failure only together.
    fn explain_together(
        &self,
        oracle: &Oracle,
        shell: Shell,
        text: &[u8],
        relation: &Relation,
    ) -> anyhow::Result<Option<&str>> {
        if !matches!(relation, Relation::WeAccept { .. }) {
            return Ok(None);
        }
        let mut changed = text.to_vec();
        let mut first = None;
        for rule in self.difference.iter().filter(|rule| {
            rule.side == Side::WeAccept && rule.shells.iter().any(|name| name == shell.name())
        }) {
            let before = changed.clone();
            for (old, new) in &rule.instead {
                changed = replace(&changed, old.as_bytes(), new.as_bytes());
            }
            if first.is_none() && changed != before {
                first = Some(rule.name.as_str());
            }
        }
        let agree = matches!(read(shell, &changed), Read::Accepted(_))
            && oracle.ask(shell, &changed)? == Answer::Accepts;
        Ok(first.filter(|_| agree))
    }
}

impl Rule {
    fn speaks_of(&self, text: &[u8], relation: &Relation) -> bool {
        let contains = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| found.contains(wanted.as_str()))
        };
        let about = match relation {
            Relation::WeRefuse { kind, message, .. } => {
                self.side == Side::WeRefuse
                    && self.kind.as_ref().is_none_or(|wanted| wanted == kind.name())
                    && contains(&self.ours, message)
            }
            Relation::WeAccept { complaint } => {
                self.side == Side::WeAccept && contains(&self.theirs, complaint)
            }
            Relation::BothAccept
            | Relation::BothRefuse
            | Relation::Unlawful { .. }
            | Relation::Silent => false,
        };
        about
            && self.holds.iter().all(|part| find(text, part.as_bytes()).is_some())
            && (self.texts.is_empty() || self.texts.iter().any(|known| known.as_bytes() == text))
    }

    fn checks_out(
        &self,
        oracle: &Oracle,
        shell: Shell,
        text: &[u8],
        relation: &Relation,
    ) -> anyhow::Result<bool> {
        if !self.instead.is_empty() {
            let mut changed = text.to_vec();
            for (old, new) in &self.instead {
                changed = replace(&changed, old.as_bytes(), new.as_bytes());
            }
            let ours = matches!(read(shell, &changed), Read::Accepted(_));
            let theirs = oracle.ask(shell, &changed)? == Answer::Accepts;
            if changed == text || ours != theirs {
                return Ok(false);
            }
        }
        match (self.inside, relation) {
            (None, _) => Ok(true),
            (Some(Part::Parameter), Relation::WeRefuse { span, .. }) => {
                blind::is_bad_substitution(oracle, text, span.start as usize)
            }
            (Some(Part::BraceCommand), Relation::WeAccept { .. }) => {
                blind::agree_without_brace_commands(oracle, shell, text)
            }
            (Some(_), _) => Ok(false),
        }
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len().max(1)).position(|window| window == part)
}

fn replace(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut changed = Vec::new();
    let mut rest = text;
    while let Some(at) = find(rest, old) {
        changed.extend_from_slice(rest.get(..at).unwrap_or_default());
        changed.extend_from_slice(new);
        rest = rest.get(at + old.len()..).unwrap_or_default();
    }
    changed.extend_from_slice(rest);
    changed
}
