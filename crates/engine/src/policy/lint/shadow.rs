//! Rules that never count because a wider one decides first.

use std::collections::HashMap;

use crate::pattern::words::{PatternWord, WordPattern};
use crate::rule::{Rule, split};
use crate::tool::{Family, Spec, families};
use crate::verdict::Outcome;

/// What a rule reaches, as far as another can lie inside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Area {
    /// The whole tool.
    Tool,
    /// Every command that begins with these words.
    Words(Vec<String>),
    /// Everything below a directory, as written; below none is everything.
    Below(String),
}

/// The wide rules of a policy, by tool, outcome and reach.
pub(super) struct Shadows<'r> {
    wide: HashMap<(&'r str, Outcome, Area), &'r str>,
}

impl<'r> Shadows<'r> {
    pub(super) fn of(rules: &[&'r Rule], tools: &[Spec]) -> Shadows<'r> {
        let mut wide = HashMap::new();
        for rule in rules {
            let Ok((names, content)) = split(&rule.text) else { continue };
            for name in names.split('|').map(str::trim) {
                if let Some(area) = area(name, content, tools) {
                    wide.entry((name, rule.outcome, area)).or_insert(&*rule.text);
                }
            }
        }
        Shadows { wide }
    }

    /// The rule that decides wherever this one could.
    pub(super) fn over(
        &self,
        name: &'r str,
        rule: &Rule,
        content: Option<&str>,
        tools: &[Spec],
    ) -> Option<&'r str> {
        let areas = around(name, content, tools);
        let own = area(name, content, tools);
        let outcomes = [Outcome::Deny, Outcome::Ask, Outcome::Allow].into_iter();
        outcomes.filter(|outcome| *outcome >= rule.outcome).find_map(|outcome| {
            let is_same = outcome == rule.outcome;
            let mut wider = areas.iter().filter(|area| match area {
                Area::Tool => true,
                // An allow rule with more words names options that the wider one does not cover.
                Area::Words(_) => !(is_same && outcome == Outcome::Allow),
                // Of allow rules a relative one stays in the workspace.
                Area::Below(directory) => {
                    let is_elsewhere =
                        content.is_some_and(|content| content.starts_with(['/', '~']));
                    outcome != Outcome::Allow || !directory.is_empty() || !is_elsewhere
                }
            });
            let is_itself = |area: &Area| is_same && own.as_ref() == Some(area);
            wider.find_map(|area| {
                let found = self.wide.get(&(name, outcome, area.clone())).copied();
                found.filter(|_| !is_itself(area))
            })
        })
    }
}

/// Everything a rule reaches, if that is an area.
fn area(name: &str, content: Option<&str>, tools: &[Spec]) -> Option<Area> {
    let Some(content) = content.map(str::trim).filter(|content| !content.is_empty()) else {
        return Some(Area::Tool);
    };
    families(name, tools).into_iter().find_map(|family| match family {
        Family::Words => match WordPattern::parse(content) {
            WordPattern::Prefix(words) => Some(Area::Words(words)),
            WordPattern::Plain(_) | WordPattern::Glob(_) | WordPattern::Nothing => None,
        },
        Family::Paths if content == "**" => Some(Area::Below(String::new())),
        Family::Paths => {
            let directory = content.strip_suffix("/**")?;
            let is_plain = !directory.contains(['*', '?', '[', '\\']) && !directory.is_empty();
            is_plain.then(|| Area::Below(directory.to_owned()))
        }
        Family::Inputs | Family::Whole => None,
    })
}

/// The areas that hold all of what a rule reaches, the widest first.
fn around(name: &str, content: Option<&str>, tools: &[Spec]) -> Vec<Area> {
    let mut areas = vec![Area::Tool];
    let Some(content) = content.map(str::trim).filter(|content| !content.is_empty()) else {
        return areas;
    };
    for family in families(name, tools) {
        match family {
            Family::Words => {
                let words = leading(WordPattern::parse(content));
                let begun = (1..=words.len()).filter_map(|count| words.get(..count));
                areas.extend(begun.map(|words| Area::Words(words.to_vec())));
            }
            // A path that goes up lies elsewhere than it seems.
            Family::Paths if content.split('/').any(|part| part == "..") => {}
            Family::Paths => {
                areas.push(Area::Below(String::new()));
                let ends = content.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0);
                let above = ends.filter_map(|at| content.get(..at));
                areas.extend(above.map(|directory| Area::Below(directory.to_owned())));
            }
            Family::Inputs | Family::Whole => {}
        }
    }
    areas
}

/// The words that every command begins with that a pattern fits.
fn leading(pattern: WordPattern) -> Vec<String> {
    match pattern {
        WordPattern::Prefix(words) | WordPattern::Plain(words) => words,
        WordPattern::Glob(words) => words
            .into_iter()
            .map_while(|word| match word {
                PatternWord::Literal(text) => Some(text),
                PatternWord::Fits(_) | PatternWord::Star => None,
            })
            .collect(),
        WordPattern::Nothing => Vec::new(),
    }
}
