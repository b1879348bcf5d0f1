//! Runs and sessions.

use portcullis_approval::{Id, Moment};
use portcullis_store::{RunRecord, SessionRecord};

use crate::place::Place;
use crate::samples::{NOW, chain_holds, entry, id, later};

fn session(key: Id, root: Option<&str>, began_at: Moment) -> SessionRecord {
    SessionRecord {
        key,
        session: "s".to_owned(),
        owner: "ada".to_owned(),
        root: root.map(str::to_owned),
        policy: None,
        began_at,
    }
}

pub async fn the_first_root_of_a_session_stays(place: &impl Place) {
    let store = place.open();
    let agent = id();
    let first = session(agent, Some("/src"), NOW);
    assert_eq!(store.begin_session(&first).await.unwrap(), first);
    // Also after more than a day, when it is written that it was seen.
    for ms in [0, 1000, 90_000_000] {
        let again = session(agent, Some("/"), later(ms));
        assert_eq!(store.begin_session(&again).await.unwrap(), first);
    }
    let other = session(id(), None, later(1));
    assert_eq!(store.begin_session(&other).await.unwrap(), other);
    assert_eq!(store.sessions("s").await.unwrap(), [first, other.clone()]);
    assert_eq!(store.sessions("t").await.unwrap(), []);

    let rooted = session(other.key, Some("/tmp"), later(2));
    let now = store.begin_session(&rooted).await.unwrap();
    assert_eq!(now.root.as_deref(), Some("/tmp"), "the first directory that was said");
}

pub async fn the_policy_of_a_session_is_set_and_taken_back(place: &impl Place) {
    let store = place.open();
    let mine = session(id(), None, NOW);
    store.begin_session(&mine).await.unwrap();
    for policy in [Some(r#"{"mode":"explore"}"#.to_owned()), None] {
        let set =
            store.set_session_policy(mine.key, "s", policy.clone(), entry("policy", "s")).await;
        assert!(set.unwrap());
        assert_eq!(store.begin_session(&mine).await.unwrap().policy, policy);
    }
    let set = store.set_session_policy(mine.key, "t", None, entry("policy", "t")).await;
    assert!(!set.unwrap());
    assert_eq!(chain_holds(&*store).await, 2);
}

pub async fn a_run_starts_and_ends_once(place: &impl Place) {
    let store = place.open();
    let run = |name: &str, about: &str, ms: u64| RunRecord {
        run: name.to_owned(),
        key: Id::new(NOW, &[7; 10]),
        owner: "ada".to_owned(),
        session: Some("s".to_owned()),
        about: about.to_owned(),
        started_at: later(ms),
        ended_at: None,
    };
    let (first, second) = (run("b", "1", 0), run("a", "2", 1));
    assert!(store.start_run(&first, entry("run.started", "b")).await.unwrap());
    assert!(store.start_run(&second, entry("run.started", "a")).await.unwrap());
    assert!(!store.start_run(&run("b", "3", 2), entry("run.started", "b")).await.unwrap());
    assert_eq!(store.runs(false).await.unwrap(), [first.clone(), second.clone()]);

    assert!(store.end_run(first.key, "b", later(5), entry("run.ended", "b")).await.unwrap());
    assert!(!store.end_run(first.key, "b", later(6), entry("run.ended", "b")).await.unwrap());
    assert!(!store.end_run(id(), "a", later(6), entry("run.ended", "a")).await.unwrap());
    let ended = RunRecord { ended_at: Some(later(5)), ..first };
    assert_eq!(store.runs(false).await.unwrap(), std::slice::from_ref(&second));
    assert_eq!(store.runs(true).await.unwrap(), [ended, second.clone()]);

    let anew = run("b", "4", 7);
    assert!(store.start_run(&anew, entry("run.started", "b")).await.unwrap());
    assert_eq!(store.runs(false).await.unwrap(), [second, anew]);
    assert_eq!(chain_holds(&*store).await, 4);
}

pub async fn a_run_is_changed_by_one_of_several(place: &impl Place) {
    let store = place.open();
    let run = |key: Id| RunRecord {
        run: "r".to_owned(),
        key,
        owner: "ada".to_owned(),
        session: None,
        about: "1".to_owned(),
        started_at: NOW,
        ended_at: None,
    };
    let (mine, other) = (run(id()), run(id()));
    store.start_run(&mine, entry("run.started", "r")).await.unwrap();
    store
        .start_run(&RunRecord { started_at: later(1), ..other.clone() }, Vec::new())
        .await
        .unwrap();
    let change = |before: &'static str, after: &'static str| {
        let (store, key) = (&store, mine.key);
        async move {
            let entries = entry("run.changed", "r");
            store.change_run(key, "r", before, after.to_owned(), entries).await.unwrap()
        }
    };
    assert!(change("1", "2").await);
    assert!(!change("1", "3").await, "somebody changed it meanwhile");
    let named = store.runs_named("r").await.unwrap();
    let abouts: Vec<&str> = named.iter().map(|run| run.about.as_str()).collect();
    assert_eq!(abouts, ["2", "1"]);
    store.end_run(mine.key, "r", later(5), entry("run.ended", "r")).await.unwrap();
    assert!(!change("2", "3").await, "it has ended");
    assert_eq!(store.runs_named("r").await.unwrap().len(), 2);
    assert_eq!(store.runs_named("s").await.unwrap(), []);
    assert_eq!(chain_holds(&*store).await, 3);
}
