//! Samples: asks, answers, approvers and verdicts of every kind.

use std::cell::RefCell;
use std::collections::HashMap;

use portcullis_approval::ask::Bound;
use portcullis_approval::{
    Answer, Approver, Ask, Asker, CallText, Id, Moment, Offer, Owners, Reply, Scope,
};
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::verdict::{JudgedAct, Reason, Tier};
use portcullis_engine::world::WorldKind;
use portcullis_engine::{Call, Lexical, Mode, Outcome, Policy, PolicyText, Source, Verdict, judge};
use proptest::prelude::*;
use proptest::{collection, option, sample};
use serde_json::json;

/// When everything here happens.
pub const NOW: Moment = Moment::from_ms(1_794_774_900_000);

/// The rules that are offered, and one that is not.
pub const RULES: [&str; 4] = ["Bash(git push:*)", "Bash(make)", "Write(src/**)", "Bash(*)"];

/// The id with this number.
pub fn id(number: u8) -> Id {
    Id::new(NOW, &[number; 10])
}

/// New ids, each another.
pub fn ids() -> impl FnMut() -> Id {
    let mut next = 100;
    move || {
        next += 1;
        id(next)
    }
}

/// An ask of key 1, which works for Ada, in a session and a run, with three offers.
pub fn plain_ask() -> Ask {
    let call = CallText {
        tool: "Bash".to_owned(),
        input: "{\"command\":\"git push\"}".to_owned(),
        cwd: Some("/src".to_owned()),
        session: Some("s".to_owned()),
        run: Some("r".to_owned()),
        ..CallText::default()
    };
    let offer = |rule: &&str| Offer { rule: (*rule).to_owned(), also_covers: Vec::new() };
    Ask {
        id: id(0),
        digest: call.digest().unwrap(),
        call,
        asker: Asker { key: id(1), agent: "coder".into(), owner: "ada".into(), label: None },
        door: "native".to_owned(),
        bound: Bound::default(),
        verdict: "{}".to_owned(),
        tier: Tier::Review,
        is_firm: false,
        offers: RULES[..3].iter().map(offer).collect(),
        opened_at: NOW,
        deadline_at: None,
        fallback: Fallback::Deny,
        unused_approval_s: 600,
    }
}

/// Somebody who may answer it.
pub fn plain_approver() -> Approver {
    Approver {
        name: "grace".to_owned(),
        key: id(2),
        owners: Owners::All,
        door: "dashboard".to_owned(),
    }
}

/// A verdict without acts.
pub fn plain_verdict(outcome: Outcome, is_firm: bool) -> Verdict {
    let reason = Reason { code: "rule.deny".into(), message: "a rule".to_owned(), span: None };
    Verdict {
        outcome,
        tier: Tier::Review,
        is_read_only: false,
        is_firm,
        world: WorldKind::Lexical,
        reasons: vec![reason],
        acts: Vec::new(),
        suggestions: Vec::new(),
        always: Vec::new(),
    }
}

/// The acts of a command under a policy that allows `make`.
pub fn acts(command: &'static str) -> Vec<JudgedAct> {
    thread_local! {
        static JUDGED: RefCell<HashMap<&'static str, Vec<JudgedAct>>> = RefCell::default();
    }
    let judged = || {
        let text = json!({ "mode": Mode::Default.name(), "rules": { "allow": ["Bash(make:*)"] } });
        let text = PolicyText::from_json(&text).unwrap();
        let policy = Policy::of_layers(&[(Source::User, text)]).unwrap();
        judge(&policy, &Call::bash(command, "/src"), &Lexical).acts
    };
    JUDGED.with_borrow_mut(|known| known.entry(command).or_insert_with(judged).clone())
}

/// An ask of any kind.
pub fn ask() -> impl Strategy<Value = Ask> {
    let name = || option::of(sample::select(&["a", "b"][..]));
    let fallback = sample::select(&[Fallback::Deny, Fallback::Allow, Fallback::AllowCovered][..]);
    let deadline = option::of(-2_i64..3);
    let owner = sample::select(&["ada", "bob"][..]);
    (name(), name(), deadline, fallback, any::<bool>(), 0_usize..4, owner, 1_u8..4).prop_map(
        |(session, run, deadline, fallback, is_firm, offers, owner, key)| {
            let mut ask = plain_ask();
            ask.call.session = session.map(str::to_owned);
            ask.call.run = run.map(str::to_owned);
            ask.deadline_at = deadline.map(|ms| Moment::from_ms(NOW.ms() + ms));
            ask.fallback = fallback;
            ask.is_firm = is_firm;
            ask.offers.truncate(offers);
            ask.asker.owner = owner.to_owned();
            ask.asker.key = id(key);
            ask
        },
    )
}

/// An answer of any kind, also one that makes no sense.
pub fn answer() -> impl Strategy<Value = Answer> {
    let scope = option::of(sample::select(&Scope::ALL[..]));
    let rules = collection::vec(sample::select(&RULES[..]), 0..3);
    let reply = prop_oneof![4 => Just(Reply::Approve), 1 => Just(Reply::Reject)];
    let input = option::weighted(0.2, Just("{\"command\":\"git push --dry-run\"}".to_owned()));
    (reply, scope, rules, option::of(0_u64..3), option::of(0_u32..4), input).prop_map(
        |(reply, scope, rules, valid_s, uses, input)| Answer {
            scope,
            rules: rules.into_iter().map(str::to_owned).collect(),
            valid_s,
            uses,
            input,
            ..Answer::plain(reply)
        },
    )
}

/// An approver of any kind.
pub fn approver() -> impl Strategy<Value = Approver> {
    let owners = prop_oneof![
        Just(Owners::All),
        collection::vec(sample::select(&["ada", "bob"][..]), 0..2)
            .prop_map(|owners| Owners::Some(owners.into_iter().map(str::to_owned).collect())),
    ];
    (owners, 1_u8..5).prop_map(|(owners, key)| Approver {
        owners,
        key: id(key),
        ..plain_approver()
    })
}

/// A verdict of any kind.
pub fn verdict() -> impl Strategy<Value = Verdict> {
    let outcome = sample::select(&[Outcome::Allow, Outcome::Ask, Outcome::Deny][..]);
    let command = sample::select(&["ls", "make", "make; ls", "rm x", "ls; rm x", ""][..]);
    (outcome, any::<bool>(), command, any::<bool>()).prop_map(
        |(outcome, is_firm, command, has_reasons)| {
            let mut verdict = plain_verdict(outcome, is_firm);
            verdict.acts = acts(command);
            if !has_reasons {
                verdict.reasons.clear();
            }
            verdict
        },
    )
}
