//! Retention: what is old goes, what still counts stays, and the chain still holds.

use portcullis_approval::audit::Checkpoint;
use portcullis_approval::receipt::Signer;
use portcullis_approval::{Grant, Moment, Reach, Reply};
use portcullis_store::{AskFilter, Pruned, Retention, RunRecord, SessionRecord, Store};

use crate::place::Place;
use crate::samples::{
    MANY, NOW, all_grants, all_pending, ask_at, chain_holds, entries, entry_at, grant, id, later,
    settlement,
};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Ten days, and no limit of size.
const TEN_DAYS: Retention = Retention { days: 10, megabytes: 0 };

/// Appends entries of a moment, and signs where the chain stands then if it shall.
async fn write(store: &dyn Store, at: Moment, count: usize, signs: bool) -> Option<Checkpoint> {
    for number in 0..count {
        store.record(entry_at(at, "call.judged", number), vec![], at).await.unwrap();
    }
    if !signs {
        return None;
    }
    let head = store.head().await.unwrap();
    let signer = Signer::new(&[7; 32]);
    let checkpoint = Checkpoint::sign(store.node(), head.seq, head.hash, at, &signer);
    store.add_checkpoint(&checkpoint).await.unwrap();
    Some(checkpoint)
}

pub async fn what_is_old_goes_and_the_rest_stays(place: &impl Place) {
    let store = place.open();
    let (old, young) = (NOW, later(15 * DAY_MS));
    let now = later(20 * DAY_MS);
    let agent = id();
    let asks = [
        ask_at(old, agent, "old and pending"),
        ask_at(old, agent, "old and settled"),
        ask_at(old, agent, "old and settled lately"),
        ask_at(young, agent, "young and settled"),
    ];
    for (ask, decided) in asks.iter().zip([None, Some(old), Some(young), Some(young)]) {
        store.open_ask(ask, MANY, vec![].into()).await.unwrap();
        if let Some(at) = decided {
            let mut settled = settlement(ask.id, Reply::Approve);
            settled.decision.at = at;
            store.settle_ask(&settled, vec![]).await.unwrap();
        }
    }
    let good = grant();
    let revoked = grant();
    let ended = Grant { expires_at: Some(old), ..grant() };
    let used_up = Grant { uses_left: Some(0), ..grant() };
    let of_session =
        |name: &str| Grant { key: Some(agent), reach: Reach::Session(name.to_owned()), ..grant() };
    let (live, gone) = (of_session("live"), of_session("gone"));
    for grant in [&good, &revoked, &ended, &used_up, &live, &gone] {
        store.make_grant(grant, vec![]).await.unwrap();
    }
    store.revoke_grant(revoked.id, old, vec![]).await.unwrap();
    for (name, at) in [("gone", old), ("live", old), ("live", young)] {
        let session = SessionRecord {
            key: agent,
            session: name.to_owned(),
            owner: "ada".to_owned(),
            root: None,
            policy: None,
            began_at: at,
        };
        store.begin_session(&session).await.unwrap();
    }
    for (name, ends) in [("going", None), ("ended", Some(old)), ("ended lately", Some(young))] {
        let run = RunRecord {
            run: name.to_owned(),
            key: agent,
            owner: "ada".to_owned(),
            session: None,
            about: "{}".to_owned(),
            started_at: old,
            ended_at: None,
        };
        store.start_run(&run, vec![]).await.unwrap();
        if let Some(at) = ends {
            store.end_run(agent, name, at, vec![]).await.unwrap();
        }
    }

    let pruned = store.prune(&TEN_DAYS, now).await.unwrap();
    assert_eq!(pruned, Pruned { asks: 1, grants: 4, entries: 0 });
    let all = AskFilter { state: None, ..all_pending() };
    let kept: Vec<_> = store.asks(&all).await.unwrap().iter().map(|one| one.ask.id).collect();
    assert_eq!(kept, [asks[0].id, asks[2].id, asks[3].id]);
    let kept: Vec<_> =
        store.grants(&all_grants()).await.unwrap().iter().map(|one| one.grant.id).collect();
    assert_eq!(kept, [good.id, live.id]);
    assert_eq!(store.sessions("gone").await.unwrap().len(), 0);
    assert_eq!(store.sessions("live").await.unwrap().len(), 1);
    let runs: Vec<_> = store.runs(true).await.unwrap().into_iter().map(|run| run.run).collect();
    assert_eq!(runs, ["ended lately", "going"]);
    assert_eq!(store.pending_count().await.unwrap(), 1);
    assert_eq!(store.prune(&TEN_DAYS, now).await.unwrap(), Pruned::default());
}

pub async fn the_chain_begins_behind_a_checkpoint(place: &impl Place) {
    let store = place.open();
    write(&*store, NOW, 700, true).await;
    let base = write(&*store, later(DAY_MS), 700, true).await.unwrap();
    write(&*store, later(2 * DAY_MS), 5, false).await;
    let young = write(&*store, later(15 * DAY_MS), 5, true).await.unwrap();
    let pruned = store.prune(&TEN_DAYS, later(20 * DAY_MS)).await.unwrap();
    assert_eq!(pruned.entries, 1400);
    assert_eq!(chain_holds(&*store).await, 10);
    let head = store.head().await.unwrap();
    assert_eq!(head.base, Some((base.seq, base.hash)));
    assert_eq!(store.checkpoints().await.unwrap(), [base, young], "what it hangs on is kept");

    store.record(entry_at(NOW, "a", "b"), vec![], NOW).await.unwrap();
    drop(store);
    let again = place.open();
    assert_eq!(chain_holds(&*again).await, 11);
    assert_eq!(again.head().await.unwrap().position, 1411, "no position is given out twice");

    // All of it can go; what comes then still hangs on what is gone.
    let last = write(&*again, later(15 * DAY_MS), 0, true).await.unwrap();
    assert_eq!(again.prune(&TEN_DAYS, later(40 * DAY_MS)).await.unwrap().entries, 11);
    assert_eq!(again.head().await.unwrap().base, Some((last.seq, last.hash)));
    assert_eq!(chain_holds(&*again).await, 0);
    again.record(entry_at(NOW, "a", "b"), vec![], NOW).await.unwrap();
    assert_eq!(chain_holds(&*again).await, 1);
    assert_eq!(entries(&*again).await[0].position, 1412);
}

pub async fn without_a_checkpoint_no_entry_goes(place: &impl Place) {
    let store = place.open();
    write(&*store, NOW, 20, false).await;
    let pruned = store.prune(&TEN_DAYS, later(20 * DAY_MS)).await.unwrap();
    assert_eq!(pruned, Pruned::default());
    assert_eq!(chain_holds(&*store).await, 20);
}

pub async fn a_wrong_checkpoint_is_no_base(place: &impl Place) {
    let store = place.open();
    let good = write(&*store, NOW, 10, true).await.unwrap();
    write(&*store, NOW, 10, false).await;
    for seq in [15, 99] {
        let wrong = Checkpoint { seq, ..good.clone() };
        store.add_checkpoint(&wrong).await.unwrap();
    }
    let pruned = store.prune(&TEN_DAYS, later(20 * DAY_MS)).await.unwrap();
    assert_eq!(pruned.entries, 10);
    assert_eq!(store.head().await.unwrap().base, Some((good.seq, good.hash)));
    assert_eq!(chain_holds(&*store).await, 10);
}

pub async fn what_is_too_large_gets_smaller(place: &impl Place) {
    let store = place.open();
    let text = "x".repeat(20_000);
    for number in 0..100_u64 {
        let at = later(number * 1000);
        let mut ask = ask_at(at, id(), "ls");
        ask.verdict.clone_from(&text);
        store.open_ask(&ask, MANY, entry_at(at, "ask.opened", ask.id).into()).await.unwrap();
        let mut settled = settlement(ask.id, Reply::Reject);
        settled.decision.at = at;
        store.settle_ask(&settled, vec![]).await.unwrap();
        write(&*store, at, 0, number % 10 == 0).await;
    }
    let now = later(100_000);
    let retention = |megabytes: u64| Retention { days: 90, megabytes };
    assert_eq!(store.prune(&retention(3), now).await.unwrap(), Pruned::default());
    let pruned = store.prune(&retention(1), now).await.unwrap();
    assert!((40..80).contains(&pruned.asks), "{pruned:?}");
    assert!((30..80).contains(&pruned.entries), "{pruned:?}");
    let left = chain_holds(&*store).await;
    assert_eq!(left, 100 - usize::try_from(pruned.entries).unwrap());
    assert_eq!(store.prune(&retention(1), now).await.unwrap(), Pruned::default());
}
