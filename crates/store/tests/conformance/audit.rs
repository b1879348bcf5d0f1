//! The audit: in order, in one chain, with what it records or not at all.

use portcullis_approval::audit::{Checkpoint, Entry};
use portcullis_approval::receipt::Signer;
use portcullis_approval::{Owners, Reply};
use portcullis_store::{AuditFilter, StoreError};

use crate::place::Place;
use crate::samples::{MANY, NOW, ask, chain_holds, entries, entry, id, later, settlement};

fn about(kind: &'static str, ms: u64, subject: &str, owner: Option<&str>) -> Entry {
    Entry {
        kind,
        at: later(ms),
        actor: "coder \"x\"".to_owned(),
        subject: subject.to_owned(),
        owner: owner.map(str::to_owned),
        data: "{}".to_owned().into(),
    }
}

pub async fn entries_stand_in_order_in_one_chain(place: &impl Place) {
    let store = place.open();
    assert_eq!(chain_holds(&*store).await, 0);
    let written = vec![about("a", 2, "x", Some("ada")), about("b", 1, "y", None)];
    store.record(written.clone(), vec![], NOW).await.unwrap();
    store.record(entry("c", "z"), vec![], NOW).await.unwrap();
    let found = entries(&*store).await;
    assert_eq!(found.len(), 3);
    for (record, entry) in found.iter().zip(&written) {
        let Entry { kind, at, actor, subject, owner, data } = entry;
        assert_eq!((record.kind.as_str(), &record.actor), (*kind, actor));
        assert_eq!((&record.at, &record.subject), (at, subject));
        assert_eq!((&record.owner, record.data.as_str()), (owner, &**data));
    }
    let head = store.head().await.unwrap();
    assert_eq!((head.seq, head.position, head.base), (3, found[2].position, None));
    assert_eq!(chain_holds(&*store).await, 3);
}

pub async fn what_fails_leaves_no_entry(place: &impl Place) {
    let store = place.open();
    let mut tasks = tokio::task::JoinSet::new();
    // Good and bad ones together, so that they share their transactions.
    for number in 0..200 {
        let store = std::sync::Arc::clone(&store);
        tasks.spawn(async move {
            let used = if number % 2 == 0 { vec![] } else { vec![id()] };
            store.record(entry("call.judged", number), used, NOW).await
        });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 100);
    let unknown = settlement(id(), Reply::Approve);
    assert!(store.settle_ask(&unknown, entry("ask.settled", "x")).await.is_err());
    assert_eq!(chain_holds(&*store).await, 100);
    let even = |record: &portcullis_store::AuditRecord| {
        record.subject.parse::<u32>().is_ok_and(|number| number % 2 == 0)
    };
    assert!(entries(&*store).await.iter().all(even));
}

pub async fn filters_name_what_they_say(place: &impl Place) {
    let store = place.open();
    let written = vec![
        about("a", 0, "x", Some("ada")),
        about("b", 1, "y", Some("bob")),
        about("a", 2, "y", None),
        about("c", 3, "x", Some("ada")),
        about("b", 4, "x", Some("ada")),
    ];
    store.record(written, vec![], NOW).await.unwrap();
    let positions: Vec<u64> = entries(&*store).await.iter().map(|one| one.position).collect();
    let all = || AuditFilter::after(0, MANY);
    let kinds = |kinds: &[&str]| kinds.iter().map(ToString::to_string).collect::<Vec<_>>();
    let owned = |names: &[&str]| Owners::Some(names.iter().map(ToString::to_string).collect());
    let end = Some(u64::MAX);
    #[rustfmt::skip]
    let cases: Vec<(AuditFilter, &[usize], &str)> = vec![
        (all(),                                                          &[0, 1, 2, 3, 4], "everything"),
        (AuditFilter::after(positions[2], MANY),                         &[3, 4],          "behind a place"),
        (AuditFilter::after(positions[0], 2),                            &[1, 2],          "at most two"),
        (AuditFilter { before: Some(positions[3]), ..all() },            &[2, 1, 0],       "before a place, newest first"),
        (AuditFilter { before: end, limit: 2, ..all() },                 &[4, 3],          "the newest two"),
        (AuditFilter { kinds: kinds(&["a"]), ..all() },                  &[0, 2],          "of one kind"),
        (AuditFilter { kinds: kinds(&["c", "a", "a"]), ..all() },        &[0, 2, 3],       "of two kinds, in order"),
        (AuditFilter { kinds: kinds(&["c", "b"]), limit: 2, ..all() },   &[1, 3],          "of two kinds, at most two"),
        (AuditFilter { kinds: kinds(&["c", "b"]), before: end, limit: 2, ..all() }, &[4, 3], "of two kinds, the newest"),
        (AuditFilter { owners: owned(&["ada"]), ..all() },               &[0, 3, 4],       "of one owner, nobody's not"),
        (AuditFilter { owners: owned(&[]), ..all() },                    &[],              "of no owner"),
        (AuditFilter { since: Some(later(3)), ..all() },                 &[3, 4],          "since a moment"),
        (AuditFilter { subject: Some("y".to_owned()), ..all() },         &[1, 2],          "about a subject"),
    ];
    for (filter, want, why) in cases {
        let found: Vec<u64> =
            store.audit(&filter).await.unwrap().iter().map(|one| one.position).collect();
        let want: Vec<u64> = want.iter().map(|index| positions[*index]).collect();
        assert_eq!(found, want, "{why}");
    }
}

pub async fn untidy_data_does_not_break_the_chain(place: &impl Place) {
    let store = place.open();
    for data in ["{ \"b\": 1, \"a\": 2 }", "no JSON", ""] {
        let mut untidy = entry("x", "y");
        untidy[0].data = data.to_owned().into();
        store.record(untidy, vec![], NOW).await.unwrap();
    }
    assert_eq!(chain_holds(&*store).await, 3);
}

pub async fn the_bell_tells_the_newest_position(place: &impl Place) {
    let store = place.open();
    let mut bell = store.bell();
    let ask = ask(id(), "ls");
    store.open_ask(&ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
    bell.changed().await.unwrap();
    let newest = entries(&*store).await[0].position;
    assert_eq!(*bell.borrow_and_update(), newest);
    store.settle_ask(&settlement(ask.id, Reply::Reject), entry("x", "y")).await.unwrap();
    bell.wait_for(|position| *position > newest).await.unwrap();
}

pub async fn checkpoints_are_kept(place: &impl Place) {
    let store = place.open();
    store.record(entry("a", "b"), vec![], NOW).await.unwrap();
    let head = store.head().await.unwrap();
    let signer = Signer::new(&[7; 32]);
    let checkpoint = Checkpoint::sign(store.node(), head.seq, head.hash, NOW, &signer);
    let second = Checkpoint::sign("there", 9, [3; 32], later(1), &signer);
    for checkpoint in [&checkpoint, &second] {
        store.add_checkpoint(checkpoint).await.unwrap();
    }
    let kept = store.checkpoints().await.unwrap();
    assert_eq!(kept, [checkpoint, second]);
    assert!(kept[0].is_signed_by(&signer.public()));
}

pub async fn a_closed_store_refuses(place: &impl Place) {
    let store = place.open();
    store.ready().await.unwrap();
    store.record(entry("a", "b"), vec![], NOW).await.unwrap();
    store.close().await;
    let refused = store.record(entry("a", "b"), vec![], NOW).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert!(store.ready().await.is_err());
    assert!(store.keys().await.is_err());
    store.close().await;
    assert_eq!(chain_holds(&*place.open()).await, 1);
}
