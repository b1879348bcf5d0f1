//! Devices: paired by a token that counts once, listed and revoked.

use portcullis_store::{DeviceRecord, PairingRecord};

use crate::place::Place;
use crate::samples::{NOW, chain_holds, entry, id, later};

fn pairing(number: u8) -> PairingRecord {
    PairingRecord {
        id: id(),
        hash: [number; 32],
        key: id(),
        agent: (number > 1).then(|| "a-1".to_owned()),
        must_confirm: number > 1,
        made_at: NOW,
        expires_at: later(600_000),
    }
}

fn device(number: u8) -> DeviceRecord {
    DeviceRecord {
        id: id(),
        hash: [number; 32],
        key: id(),
        agent: (number > 1).then(|| "a-1".to_owned()),
        about: "{}".to_owned(),
        paired_at: NOW,
        revoked_at: None,
    }
}

pub async fn a_token_is_taken_once(place: &impl Place) {
    let store = place.open();
    let (one, two) = (pairing(1), pairing(2));
    for pairing in [&one, &two] {
        store.offer_pairing(pairing, entry("device.offered", pairing.id)).await.unwrap();
    }
    assert_eq!(store.take_pairing([2; 32]).await.unwrap(), Some(two));
    assert_eq!(store.take_pairing([2; 32]).await.unwrap(), None);
    assert_eq!(store.take_pairing([3; 32]).await.unwrap(), None);
    let (first, second) = tokio::join!(store.take_pairing([1; 32]), store.take_pairing([1; 32]));
    let taken = [first.unwrap(), second.unwrap()].into_iter().flatten().count();
    assert_eq!(taken, 1, "of racing calls exactly one gets it");
    assert_eq!(chain_holds(&*store).await, 2);
}

pub async fn a_device_counts_until_it_is_revoked(place: &impl Place) {
    let store = place.open();
    let (one, two) = (device(1), device(2));
    for device in [&one, &two] {
        store.pair_device(device, entry("device.paired", device.id)).await.unwrap();
    }
    assert_eq!(store.devices().await.unwrap(), vec![one.clone(), two.clone()]);
    assert!(store.revoke_device(one.id, later(1), entry("device.revoked", one.id)).await.unwrap());
    assert!(!store.revoke_device(one.id, later(2), entry("device.revoked", one.id)).await.unwrap());
    let again = DeviceRecord { paired_at: later(3), ..device(2) };
    store.pair_device(&again, entry("device.paired", again.id)).await.unwrap();
    let revoked: Vec<_> =
        store.devices().await.unwrap().iter().map(|device| device.revoked_at).collect();
    assert_eq!(revoked, [Some(later(1)), Some(later(3)), None], "the last pairing counts");
    assert_eq!(chain_holds(&*store).await, 4);
}
