//! The table: effects and program starts that are documented and nobody is asked about.
//!
//! It is data, `xtask/data/soft.toml`; every entry says why.

use std::path::Path;

use anyhow::{Context, Result};
use portcullis_engine::Verdict;
use portcullis_engine::effect::Effect;
use serde::Deserialize;

use super::effects::{Kind, Seen};
use super::sandbox::DIRECTORY;
use super::trace::base_name;

/// Everything that is documented.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    slow: Vec<String>,
    soft: Vec<Soft>,
    start: Vec<Start>,
}

/// Effects that are soft.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Soft {
    /// The programs that have them or start what has them; `*` stands for any text.
    programs: Vec<String>,
    /// The kinds of effect.
    kinds: Vec<String>,
    /// What they are done to.
    targets: Vec<String>,
    /// The words of the catalog that document it; an act must have them.
    catalog: Option<String>,
    /// Why they are soft.
    reason: String,
}

/// Programs that a program starts as part of what it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    /// The programs that start them.
    programs: Vec<String>,
    /// What is started: a name, or a path where the place matters.
    starts: Vec<String>,
    /// What the line that shows it must hold, where the name does not tell.
    line: Option<String>,
    /// Why they belong to it.
    reason: String,
}

/// What an effect turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding<'a> {
    /// An act names it.
    Named,
    /// It is documented, for this reason.
    Soft(&'a str),
    /// Nothing explains it.
    Hard,
}

impl Table {
    /// Reads the table of the checkout.
    pub fn read(root: &Path) -> Result<Table> {
        let path = root.join("xtask/data/soft.toml");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot read `{}`", path.display()))
    }

    /// Whether an act names a program of which few variations are run, because each takes long.
    pub fn is_slow(&self, verdict: &Verdict) -> bool {
        let mut names = verdict.acts.iter().filter_map(|judged| judged.act.base_name());
        names.any(|name| is_among(&self.slow, name))
    }

    /// What an effect is under a verdict.
    pub fn explain(&self, seen: &Seen, verdict: &Verdict) -> Finding<'_> {
        match seen.kind {
            Kind::Start if is_named(&seen.what, verdict) => return Finding::Named,
            // Asking a service that the user configured is what a query is.
            Kind::Connect if verdict.acts.iter().any(|act| act.act.has(Effect::Query)) => {
                return Finding::Named;
            }
            // Only files that a command names are asked about, not all that lie below.
            Kind::Secret if seen.what.starts_with(DIRECTORY) && has_depth(verdict) => {
                return Finding::Soft("a search to the bottom opens whatever lies there");
            }
            Kind::Start
            | Kind::Connect
            | Kind::Write
            | Kind::Delete
            | Kind::Signal
            | Kind::Change
            | Kind::Secret => {}
        }
        if seen.kind == Kind::Start {
            let fits = |start: &&Start| {
                is_of(&start.programs, seen)
                    && start.line.as_deref().is_none_or(|line| fits(line, &seen.line))
                    && (is_among(&start.starts, base_name(&seen.what))
                        || is_among(&start.starts, &seen.what))
            };
            return self
                .start
                .iter()
                .find(fits)
                .map_or(Finding::Hard, |s| Finding::Soft(&s.reason));
        }
        let says = |words: &str| verdict.acts.iter().any(|act| act.act.soft == Some(words));
        let fits = |soft: &&Soft| {
            is_of(&soft.programs, seen)
                && soft.kinds.iter().any(|kind| kind == seen.kind.name())
                && is_among(&soft.targets, &seen.what)
                && soft.catalog.as_deref().is_none_or(says)
        };
        self.soft.iter().find(fits).map_or(Finding::Hard, |soft| Finding::Soft(&soft.reason))
    }
}

fn has_depth(verdict: &Verdict) -> bool {
    let mut effects = verdict.acts.iter().flat_map(|judged| &judged.act.effects);
    effects.any(|on| on.is_deep && on.effect == Effect::Read)
}

/// Whether an act names the program that was started: by the name as it stands on the search
/// path, or by the path itself.
fn is_named(path: &str, verdict: &Verdict) -> bool {
    let is_system = !path.starts_with("/home/") && !path.starts_with("/tmp/");
    verdict.acts.iter().any(|judged| {
        let act = &judged.act;
        let program = act.program().unwrap_or_default();
        let names = std::iter::once(program).chain(act.via.iter().copied());
        names
            .into_iter()
            .any(|name| name == path || (is_system && base_name(name) == base_name(path)))
    })
}

/// Whether one of the programs did it, or had it done.
fn is_of(programs: &[String], seen: &Seen) -> bool {
    seen.lineage.iter().any(|program| is_among(programs, program))
}

fn is_among(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, text))
}

/// Whether a text fits a pattern in which `*` stands for any text, and `?` for any one sign.
fn fits(pattern: &str, text: &str) -> bool {
    let Some(place) = pattern.find(['*', '?']) else { return pattern == text };
    let (before, rest) = pattern.split_at(place);
    let Some(tail) = text.strip_prefix(before) else { return false };
    let mut signs = tail.chars();
    if let Some(rest) = rest.strip_prefix('?') {
        return signs.next().is_some() && fits(rest, signs.as_str());
    }
    let rest = rest.strip_prefix('*').unwrap_or(rest);
    let mut places = tail.char_indices().map(|(place, _)| place).chain([tail.len()]);
    places.any(|place| tail.get(place..).is_some_and(|tail| fits(rest, tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text_and_a_question_mark_for_one_sign() {
        assert!(fits("/tmp/sh-*", "/tmp/sh-thd.1"));
        assert!(fits("*", ""));
        assert!(fits("a*b*c", "aXbYbc"));
        assert!(fits("objects/??/*", "objects/6b/838"));
        assert!(!fits("objects/??/*", "objects/pack/838"));
        assert!(!fits("/tmp/*", "/home"));
        assert!(!fits("git", "git-log"));
    }

    #[test]
    fn every_entry_of_the_table_says_why() {
        let table = Table::read(&crate::checkout::root()).unwrap();
        assert!(table.soft.iter().all(|soft| soft.reason.len() > 10));
        assert!(table.start.iter().all(|start| start.reason.len() > 10));
    }
}
