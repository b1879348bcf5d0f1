//! Races: many want the same thing, and exactly one gets it.

use std::sync::Arc;

use portcullis_approval::{Reply, Role};
use portcullis_store::{Opened, RunRecord, Store, StoreError};
use tokio::task::JoinSet;

use crate::place::Place;
use crate::samples::{
    MANY, NOW, all_grants, ask, chain_holds, entry, grant, id, key, later, settlement,
};

/// How many race, through two stores of the same place.
const RACERS: usize = 64;

/// How often they do.
const HEATS: usize = 8;

/// Runs the same for each racer at once; what each got.
async fn race<T, F>(
    stores: &[Arc<dyn Store>; 2],
    run: impl Fn(usize, Arc<dyn Store>) -> F,
) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut racers = JoinSet::new();
    for number in 0..RACERS {
        racers.spawn(run(number, Arc::clone(&stores[number % 2])));
    }
    racers.join_all().await
}

fn stores(place: &impl Place) -> [Arc<dyn Store>; 2] {
    [place.open(), place.open()]
}

pub async fn of_racing_answers_exactly_one_counts(place: &impl Place) {
    let stores = stores(place);
    for _ in 0..HEATS {
        let ask = ask(id(), "ls");
        stores[0].open_ask(&ask, MANY, vec![].into()).await.unwrap();
        let results = race(&stores, |number, store| async move {
            let reply = if number % 3 == 0 { Reply::Approve } else { Reply::Reject };
            let mut mine = settlement(ask.id, reply);
            mine.decision.by = format!("racer {number}");
            let result = store.settle_ask(&mine, entry("ask.settled", number)).await;
            (mine.decision, result)
        })
        .await;
        let standing = stores[1].ask(ask.id).await.unwrap().unwrap().decision.unwrap();
        let mut winners = 0;
        for (mine, result) in results {
            match result {
                Ok(()) => {
                    winners += 1;
                    assert_eq!(mine, standing);
                }
                Err(StoreError::AlreadySettled(told)) => assert_eq!(*told, standing),
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(winners, 1);
    }
    assert_eq!(chain_holds(&*stores[0]).await, HEATS, "one entry for each that counts");
}

pub async fn of_racing_calls_exactly_one_opens_the_ask(place: &impl Place) {
    let stores = stores(place);
    for _ in 0..HEATS {
        let agent = id();
        let results = race(&stores, |_, store| async move {
            let mine = ask(agent, "ls");
            let opened =
                store.open_ask(&mine, MANY, entry("ask.opened", mine.id).into()).await.unwrap();
            (mine.id, opened)
        })
        .await;
        let opened: Vec<_> = results
            .iter()
            .filter(|(_, opened)| *opened == Opened::New)
            .map(|(id, _)| *id)
            .collect();
        assert_eq!(opened.len(), 1);
        for (_, result) in results {
            if let Opened::Found(record) = result {
                assert_eq!(record.ask.id, opened[0]);
            }
        }
    }
    assert_eq!(chain_holds(&*stores[0]).await, HEATS);
}

pub async fn of_racing_calls_exactly_one_claims_the_approval(place: &impl Place) {
    let stores = stores(place);
    for _ in 0..HEATS {
        let first = ask(id(), "ls");
        stores[0].open_ask(&first, MANY, vec![].into()).await.unwrap();
        stores[0].settle_ask(&settlement(first.id, Reply::Approve), vec![]).await.unwrap();
        let agent = first.asker.key;
        let results = race(&stores, |_, store| async move {
            store.open_ask(&ask(agent, "ls"), MANY, vec![].into()).await.unwrap()
        })
        .await;
        let count = |test: fn(&Opened) -> bool| results.iter().filter(|one| test(one)).count();
        assert_eq!(count(|one| matches!(one, Opened::Claimed(_))), 1);
        assert_eq!(count(|one| matches!(one, Opened::New)), 1);
    }
}

pub async fn of_racing_claims_exactly_one_gets_it(place: &impl Place) {
    let stores = stores(place);
    for _ in 0..HEATS {
        let ask = ask(id(), "ls");
        stores[0].open_ask(&ask, MANY, vec![].into()).await.unwrap();
        stores[0].settle_ask(&settlement(ask.id, Reply::Approve), vec![]).await.unwrap();
        let won = race(&stores, |number, store| async move {
            store.claim(ask.id, later(1), entry("ask.claimed", number)).await.unwrap()
        })
        .await;
        assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
    }
    assert_eq!(chain_holds(&*stores[0]).await, HEATS);
}

pub async fn of_racing_uses_exactly_one_gets_the_last(place: &impl Place) {
    let stores = stores(place);
    for heat in 0..HEATS {
        let mut limited = grant();
        limited.uses_left = Some(3);
        stores[0].make_grant(&limited, vec![]).await.unwrap();
        let results = race(&stores, |number, store| async move {
            store.record(entry("grant.used", number), vec![limited.id], NOW).await
        })
        .await;
        let used = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(used, 3);
        let gone = |result: &Result<(), StoreError>| {
            matches!(result, Ok(()) | Err(StoreError::GrantGone(_)))
        };
        assert!(results.iter().all(gone));
        let grants = stores[1].grants(&all_grants()).await.unwrap();
        assert_eq!((grants[heat].grant.uses_left, grants[heat].used), (Some(0), 3));
    }
    assert_eq!(chain_holds(&*stores[0]).await, 3 * HEATS);
}

pub async fn racing_calls_stay_below_the_cap(place: &impl Place) {
    let stores = stores(place);
    let agent = id();
    let results = race(&stores, |number, store| async move {
        store.open_ask(&ask(agent, &format!("echo {number}")), 10, vec![].into()).await
    })
    .await;
    assert_eq!(results.iter().filter(|result| matches!(result, Ok(Opened::New))).count(), 10);
    let refused =
        |result: &&Result<Opened, StoreError>| matches!(result, Err(StoreError::TooManyAsks(10)));
    assert_eq!(results.iter().filter(refused).count(), RACERS - 10);
    assert_eq!(stores[0].pending_count().await.unwrap(), 10);
}

pub async fn of_racing_runs_and_keys_exactly_one_is_stored(place: &impl Place) {
    let stores = stores(place);
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
    let started = race(&stores, |_, store| {
        let run = run.clone();
        async move { store.start_run(&run, vec![]).await.unwrap() }
    })
    .await;
    assert_eq!(started.into_iter().filter(|started| *started).count(), 1);

    let added = race(&stores, |number, store| async move {
        let key = key(Role::Agent, "coder");
        let mut hash = [0; 32];
        hash[0] = u8::try_from(number).unwrap();
        store.add_key(&key, hash, false, entry("key.made", key.id)).await
    })
    .await;
    assert_eq!(added.iter().filter(|added| added.is_ok()).count(), 1);
    assert_eq!(chain_holds(&*stores[0]).await, 1);
}
