//! Tallies: what the audit adds up to, counted once and carried on.
//!
//! A tally remembers how far it has read, so that whoever looks again waits only for what is new,
//! and holds counts, never the entries or asks behind them. One count runs at a time: many who
//! look at once share it. The shape of the answer is `wire`'s, the request is `routes/stats.rs`'s.

use std::collections::{BTreeMap, HashMap, HashSet};

use portcullis_approval::{Id, Moment, Owners};
use portcullis_store::{AskFilter, AuditFilter, AuditRecord, Store, StoreError};
use portcullis_wire::stats::{Agent, Day, Program, Saving, Span, Stats};
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

use most::Most;
use times::Times;

mod most;
mod times;

/// So many entries are counted for one request; the next one goes on from there.
const MOST_COUNTED: usize = 200_000;

/// So many entries, and so many asks, are read at once.
const ENTRIES_AT_ONCE: usize = 1000;
const ASKS_AT_ONCE: usize = 100;

/// So many tallies are carried on; of more the one that was looked at longest ago is dropped.
const MOST_TALLIES: usize = 4;

/// So many rows each list has.
pub const MOST_ROWS: usize = 10;

const DAY_MS: i64 = 86_400_000;

/// The ends of the spans of answers, in seconds.
const SPANS: [Option<u64>; 6] = [Some(10), Some(60), Some(300), Some(1800), Some(7200), None];

/// The tallies that are carried on.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<Vec<Tally>>);

impl Tallies {
    /// The tally of these owners over the last days, today included, with all that is new in it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn look(
        &self,
        store: &dyn Store,
        owners: Owners,
        days: i64,
        now: Moment,
    ) -> Result<Looked<'_>, StoreError> {
        // Whole days: the first one is not half a bar.
        let since = Moment::from_ms((now.ms() / DAY_MS - days + 1) * DAY_MS);
        let mut tallies = self.0.lock().await;
        let is_it = |tally: &Tally| tally.owners == owners && tally.since == since;
        let tally = match tallies.iter().position(is_it) {
            Some(at) => tallies.remove(at),
            None => Tally::new(owners, since),
        };
        if tallies.len() >= MOST_TALLIES {
            tallies.remove(0);
        }
        tallies.push(tally);
        let mut looked = Looked { tallies, days, is_complete: false };
        if let Some(tally) = looked.tallies.last_mut() {
            looked.is_complete = tally.go_on(store).await?;
        }
        Ok(looked)
    }
}

/// A tally that somebody looks at; the others wait meanwhile.
pub struct Looked<'a> {
    // INVARIANT: the last of the tallies is the one that was looked for.
    tallies: MutexGuard<'a, Vec<Tally>>,
    days: i64,
    is_complete: bool,
}

impl Looked<'_> {
    /// The counts, but for what waits now; of the rules those that `is_wanted`.
    pub fn stats(&self, is_wanted: impl Fn(&str) -> bool) -> Stats {
        let Some(tally) = self.tallies.last() else { return Stats::default() };
        Stats { is_complete: self.is_complete, ..tally.stats(self.days, is_wanted) }
    }
}

/// What the entries since a moment add up to.
#[derive(Debug)]
struct Tally {
    owners: Owners,
    since: Moment,
    /// The last entry that was counted.
    after: u64,
    days: HashMap<String, Day>,
    answers_by_day: HashMap<String, Times>,
    outcomes: BTreeMap<String, u64>,
    tiers: BTreeMap<String, u64>,
    calls_by_agent: Most<()>,
    asks_by_agent: Most<()>,
    /// When the asks were opened that are not settled yet.
    opened: HashMap<String, Moment>,
    programs: Most<()>,
    /// Rules that were offered, with the first thing each would also cover and its last ask.
    rules: Most<(String, String)>,
}

impl Tally {
    fn new(owners: Owners, since: Moment) -> Tally {
        Tally {
            owners,
            since,
            after: 0,
            days: HashMap::new(),
            answers_by_day: HashMap::new(),
            outcomes: BTreeMap::new(),
            tiers: BTreeMap::new(),
            calls_by_agent: Most::default(),
            asks_by_agent: Most::default(),
            opened: HashMap::new(),
            programs: Most::default(),
            rules: Most::default(),
        }
    }

    /// Counts what is new; says whether that was all.
    async fn go_on(&mut self, store: &dyn Store) -> Result<bool, StoreError> {
        let mut filter = AuditFilter::after(self.after, ENTRIES_AT_ONCE);
        filter.owners = self.owners.clone();
        filter.since = Some(self.since);
        filter.kinds = ["call.judged", "ask.opened", "ask.settled"].map(str::to_owned).to_vec();
        for _ in 0..MOST_COUNTED / ENTRIES_AT_ONCE {
            let page = store.audit(&filter).await?;
            // Before anything is counted: a page that fails half way must not be counted twice.
            let asks = self.asks(store, &page).await?;
            for entry in &page {
                self.take(entry);
            }
            for ask in asks {
                self.programs.add(&ask.program, || ());
                for (rule, also_covers) in ask.offers {
                    *self.rules.add(&rule, Default::default) = (also_covers, ask.id.clone());
                }
            }
            self.after = page.last().map_or(self.after, |entry| entry.position);
            filter.after = self.after;
            if page.len() < filter.limit {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is counted of the asks that a page of entries opened.
    async fn asks(
        &self,
        store: &dyn Store,
        page: &[AuditRecord],
    ) -> Result<Vec<Asked>, StoreError> {
        let opened = || page.iter().filter(|entry| entry.kind == "ask.opened");
        let mut missing: HashSet<&str> = opened().map(|entry| entry.subject.as_str()).collect();
        let Some(first) = opened().map(|entry| entry.at).min() else { return Ok(Vec::new()) };
        let mut filter = AskFilter {
            state: None,
            after: Some(Id::new(first, &[0; 10])),
            ..AskFilter::pending(self.owners.clone(), ASKS_AT_ONCE)
        };
        let mut asks = Vec::new();
        while !missing.is_empty() {
            let records = store.asks(&filter).await?;
            for record in &records {
                let id = record.ask.id.to_string();
                if missing.remove(id.as_str()) {
                    asks.push(Asked::of(id, &record.ask));
                }
            }
            // What is still missing was removed with age.
            let Some(last) = records.last().filter(|_| records.len() == filter.limit) else {
                break;
            };
            filter.after = Some(last.ask.id);
        }
        Ok(asks)
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
                self.calls_by_agent.add(text("agent"), || ());
            }
            "ask.opened" => {
                day.asks += 1;
                self.asks_by_agent.add(text("agent"), || ());
                self.opened.insert(entry.subject.clone(), entry.at);
            }
            _ => {
                if let Some(at) = self.opened.remove(&entry.subject)
                    && text("reason") == "approver"
                {
                    day.answers += 1;
                    let took = entry.at.ms().saturating_sub(at.ms()).max(0);
                    self.answers_by_day.entry(name).or_default().add(took);
                }
            }
        }
    }

    fn stats(&self, days: i64, is_wanted: impl Fn(&str) -> bool) -> Stats {
        let day = |index: i64| {
            let day = day_name(Moment::from_ms(self.since.ms() + index * DAY_MS));
            let median_answer_ms = self.answers_by_day.get(&day).and_then(Times::median);
            let counted = self.days.get(&day).cloned().unwrap_or_default();
            Day { day, median_answer_ms, ..counted }
        };
        let mut took = Times::default();
        self.answers_by_day.values().for_each(|times| took.add_all(times));
        let agent = |(agent, calls, ()): (&str, u64, &())| {
            let asks = self.asks_by_agent.count(agent);
            Agent { agent: agent.to_owned(), calls, asks }
        };
        let program =
            |(program, asks, ()): (&str, u64, &())| Program { program: program.to_owned(), asks };
        let saving = |(rule, asks, (also_covers, ask)): (&str, u64, &(String, String))| Saving {
            rule: rule.to_owned(),
            also_covers: also_covers.clone(),
            asks,
            ask: ask.clone(),
        };
        let rules = self.rules.sorted();
        Stats {
            since_at: self.since.to_string(),
            days: (0..days).map(day).collect(),
            outcomes: self.outcomes.clone(),
            tiers: self.tiers.clone(),
            answers: took.count(),
            answer_times: spans(&took),
            median_answer_ms: took.median(),
            agents: self.calls_by_agent.sorted().into_iter().take(MOST_ROWS).map(agent).collect(),
            programs: self.programs.sorted().into_iter().take(MOST_ROWS).map(program).collect(),
            rules: rules
                .into_iter()
                .filter(|(rule, ..)| is_wanted(rule))
                .take(MOST_ROWS)
                .map(saving)
                .collect(),
            ..Stats::default()
        }
    }
}

/// What is counted of an ask.
struct Asked {
    id: String,
    program: String,
    offers: Vec<(String, String)>,
}

impl Asked {
    fn of(id: String, ask: &portcullis_approval::Ask) -> Asked {
        let offer = |offer: &portcullis_approval::Offer| {
            (offer.rule.clone(), offer.also_covers.first().cloned().unwrap_or_default())
        };
        Asked { id, program: program(ask), offers: ask.offers.iter().map(offer).collect() }
    }
}

/// The program whose act is the worst of an ask; its tool where none is known.
fn program(ask: &portcullis_approval::Ask) -> String {
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

fn day_name(at: Moment) -> String {
    at.to_string().chars().take(10).collect()
}

fn spans(took: &Times) -> Vec<Span> {
    let mut spans: Vec<Span> = SPANS.iter().map(|&under_s| Span { under_s, answers: 0 }).collect();
    for (ms, count) in took.each() {
        let fits =
            |span: &&mut Span| span.under_s.is_none_or(|under| ms.unsigned_abs() / 1000 < under);
        if let Some(span) = spans.iter_mut().find(fits) {
            span.answers += count;
        }
    }
    spans
}
