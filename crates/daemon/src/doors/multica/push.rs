//! What clients are told: requests that wait, new ones, and how they ended.
//!
//! It is made from the feed, so that it is said after the commit, once to each connection,
//! whichever door it came through.

use std::collections::HashSet;
use std::sync::Arc;

use portcullis_approval::{Ask, Id};
use portcullis_store::{AskFilter, AskRecord};
use portcullis_wire::dialects::multica::Kind;

use super::hub::{Link, Verified, locked};
use super::words;
use crate::App;
use crate::authority::decision_of;
use crate::feed::{Event, View};

/// So many asks are looked at when something was missed.
const MOST_PENDING: usize = 1000;

/// Begins to tell a client that has just been verified.
pub(super) fn begin(app: &App, link: &Arc<Link>) {
    let is_told = |verified: &Verified| verified.is_approver() && link.kind == Kind::Client;
    let Some(verified) = link.verified(app).filter(is_told) else { return };
    let (app, link) = (app.clone(), Arc::clone(link));
    tokio::spawn(async move {
        let view = View::of(&verified.caller, false);
        let Ok(mut events) = app.feed.subscribe(&app.authority, view, None).await else { return };
        let mut teller = Teller { app, link, sent: HashSet::new() };
        loop {
            let link = Arc::clone(&teller.link);
            let event = tokio::select! {
                event = events.next() => event,
                () = link.gone() => return,
            };
            let Some(event) = event else { return };
            if !teller.tell(&event).await {
                return;
            }
        }
    });
}

struct Teller {
    app: App,
    link: Arc<Link>,
    /// The asks that this connection was sent and that wait.
    sent: HashSet<Id>,
}

impl Teller {
    /// Says something that happened; false where nobody listens any more.
    async fn tell(&mut self, event: &Event) -> bool {
        // A key that was revoked sees nothing more.
        let Some(verified) = self.link.verified(&self.app) else { return false };
        match (event.kind.as_str(), &event.ask) {
            ("ask.opened", Some(record)) => self.ask(&verified, record).await,
            ("ask.settled", Some(record)) => self.settled(record).await,
            ("resync", _) => self.tell_all(&verified).await,
            _ => true,
        }
    }

    async fn ask(&mut self, verified: &Verified, record: &AskRecord) -> bool {
        let ask: &Ask = &record.ask;
        // What was denied because nobody was there is no question any more.
        if record.decision.is_some() || !verified.approver().may_answer(ask) {
            return true;
        }
        if !self.sent.insert(ask.id) {
            return true;
        }
        let now = self.app.authority.now();
        self.link.say("exec-approval-request", &words::approval(ask), now).await
    }

    async fn settled(&mut self, record: &AskRecord) -> bool {
        let id = record.ask.id;
        let Some(decision) = decision_of(record).filter(|_| self.sent.remove(&id)) else {
            return true;
        };
        let resolved = words::resolved(&record.ask, decision);
        {
            let mut state = locked(&self.link.state);
            if state.mine.remove(&id) {
                return true;
            }
            if state.trying.contains(&id) {
                state.deferred.insert(id, resolved);
                return true;
            }
        }
        self.link.say("exec-approval-resolved", &resolved, self.app.authority.now()).await
    }

    /// Says what was missed: how known asks ended, and what waits by now.
    async fn tell_all(&mut self, verified: &Verified) -> bool {
        let store = self.app.authority.store();
        let mut ended = Vec::new();
        for id in &self.sent {
            if let Ok(Some(record)) = store.ask(*id).await
                && record.decision.is_some()
            {
                ended.push(record);
            }
        }
        let filter = AskFilter::pending(verified.caller.owners(), MOST_PENDING);
        let Ok(pending) = store.asks(&filter).await else { return false };
        for record in &ended {
            if !self.settled(record).await {
                return false;
            }
        }
        for record in &pending {
            if !self.ask(verified, record).await {
                return false;
            }
        }
        true
    }
}
