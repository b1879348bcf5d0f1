//! Grants: made, used, told apart and ended.

use portcullis_approval::{Grant, Granted, Id, Owners, Reach, Reply, Settlement};
use portcullis_store::{GrantFilter, GrantRecord, RunRecord, StoreError};

use crate::place::Place;
use crate::samples::{
    MANY, NOW, all_grants, ask, chain_holds, entry, grant, id, later, settlement,
};

pub async fn a_grant_reads_back_as_it_was_made(place: &impl Place) {
    let store = place.open();
    let exact = |cwd: Option<&str>, reply: Reply| Granted::Exact {
        tool: "Bash".to_owned(),
        input: "{}".to_owned(),
        cwd: cwd.map(str::to_owned),
        reply,
    };
    let first = grant();
    let second = Grant {
        key: Some(id()),
        agent: Some("coder".to_owned()),
        granted: exact(Some("/src"), Reply::Approve),
        reach: Reach::Session("s".to_owned()),
        expires_at: Some(later(5)),
        uses_left: Some(u32::MAX),
        ask: Some(id()),
        ..grant()
    };
    let third =
        Grant { granted: exact(None, Reply::Reject), reach: Reach::Run("r".to_owned()), ..grant() };
    let want: Vec<GrantRecord> = [first, second, third]
        .map(|grant| GrantRecord { grant, revoked_at: None, used: 0, used_at: None })
        .to_vec();
    store.make_grant(&want[0].grant, entry("grant.made", "a")).await.unwrap();
    let asked = ask(id(), "ls");
    store.open_ask(&asked, MANY, vec![].into()).await.unwrap();
    let grants = vec![want[1].grant.clone(), want[2].grant.clone()];
    let settled = Settlement { grants, ..settlement(asked.id, Reply::Approve) };
    store.settle_ask(&settled, entry("ask.settled", asked.id)).await.unwrap();
    assert_eq!(store.grants(&all_grants()).await.unwrap(), want);
    assert_eq!(chain_holds(&*store).await, 2);
}

pub async fn a_use_is_taken_from_what_is_left(place: &impl Place) {
    let store = place.open();
    let counted = Grant { uses_left: Some(2), ..grant() };
    let endless = grant();
    for grant in [&counted, &endless] {
        store.make_grant(grant, vec![]).await.unwrap();
    }
    store.record(entry("call.judged", "a"), vec![counted.id, endless.id], later(7)).await.unwrap();
    let grants = store.grants(&all_grants()).await.unwrap();
    assert_eq!((grants[0].grant.uses_left, grants[0].used), (Some(1), 1));
    assert_eq!((grants[1].grant.uses_left, grants[1].used), (None, 1));
    assert_eq!(grants[1].used_at, Some(later(7)));
    store.record(entry("call.judged", "b"), vec![], later(7)).await.unwrap();
    assert_eq!(chain_holds(&*store).await, 2);
}

pub async fn what_is_gone_is_not_used(place: &impl Place) {
    let store = place.open();
    let good = grant();
    let used_up = Grant { uses_left: Some(0), ..grant() };
    let ended = Grant { expires_at: Some(later(10)), ..grant() };
    let revoked = grant();
    for grant in [&good, &used_up, &ended, &revoked] {
        store.make_grant(grant, vec![]).await.unwrap();
    }
    assert!(store.revoke_grant(revoked.id, NOW, entry("grant.revoked", "x")).await.unwrap());
    assert!(!store.revoke_grant(revoked.id, NOW, entry("grant.revoked", "x")).await.unwrap());
    assert!(!store.revoke_grant(used_up.id, NOW, entry("grant.revoked", "x")).await.unwrap());
    assert!(!store.revoke_grant(id(), NOW, entry("grant.revoked", "x")).await.unwrap());
    for gone in [used_up.id, ended.id, revoked.id, id()] {
        let used = store.record(entry("call.judged", "x"), vec![good.id, gone], later(10)).await;
        assert!(matches!(used, Err(StoreError::GrantGone(id)) if id == gone), "{used:?}");
    }
    let grants = store.grants(&all_grants()).await.unwrap();
    assert_eq!(grants[0].used, 0, "all or nothing");
    assert_eq!(chain_holds(&*store).await, 1);
}

pub async fn good_grants_are_told_from_others(place: &impl Place) {
    let store = place.open();
    let grants = [
        grant(),
        Grant { owner: "bob".to_owned(), ..grant() },
        Grant { expires_at: Some(later(10)), ..grant() },
        Grant { uses_left: Some(0), ..grant() },
        grant(),
    ];
    for grant in &grants {
        store.make_grant(grant, vec![]).await.unwrap();
    }
    store.revoke_grant(grants[4].id, later(1), vec![]).await.unwrap();
    let good = |ms: u64| GrantFilter { good_at: Some(later(ms)), ..all_grants() };
    let of_bob = || Owners::Some(vec!["bob".to_owned()]);
    #[rustfmt::skip]
    let cases: [(GrantFilter, &[usize], &str); 6] = [
        (all_grants(),                                              &[0, 1, 2, 3, 4], "all of them"),
        (good(9),                                                   &[0, 1, 2],       "what is good"),
        (good(10),                                                  &[0, 1],          "one has ended"),
        (GrantFilter { owners: of_bob(), ..good(9) },               &[1],             "of one owner"),
        (GrantFilter { after: Some(grants[0].id), ..good(9) },      &[1, 2],          "younger ones"),
        (GrantFilter { limit: 1, ..all_grants() },                  &[0],             "at most one"),
    ];
    for (filter, want, why) in cases {
        let found: Vec<Id> =
            store.grants(&filter).await.unwrap().iter().map(|record| record.grant.id).collect();
        let want: Vec<Id> = want.iter().map(|index| grants[*index].id).collect();
        assert_eq!(found, want, "{why}");
    }
}

pub async fn a_run_takes_its_grants_with_it(place: &impl Place) {
    let store = place.open();
    let agent = id();
    let run = RunRecord {
        run: "r".to_owned(),
        key: agent,
        owner: "ada".to_owned(),
        session: None,
        about: "{}".to_owned(),
        started_at: NOW,
        ended_at: None,
    };
    let of_run = |key: Id| Grant { key: Some(key), reach: Reach::Run("r".to_owned()), ..grant() };
    let (mine, others, of_session) =
        (of_run(agent), of_run(id()), Grant { reach: Reach::Session("r".to_owned()), ..grant() });
    store.start_run(&run, vec![]).await.unwrap();
    for grant in [&mine, &others, &of_session] {
        store.make_grant(grant, vec![]).await.unwrap();
    }
    assert!(store.end_run(agent, "r", later(3), vec![]).await.unwrap());
    // An answer that was on its way when the run ended.
    let late = of_run(agent);
    store.make_grant(&late, vec![]).await.unwrap();
    store.start_run(&run, vec![]).await.unwrap();
    let revoked: Vec<bool> = store
        .grants(&all_grants())
        .await
        .unwrap()
        .iter()
        .map(|record| record.revoked_at == Some(later(3)))
        .collect();
    assert_eq!(revoked, [true, false, false, true]);
}
