//! Grants: what approvals wider than once leave behind.
//!
//! A pattern grant is an allow rule of the source `grant`
//! ([`Policy::with_rule`](crate::policy::Policy::with_rule)); an exact grant answers one very call.

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::call::Call;
use crate::pattern::json;

/// A remembered answer to one very call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactAnswer {
    /// It may run. Only a grant with an end (a run, a session, minutes, uses) answers a firm
    /// finding too.
    Allow {
        /// Whether it also answers a firm finding.
        answers_firm: bool,
    },
    /// It must not run.
    Deny,
}

/// An exact grant, or a remembered rejection.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactGrant {
    /// The host's name for the tool.
    pub tool: String,
    /// The input.
    pub input: Json,
    /// The working directory, where there is one.
    pub cwd: Option<String>,
    /// What was answered.
    pub answer: ExactAnswer,
}

/// Answers to very calls.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    by_call: HashMap<String, Vec<ExactGrant>>,
}

impl Grants {
    /// The same answers and one more; a newer answer to the same call replaces the older.
    pub fn insert(&mut self, grant: ExactGrant) {
        let same = self.by_call.entry(json::canonical(&grant.input)).or_default();
        same.retain(|old| old.tool != grant.tool || old.cwd != grant.cwd);
        same.push(grant);
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_call.is_empty()
    }

    /// The answer to a call, if somebody gave one; of several the strictest.
    #[must_use]
    pub fn answer(&self, call: &Call) -> Option<ExactAnswer> {
        if self.by_call.is_empty() {
            return None;
        }
        let answers: Vec<ExactAnswer> = self
            .by_call
            .get(&json::canonical(&call.input))?
            .iter()
            .filter(|grant| grant.tool == call.tool)
            .filter(|grant| grant.cwd.as_ref().is_none_or(|cwd| *cwd == call.cwd))
            .map(|grant| grant.answer)
            .collect();
        let denies = answers.contains(&ExactAnswer::Deny);
        if denies { Some(ExactAnswer::Deny) } else { answers.into_iter().next() }
    }
}
