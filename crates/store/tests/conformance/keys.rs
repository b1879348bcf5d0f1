//! Keys: made, replaced and revoked.

use portcullis_approval::{Key, Owners, Role};
use portcullis_store::{KeyRecord, StoreError};

use crate::place::Place;
use crate::samples::{NOW, chain_holds, entry, id, key, later};

pub async fn a_key_reads_back_as_it_was_made(place: &impl Place) {
    let store = place.open();
    let keys = [
        key(Role::Agent, "coder"),
        Key { owners: Owners::All, expires_at: Some(later(9)), ..key(Role::Admin, "coder") },
        Key { owners: Owners::Some(vec![]), ..key(Role::Approver, "ä\"b") },
    ];
    let want: Vec<KeyRecord> =
        keys.into_iter().zip(1..).map(|(key, n)| KeyRecord { key, hash: [n; 32] }).collect();
    for KeyRecord { key, hash } in &want {
        store.add_key(key, *hash, false, entry("key.made", key.id)).await.unwrap();
    }
    assert_eq!(store.keys().await.unwrap(), want);
    assert_eq!(chain_holds(&*store).await, 3);
}

pub async fn a_name_is_taken_while_its_key_counts(place: &impl Place) {
    let store = place.open();
    let first = Key { expires_at: Some(later(10)), ..key(Role::Agent, "coder") };
    store.add_key(&first, [1; 32], false, vec![]).await.unwrap();
    let again = |ms: u64| Key { made_at: later(ms), ..key(Role::Agent, "coder") };

    let taken = store.add_key(&again(9), [2; 32], false, entry("key.made", "x")).await;
    assert!(matches!(taken, Err(StoreError::NameTaken(name)) if name == "coder"));
    assert_eq!(store.keys().await.unwrap()[0].key, first, "it counts as before");

    let replacing = again(9);
    store.add_key(&replacing, [2; 32], true, entry("key.made", "x")).await.unwrap();
    let keys = store.keys().await.unwrap();
    assert_eq!(keys[0].key.revoked_at, Some(later(9)));
    assert!(keys[1].key.counts_at(later(9)));

    // What is revoked or has ended leaves its name to others.
    assert!(store.revoke_key(replacing.id, later(10), vec![]).await.unwrap());
    store.add_key(&again(11), [3; 32], false, entry("key.made", "x")).await.unwrap();
    assert_eq!(chain_holds(&*store).await, 2);
}

pub async fn a_key_is_revoked_once(place: &impl Place) {
    let store = place.open();
    let mine = key(Role::Approver, "phone");
    store.add_key(&mine, [1; 32], false, vec![]).await.unwrap();
    assert!(store.revoke_key(mine.id, later(1), entry("key.revoked", mine.id)).await.unwrap());
    assert!(!store.revoke_key(mine.id, later(2), entry("key.revoked", mine.id)).await.unwrap());
    assert!(!store.revoke_key(id(), NOW, entry("key.revoked", "x")).await.unwrap());
    assert_eq!(store.keys().await.unwrap()[0].key.revoked_at, Some(later(1)));
    assert_eq!(chain_holds(&*store).await, 1);
}
