//! A verdict, as `check --json`, a line of a batch and the daemon show it.

use portcullis_engine::arg::Arg;
use portcullis_engine::effect::{EffectOn, Target};
use portcullis_engine::verdict as engine;
use serde::Serialize;
use serde::ser::{SerializeSeq, SerializeStruct, Serializer};
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
        let mut shape = serializer.serialize_struct("Verdict", 9)?;
        if let Some(id) = self.id {
            shape.serialize_field("id", id)?;
        }
        head(&mut shape, self.verdict)?;
        shape.serialize_field("acts", &Each(&self.verdict.acts, Act))?;
        shape.serialize_field("suggestions", &Each(&self.verdict.suggestions, rule))?;
        shape.end()
    }
}

/// What a verdict and its explanation both begin with.
pub(crate) fn head<M: SerializeStruct>(
    shape: &mut M,
    verdict: &engine::Verdict,
) -> Result<(), M::Error> {
    shape.serialize_field("outcome", verdict.outcome.name())?;
    shape.serialize_field("tier", verdict.tier.name())?;
    shape.serialize_field("read_only", &verdict.is_read_only)?;
    shape.serialize_field("firm", &verdict.is_firm)?;
    shape.serialize_field("world", verdict.world.name())?;
    shape.serialize_field("reasons", &Each(&verdict.reasons, Reason))
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
        let mut shape = serializer.serialize_struct("Reason", 3)?;
        shape.serialize_field("code", &*self.0.code)?;
        shape.serialize_field("message", &self.0.message)?;
        if let Some(span) = self.0.span {
            shape.serialize_field("span", &[span.start, span.end])?;
        }
        shape.end()
    }
}

/// One act with what decided it.
struct Act<'a>(&'a engine::JudgedAct);

impl Serialize for Act<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shape = serializer.serialize_struct("Act", 10)?;
        act(&mut shape, self.0)?;
        shape.end()
    }
}

/// What a verdict and its explanation both say about an act.
pub(crate) fn act<M: SerializeStruct>(
    shape: &mut M,
    judged: &engine::JudgedAct,
) -> Result<(), M::Error> {
    let act = &judged.act;
    shape.serialize_field("span", &[act.span.start, act.span.end])?;
    shape.serialize_field("argv", &Each(&act.args, Arg::as_known))?;
    shape.serialize_field("via", &act.via)?;
    shape.serialize_field("effects", &Each(&act.effects, Effect))?;
    shape.serialize_field("tier", judged.tier.name())?;
    shape.serialize_field("read_only", &judged.is_read_only)?;
    if judged.is_covered {
        shape.serialize_field("covered", &true)?;
    }
    shape.serialize_field("rung", &judged.rung)?;
    if let Some(rule) = &judged.rule {
        shape.serialize_field("rule", rule)?;
    }
    if let Some(source) = judged.source {
        shape.serialize_field("source", source)?;
    }
    if let Some(finding) = judged.reason.code.strip_prefix("guard.") {
        shape.serialize_field("finding", finding)?;
    }
    Ok(())
}

/// What an act does, and to what.
struct Effect<'a>(&'a EffectOn);

impl Serialize for Effect<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shape = serializer.serialize_struct("Effect", 2)?;
        shape.serialize_field("effect", self.0.effect.name())?;
        match &self.0.target {
            Target::Path(text) | Target::Pattern(text) | Target::Host(text) => {
                shape.serialize_field("target", text)?;
            }
            Target::Named(name) => shape.serialize_field("target", name)?,
            Target::Unknown(_) | Target::None => {}
        }
        shape.end()
    }
}
