//! One simulated world: a database, nodes, agents, approvers, and what must hold among them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use anyhow::{Context, ensure};
use portcullis_approval::ask::Bound;
use portcullis_approval::audit::{Chain, Entry, Link, NOTHING};
use portcullis_approval::settle::{Refusal, settle};
use portcullis_approval::{
    Answer, Approver, Ask, Asker, CallText, Decision, Id, Moment, Owners, Reply, State, expire,
};
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::verdict::Tier;
use portcullis_engine::{Call, Lexical, Outcome, Policy, PolicyText, Source, Verdict, judge};

use super::{Happened, Size};
use crate::chance::Chance;

/// When every world begins.
const BEGIN: i64 = 1_794_774_900_000;

/// How long an ask waits, in milliseconds.
const DEADLINE_MS: u64 = 900;

/// How far a node's clock may be from the database's, which it follows.
const DRIFT_MS: i64 = 40;

/// How often a node looks by itself.
const POLL_MS: u64 = 1_000;

/// How long a healed world may take to come to rest.
const REST_MS: u64 = 20_000;

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// An agent's call reaches a node.
    Submit {
        agent: usize,
        node: usize,
    },
    /// An approver's answer reaches a node.
    Answer {
        ask: usize,
        node: usize,
        approves: bool,
    },
    /// A node hears the bell, or looks by itself.
    Look {
        node: usize,
        by_itself: bool,
    },
    /// A node looks for deadlines.
    Deadlines {
        node: usize,
    },
    Crash {
        node: usize,
    },
    Start {
        node: usize,
    },
    Away,
    Back,
}

struct Node {
    is_up: bool,
    /// Since when it watches deadlines.
    started_ms: u64,
    drift_ms: i64,
    /// How much of the audit it has seen.
    seen: usize,
    /// Who waits here: the agent and the ask.
    waiters: Vec<(usize, usize)>,
}

/// A row of the store.
struct Row {
    ask: Ask,
    decision: Option<Decision>,
    claimed_by: Option<usize>,
}

/// A world.
pub struct World {
    chance: Chance,
    size: Size,
    now_ms: u64,
    order: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    nodes: Vec<Node>,
    is_away: bool,
    rows: Vec<Row>,
    pending: HashMap<usize, usize>,
    /// What was settled, in the order of commits: the audit as nodes read it.
    audit: Vec<usize>,
    chain: Chain,
    head: (u64, [u8; 32]),
    has_chain: bool,
    approved: HashSet<usize>,
    told: HashMap<usize, Outcome>,
    verdict: Verdict,
    happened: Happened,
}

impl World {
    /// The world of a seed.
    pub fn new(seed: u64, size: Size) -> anyhow::Result<World> {
        let policy = Policy::of_layers(&[(Source::User, PolicyText::from_toml("")?)])?;
        let verdict = judge(&policy, &Call::bash("npm publish", "/src"), &Lexical);
        ensure!(verdict.outcome == Outcome::Ask, "the call must be asked about");
        let mut chance = Chance::split(seed, 0);
        let nodes = (0..size.nodes)
            .map(|_| Node {
                is_up: true,
                started_ms: 0,
                drift_ms: i64::try_from(chance.below(80)).unwrap_or(0) - DRIFT_MS,
                seen: 0,
                waiters: Vec::new(),
            })
            .collect();
        let mut world = World {
            chance,
            size,
            now_ms: 0,
            order: 0,
            events: BinaryHeap::new(),
            nodes,
            is_away: false,
            rows: Vec::new(),
            pending: HashMap::new(),
            audit: Vec::new(),
            chain: Chain::default(),
            head: (0, NOTHING),
            // Hashing a chain of a hundred thousand entries shows no more than one of fifty.
            has_chain: size.agents < 1000,
            approved: HashSet::new(),
            told: HashMap::new(),
            verdict,
            happened: Happened::default(),
        };
        for agent in 0..size.agents {
            let at = world.chance.below(usize::try_from(size.lasts_ms)?) as u64;
            let node = world.some_node();
            world.at(at, Event::Submit { agent, node });
        }
        for node in 0..size.nodes {
            let offset = world.chance.below(200) as u64;
            world.at(POLL_MS + offset, Event::Look { node, by_itself: true });
            world.at(offset, Event::Deadlines { node });
            if world.chance.percent(40) {
                let at = world.chance.below(usize::try_from(size.lasts_ms)?) as u64;
                world.at(at, Event::Crash { node });
            }
        }
        if world.chance.percent(40) {
            let at = world.chance.below(usize::try_from(size.lasts_ms)?) as u64;
            world.at(at, Event::Away);
        }
        Ok(world)
    }

    /// Lives to the end, and looks after every event.
    pub fn live(mut self) -> anyhow::Result<Happened> {
        let end = self.size.lasts_ms + REST_MS;
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            if at > end {
                break;
            }
            self.now_ms = at;
            self.happened.events += 1;
            self.take(event).with_context(|| format!("{event:?} at {at} ms"))?;
        }
        // Healed and at rest: nothing waits beyond its deadline, nobody waits for what is settled.
        ensure!(self.pending.is_empty(), "{} asks wait for ever", self.pending.len());
        for node in self.nodes.iter().filter(|node| node.is_up) {
            ensure!(node.waiters.is_empty(), "somebody waits for what is settled");
        }
        if self.has_chain {
            ensure!(self.chain.head() == self.head, "the chain has another end");
        }
        Ok(self.happened)
    }

    fn take(&mut self, event: Event) -> anyhow::Result<()> {
        match event {
            Event::Submit { agent, node } => self.submit(agent, node),
            Event::Answer { ask, node, approves } => self.answer(ask, node, approves),
            Event::Look { node, by_itself } => {
                if by_itself {
                    self.after(POLL_MS, Event::Look { node, by_itself });
                }
                self.look(node)
            }
            Event::Deadlines { node } => {
                let next = self.chance.between(20, 200) as u64;
                self.after(next, Event::Deadlines { node });
                self.deadlines(node)
            }
            Event::Crash { node } => {
                self.happened.faults += 1;
                let waiters = self.node(node)?.waiters.split_off(0);
                self.node(node)?.is_up = false;
                // Agents whose node is gone ask another one about the same call.
                for (agent, _) in waiters {
                    let (wait, other) = (self.chance.between(10, 300) as u64, self.some_node());
                    self.after(wait, Event::Submit { agent, node: other });
                }
                let wait = self.chance.between(50, 3000) as u64;
                self.after(wait, Event::Start { node });
                Ok(())
            }
            Event::Start { node } => {
                let (now, newest) = (self.now_ms, self.audit.len());
                let node = self.node(node)?;
                *node = Node {
                    is_up: true,
                    started_ms: now,
                    seen: newest,
                    waiters: Vec::new(),
                    ..*node
                };
                Ok(())
            }
            Event::Away => {
                self.happened.faults += 1;
                self.is_away = true;
                let wait = self.chance.between(100, 2500) as u64;
                self.after(wait, Event::Back);
                Ok(())
            }
            Event::Back => {
                self.is_away = false;
                Ok(())
            }
        }
    }

    /// A call comes: it opens an ask, joins the pending one, or finds nobody and comes again.
    fn submit(&mut self, agent: usize, node: usize) -> anyhow::Result<()> {
        if self.told.contains_key(&agent) {
            return Ok(());
        }
        if !self.node(node)?.is_up || self.is_away {
            // Nothing was allowed; it asks again elsewhere.
            let (wait, other) = (self.chance.between(50, 400) as u64, self.some_node());
            self.after(wait, Event::Submit { agent, node: other });
            return Ok(());
        }
        // Two agents after each other make the same call, and hang on one ask.
        let call = agent / 2;
        let number = match self.pending.get(&call) {
            Some(number) => *number,
            None => self.open(call, node)?,
        };
        // Faults end with the time of the agents: what is looked at last is a healed world.
        if self.now_ms < self.size.lasts_ms && self.chance.percent(3) {
            // Committed, and the node went away before it could say so.
            self.after(0, Event::Crash { node });
        }
        self.node(node)?.waiters.push((agent, number));
        // Register first, then read the row: it may have been settled meanwhile.
        self.release(node)
    }

    fn open(&mut self, call: usize, node: usize) -> anyhow::Result<usize> {
        let number = self.rows.len();
        let now = self.clock(node)?;
        let ask = ask_about(call, number, now);
        self.note("ask.opened", &ask)?;
        self.rows.push(Row { ask, decision: None, claimed_by: None });
        self.pending.insert(call, number);
        self.happened.asks += 1;
        for _ in 0..self.chance.below(4) {
            let wait = self.chance.between(5, 1200) as u64;
            let (node, approves) = (self.some_node(), !self.chance.once_in(3));
            self.after(wait, Event::Answer { ask: number, node, approves });
        }
        Ok(number)
    }

    fn answer(&mut self, number: usize, node: usize, approves: bool) -> anyhow::Result<()> {
        if approves {
            self.approved.insert(number);
        }
        if !self.node(node)?.is_up || self.is_away {
            return Ok(());
        }
        let now = self.clock(node)?;
        let reply = if approves { Reply::Approve } else { Reply::Reject };
        let row = self.rows.get(number).context("no such ask")?;
        let mut ids = || id(number, 9);
        let settled =
            settle(&row.ask, &Answer::plain(reply), &approver(), &self.verdict, now, &mut ids);
        let decision = match settled {
            Ok(settlement) => settlement.decision,
            Err(Refusal::TooLate) => expire(&row.ask, &self.verdict, true, now),
            Err(refusal) => return Err(refusal.into()),
        };
        self.commit(number, decision)
    }

    fn deadlines(&mut self, node: usize) -> anyhow::Result<()> {
        if !self.node(node)?.is_up || self.is_away {
            return Ok(());
        }
        let now = self.clock(node)?;
        let started = self.node(node)?.started_ms;
        let started = Moment::from_ms(BEGIN).after_ms(started);
        let due = |number: &usize| {
            let deadline = self.rows.get(*number)?.ask.deadline_at?;
            (deadline <= now).then_some((*number, deadline >= started))
        };
        let due: Vec<(usize, bool)> = self.pending.values().filter_map(due).collect();
        for (number, was_watched) in due {
            let row = self.rows.get(number).context("no such ask")?;
            let decision = expire(&row.ask, &self.verdict, was_watched, now);
            self.commit(number, decision)?;
        }
        Ok(())
    }

    /// The row changes only while it is pending; who comes second learns what stands.
    fn commit(&mut self, number: usize, decision: Decision) -> anyhow::Result<()> {
        let row = self.rows.get_mut(number).context("no such ask")?;
        if row.decision.is_some() {
            self.happened.second += 1;
            return Ok(());
        }
        let deadline = row.ask.deadline_at.context("a deadline")?;
        if decision.state == State::Expired {
            self.happened.expired += 1;
            let truth = Moment::from_ms(BEGIN).after_ms(self.now_ms);
            ensure!(
                truth.ms() + DRIFT_MS >= deadline.ms(),
                "ask {number} ended before its deadline"
            );
            ensure!(decision.outcome == Outcome::Deny, "an end by deadline allows");
        }
        if decision.outcome == Outcome::Allow {
            ensure!(self.approved.contains(&number), "ask {number} is allowed by nobody");
        }
        row.decision = Some(decision);
        let ask = row.ask.clone();
        self.pending.retain(|_, pending| *pending != number);
        self.audit.push(number);
        self.note("ask.settled", &ask)?;
        for node in 0..self.size.nodes {
            // Some words are lost; who hears one reads everything since it last looked.
            if !self.chance.once_in(10) {
                let wait = self.chance.between(0, 8) as u64;
                self.after(wait, Event::Look { node, by_itself: false });
            }
        }
        Ok(())
    }

    fn look(&mut self, node: usize) -> anyhow::Result<()> {
        if !self.node(node)?.is_up || self.is_away {
            return Ok(());
        }
        let newest = self.audit.len();
        if self.node(node)?.seen == newest && self.node(node)?.waiters.is_empty() {
            return Ok(());
        }
        self.node(node)?.seen = newest;
        self.release(node)
    }

    /// Lets go whoever waits for what is settled; an approval lets one call run.
    fn release(&mut self, node: usize) -> anyhow::Result<()> {
        let waiters = self.node(node)?.waiters.split_off(0);
        for (agent, number) in waiters {
            let row = self.rows.get_mut(number).context("no such ask")?;
            let Some(decision) = &row.decision else {
                self.node(node)?.waiters.push((agent, number));
                continue;
            };
            let outcome = decision.outcome;
            if outcome == Outcome::Allow {
                if row.claimed_by.is_some() {
                    // An identical call took it: this one asks anew.
                    self.after(1, Event::Submit { agent, node });
                    continue;
                }
                row.claimed_by = Some(agent);
                self.happened.ran += 1;
                ensure!(self.approved.contains(&number), "a call ran that nobody approved");
            }
            ensure!(self.told.insert(agent, outcome).is_none(), "agent {agent} was told twice");
        }
        Ok(())
    }

    /// Writes an entry of the chain.
    fn note(&mut self, kind: &'static str, ask: &Ask) -> anyhow::Result<()> {
        if !self.has_chain {
            return Ok(());
        }
        let entry = Entry {
            kind,
            at: ask.opened_at,
            actor: "world".to_owned(),
            subject: ask.id.to_string(),
            owner: None,
            data: "{}".to_owned().into(),
        };
        let link = Link { node: "local", seq: self.head.0 + 1, prev: self.head.1 };
        self.chain.take(&entry.written().line(&link))?;
        self.head = (link.seq, entry.written().hash(&link));
        Ok(())
    }

    fn node(&mut self, node: usize) -> anyhow::Result<&mut Node> {
        self.nodes.get_mut(node).context("no such node")
    }

    /// What a node takes for the present moment.
    fn clock(&mut self, node: usize) -> anyhow::Result<Moment> {
        let drift = self.node(node)?.drift_ms;
        Ok(Moment::from_ms(BEGIN + i64::try_from(self.now_ms)? + drift))
    }

    fn some_node(&mut self) -> usize {
        self.chance.below(self.size.nodes)
    }

    fn after(&mut self, ms: u64, event: Event) {
        self.at(self.now_ms + ms, event);
    }

    fn at(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }
}

fn id(number: usize, kind: u8) -> Id {
    let mut chance = [kind; 10];
    for (to, from) in chance.iter_mut().zip((number as u64).to_be_bytes()) {
        *to = from;
    }
    Id::new(Moment::from_ms(BEGIN), &chance)
}

fn approver() -> Approver {
    Approver {
        name: "grace".to_owned(),
        key: id(0, 2),
        owners: Owners::All,
        door: "dashboard".to_owned(),
    }
}

fn ask_about(call: usize, number: usize, now: Moment) -> Ask {
    let text = CallText {
        tool: "Bash".to_owned(),
        input: format!("{{\"command\":\"npm publish {call}\"}}"),
        ..CallText::default()
    };
    Ask {
        id: id(number, 1),
        digest: String::new(),
        call: text,
        asker: Asker {
            key: id(call, 3),
            agent: "coder".to_owned(),
            owner: "ada".to_owned(),
            label: None,
        },
        door: "native".to_owned(),
        bound: Bound::default(),
        verdict: "{}".to_owned(),
        tier: Tier::Review,
        is_firm: false,
        offers: Vec::new(),
        opened_at: now,
        deadline_at: Some(now.after_ms(DEADLINE_MS)),
        fallback: Fallback::Deny,
        unused_approval_s: 600,
    }
}
