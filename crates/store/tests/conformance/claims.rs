//! Claims: the one execution an approval is good for.

use portcullis_approval::{Ask, Id, Moment, Reply, Settlement};
use portcullis_store::{AuditFilter, Opened, Opening, Store, StoreError};

use crate::place::Place;
use crate::samples::{MANY, ask, ask_at, chain_holds, entry, grant, id, later, settlement};

/// An ask of a key that was answered.
async fn answered(store: &dyn Store, key: Id, reply: Reply) -> Ask {
    let ask = ask(key, "ls");
    store.open_ask(&ask, MANY, vec![].into()).await.unwrap();
    store.settle_ask(&settlement(ask.id, reply), vec![]).await.unwrap();
    ask
}

pub async fn an_approval_is_claimed_once_within_its_time(place: &impl Place) {
    let store = place.open();
    let ask = answered(&*store, id(), Reply::Approve).await;
    let claim = async |at: Moment| store.claim(ask.id, at, entry("ask.claimed", ask.id)).await;
    assert!(!claim(later(600_001)).await.unwrap(), "nobody came for it in time");
    assert_eq!(store.ask(ask.id).await.unwrap().unwrap().claimed_at, None);
    assert!(claim(later(600_000)).await.unwrap());
    assert!(!claim(later(600_000)).await.unwrap(), "it is good for one");
    assert_eq!(store.ask(ask.id).await.unwrap().unwrap().claimed_at, Some(later(600_000)));
    assert_eq!(chain_holds(&*store).await, 1, "only what was claimed is recorded");
}

pub async fn what_was_not_allowed_is_not_claimed(place: &impl Place) {
    let store = place.open();
    let rejected = answered(&*store, id(), Reply::Reject).await;
    let pending = ask(id(), "ls");
    store.open_ask(&pending, MANY, vec![].into()).await.unwrap();
    for ask in [rejected.id, pending.id] {
        assert!(!store.claim(ask, later(1), entry("ask.claimed", ask)).await.unwrap());
    }
    let nothing = store.claim(id(), later(1), vec![]).await;
    assert!(matches!(nothing, Err(StoreError::NoSuchAsk(_))), "{nothing:?}");
    assert_eq!(chain_holds(&*store).await, 0);
}

pub async fn an_identical_call_claims_an_unused_approval(place: &impl Place) {
    let store = place.open();
    let approved = answered(&*store, id(), Reply::Approve).await;
    let key = approved.asker.key;
    let mut other_agent = ask(key, "ls");
    other_agent.asker.agent = "writer".to_owned();
    for other in [ask(key, "ls -l"), ask(id(), "ls"), other_agent] {
        assert_eq!(store.open_ask(&other, MANY, vec![].into()).await.unwrap(), Opened::New);
    }
    let next = ask_at(later(1000), key, "ls");
    let claimed = store.open_ask(&next, MANY, entry("ask.opened", next.id).into()).await.unwrap();
    let Opened::Claimed(record) = claimed else { panic!("{claimed:?}") };
    assert_eq!((record.ask.id, record.claimed_at), (approved.id, Some(later(1000))));
    assert_eq!(chain_holds(&*store).await, 0, "nothing was said about a claim");
    assert!(!store.claim(approved.id, later(1000), vec![]).await.unwrap());
    assert_eq!(store.open_ask(&next, MANY, vec![].into()).await.unwrap(), Opened::New);

    let stale = answered(&*store, id(), Reply::Approve).await;
    let late = ask_at(later(600_001), stale.asker.key, "ls");
    assert_eq!(store.open_ask(&late, MANY, vec![].into()).await.unwrap(), Opened::New);
    assert_eq!(chain_holds(&*store).await, 0);
}

pub async fn the_same_call_does_not_live_on_an_approval_that_is_too_old(place: &impl Place) {
    let store = place.open();
    let named = |at: Moment, key: Id| {
        let mut ask = ask_at(at, key, "ls");
        ask.call.call_id = Some("c-1".to_owned());
        ask
    };
    let first = named(later(0), id());
    let key = first.asker.key;
    store.open_ask(&first, MANY, vec![].into()).await.unwrap();
    store.settle_ask(&settlement(first.id, Reply::Approve), vec![]).await.unwrap();
    assert!(store.claim(first.id, later(1), vec![]).await.unwrap());
    let same = store.open_ask(&named(later(600_000), key), MANY, vec![].into()).await.unwrap();
    assert!(matches!(same, Opened::Found(_)), "it learns what was decided: {same:?}");
    let late = store.open_ask(&named(later(600_001), key), MANY, vec![].into()).await.unwrap();
    assert_eq!(late, Opened::New, "a person looks again");
    let found = store.open_ask(&named(later(600_002), key), MANY, vec![].into()).await.unwrap();
    assert!(matches!(found, Opened::Found(_)), "the new ask is that of the call: {found:?}");
}

pub async fn an_approval_of_an_access_is_for_its_run(place: &impl Place) {
    let store = place.open();
    let key = id();
    let of_run = |at: Moment, run: Option<&str>, is_access: bool, session: Option<&str>| {
        let mut ask = ask_at(at, key, "ls");
        ask.call.run = run.map(str::to_owned);
        ask.call.session = session.map(str::to_owned);
        ask.bound.access = is_access.then(Default::default);
        ask
    };
    for (is_access, session) in [(true, None), (true, Some("s")), (false, None)] {
        let first = of_run(later(0), Some("r-1"), is_access, session);
        store.open_ask(&first, MANY, vec![].into()).await.unwrap();
        for run in [Some("r-2"), None] {
            let other = of_run(later(1), run, is_access, session);
            let opened = store.open_ask(&other, MANY, vec![].into()).await.unwrap();
            assert_eq!(opened, Opened::New, "{is_access} {session:?}: pending in another run");
            store.settle_ask(&settlement(other.id, Reply::Reject), vec![]).await.unwrap();
        }
        store.settle_ask(&settlement(first.id, Reply::Approve), vec![]).await.unwrap();
        let other = of_run(later(2), Some("r-2"), is_access, session);
        assert_eq!(store.open_ask(&other, MANY, vec![].into()).await.unwrap(), Opened::New);
        store.settle_ask(&settlement(other.id, Reply::Reject), vec![]).await.unwrap();
        let next = of_run(later(3), Some("r-1"), is_access, session);
        let claimed = store.open_ask(&next, MANY, vec![].into()).await.unwrap();
        assert!(matches!(claimed, Opened::Claimed(_)), "its own run: {claimed:?}");
    }
    // Turns of one session are runs to some hosts: a late answer serves the next of them.
    let turn = of_run(later(4), Some("t-1"), false, Some("s"));
    store.open_ask(&turn, MANY, vec![].into()).await.unwrap();
    let next = of_run(later(5), Some("t-2"), false, Some("s"));
    let found = store.open_ask(&next, MANY, vec![].into()).await.unwrap();
    assert!(matches!(found, Opened::Found(_)), "{found:?}");
}

pub async fn what_is_opened_found_or_claimed_is_recorded_with_it(place: &impl Place) {
    let store = place.open();
    let approved = answered(&*store, id(), Reply::Approve).await;
    let key = approved.asker.key;
    let entries = || Opening {
        judged: entry("call.judged", "call"),
        opened: entry("ask.opened", "new"),
        claimed: entry("ask.claimed", "named by the store"),
    };
    let claimed = store.open_ask(&ask_at(later(1), key, "ls"), MANY, entries()).await.unwrap();
    assert!(matches!(claimed, Opened::Claimed(_)), "{claimed:?}");
    let opened = store.open_ask(&ask_at(later(2), key, "ls"), MANY, entries()).await.unwrap();
    assert_eq!(opened, Opened::New);
    let found = store.open_ask(&ask_at(later(3), key, "ls"), MANY, entries()).await.unwrap();
    assert!(matches!(found, Opened::Found(_)), "{found:?}");
    let refused = store.open_ask(&ask_at(later(4), key, "pwd"), 1, entries()).await;
    assert!(matches!(refused, Err(StoreError::TooManyAsks(1))), "{refused:?}");

    let written = store.audit(&AuditFilter::after(0, 100)).await.unwrap();
    let written: Vec<(&str, &str)> =
        written.iter().map(|entry| (entry.kind.as_str(), entry.subject.as_str())).collect();
    let approved = approved.id.to_string();
    #[rustfmt::skip]
    let want = [
        ("call.judged", "call"), ("ask.claimed", approved.as_str()),
        ("call.judged", "call"), ("ask.opened", "new"),
        ("call.judged", "call"),
    ];
    assert_eq!(written, want, "what was refused says nothing");
    assert_eq!(chain_holds(&*store).await, 5);
}

pub async fn an_approval_with_a_grant_is_used_by_the_grant(place: &impl Place) {
    let store = place.open();
    let first = ask(id(), "ls");
    store.open_ask(&first, MANY, vec![].into()).await.unwrap();
    let grant = grant();
    let mut settled = settlement(first.id, Reply::Approve);
    settled.decision.grants = vec![grant.id];
    store.settle_ask(&Settlement { grants: vec![grant.clone()], ..settled }, vec![]).await.unwrap();
    // The grant was revoked: the approval behind it must not let another call pass.
    assert!(store.revoke_grant(grant.id, later(1), vec![]).await.unwrap());
    let next = ask_at(later(2), first.asker.key, "ls");
    assert_eq!(store.open_ask(&next, MANY, vec![].into()).await.unwrap(), Opened::New);
    assert!(store.claim(first.id, later(2), vec![]).await.unwrap(), "its own waiter is served");
}
