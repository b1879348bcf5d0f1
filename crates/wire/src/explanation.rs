//! An explanation, as `explain --json` shows it: a verdict with everything that led to it.
//!
//! It has every member of a verdict; its acts say more, and its suggestions are objects that also
//! say what else they would cover.

use portcullis_engine::guard;
use portcullis_engine::place;
use portcullis_engine::verdict as engine;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
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
        let mut shape = serializer.serialize_struct("Explanation", 12)?;
        shape.serialize_field("tool", self.tool)?;
        shape.serialize_field("input", self.input)?;
        shape.serialize_field("cwd", self.cwd)?;
        head(&mut shape, self.verdict)?;
        shape.serialize_field("acts", &Each(&self.verdict.acts, Act))?;
        shape.serialize_field("ladder", &ladder(&self.verdict.acts))?;
        shape.serialize_field("suggestions", &Each(&self.verdict.suggestions, suggestion))?;
        shape.end()
    }
}

struct Act<'a>(&'a engine::JudgedAct);

impl Serialize for Act<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shape = serializer.serialize_struct("Act", 16)?;
        act(&mut shape, self.0)?;
        shape.serialize_field("outcome", self.0.outcome.name())?;
        shape.serialize_field("reason", &Reason(&self.0.reason))?;
        if !self.0.findings.is_empty() {
            shape.serialize_field("findings", &Each(&self.0.findings, Finding))?;
        }
        if !self.0.touched.is_empty() {
            shape.serialize_field("touches", &Each(&self.0.touched, Touched))?;
        }
        if let Some(directory) = &self.0.act.directory {
            shape.serialize_field("directory", &**directory)?;
        }
        if let Some(soft) = self.0.act.soft {
            shape.serialize_field("soft", soft)?;
        }
        shape.end()
    }
}

/// What a guard saw.
pub(crate) struct Finding<'a>(pub &'a guard::Finding);

impl Serialize for Finding<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shape = serializer.serialize_struct("Finding", 6)?;
        shape.serialize_field("guard", self.0.guard)?;
        shape.serialize_field("tier", self.0.tier.name())?;
        shape.serialize_field("outcome", self.0.outcome.name())?;
        shape.serialize_field("firm", &self.0.is_firm)?;
        shape.serialize_field("message", &self.0.message)?;
        shape.serialize_field("span", &[self.0.span.start, self.0.span.end])?;
        shape.end()
    }
}

struct Touched<'a>(&'a place::Touched);

impl Serialize for Touched<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shape = serializer.serialize_struct("Touched", 4)?;
        shape.serialize_field("effect", self.0.effect.name())?;
        shape.serialize_field("written", &self.0.written)?;
        if let Some(place) = &self.0.place {
            shape.serialize_field("path", &place.normalised)?;
            if let Some(resolved) = &place.resolved {
                shape.serialize_field("real", resolved)?;
            }
        }
        shape.end()
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
