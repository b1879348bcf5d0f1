//! A verdict, as `check --json`, a line of a batch and the daemon show it.

use portcullis_engine::arg::Arg;
use portcullis_engine::effect::{EffectOn, Target};
use portcullis_engine::verdict as engine;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

/// The engine's answer about one call, with the id of the line that asked.
#[derive(Clone, Copy)]
pub struct Verdict<'a> {
    /// The id, exactly as it was given.
    pub id: Option<&'a RawValue>,
    /// The answer.
    pub verdict: &'a engine::Verdict,
}

impl<'a> Verdict<'a> {
    /// The shape of an answer.
    #[must_use]
    pub const fn new(verdict: &'a engine::Verdict) -> Verdict<'a> {
        Verdict { id: None, verdict }
    }
}

impl Serialize for Verdict<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = self.id {
            map.serialize_entry("id", id)?;
        }
        head(&mut map, self.verdict)?;
        map.serialize_entry("acts", &Each(&self.verdict.acts, Act))?;
        map.serialize_entry("suggestions", &Each(&self.verdict.suggestions, rule))?;
        map.end()
    }
}

/// What a verdict and its explanation both begin with.
pub(crate) fn head<M: SerializeMap>(
    map: &mut M,
    verdict: &engine::Verdict,
) -> Result<(), M::Error> {
    map.serialize_entry("outcome", verdict.outcome.name())?;
    map.serialize_entry("tier", verdict.tier.name())?;
    map.serialize_entry("read_only", &verdict.is_read_only)?;
    map.serialize_entry("firm", &verdict.is_firm)?;
    map.serialize_entry("world", verdict.world.name())?;
    map.serialize_entry("reasons", &Each(&verdict.reasons, Reason))
}

fn rule(suggestion: &engine::Suggestion) -> &str {
    &suggestion.rule
}

/// A list whose members are shown in a shape of their own.
pub(crate) struct Each<'a, T, F>(pub &'a [T], pub F);

impl<'a, T, F, R> Serialize for Each<'a, T, F>
where
    F: Fn(&'a T) -> R,
    R: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(Some(self.0.len()))?;
        for item in self.0 {
            items.serialize_element(&(self.1)(item))?;
        }
        items.end()
    }
}

/// One sentence with a stable code.
pub(crate) struct Reason<'a>(pub &'a engine::Reason);

impl Serialize for Reason<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &*self.0.code)?;
        map.serialize_entry("message", &self.0.message)?;
        if let Some(span) = self.0.span {
            map.serialize_entry("span", &[span.start, span.end])?;
        }
        map.end()
    }
}

/// One act with what decided it.
struct Act<'a>(&'a engine::JudgedAct);

impl Serialize for Act<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        act(&mut map, self.0)?;
        map.end()
    }
}

/// What a verdict and its explanation both say about an act.
pub(crate) fn act<M: SerializeMap>(
    map: &mut M,
    judged: &engine::JudgedAct,
) -> Result<(), M::Error> {
    let act = &judged.act;
    map.serialize_entry("span", &[act.span.start, act.span.end])?;
    map.serialize_entry("argv", &Each(&act.args, Arg::as_known))?;
    map.serialize_entry("via", &act.via)?;
    map.serialize_entry("effects", &Each(&act.effects, Effect))?;
    map.serialize_entry("tier", judged.tier.name())?;
    map.serialize_entry("read_only", &judged.is_read_only)?;
    if judged.is_covered {
        map.serialize_entry("covered", &true)?;
    }
    map.serialize_entry("rung", &judged.rung)?;
    if let Some(rule) = &judged.rule {
        map.serialize_entry("rule", rule)?;
    }
    if let Some(source) = judged.source {
        map.serialize_entry("source", source)?;
    }
    if let Some(finding) = judged.reason.code.strip_prefix("guard.") {
        map.serialize_entry("finding", finding)?;
    }
    Ok(())
}

/// What an act does, and to what.
struct Effect<'a>(&'a EffectOn);

impl Serialize for Effect<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("effect", self.0.effect.name())?;
        match &self.0.target {
            Target::Path(text) | Target::Pattern(text) | Target::Host(text) => {
                map.serialize_entry("target", text)?;
            }
            Target::Named(name) => map.serialize_entry("target", name)?,
            Target::Unknown(_) | Target::None => {}
        }
        map.end()
    }
}
