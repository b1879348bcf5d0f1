//! Custom tools: the questions a tool's author answers, declared in a policy or written in Rust.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::Value as Json;

use super::acts::member;
use super::{Condition, Spec, Test};
use crate::glob;
use crate::pattern::json;
use crate::verdict::Outcome;

/// A tool whose author answers four questions about its input.
///
/// Implementations are pure; one that panics counts as a firm ask.
pub trait CustomTool: Debug + Send + Sync {
    /// The tool's name, as calls and rules have it.
    fn name(&self) -> &str;

    /// Whether this input only reads.
    fn is_read_only(&self, input: &Json) -> bool {
        let _ = input;
        false
    }

    /// What should be looked at.
    fn inspect(&self, input: &Json) -> Option<CustomFinding> {
        let _ = input;
        None
    }

    /// Whether the content of a rule names this input.
    fn matches(&self, content: &str, input: &Json) -> bool {
        serde_json::from_str::<Json>(content)
            .is_ok_and(|value| json::canonical(&value) == json::canonical(input))
    }

    /// The content of an allow rule that would cover this input.
    fn suggest(&self, input: &Json) -> Option<String> {
        Some(json::canonical_text(input))
    }
}

/// What a tool's author wants looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomFinding {
    /// Ask or deny.
    pub outcome: Outcome,
    /// Whether no allow rule can silence it.
    pub is_firm: bool,
    /// One sentence for a person.
    pub message: String,
}

/// The answers about one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) is_read_only: bool,
    pub(crate) findings: Vec<CustomFinding>,
}

/// Asks a declared tool, and one written in Rust of the same name.
pub(crate) fn ask_custom(spec: &Spec, tool: Option<&Arc<dyn CustomTool>>, input: &Json) -> Asked {
    let without = |field: &str| member(input, field).is_none_or(Json::is_null);
    let mut asked = Asked {
        is_read_only: spec.is_read_only
            || spec.read_only_unless.as_deref().is_some_and(without)
            || spec.read_only_when.iter().any(|condition| holds(condition, input, false)),
        findings: spec
            .safety
            .iter()
            .filter(|safety| safety.when.iter().all(|condition| holds(condition, input, true)))
            .map(|safety| CustomFinding {
                outcome: safety.outcome,
                is_firm: safety.is_firm,
                message: safety.message.clone(),
            })
            .collect(),
    };
    if let Some(tool) = tool {
        let answers =
            catch_unwind(AssertUnwindSafe(|| (tool.is_read_only(input), tool.inspect(input))));
        match answers {
            Ok((is_read_only, finding)) => {
                asked.is_read_only |= is_read_only;
                asked.findings.extend(finding);
            }
            Err(_) => asked.findings.push(CustomFinding {
                outcome: Outcome::Ask,
                is_firm: true,
                message: "the tool's own check failed".to_owned(),
            }),
        }
    }
    asked.is_read_only &= asked.findings.is_empty();
    asked
}

/// Whether a condition holds; `otherwise` is the answer for a field of an unexpected type.
fn holds(condition: &Condition, input: &Json, otherwise: bool) -> bool {
    let value = member(input, &condition.field);
    condition.tests.iter().all(|test| test_holds(test, value, otherwise))
}

fn test_holds(test: &Test, value: Option<&Json>, otherwise: bool) -> bool {
    if let Test::Present(is_present) = test {
        return value.is_some_and(|value| !value.is_null()) == *is_present;
    }
    let Some(value) = value else { return false };
    match (test, value) {
        (Test::OneOf(known), _) => {
            let given = json::canonical(value);
            let is_same_type = known.iter().any(|known| same_type(known, value));
            let is_among = known.iter().any(|known| json::canonical(known) == given);
            is_among || otherwise && !is_same_type
        }
        (Test::Prefix(prefix), Json::String(given)) => given.starts_with(prefix),
        (Test::Suffix(suffix), Json::String(given)) => given.ends_with(suffix),
        (Test::Contains(part), Json::String(given)) => given.contains(part),
        (Test::Glob(pattern), Json::String(given)) => glob::matches(pattern, given),
        _ => otherwise,
    }
}

fn same_type(one: &Json, other: &Json) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}
