//! Numbers worth looking at.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// `GET /v1/stats`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Stats {
    /// From when on is counted.
    pub since_at: String,
    /// Every day since, also those on which nothing happened.
    pub days: Vec<Day>,
    /// Calls by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Calls by tier.
    pub tiers: BTreeMap<String, u64>,
    /// How many asks people answered.
    pub answers: u64,
    /// How long half of the answers took at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_answer_ms: Option<i64>,
    /// Answers by how long they took.
    pub answer_times: Vec<Span>,
    /// How many asks wait now.
    pub pending: u64,
    /// Whether everything was counted.
    pub is_complete: bool,
    /// What was asked about most.
    pub programs: Vec<Program>,
    /// Who called most.
    pub agents: Vec<Agent>,
    /// The rules that would have answered most asks, and are not in force.
    pub rules: Vec<Saving>,
}

/// One day.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Day {
    /// Year, month and day, in UTC.
    pub day: String,
    /// Calls that were judged.
    pub calls: u64,
    /// Of these, allowed at once.
    pub allowed: u64,
    /// Of these, denied at once.
    pub denied: u64,
    /// Asks that were opened.
    pub asks: u64,
    /// Asks that people answered.
    pub answers: u64,
    /// How long half of these answers took at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_answer_ms: Option<i64>,
}

/// Answers that took so long.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Span {
    /// Less than so many seconds, and no less than the span before; the last one has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_s: Option<u64>,
    /// How many.
    pub answers: u64,
}

/// Something that was asked about.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Program {
    /// The program, or the tool where it is none.
    pub program: String,
    /// How often.
    pub asks: u64,
}

/// Somebody who called.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Agent {
    /// What it is called.
    pub agent: String,
    /// How often it called.
    pub calls: u64,
    /// How often somebody had to be asked.
    pub asks: u64,
}

/// A rule that would have answered asks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Saving {
    /// The rule.
    pub rule: String,
    /// What it covers, in one line.
    pub also_covers: String,
    /// How many asks it would have answered.
    pub asks: u64,
    /// The last ask that offered it.
    pub ask: String,
}
