//! Samples: the smallest asks, decisions, grants and entries that show a point.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

use portcullis_approval::ask::Bound;
use portcullis_approval::audit::{Chain, Entry};
use portcullis_approval::{
    Ask, Asker, CallText, Decision, Grant, Granted, Id, Key, Moment, Owners, Reach, Reply, Role,
    Scope, Settlement, State,
};
use portcullis_engine::Outcome;
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::verdict::Tier;
use portcullis_store::{AskFilter, AuditFilter, AuditRecord, GrantFilter, Store};

/// When everything here happens.
pub const NOW: Moment = Moment::from_ms(1_794_774_900_000);

/// More than any test opens.
pub const MANY: usize = 1_000_000;

/// So many milliseconds after [`NOW`].
pub fn later(ms: u64) -> Moment {
    NOW.after_ms(ms)
}

/// An id of a moment; each is younger than those before.
pub fn id_at(at: Moment) -> Id {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut chance = [0; 10];
    chance[2..].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    // Two processes count from one; what tells them apart stands before.
    chance[..2].copy_from_slice(&std::process::id().to_be_bytes()[2..]);
    Id::new(at, &chance)
}

/// An id of now.
pub fn id() -> Id {
    id_at(NOW)
}

/// An ask of a key about a command.
pub fn ask(key: Id, command: &str) -> Ask {
    ask_at(NOW, key, command)
}

/// The same, opened at a moment.
pub fn ask_at(at: Moment, key: Id, command: &str) -> Ask {
    let call = CallText {
        tool: "Bash".to_owned(),
        input: format!("{{\"command\":\"{command}\"}}"),
        cwd: Some("/src".to_owned()),
        ..CallText::default()
    };
    Ask {
        id: id_at(at),
        digest: call.digest().unwrap(),
        call,
        asker: Asker { key, agent: "coder".to_owned(), owner: "ada".to_owned(), label: None },
        door: "native".to_owned(),
        bound: Bound { cwd: None, scripts: Vec::new(), policy: "p1".to_owned(), access: None },
        verdict: "{}".to_owned(),
        tier: Tier::Review,
        is_firm: false,
        offers: Vec::new(),
        opened_at: at,
        deadline_at: None,
        fallback: Fallback::Deny,
        unused_approval_s: 600,
    }
}

/// A person's decision about an ask.
pub fn decision(ask: Id, reply: Reply) -> Decision {
    let (state, outcome) = match reply {
        Reply::Approve => (State::Approved, Outcome::Allow),
        Reply::Reject => (State::Rejected, Outcome::Deny),
    };
    Decision {
        ask,
        state,
        outcome,
        reply: Some(reply),
        scope: Scope::Once,
        by: "grace".to_owned(),
        door: "dashboard".to_owned(),
        at: NOW,
        reason: "approver".to_owned(),
        feedback: None,
        input: None,
        grants: Vec::new(),
    }
}

/// A settlement that leaves nothing behind.
pub fn settlement(ask: Id, reply: Reply) -> Settlement {
    Settlement { decision: decision(ask, reply), grants: Vec::new() }
}

/// A grant of a rule for good.
pub fn grant() -> Grant {
    Grant {
        id: id(),
        owner: "ada".to_owned(),
        key: None,
        agent: None,
        profile: None,
        granted: Granted::Pattern("Bash(git push:*)".to_owned()),
        reach: Reach::Always,
        expires_at: None,
        uses_left: None,
        made_by: "grace".to_owned(),
        made_at: NOW,
        ask: None,
    }
}

/// A key.
pub fn key(role: Role, name: &str) -> Key {
    Key {
        id: id(),
        role,
        name: name.to_owned(),
        owners: Owners::Some(vec!["ada".to_owned()]),
        made_at: NOW,
        expires_at: None,
        revoked_at: None,
    }
}

/// One entry about something.
pub fn entry(kind: &'static str, subject: impl Display) -> Vec<Entry> {
    entry_at(NOW, kind, subject)
}

/// The same at a moment.
pub fn entry_at(at: Moment, kind: &'static str, subject: impl Display) -> Vec<Entry> {
    vec![Entry {
        kind,
        at,
        actor: "coder".to_owned(),
        subject: subject.to_string(),
        owner: Some("ada".to_owned()),
        data: "{\"a\":1}".to_owned().into(),
    }]
}

/// Every pending ask.
pub fn all_pending() -> AskFilter {
    AskFilter::pending(Owners::All, MANY)
}

/// Every grant.
pub fn all_grants() -> GrantFilter {
    GrantFilter { owners: Owners::All, good_at: None, after: None, limit: MANY }
}

/// Every audit entry.
pub async fn entries(store: &dyn Store) -> Vec<AuditRecord> {
    store.audit(&AuditFilter::after(0, MANY)).await.unwrap()
}

/// Checks the chain of this node from its base to its head; how many entries it has.
pub async fn chain_holds(store: &dyn Store) -> usize {
    let entries = entries(store).await;
    let head = store.head().await.unwrap();
    let mut chain = head.base.map_or_else(Chain::default, |(seq, hash)| Chain::after(seq, hash));
    let ours: Vec<&AuditRecord> =
        entries.iter().filter(|record| record.node == store.node()).collect();
    for record in &ours {
        chain.take(&record.line()).unwrap();
    }
    assert_eq!(chain.head(), (head.seq, head.hash), "the head is the last entry");
    assert!(entries.is_sorted_by(|a, b| a.position < b.position), "each has a place of its own");
    ours.len()
}
