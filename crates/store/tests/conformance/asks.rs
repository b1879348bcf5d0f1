//! Asks: opened, found, joined, counted, settled and listed.

use portcullis_approval::ask::{Bound, Written};
use portcullis_approval::{
    Ask, Decision, Id, Moment, Offer, Owners, Reply, Scope, Settlement, State,
};
use portcullis_engine::Outcome;
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::verdict::Tier;
use portcullis_store::{AskFilter, AskOrder, AskRecord, Opened, StoreError};

use crate::place::Place;
use crate::samples::{
    MANY, NOW, all_pending, ask, ask_at, chain_holds, decision, entry, id, later, settlement,
};

pub async fn an_ask_reads_back_as_it_was_opened(place: &impl Place) {
    let store = place.open();
    let plain = ask(id(), "ls");
    let mut full = ask(id(), "make \\u00e4\\n");
    full.call.home = Some("/home/ada".to_owned());
    full.call.shell = Some("zsh".to_owned());
    full.call.host = Some("agentbot".to_owned());
    full.call.session = Some("s".to_owned());
    full.call.run = Some("r".to_owned());
    full.call.call_id = Some("c".to_owned());
    full.call.description = Some("builds".to_owned());
    full.asker.label = Some("Ada's".to_owned());
    full.bound = Bound {
        cwd: Some((u64::MAX, 7)),
        scripts: vec![("a.sh".to_owned(), "00".to_owned())],
        policy: "p2".to_owned(),
        access: Some(Written { bytes: Some(7), preview: Some("text".to_owned()) }),
    };
    full.tier = Tier::Destructive;
    full.is_firm = true;
    full.offers =
        vec![Offer { rule: "Bash(make:*)".to_owned(), also_covers: vec!["make x".to_owned()] }];
    full.deadline_at = Some(later(5000));
    full.fallback = Fallback::AllowCovered;
    for ask in [plain, full] {
        let opened = store.open_ask(&ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
        assert_eq!(opened, Opened::New);
        let want = AskRecord { ask: ask.clone(), decision: None, claimed_at: None };
        assert_eq!(store.ask(ask.id).await.unwrap(), Some(want));
    }
    assert_eq!(store.ask(id()).await.unwrap(), None);
    assert_eq!(store.pending_count().await.unwrap(), 2);
    assert_eq!(chain_holds(&*store).await, 2);
}

pub async fn several_asks_are_read_at_once(place: &impl Place) {
    let store = place.open();
    let (one, two) = (ask(id(), "one"), ask(id(), "two"));
    for ask in [&one, &two] {
        store.open_ask(ask, MANY, entry("ask.opened", ask.id).into()).await.unwrap();
    }
    store.settle_ask(&settlement(one.id, Reply::Approve), vec![]).await.unwrap();
    let (one_id, two_id) = (one.id, two.id);
    let mut found = store.asks_of(&[two.id, id(), one.id]).await.unwrap();
    found.sort_by_key(|record| record.decision.is_some());
    let found: Vec<_> = found.into_iter().map(|record| record.ask).collect();
    assert_eq!(found, [two, one], "those that there are, in whatever state");
    assert!(store.asks_of(&[]).await.unwrap().is_empty());
    let pending = store.pending_of(vec![one_id, id(), two_id]).await.unwrap();
    assert_eq!(pending, [two_id], "one is settled, one never was");
    assert!(store.pending_of(Vec::new()).await.unwrap().is_empty());
}

pub async fn a_decision_reads_back_as_it_was_made(place: &impl Place) {
    let store = place.open();
    let full = |ask: Id| Decision {
        scope: Scope::Session,
        feedback: Some("be careful".to_owned()),
        input: Some("{}".to_owned()),
        grants: vec![id(), id()],
        ..decision(ask, Reply::Approve)
    };
    let expired = |ask: Id| Decision {
        state: State::Expired,
        outcome: Outcome::Allow,
        reply: None,
        ..decision(ask, Reply::Reject)
    };
    let rejected = |ask: Id| decision(ask, Reply::Reject);
    let makers: [&dyn Fn(Id) -> Decision; 3] = [&full, &expired, &rejected];
    for make in makers {
        let ask = ask(id(), "ls");
        store.open_ask(&ask, MANY, vec![].into()).await.unwrap();
        let decision = make(ask.id);
        let settlement = Settlement { decision: decision.clone(), grants: Vec::new() };
        store.settle_ask(&settlement, entry("ask.settled", ask.id)).await.unwrap();
        let record = store.ask(ask.id).await.unwrap().unwrap();
        assert_eq!(record.state(), decision.state);
        assert_eq!(record.decision, Some(decision));
    }
}

pub async fn the_same_call_is_found_in_any_state(place: &impl Place) {
    let store = place.open();
    let mut first = ask(id(), "ls");
    first.call.call_id = Some("call-1".to_owned());
    store.open_ask(&first, MANY, entry("ask.opened", first.id).into()).await.unwrap();
    let again = || portcullis_approval::Ask { id: id(), ..first.clone() };

    for settles in [None, Some(Reply::Reject)] {
        if let Some(reply) = settles {
            store.settle_ask(&settlement(first.id, reply), vec![]).await.unwrap();
        }
        let found =
            store.open_ask(&again(), MANY, entry("ask.opened", "none").into()).await.unwrap();
        let Opened::Found(record) = found else { panic!("{found:?}") };
        assert_eq!(record.ask, first);
        assert_eq!(record.decision.is_some(), settles.is_some());
    }
    assert_eq!(chain_holds(&*store).await, 1, "what is found writes nothing");

    // The name of a call is the agent's to give: another call under it is another call.
    let mut other = ask(first.asker.key, "rm -rf /");
    other.call.call_id = Some("call-1".to_owned());
    let mut elsewhere = again();
    elsewhere.call.session = Some("s".to_owned());
    let somebody = ask(id(), "ls");
    for ask in [other, elsewhere, somebody] {
        assert_eq!(store.open_ask(&ask, MANY, vec![].into()).await.unwrap(), Opened::New);
    }
}

pub async fn an_identical_call_that_is_pending_is_joined(place: &impl Place) {
    let store = place.open();
    let first = ask(id(), "ls");
    store.open_ask(&first, MANY, vec![].into()).await.unwrap();
    let same = ask(first.asker.key, "ls");
    let found = store.open_ask(&same, MANY, entry("ask.opened", "none").into()).await.unwrap();
    let Opened::Found(record) = found else { panic!("{found:?}") };
    assert_eq!(record.ask, first);

    let mut other_agent = ask(first.asker.key, "ls");
    other_agent.asker.agent = "writer".to_owned();
    for ask in [other_agent, ask(first.asker.key, "ls -l"), ask(id(), "ls")] {
        assert_eq!(store.open_ask(&ask, MANY, vec![].into()).await.unwrap(), Opened::New);
    }
    store.settle_ask(&settlement(first.id, Reply::Reject), vec![]).await.unwrap();
    let anew = ask(first.asker.key, "ls");
    assert_eq!(store.open_ask(&anew, MANY, vec![].into()).await.unwrap(), Opened::New);
    assert_eq!(chain_holds(&*store).await, 0);
}

pub async fn the_asks_of_a_key_that_are_pending_take_bounded_room(place: &impl Place) {
    let store = place.open();
    let agent = id();
    let long = |name: usize| ask(agent, &format!("{name}{}", "x".repeat(8 << 20)));
    let mut first = None;
    for name in 0..3 {
        let ask = long(name);
        assert_eq!(store.open_ask(&ask, MANY, vec![].into()).await.unwrap(), Opened::New);
        first.get_or_insert(ask.id);
    }
    let refused = store.open_ask(&long(3), MANY, vec![].into()).await;
    assert!(matches!(refused, Err(StoreError::TooManyAsks(_))), "{refused:?}");
    assert_eq!(store.open_ask(&ask(agent, "ls"), MANY, vec![].into()).await.unwrap(), Opened::New);
    let other = ask(id(), &"x".repeat(8 << 20));
    assert_eq!(store.open_ask(&other, MANY, vec![].into()).await.unwrap(), Opened::New);
    store.settle_ask(&settlement(first.unwrap(), Reply::Reject), vec![]).await.unwrap();
    assert_eq!(store.open_ask(&long(4), MANY, vec![].into()).await.unwrap(), Opened::New);
}

pub async fn no_more_asks_of_a_key_are_pending_than_may_be(place: &impl Place) {
    let store = place.open();
    let agent = id();
    let first = ask(agent, "a");
    store.open_ask(&first, 2, vec![].into()).await.unwrap();
    store.open_ask(&ask(agent, "b"), 2, vec![].into()).await.unwrap();
    let refused = store.open_ask(&ask(agent, "c"), 2, entry("ask.opened", "c").into()).await;
    assert!(matches!(refused, Err(StoreError::TooManyAsks(2))), "{refused:?}");
    assert!(matches!(
        store.open_ask(&ask(agent, "a"), 2, vec![].into()).await,
        Ok(Opened::Found(_))
    ));
    assert_eq!(store.open_ask(&ask(id(), "c"), 2, vec![].into()).await.unwrap(), Opened::New);

    store.settle_ask(&settlement(first.id, Reply::Reject), vec![]).await.unwrap();
    assert_eq!(store.open_ask(&ask(agent, "c"), 2, vec![].into()).await.unwrap(), Opened::New);
    assert_eq!(store.pending_count().await.unwrap(), 3);
    assert_eq!(chain_holds(&*store).await, 0);
}

pub async fn an_ask_is_settled_once(place: &impl Place) {
    let store = place.open();
    let ask = ask(id(), "ls");
    store.open_ask(&ask, MANY, vec![].into()).await.unwrap();
    store.settle_ask(&settlement(ask.id, Reply::Reject), vec![]).await.unwrap();
    let second = store.settle_ask(&settlement(ask.id, Reply::Approve), entry("x", "x")).await;
    let Err(StoreError::AlreadySettled(standing)) = second else { panic!("{second:?}") };
    assert_eq!(*standing, decision(ask.id, Reply::Reject));

    let nothing = id();
    let unknown = store.settle_ask(&settlement(nothing, Reply::Approve), entry("x", "x")).await;
    assert!(matches!(unknown, Err(StoreError::NoSuchAsk(id)) if id == nothing), "{unknown:?}");
    assert_eq!(store.pending_count().await.unwrap(), 0);
    assert_eq!(chain_holds(&*store).await, 0);
}

pub async fn filters_name_what_they_say(place: &impl Place) {
    let store = place.open();
    let (agent, other) = (id(), id());
    let mut asks = [ask(agent, "a"), ask(agent, "b"), ask(other, "c"), ask(other, "d")];
    asks[1].asker.owner = "bob".to_owned();
    asks[1].call.session = Some("s".to_owned());
    asks[2].asker.agent = "writer".to_owned();
    asks[2].call.run = Some("r".to_owned());
    for ask in &asks {
        store.open_ask(ask, MANY, vec![].into()).await.unwrap();
    }
    store.settle_ask(&settlement(asks[3].id, Reply::Approve), vec![]).await.unwrap();

    let all = || AskFilter { state: None, ..all_pending() };
    let owned = |names: &[&str]| Owners::Some(names.iter().map(ToString::to_string).collect());
    #[rustfmt::skip]
    let cases: Vec<(AskFilter, &[usize], &str)> = vec![
        (all(),                                                   &[0, 1, 2, 3], "everything, oldest first"),
        (all_pending(),                                           &[0, 1, 2],    "what is pending"),
        (AskFilter { state: Some(State::Approved), ..all() },     &[3],          "what was approved"),
        (AskFilter { state: Some(State::Expired), ..all() },      &[],           "nothing expired"),
        (AskFilter { owners: owned(&["bob"]), ..all_pending() },  &[1],          "of one owner"),
        (AskFilter { owners: owned(&["bob", "ada"]), ..all() },   &[0, 1, 2, 3], "of two owners"),
        (AskFilter { owners: owned(&[]), ..all() },               &[],           "of nobody"),
        (AskFilter { key: Some(agent), ..all_pending() },         &[0, 1],       "of one key"),
        (AskFilter { agent: Some("writer".into()), ..all() },     &[2],          "of one agent"),
        (AskFilter { session: Some("s".into()), ..all() },        &[1],          "of one session"),
        (AskFilter { run: Some("r".into()), ..all_pending() },    &[2],          "of one run"),
        (AskFilter { digest: Some(asks[1].digest.clone()), ..all() }, &[1],      "about one call"),
        (AskFilter { after: Some(asks[1].id), ..all() },          &[2, 3],       "younger ones"),
        (AskFilter { limit: 2, ..all_pending() },                 &[0, 1],       "at most two"),
    ];
    for (filter, want, why) in cases {
        let found: Vec<Id> =
            store.asks(&filter).await.unwrap().iter().map(|record| record.ask.id).collect();
        let want: Vec<Id> = want.iter().map(|index| asks[*index].id).collect();
        assert_eq!(found, want, "{why}");
    }
}

pub async fn the_riskiest_come_first_and_of_those_the_newest(place: &impl Place) {
    let store = place.open();
    let risky = |tier: Tier, ms: u64| Ask { tier, ..ask_at(later(ms), id(), "x") };
    let asks = [
        risky(Tier::Review, 1),
        risky(Tier::Destructive, 2),
        risky(Tier::Safe, 9),
        risky(Tier::Review, 4),
        risky(Tier::Dangerous, 5),
        risky(Tier::Destructive, 0),
        risky(Tier::Destructive, 2),
        risky(Tier::Destructive, 7),
    ];
    for ask in &asks {
        store.open_ask(ask, MANY, vec![].into()).await.unwrap();
    }
    store.settle_ask(&settlement(asks[7].id, Reply::Reject), vec![]).await.unwrap();
    let riskiest = async |limit: usize| -> Vec<usize> {
        let filter = AskFilter { order: AskOrder::Riskiest, limit, ..all_pending() };
        let found = store.asks(&filter).await.unwrap();
        let place = |record: &AskRecord| asks.iter().position(|ask| ask.id == record.ask.id);
        found.iter().filter_map(place).collect()
    };
    assert_eq!(riskiest(MANY).await, [6, 1, 5, 4, 3, 0, 2]);
    assert_eq!(riskiest(3).await, [6, 1, 5], "the beginning of it is the same");
}

pub async fn what_is_due_comes_by_its_deadline(place: &impl Place) {
    let store = place.open();
    let due_in = |ms: Option<u64>| {
        let mut ask = ask_at(NOW, id(), "x");
        ask.deadline_at = ms.map(later);
        ask
    };
    let asks = [due_in(Some(300)), due_in(Some(100)), due_in(None), due_in(Some(200))];
    assert_eq!(store.next_deadline().await.unwrap(), None);
    for ask in &asks {
        store.open_ask(ask, MANY, vec![].into()).await.unwrap();
    }
    let due = async |now: Moment, limit: usize| -> Vec<Id> {
        let due = store.due_asks(now, limit).await.unwrap();
        due.iter().map(|record| record.ask.id).collect()
    };
    assert_eq!(store.next_deadline().await.unwrap(), Some(later(100)));
    assert_eq!(due(later(99), MANY).await, []);
    assert_eq!(due(later(200), MANY).await, [asks[1].id, asks[3].id]);
    assert_eq!(due(later(9999), 1).await, [asks[1].id]);
    store.settle_ask(&settlement(asks[1].id, Reply::Reject), vec![]).await.unwrap();
    assert_eq!(store.next_deadline().await.unwrap(), Some(later(200)));
    assert_eq!(due(later(9999), MANY).await, [asks[3].id, asks[0].id]);
}
