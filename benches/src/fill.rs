//! Stores that are filled to be opened again, and what they are filled with.

use std::path::Path;

use portcullis_approval::ask::Bound;
use portcullis_approval::audit::Entry;
use portcullis_approval::{
    Ask, Asker, CallText, Decision, Id, Moment, Offer, Reply, Scope, Settlement, State,
};
use portcullis_engine::Outcome;
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::verdict::Tier;
use portcullis_store::{Asks as _, Grants as _, Sqlite};

/// What is in the store that is opened after a kill.
pub const ENTRIES: usize = 1_000_000;
/// How many asks wait in it.
pub const PENDING: usize = 10_000;

/// More than is ever pending here.
pub const MANY: usize = 1_000_000;

/// Fills a store, says so, and goes on writing until it is killed.
///
/// # Panics
/// It cannot be filled.
pub async fn prepare(path: &Path, node: &str) -> ! {
    let share: usize = std::env::var("PORTCULLIS_BENCH_SHARE")
        .ok()
        .and_then(|share| share.parse().ok())
        .unwrap_or(1);
    let store = Sqlite::open(path, node).expect("a store");
    let mut number = 0;
    let key = id(&mut number);
    for _ in 0..ENTRIES / share / 1000 {
        let entries = (0..1000).flat_map(|_| entry("call.judged", &ask(key))).collect();
        store.record(entries, vec![], now()).await.expect("recorded");
    }
    for _ in 0..PENDING / share {
        let mut ask = ask(key);
        ask.deadline_at = Some(now().after_s(3600));
        store.open_ask(&ask, MANY, vec![].into()).await.expect("opened");
    }
    println!("ready");
    loop {
        store.record(entry("call.judged", &ask(key)), vec![], now()).await.expect("recorded");
    }
}

/// Makes one for a benchmark.
#[must_use]
pub fn now() -> Moment {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    Moment::from_ms(i64::try_from(since.as_millis()).unwrap_or(0))
}

/// Makes one for a benchmark.
pub fn id(number: &mut u64) -> Id {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    *number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let mut chance = [0; 10];
    for (to, from) in chance.iter_mut().skip(2).zip(number.to_be_bytes()) {
        *to = from;
    }
    Id::new(now(), &chance)
}

/// An ask as it comes from a coding agent: no two are identical.
#[must_use]
pub fn ask(key: Id) -> Ask {
    let mut number = 0;
    let id = id(&mut number);
    let call = CallText {
        tool: "Bash".to_owned(),
        input: format!("{{\"command\":\"git push origin feature/{number} --force-with-lease\"}}"),
        cwd: Some("/home/ada/src/portcullis".to_owned()),
        host: Some("claude-code".to_owned()),
        session: Some("3f0c9f0e-session".to_owned()),
        call_id: Some(format!("toolu_{number:024}")),
        ..CallText::default()
    };
    let digest = call.digest().unwrap_or_default();
    Ask {
        id,
        call,
        digest,
        asker: Asker { key, agent: "coder".to_owned(), owner: "ada".to_owned(), label: None },
        door: "hook".to_owned(),
        bound: Bound { cwd: Some((2049, 1234)), policy: "p".repeat(16), ..Bound::default() },
        verdict: format!("{{\"reasons\":[\"{}\"]}}", "a sentence about the call. ".repeat(50)),
        tier: Tier::Dangerous,
        is_firm: false,
        offers: vec![Offer {
            rule: "Bash(git push:*)".to_owned(),
            also_covers: vec!["git push origin main".to_owned()],
        }],
        opened_at: now(),
        deadline_at: Some(now().after_s(1800)),
        fallback: Fallback::Deny,
        unused_approval_s: 600,
    }
}

/// Makes one for a benchmark.
#[must_use]
pub fn settled(ask: &Ask) -> Settlement {
    let decision = Decision {
        ask: ask.id,
        state: State::Approved,
        outcome: Outcome::Allow,
        reply: Some(Reply::Approve),
        scope: Scope::Once,
        by: "grace".to_owned(),
        door: "dashboard".to_owned(),
        at: now(),
        reason: "approver".to_owned(),
        feedback: None,
        input: None,
        grants: Vec::new(),
    };
    Settlement { decision, grants: Vec::new() }
}

/// Makes one for a benchmark.
#[must_use]
pub fn entry(kind: &'static str, ask: &Ask) -> Vec<Entry> {
    vec![Entry {
        kind,
        at: now(),
        actor: "coder".to_owned(),
        subject: ask.id.to_string(),
        owner: Some("ada".to_owned()),
        data: format!(
            "{{\"digest\":\"{}\",\"outcome\":\"ask\",\"tier\":\"dangerous\",\"tool\":\"Bash\"}}",
            ask.digest
        )
        .into(),
    }]
}
