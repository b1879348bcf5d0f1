//! Stores opened again, and several at once.

use std::sync::Arc;

use portcullis_approval::{Ask, Reply, Role};
use portcullis_store::{Opened, RunRecord, SessionRecord, Store};
use tokio::task::JoinSet;

use crate::place::Place;
use crate::samples::{
    MANY, NOW, all_grants, all_pending, ask, chain_holds, entries, entry, grant, id, key,
    settlement,
};

/// All that can be read, as text.
pub async fn everything(store: &dyn Store) -> String {
    let asks = portcullis_store::AskFilter { state: None, ..all_pending() };
    format!(
        "{:#?}",
        (
            store.asks(&asks).await.unwrap(),
            store.grants(&all_grants()).await.unwrap(),
            store.keys().await.unwrap(),
            store.sessions("s").await.unwrap(),
            store.runs(true).await.unwrap(),
            entries(store).await,
            store.head().await.unwrap(),
            store.pending_count().await.unwrap(),
        )
    )
}

/// Something of every kind; the asks among it.
pub async fn fill(store: &dyn Store) -> [Ask; 3] {
    let asks = [ask(id(), "a"), ask(id(), "b"), ask(id(), "c")];
    for ask in &asks {
        store.open_ask(ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
    }
    let settled = settlement(asks[0].id, Reply::Approve);
    store.settle_ask(&settled, entry("ask.settled", asks[0].id)).await.unwrap();
    store.claim(asks[0].id, NOW, entry("ask.claimed", asks[0].id)).await.unwrap();
    store.make_grant(&grant(), entry("grant.made", "g")).await.unwrap();
    store.add_key(&key(Role::Agent, "k"), [1; 32], false, vec![]).await.unwrap();
    let owner = "ada".to_owned();
    let (key, session, root) = (id(), "s".to_owned(), Some("/".to_owned()));
    let began =
        SessionRecord { key, session, owner: owner.clone(), root, policy: None, began_at: NOW };
    store.begin_session(&began).await.unwrap();
    let (run, about) = ("r".to_owned(), "{}".to_owned());
    let started =
        RunRecord { run, key, owner, session: None, about, started_at: NOW, ended_at: None };
    store.start_run(&started, vec![]).await.unwrap();
    asks
}

pub async fn everything_is_there_again(place: &impl Place) {
    let store = place.open();
    let asks = fill(&*store).await;
    let before = everything(&*store).await;
    drop(store);
    let again = place.open();
    assert_eq!(everything(&*again).await, before);
    again.close().await;
    let again = place.open();
    assert_eq!(everything(&*again).await, before);
    assert_eq!(*again.bell().borrow(), again.head().await.unwrap().position);

    // What was pending is still joined and can be settled.
    let same = ask(asks[1].asker.key, "b");
    assert!(matches!(again.open_ask(&same, MANY, vec![].into()).await.unwrap(), Opened::Found(_)));
    again.settle_ask(&settlement(asks[1].id, Reply::Reject), vec![]).await.unwrap();
    assert_eq!(chain_holds(&*again).await, 6);
}

pub async fn two_stores_write_one_chain(place: &impl Place) {
    let stores = [place.open(), place.open()];
    let mut tasks = JoinSet::new();
    for number in 0..300 {
        let store = Arc::clone(&stores[number % 2]);
        tasks.spawn(async move {
            let ask = ask(id(), &format!("echo {number}"));
            store.open_ask(&ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
            let settled = settlement(ask.id, Reply::Approve);
            store.settle_ask(&settled, entry("ask.settled", ask.id)).await.unwrap();
        });
    }
    tasks.join_all().await;
    for store in &stores {
        assert_eq!(chain_holds(&**store).await, 600);
    }
}

pub async fn another_node_has_its_own_chain(place: &impl Place) {
    let (here, there) = (place.open_as("here"), place.open_as("there"));
    for store in [&here, &there, &here] {
        store.record(entry("a", "b"), vec![], NOW).await.unwrap();
    }
    assert_eq!((here.node(), there.node()), ("here", "there"));
    assert_eq!(chain_holds(&*here).await, 2);
    assert_eq!(chain_holds(&*there).await, 1);
    assert_eq!(entries(&*here).await.len(), 3);
    assert_eq!(here.head().await.unwrap().position, there.head().await.unwrap().position);
}

pub async fn the_bell_hears_the_other_store(place: &impl Place) {
    let (here, there) = (place.open(), place.open());
    there.record(entry("a", "b"), vec![], NOW).await.unwrap();
    let position = there.head().await.unwrap().position;
    let mut bell = here.bell();
    bell.wait_for(|heard| *heard == position).await.unwrap();
}
