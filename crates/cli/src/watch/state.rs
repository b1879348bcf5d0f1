//! The state of the inbox: what happens goes in, what is to be done comes out.
//!
//! Nothing here reads a clock, a terminal or a socket, so that every conversation can be replayed.
//! `pressed` knows what keys mean.
// INVARIANT: only `pressed` makes an `Effect::Decide`, never of Enter or Escape for an approval,
// and of a destructive call only behind its second step.

use std::collections::BTreeSet;

use portcullis_approval::Moment;
use serde_json::Value;

use super::answer::Reach;
use super::card::{Card, tier};
use super::editor::Editor;
use super::keys::Key;
use crate::reach::short;
use crate::render::ask::text;
use crate::render::paragraph::shorten;

mod pressed;

pub use pressed::SURE;

/// So many notices are kept.
const MOST_NOTICES: usize = 3;

/// How long a notice is shown.
const NOTICE_MS: i64 = 30_000;

/// How long keys that decide are not heeded after an ask has gone from under the fingers.
const DEAF_MS: i64 = 1000;

/// How long after the first ask the worst one is selected, if no key was pressed.
const BEGINNING_MS: i64 = 500;

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// A text was pasted. It is no key.
    Paste(String),
    /// An ask was opened.
    Opened(Value),
    /// An ask was settled.
    Settled(Value),
    /// These asks are pending, and no others.
    Pending(Vec<Value>),
    /// The daemon answers, or went away.
    Link(Link),
    /// What became of an answer: nothing to say, or why it does not count.
    Answered(String, Result<Value, String>),
    /// The verdict about an edited call, or why there is none.
    Judged(String, Result<Value, String>),
    /// Why an ask was asked, or why that cannot be told.
    Explained(String, Result<Value, String>),
    /// Something to say.
    Told(String),
    /// The screen has another size.
    Resized,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Answer an ask with this body.
    Decide(String, Value),
    /// Judge this call, for an ask.
    Judge(String, Value),
    /// Ask why an ask was asked.
    Explain(String),
    /// See how an ask ended.
    Look(String),
    /// Tell the person that an ask came.
    Alert(String),
    /// End.
    Quit,
}

/// How the daemon is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Not yet.
    Opening,
    /// The feed is followed.
    Live,
    /// The daemon went away and is waited for.
    Away,
}

/// What the keys are about.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode {
    /// The list and the card.
    Inbox,
    /// The whole text of the call.
    Full,
    /// Why the ask was asked; nothing until the daemon has said it.
    Why(Option<Value>),
    /// What the keys do.
    Help,
    /// Whether those that are marked are approved, or rejected.
    Many(bool),
    /// How far an approval shall reach.
    Approve(Draft),
    /// The second step of what could destroy.
    Sure(Draft, Reach, usize),
    /// What the agent is told, and whether it is for the whole run.
    Reject(Editor, bool),
    /// Another text for the call.
    Edit(Editor),
    /// The verdict about the edited call is awaited.
    Judging(Editor, Value),
    /// The verdict about the edited call.
    Edited(Editor, Draft, Value),
}

/// An approval that is being made.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Which offer; none is exactly this call.
    pub offer: Option<usize>,
    /// How many times, if it is for some times.
    pub uses: u32,
    /// The input to run instead.
    pub input: Option<Value>,
    /// How bad what would run could be.
    pub tier: &'static str,
}

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The sentence; not escaped yet.
    pub text: String,
    /// When it came.
    pub at: Moment,
}

/// The inbox.
#[derive(Debug)]
pub struct Inbox {
    /// What waits, the worst first, of these the newest.
    pub cards: Vec<Card>,
    /// The one that is looked at.
    pub selected: Option<String>,
    /// Those that are marked, to be answered together.
    pub marked: BTreeSet<String>,
    /// How far the card or the text is scrolled.
    pub scroll: usize,
    /// What the keys are about.
    pub mode: Mode,
    /// How the daemon is reached.
    pub link: Link,
    /// What was said last, the newest last.
    pub notices: Vec<Notice>,
    deaf_until: Moment,
    /// When the first ask came, until a key was pressed.
    untouched_since: Option<Moment>,
    /// The asks that were answered here and whose end is not known yet.
    sent: Vec<String>,
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox {
            cards: Vec::new(),
            selected: None,
            marked: BTreeSet::new(),
            scroll: 0,
            mode: Mode::Inbox,
            link: Link::Opening,
            notices: Vec::new(),
            deaf_until: Moment::default(),
            untouched_since: None,
            sent: Vec::new(),
        }
    }
}

impl Inbox {
    /// Takes what happened, and gives what is to be done.
    pub fn apply(&mut self, event: Event, now: Moment) -> Vec<Effect> {
        match event {
            Event::Key(key) => {
                self.untouched_since = None;
                let effects = pressed::pressed(self, key, now);
                let decided = |effect: &Effect| match effect {
                    Effect::Decide(id, _) => Some(id.clone()),
                    Effect::Judge(..)
                    | Effect::Explain(_)
                    | Effect::Look(_)
                    | Effect::Alert(_)
                    | Effect::Quit => None,
                };
                self.sent.extend(effects.iter().filter_map(decided));
                return effects;
            }
            Event::Paste(text) => pressed::pasted(self, &text),
            Event::Opened(ask) => return self.open(ask, now),
            Event::Settled(ask) => self.settle(&ask, now),
            Event::Pending(asks) => return self.replace(asks, now),
            Event::Link(link) => self.link = link,
            Event::Answered(id, Ok(decision)) => self.answered(&id, &decision, now),
            Event::Answered(id, Err(why)) => {
                self.sent.retain(|sent| *sent != id);
                self.say(format!("{} was not answered: {why}", short(&id)), now);
            }
            Event::Judged(id, verdict) => self.judged(&id, verdict, now),
            Event::Explained(id, why) => self.explained(&id, why, now),
            Event::Told(text) => self.say(text, now),
            Event::Resized => {}
        }
        Vec::new()
    }

    /// The card that is looked at.
    pub fn card(&self) -> Option<&Card> {
        let id = self.selected.as_ref()?;
        self.cards.iter().find(|card| card.id == *id)
    }

    /// Where the card that is looked at stands in the list.
    pub fn place(&self) -> usize {
        let is_selected = |card: &Card| Some(&card.id) == self.selected.as_ref();
        self.cards.iter().position(is_selected).unwrap_or(0)
    }

    /// The cards that are marked, as they stand.
    pub fn chosen(&self) -> Vec<&Card> {
        self.cards.iter().filter(|card| self.marked.contains(&card.id)).collect()
    }

    /// Why those that are marked are not approved together, if they are not.
    pub fn refuses_many(&self) -> Option<&'static str> {
        let chosen = self.chosen();
        let kinds: BTreeSet<String> = chosen.iter().map(|card| card.kind()).collect();
        if chosen.iter().any(|card| card.rank() == 0) {
            return Some("what could destroy is approved one by one");
        }
        (kinds.len() > 1).then_some("only calls of the same kind are approved together")
    }

    /// What is still worth reading.
    pub fn said(&self, now: Moment) -> impl Iterator<Item = &Notice> {
        self.notices.iter().filter(move |notice| now.ms() - notice.at.ms() < NOTICE_MS)
    }

    /// Whether keys that decide count now.
    fn hears(&self, now: Moment) -> bool {
        now >= self.deaf_until
    }

    fn say(&mut self, text: String, now: Moment) {
        self.notices.push(Notice { text, at: now });
        let over = self.notices.len().saturating_sub(MOST_NOTICES);
        self.notices.drain(..over);
    }

    fn open(&mut self, ask: Value, now: Moment) -> Vec<Effect> {
        if text(&ask, "state") != "pending" {
            return Vec::new();
        }
        let Some(card) = Card::new(ask) else { return Vec::new() };
        let is_known = self.cards.iter().any(|known| known.id == card.id);
        if is_known {
            return Vec::new();
        }
        let alert =
            format!("{}: {} by {}", card.tier(), text(card.call(), "tool"), card.text("agent"));
        self.cards.push(card);
        self.sort(now);
        vec![Effect::Alert(alert)]
    }

    /// Whatever is gone was settled while nobody looked; how, is asked for.
    fn replace(&mut self, asks: Vec<Value>, now: Moment) -> Vec<Effect> {
        let is_there = |card: &Card| asks.iter().any(|ask| text(ask, "id") == card.id);
        let gone = self.cards.iter().filter(|card| !is_there(card));
        let mut effects: Vec<Effect> = gone.map(|card| Effect::Look(card.id.clone())).collect();
        effects.extend(asks.into_iter().flat_map(|ask| self.open(ask, now)));
        effects
    }

    fn sort(&mut self, now: Moment) {
        // The ids of one moment have an order too.
        self.cards.sort_by(|one, other| {
            let newest = other.opened_at.cmp(&one.opened_at);
            one.rank().cmp(&other.rank()).then(newest).then(other.id.cmp(&one.id))
        });
        if self.selected.is_none() {
            self.untouched_since = Some(now);
        }
        // What waited before comes one by one at first; later nothing moves under the eyes.
        let is_beginning = |since: Moment| now.ms() - since.ms() < BEGINNING_MS;
        if self.selected.is_none() || self.untouched_since.is_some_and(is_beginning) {
            self.selected = self.cards.first().map(|card| card.id.clone());
        }
    }

    fn settle(&mut self, ask: &Value, now: Moment) {
        if text(ask, "state") == "pending" {
            return;
        }
        let decision = ask.get("decision").unwrap_or(&Value::Null);
        self.take(text(ask, "id"), text(ask, "state"), decision, now);
    }

    fn answered(&mut self, id: &str, decision: &Value, now: Moment) {
        let is_allowed = text(decision, "outcome") == "allow";
        let state = match (is_allowed, text(decision, "answer")) {
            (true, _) => "approved",
            (false, "approve") => "denied by the policy",
            (false, _) => "rejected",
        };
        self.take(id, state, decision, now);
    }

    /// Takes an ask out of the list and says how it ended.
    fn take(&mut self, id: &str, state: &str, decision: &Value, now: Moment) {
        let Some(place) = self.cards.iter().position(|card| card.id == id) else { return };
        let card = self.cards.remove(place);
        self.marked.remove(id);
        let is_ours = self.sent.iter().any(|sent| sent == id);
        self.sent.retain(|sent| sent != id);
        self.say(ending(&card, state, decision), now);
        if self.selected.as_deref() != Some(id) {
            return;
        }
        let next = self.cards.get(place).or(self.cards.last());
        self.selected = next.map(|card| card.id.clone());
        self.scroll = 0;
        // Keys that were meant for this ask must not decide about the next one. Who has answered
        // it here and pressed nothing since, means the next one.
        if !is_ours || self.mode != Mode::Inbox {
            self.deaf_until = now.after_ms(DEAF_MS.unsigned_abs());
        }
        if self.mode != Mode::Help {
            self.mode = Mode::Inbox;
        }
    }

    fn explained(&mut self, id: &str, why: Result<Value, String>, now: Moment) {
        if self.selected.as_deref() != Some(id) || self.mode != Mode::Why(None) {
            return;
        }
        self.mode = match why {
            Ok(why) => Mode::Why(Some(why)),
            Err(why) => {
                self.say(format!("it cannot be told why: {why}"), now);
                Mode::Inbox
            }
        };
    }

    fn judged(&mut self, id: &str, verdict: Result<Value, String>, now: Moment) {
        if self.selected.as_deref() != Some(id) {
            return;
        }
        let Mode::Judging(editor, input) = &self.mode else { return };
        let (editor, input) = (editor.clone(), input.clone());
        self.mode = match verdict {
            Ok(verdict) => {
                let tier = tier(&verdict);
                let draft = Draft { offer: None, uses: 1, input: Some(input), tier };
                Mode::Edited(editor, draft, verdict)
            }
            Err(why) => {
                self.say(format!("the edited call cannot be judged: {why}"), now);
                Mode::Edit(editor)
            }
        };
    }
}

/// How an ask ended, in a sentence.
fn ending(card: &Card, state: &str, decision: &Value) -> String {
    let how = match (state, text(decision, "reason")) {
        ("expired", _) => "nobody answered in time".to_owned(),
        ("cancelled", "run_ended") => "its run ended".to_owned(),
        ("cancelled", "agent_gone") => "its agent went away".to_owned(),
        ("cancelled", _) => "it was withdrawn".to_owned(),
        (_, "grant") => format!("by a grant of {}", text(decision, "by")),
        _ => {
            let scope = text(decision, "scope");
            let door = text(decision, "door");
            let door = if door.is_empty() { String::new() } else { format!(" ({door})") };
            format!("{scope} by {}{door}", text(decision, "by"))
        }
    };
    format!("{} {state}, {how}: {}", card.short(), shorten(&card.text, 60))
}

#[cfg(test)]
#[path = "state/tests.rs"]
mod tests;
