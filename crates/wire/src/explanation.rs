//! An explanation, as `explain --json` shows it: a verdict with everything that led to it.
//!
//! It has every member of a verdict; its acts say more, and its suggestions are objects that also
//! say what else they would cover.

use portcullis_engine::guard;
use portcullis_engine::place;
use portcullis_engine::verdict as engine;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

use crate::verdict::{Each, Reason, act, head};

/// The rungs of the ladder, from the first: what holds an act there.
pub const LADDER: [&str; 5] = [
    "self-protection, deny rules, forbidden paths",
    "an exact grant or a remembered rejection",
    "`destructive = \"deny\"`",
    "ask rules",
    "what it does, allow rules, guards, the mode",
];

/// A call with its verdict and the way to it.
pub struct Explanation<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
    /// The directory it would run in.
    pub cwd: &'a str,
    /// The answer.
    pub verdict: &'a engine::Verdict,
}

impl Serialize for Explanation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("tool", self.tool)?;
        map.serialize_entry("input", self.input)?;
        map.serialize_entry("cwd", self.cwd)?;
        head(&mut map, self.verdict)?;
        map.serialize_entry("acts", &Each(&self.verdict.acts, Act))?;
        map.serialize_entry("ladder", &ladder(&self.verdict.acts))?;
        map.serialize_entry("suggestions", &Each(&self.verdict.suggestions, suggestion))?;
        map.end()
    }
}

struct Act<'a>(&'a engine::JudgedAct);

impl Serialize for Act<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        act(&mut map, self.0)?;
        map.serialize_entry("outcome", self.0.outcome.name())?;
        map.serialize_entry("reason", &Reason(&self.0.reason))?;
        if !self.0.findings.is_empty() {
            map.serialize_entry("findings", &Each(&self.0.findings, Finding))?;
        }
        if !self.0.touched.is_empty() {
            map.serialize_entry("touches", &Each(&self.0.touched, Touched))?;
        }
        if let Some(directory) = &self.0.act.directory {
            map.serialize_entry("directory", &**directory)?;
        }
        if let Some(soft) = self.0.act.soft {
            map.serialize_entry("soft", soft)?;
        }
        map.end()
    }
}

/// What a guard saw.
pub(crate) struct Finding<'a>(pub &'a guard::Finding);

impl Serialize for Finding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("guard", self.0.guard)?;
        map.serialize_entry("tier", self.0.tier.name())?;
        map.serialize_entry("outcome", self.0.outcome.name())?;
        map.serialize_entry("firm", &self.0.is_firm)?;
        map.serialize_entry("message", &self.0.message)?;
        map.serialize_entry("span", &[self.0.span.start, self.0.span.end])?;
        map.end()
    }
}

struct Touched<'a>(&'a place::Touched);

impl Serialize for Touched<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("effect", self.0.effect.name())?;
        map.serialize_entry("written", &self.0.written)?;
        if let Some(place) = &self.0.place {
            map.serialize_entry("path", &place.normalised)?;
            if let Some(resolved) = &place.resolved {
                map.serialize_entry("real", resolved)?;
            }
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Suggestion<'a> {
    rule: &'a str,
    also_covers: &'a str,
}

fn suggestion(suggestion: &engine::Suggestion) -> Suggestion<'_> {
    Suggestion { rule: &suggestion.rule, also_covers: &suggestion.covers }
}

/// One rung, with the acts it held.
#[derive(Serialize)]
struct Step {
    rung: usize,
    about: &'static str,
    held: Vec<usize>,
}

fn ladder(acts: &[engine::JudgedAct]) -> Vec<Step> {
    let held = |rung: usize| {
        let is_held = |(_, act): &(usize, &engine::JudgedAct)| usize::from(act.rung) == rung;
        acts.iter().enumerate().filter(is_held).map(|(index, _)| index).collect()
    };
    LADDER
        .iter()
        .enumerate()
        .map(|(index, about)| Step { rung: index + 1, about, held: held(index + 1) })
        .collect()
}
