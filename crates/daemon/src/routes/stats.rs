//! Numbers worth looking at: counted from the audit, and from the asks of the same days.

use std::collections::{BTreeMap, HashMap, HashSet};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use portcullis_approval::{Ask, Granted, Moment, Owners};
use portcullis_store::{AuditFilter, AuditRecord};
use portcullis_wire::stats::{Agent, Day, Program, Saving, Span, Stats};
use serde_json::Value;

use crate::App;
use crate::error::{ApiError, json_response};
use crate::extract::Query;
use crate::identity::Caller;

/// So many entries are counted.
const MOST_COUNTED: usize = 200_000;

/// So many rows each list has.
const MOST_ROWS: usize = 10;

const DAY_MS: i64 = 86_400_000;

/// The ends of the spans of answers, in seconds.
const SPANS: [Option<u64>; 6] = [Some(10), Some(60), Some(300), Some(1800), Some(7200), None];

/// `GET /v1/stats[?days=]`: calls and asks by day, how long answers took, what was asked about.
pub async fn show(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    query.only(&["days"])?;
    let days = query.number("days")?.unwrap_or(14).clamp(1, 366);
    let days = i64::try_from(days).unwrap_or(1);
    let now = app.authority.now();
    // Whole days: the first one is not half a bar.
    let since = Moment::from_ms((now.ms() / DAY_MS - days + 1) * DAY_MS);
    let mut counted = Counted::default();
    let is_complete = counted.read(&app, caller.owners(), since).await?;
    let mut stats = counted.stats(since, days);
    stats.is_complete = is_complete;
    stats.pending = app.authority.store().pending_count().await?;
    let asks = app.authority.asks_since(caller.owners(), since).await?;
    let asks: Vec<&Ask> = asks.iter().map(|record| &record.ask).collect();
    stats.programs = programs(&asks);
    stats.rules = savings(&app, &asks);
    Ok(json_response(StatusCode::OK, &stats))
}

/// What entries of the audit add up to.
#[derive(Default)]
struct Counted {
    days: HashMap<String, Day>,
    answers_by_day: HashMap<String, Vec<i64>>,
    outcomes: BTreeMap<String, u64>,
    tiers: BTreeMap<String, u64>,
    agents: HashMap<String, (u64, u64)>,
    opened: HashMap<String, Moment>,
}

impl Counted {
    /// Counts everything since a moment; says whether that was all.
    async fn read(&mut self, app: &App, owners: Owners, since: Moment) -> Result<bool, ApiError> {
        let mut filter = AuditFilter::after(0, 1000);
        filter.owners = owners;
        filter.since = Some(since);
        filter.kinds = ["call.judged", "ask.opened", "ask.settled"].map(str::to_owned).to_vec();
        let mut counted = 0;
        loop {
            let page = app.authority.store().audit(&filter).await?;
            counted += page.len();
            for entry in &page {
                filter.after = entry.position;
                self.take(entry);
            }
            if page.len() < filter.limit {
                return Ok(true);
            }
            if counted >= MOST_COUNTED {
                return Ok(false);
            }
        }
    }

    fn take(&mut self, entry: &AuditRecord) {
        let data: Value = serde_json::from_str(&entry.data).unwrap_or_default();
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or("");
        let name = day_name(entry.at);
        let day = self.days.entry(name.clone()).or_default();
        match entry.kind.as_str() {
            "call.judged" => {
                let outcome = text("outcome");
                day.calls += 1;
                day.allowed += u64::from(outcome == "allow");
                day.denied += u64::from(outcome == "deny");
                *self.outcomes.entry(outcome.to_owned()).or_default() += 1;
                *self.tiers.entry(text("tier").to_owned()).or_default() += 1;
                self.agents.entry(text("agent").to_owned()).or_default().0 += 1;
            }
            "ask.opened" => {
                day.asks += 1;
                self.agents.entry(text("agent").to_owned()).or_default().1 += 1;
                self.opened.insert(entry.subject.clone(), entry.at);
            }
            _ => {
                if let Some(at) = self.opened.remove(&entry.subject)
                    && text("reason") == "approver"
                {
                    day.answers += 1;
                    let took = entry.at.ms() - at.ms();
                    self.answers_by_day.entry(name).or_default().push(took);
                }
            }
        }
    }

    fn stats(mut self, since: Moment, days: i64) -> Stats {
        let day = |index: i64| {
            let day = day_name(Moment::from_ms(since.ms() + index * DAY_MS));
            let median_answer_ms = self.answers_by_day.get_mut(&day).and_then(|took| median(took));
            let counted = self.days.remove(&day).unwrap_or_default();
            Day { day, median_answer_ms, ..counted }
        };
        let days = (0..days).map(day).collect();
        let mut took: Vec<i64> = self.answers_by_day.into_values().flatten().collect();
        let mut agents: Vec<Agent> = self
            .agents
            .into_iter()
            .map(|(agent, (calls, asks))| Agent { agent, calls, asks })
            .collect();
        agents.sort_by(|a, b| (b.calls, &a.agent).cmp(&(a.calls, &b.agent)));
        agents.truncate(MOST_ROWS);
        Stats {
            since_at: since.to_string(),
            days,
            outcomes: self.outcomes,
            tiers: self.tiers,
            answers: took.len(),
            answer_times: spans(&took),
            median_answer_ms: median(&mut took),
            agents,
            ..Stats::default()
        }
    }
}

fn day_name(at: Moment) -> String {
    at.to_string().chars().take(10).collect()
}

fn median(took: &mut [i64]) -> Option<i64> {
    took.sort_unstable();
    took.get(took.len() / 2).copied()
}

fn spans(took: &[i64]) -> Vec<Span> {
    let mut spans: Vec<Span> = SPANS.iter().map(|&under_s| Span { under_s, answers: 0 }).collect();
    for ms in took {
        let seconds = u64::try_from(*ms).unwrap_or(0) / 1000;
        let fits = |span: &&mut Span| span.under_s.is_none_or(|under| seconds < under);
        if let Some(span) = spans.iter_mut().find(fits) {
            span.answers += 1;
        }
    }
    spans
}

/// What was asked about most.
fn programs(asks: &[&Ask]) -> Vec<Program> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for ask in asks {
        *counts.entry(program(ask)).or_default() += 1;
    }
    let mut programs: Vec<Program> =
        counts.into_iter().map(|(program, asks)| Program { program, asks }).collect();
    programs.sort_by(|a, b| (b.asks, &a.program).cmp(&(a.asks, &b.program)));
    programs.truncate(MOST_ROWS);
    programs
}

/// The program whose act is the worst of an ask; its tool where none is known.
fn program(ask: &Ask) -> String {
    let verdict: Value = serde_json::from_str(&ask.verdict).unwrap_or_default();
    let acts = verdict.get("acts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let changes = |act: &&Value| act.get("read_only") != Some(&Value::Bool(true));
    let named = |act: &Value| {
        let first = act.get("argv")?.as_array()?.first()?.as_str()?;
        let name = first.rsplit('/').next().unwrap_or(first);
        (!name.is_empty()).then(|| name.chars().take(60).collect::<String>())
    };
    let worst = acts.iter().filter(changes).find_map(named);
    worst.unwrap_or_else(|| ask.call.tool.clone())
}

/// The rules that would have answered most of these asks, and are not in force.
fn savings(app: &App, asks: &[&Ask]) -> Vec<Saving> {
    let granted: HashSet<String> = app
        .authority
        .grants()
        .iter()
        .filter_map(|grant| match &grant.granted {
            Granted::Pattern(rule) if !grant.is_limited() => Some(rule.clone()),
            Granted::Pattern(_) | Granted::Exact { .. } => None,
        })
        .collect();
    let mut savings: HashMap<&str, Saving> = HashMap::new();
    for ask in asks {
        for offer in ask.offers.iter().filter(|offer| !granted.contains(&offer.rule)) {
            let saving = savings.entry(&offer.rule).or_insert_with(|| Saving {
                rule: offer.rule.clone(),
                also_covers: offer.also_covers.first().cloned().unwrap_or_default(),
                asks: 0,
                ask: String::new(),
            });
            saving.asks += 1;
            saving.ask = ask.id.to_string();
        }
    }
    let mut savings: Vec<Saving> = savings.into_values().collect();
    // Of rules that save as much, the narrower one, which is longer.
    savings.sort_by(|a, b| (b.asks, b.rule.len(), &a.rule).cmp(&(a.asks, a.rule.len(), &b.rule)));
    savings.truncate(MOST_ROWS);
    savings
}
