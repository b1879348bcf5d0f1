//! How often an agent may call and ask: a bucket for each that fills with time.
//!
//! Nodes that share a store count together. Asks of other nodes are heard through the feed, in
//! milliseconds; of calls each node tells the others every second how many it counted, for agents
//! that come near their limit ([`Rates::loud`]), and takes what it hears out of its own buckets
//! ([`Rates::hear`]). What was taken before it was heard of leaves a debt, which time pays off.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use portcullis_approval::{Ask, Asker, Id};
use portcullis_store::{Called, StoreError};

use super::{Authority, Fault};
use crate::chance;
use crate::config::Limits;

/// So many agents are counted; beyond that the counting begins anew.
const MOST_AGENTS: usize = 100_000;

/// An agent that used less than this part of its limit in a second is not told of: over so many
/// nodes it cannot be far beyond.
const QUIET: u32 = 16;

/// How many full buckets an agent may owe at most.
const MOST_DEBT: f64 = 8.0;

/// So much later than the node that opened an ask another one ends it.
const GRACE_S: u64 = 1;

/// An agent, by its key and its name.
type Agent = (Id, String);

/// The buckets.
#[derive(Debug)]
pub(super) struct Rates {
    /// By what other nodes know this one, as long as it is up.
    node: Id,
    calls: Mutex<HashMap<Agent, Bucket>>,
    asks: Mutex<HashMap<Agent, Bucket>>,
    /// Asks of this node that the feed has yet to tell it.
    own_asks: Mutex<HashSet<Id>>,
    /// The newest ask that was heard of.
    heard: AtomicU64,
    /// What each other node has told so far; nothing until they were heard for the first time.
    told: Mutex<Option<HashMap<(Id, Agent), u64>>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    filled: Instant,
    /// How many were taken here since others were told.
    taken: u32,
    /// How many others were told of.
    told: u64,
}

impl Bucket {
    fn full(most: f64, now: Instant) -> Bucket {
        Bucket { left: most, filled: now, taken: 0, told: 0 }
    }

    fn fill(&mut self, most: f64, per_second: f64, now: Instant) {
        let filled = now.saturating_duration_since(self.filled).as_secs_f64() * per_second;
        self.left = (self.left + filled).min(most);
        self.filled = now;
    }
}

impl Rates {
    /// Full buckets.
    pub(super) fn new(node: Id) -> Rates {
        Rates {
            node,
            calls: Mutex::default(),
            asks: Mutex::default(),
            own_asks: Mutex::default(),
            heard: AtomicU64::new(0),
            told: Mutex::default(),
        }
    }

    /// Counts a call.
    pub(super) fn call(&self, asker: &Asker, limits: &Limits) -> Result<(), Fault> {
        let rate = limits.calls_per_second_per_agent;
        if rate == 0 || take(&self.calls, asker, f64::from(rate), f64::from(rate)) {
            return Ok(());
        }
        Err(Fault::TooOften(format!("more than {rate} calls a second; slow down")))
    }

    /// Counts a question.
    pub(super) fn ask(&self, asker: &Asker, limits: &Limits) -> Result<(), Fault> {
        let rate = limits.asks_per_minute_per_agent;
        if rate == 0 || take(&self.asks, asker, f64::from(rate), f64::from(rate) / 60.0) {
            return Ok(());
        }
        Err(Fault::TooOften(format!("more than {rate} questions a minute; slow down")))
    }

    /// Notes that this node opens an ask, which it has counted.
    pub(super) fn opens(&self, ask: Id) {
        let mut own = locked(&self.own_asks);
        if own.len() >= MOST_AGENTS {
            own.clear();
        }
        own.insert(ask);
    }

    /// Notes that it did not open it after all.
    pub(super) fn opens_not(&self, ask: Id) {
        locked(&self.own_asks).remove(&ask);
    }

    /// Hears that an ask was opened, and counts it where another node did; whether it did.
    fn opened(&self, ask: Id, asker: &Asker, limits: &Limits) -> bool {
        let most = f64::from(limits.asks_per_minute_per_agent);
        let is_foreign = !locked(&self.own_asks).remove(&ask);
        if is_foreign && most > 0.0 {
            let agent = (asker.key, asker.agent.clone());
            owe(&mut locked(&self.asks), agent, 1.0, most, most / 60.0);
        }
        is_foreign
    }

    /// What other nodes are told: all calls here of agents that called often since it was told.
    fn loud(&self, rate: u32) -> Vec<Called> {
        let mut loud = Vec::new();
        for ((key, agent), bucket) in locked(&self.calls).iter_mut() {
            let taken = std::mem::take(&mut bucket.taken);
            if taken == 0 || taken < rate / QUIET {
                continue;
            }
            bucket.told += u64::from(taken);
            let agent = agent.clone();
            loud.push(Called { node: self.node, key: *key, agent, calls: bucket.told });
        }
        loud
    }

    /// Takes out of the buckets what was taken at other nodes since they were heard last.
    fn hear(&self, heard: Vec<Called>, rate: u32) {
        let most = f64::from(rate);
        let mut told = locked(&self.told);
        // Whoever has just come up cannot know how long ago those calls were.
        let is_new = told.is_none();
        let told = told.get_or_insert_default();
        if told.len() >= MOST_AGENTS {
            told.clear();
        }
        let mut buckets = locked(&self.calls);
        for Called { node, key, agent, calls } in heard {
            let agent = (key, agent);
            let before = told.insert((node, agent.clone()), calls);
            let taken = calls.saturating_sub(before.unwrap_or(0));
            if taken > 0 && !is_new {
                let taken = u32::try_from(taken).map_or(f64::MAX, f64::from);
                owe(&mut buckets, agent, taken, most, most);
            }
        }
    }
}

impl Authority {
    /// Tells other nodes who calls often here, and hears the same of them.
    ///
    /// # Errors
    /// The store cannot be written; the next time tells more.
    pub async fn share_rates(&self) -> Result<(), StoreError> {
        let (rates, rate) = (&self.inner.rates, self.inner.limits.calls_per_second_per_agent);
        if rate == 0 {
            return Ok(());
        }
        let own = rates.loud(rate);
        let heard = self.store().share_calls(rates.node, &own).await?;
        rates.hear(heard, rate);
        Ok(())
    }

    /// Hears that an ask was opened, here or at another node, by the entry at this position. What
    /// another node opened counts here too, and is ended here if that node does not do it.
    pub fn hear_ask(&self, position: u64, ask: &Ask) {
        // Whoever reads the same entry again has heard of it.
        if self.inner.rates.heard.fetch_max(position, Ordering::Relaxed) >= position {
            return;
        }
        let is_foreign = self.inner.rates.opened(ask.id, &ask.asker, &self.inner.limits);
        if let Some(deadline) = ask.deadline_at.filter(|_| is_foreign) {
            self.inner.deadlines.note(deadline.after_s(GRACE_S));
        }
    }
}

/// The buckets of a node that comes up now.
pub(super) fn of_a_new_node(now: portcullis_approval::Moment) -> Rates {
    Rates::new(chance::id(now))
}

fn take(
    buckets: &Mutex<HashMap<Agent, Bucket>>,
    asker: &Asker,
    most: f64,
    per_second: f64,
) -> bool {
    let now = Instant::now();
    let mut buckets = locked(buckets);
    let agent = (asker.key, asker.agent.clone());
    let bucket = bucket(&mut buckets, agent, most, now);
    bucket.fill(most, per_second, now);
    if bucket.left < 1.0 {
        return false;
    }
    bucket.left -= 1.0;
    bucket.taken = bucket.taken.saturating_add(1);
    true
}

/// Takes what was taken elsewhere, whether or not it is there.
fn owe(buckets: &mut HashMap<Agent, Bucket>, agent: Agent, taken: f64, most: f64, per_second: f64) {
    let now = Instant::now();
    let bucket = bucket(buckets, agent, most, now);
    bucket.fill(most, per_second, now);
    bucket.left = (bucket.left - taken).max(-MOST_DEBT * most);
}

fn bucket(
    buckets: &mut HashMap<Agent, Bucket>,
    agent: Agent,
    most: f64,
    now: Instant,
) -> &mut Bucket {
    if buckets.len() >= MOST_AGENTS {
        buckets.clear();
    }
    buckets.entry(agent).or_insert_with(|| Bucket::full(most, now))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use portcullis_approval::Moment;

    use super::*;

    fn rates(number: i64) -> Rates {
        of_a_new_node(Moment::from_ms(number))
    }

    fn asker() -> Asker {
        let key = Id::new(Moment::from_ms(1), &[1; 10]);
        Asker { key, agent: "a".to_owned(), owner: "o".to_owned(), label: None }
    }

    fn limits(calls: u32, asks: u32) -> Limits {
        Limits {
            calls_per_second_per_agent: calls,
            asks_per_minute_per_agent: asks,
            ..Limits::default()
        }
    }

    #[test]
    fn calls_of_all_nodes_are_counted_together() {
        let (a, b, limits) = (rates(1), rates(2), limits(100, 0));
        b.hear(Vec::new(), 100);
        let taken = (0..500).filter(|_| a.call(&asker(), &limits).is_ok()).count();
        assert!((100..110).contains(&taken), "{taken}");
        b.hear(a.loud(100), 100);
        assert!(b.call(&asker(), &limits).is_err(), "it was used up elsewhere");
        // The same words again say nothing new.
        let left = locked(&b.calls).values().next().unwrap().left;
        b.hear(
            vec![Called { node: a.node, key: asker().key, agent: "a".to_owned(), calls: 100 }],
            100,
        );
        assert!(locked(&b.calls).values().next().unwrap().left >= left);
        assert_eq!(a.loud(100), [], "nothing was taken since");
    }

    #[test]
    fn who_calls_now_and_then_is_not_spoken_of() {
        let (a, limits) = (rates(1), limits(160, 0));
        for _ in 0..9 {
            a.call(&asker(), &limits).unwrap();
        }
        assert_eq!(a.loud(160), []);
        for _ in 0..10 {
            a.call(&asker(), &limits).unwrap();
        }
        assert_eq!(a.loud(160).first().map(|one| one.calls), Some(10));
    }

    #[test]
    fn who_has_just_come_up_counts_nothing_of_before() {
        let (b, limits) = (rates(2), limits(10, 0));
        let told = |calls| {
            vec![Called { node: rates(1).node, key: asker().key, agent: "a".to_owned(), calls }]
        };
        b.hear(told(10_000), 10);
        assert!(b.call(&asker(), &limits).is_ok());
        b.hear(Vec::new(), 10);
    }

    #[test]
    fn asks_of_other_nodes_count_and_own_ones_only_once() {
        let (a, limits) = (rates(1), limits(0, 4));
        let id = |number: u8| Id::new(Moment::from_ms(5), &[number; 10]);
        for number in 0..2 {
            a.ask(&asker(), &limits).unwrap();
            a.opens(id(number));
            a.opened(id(number), &asker(), &limits);
        }
        for number in 2..4 {
            a.opened(id(number), &asker(), &limits);
        }
        assert!(a.ask(&asker(), &limits).is_err(), "two here and two elsewhere");
    }

    #[test]
    fn a_debt_has_an_end() {
        let a = rates(1);
        a.hear(Vec::new(), 10);
        let told =
            Called { node: a.node, key: asker().key, agent: "a".to_owned(), calls: u64::MAX };
        a.hear(vec![told], 10);
        assert!(locked(&a.calls).values().next().unwrap().left >= -80.0);
    }
}
