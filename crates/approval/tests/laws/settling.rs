//! Answers: what they may do, and what they never do.

use portcullis_approval::{
    Answer, Ask, Granted, Reach, Refusal, Reply, Scope, Settlement, State, settle,
};
use portcullis_engine::Outcome;
use portcullis_law::law;
use proptest::prelude::*;

use crate::samples::{
    NOW, RULES, answer, approver, ask, ids, plain_approver, plain_ask, plain_verdict, verdict,
};

#[test]
fn what_is_denied_by_now_is_never_allowed() {
    law((ask(), answer(), approver(), verdict()), |(ask, answer, approver, verdict)| {
        if let Ok(settled) = settle(&ask, &answer, &approver, &verdict, NOW, &mut ids()) {
            let is_denied = verdict.outcome == Outcome::Deny || answer.reply == Reply::Reject;
            prop_assert_eq!(settled.decision.outcome == Outcome::Deny, is_denied);
            prop_assert_eq!(settled.decision.state == State::Approved, !is_denied);
            prop_assert_ne!(settled.decision.outcome, Outcome::Ask);
            if verdict.outcome == Outcome::Deny && answer.reply == Reply::Approve {
                prop_assert!(settled.grants.is_empty(), "nothing is left of it");
            }
        }
        Ok(())
    });
}

#[test]
fn only_who_may_answer_settles_and_only_in_time() {
    law((ask(), answer(), approver(), verdict()), |(ask, answer, approver, verdict)| {
        let result = settle(&ask, &answer, &approver, &verdict, NOW, &mut ids());
        let may = approver.owners.include(&ask.asker.owner) && approver.key != ask.asker.key;
        let in_time = ask.deadline_at.is_none_or(|deadline| NOW < deadline);
        match result {
            Err(Refusal::NotYours) => prop_assert!(!may),
            Err(Refusal::TooLate) => prop_assert!(may && !in_time),
            Ok(_) | Err(_) => prop_assert!(may && in_time),
        }
        Ok(())
    });
}

#[test]
fn what_is_left_behind_is_what_was_offered_or_this_very_call() {
    law((ask(), answer(), approver(), verdict()), |(ask, answer, approver, verdict)| {
        let Ok(settled) = settle(&ask, &answer, &approver, &verdict, NOW, &mut ids()) else {
            return Ok(());
        };
        let Settlement { decision, grants } = settled;
        let named: Vec<_> = grants.iter().map(|grant| grant.id).collect();
        prop_assert_eq!(&decision.grants, &named);
        prop_assert_eq!(decision.scope == Scope::Once, grants.is_empty());
        for grant in &grants {
            match &grant.granted {
                Granted::Pattern(rule) => {
                    prop_assert!(ask.offers.iter().any(|offer| offer.rule == *rule));
                    prop_assert!(answer.rules.contains(rule));
                    prop_assert_eq!(answer.reply, Reply::Approve);
                }
                Granted::Exact { tool, input, cwd, reply } => {
                    prop_assert!(answer.rules.is_empty());
                    prop_assert_eq!((tool, cwd), (&ask.call.tool, &ask.call.cwd));
                    prop_assert_eq!(input, answer.input.as_ref().unwrap_or(&ask.call.input));
                    prop_assert_eq!(*reply, answer.reply);
                }
            }
            prop_assert_eq!(&grant.owner, &ask.asker.owner);
            prop_assert_eq!(grant.ask, Some(ask.id));
            // Whoever else calls a run or a session the same gets nothing by it.
            let is_of_key = grant.key == Some(ask.asker.key);
            prop_assert_eq!(is_of_key, grant.reach != Reach::Always);
            let uses = answer.uses.map(|uses| uses - 1);
            prop_assert_eq!(grant.uses_left, uses);
            prop_assert_ne!(grant.uses_left, Some(0));
        }
        Ok(())
    });
}

#[test]
fn for_good_over_a_firm_finding_leaves_nothing() {
    law((ask(), answer(), verdict()), |(ask, answer, mut verdict)| {
        verdict.is_firm = true;
        let settled = settle(&ask, &answer, &plain_approver(), &verdict, NOW, &mut ids());
        if let Ok(settled) = settled {
            prop_assert!(settled.grants.iter().all(portcullis_approval::Grant::is_limited));
        }
        Ok(())
    });
}

/// The answer that approves this far.
fn approve(scope: Scope) -> Answer {
    Answer { scope: Some(scope), ..Answer::plain(Reply::Approve) }
}

#[test]
fn an_answer_reaches_as_far_as_it_says() {
    let plain = || Answer::plain(Reply::Approve);
    let rules = |indexes: &[usize]| indexes.iter().map(|at| RULES[*at].to_owned()).collect();
    #[rustfmt::skip]
    let cases: Vec<(Answer, Scope, usize, &str)> = vec![
        (plain(),                                                            Scope::Once,    0, "a plain answer is about this call"),
        (approve(Scope::Once),                                               Scope::Once,    0, "once"),
        (approve(Scope::Run),                                                Scope::Run,     1, "this call, while the run lasts"),
        (approve(Scope::Session),                                            Scope::Session, 1, "this call, in the session"),
        (approve(Scope::Always),                                             Scope::Always,  1, "this call, for good"),
        (Answer { rules: rules(&[0]), ..approve(Scope::Always) },            Scope::Always,  1, "a rule for good"),
        (Answer { rules: rules(&[0, 2]), ..approve(Scope::Run) },            Scope::Run,     2, "two rules for the run"),
        (Answer { rules: rules(&[1]), ..plain() },                           Scope::Session, 1, "a rule, unsaid how far"),
        (Answer { valid_s: Some(60), ..plain() },                            Scope::Session, 1, "for a minute, unsaid how far"),
        (Answer { uses: Some(3), ..plain() },                                Scope::Session, 1, "three times"),
        (Answer { uses: Some(1), ..approve(Scope::Always) },                 Scope::Once,    0, "one time is once"),
        (Answer { input: Some("{}".into()), ..approve(Scope::Session) },     Scope::Session, 1, "a changed call, in the session"),
        (Answer::plain(Reply::Reject),                                       Scope::Once,    0, "a plain rejection"),
        (Answer { scope: Some(Scope::Run), ..Answer::plain(Reply::Reject) }, Scope::Run,     1, "a rejection the run remembers"),
    ];
    let verdict = plain_verdict(Outcome::Ask, false);
    for (answer, scope, grants, why) in cases {
        let settled = settle(&plain_ask(), &answer, &plain_approver(), &verdict, NOW, &mut ids());
        let settled = settled.unwrap_or_else(|refusal| panic!("{why}: {refusal}"));
        assert_eq!((settled.decision.scope, settled.grants.len()), (scope, grants), "{why}");
        let ends = answer.valid_s.map(|seconds| NOW.after_s(seconds));
        assert!(settled.grants.iter().all(|grant| grant.expires_at == ends), "{why}");
    }
}

/// Whether a refusal is the right one.
type Test = fn(&Refusal) -> bool;

#[test]
fn an_answer_that_makes_no_sense_is_refused() {
    let plain = || Answer::plain(Reply::Approve);
    let reject = || Answer::plain(Reply::Reject);
    let rule = |at: usize| vec![RULES[at].to_owned()];
    let (here, nowhere) = (plain_ask(), {
        let mut ask = plain_ask();
        (ask.call.run, ask.call.session) = (None, None);
        ask
    });
    let malformed = |refusal: &Refusal| matches!(refusal, Refusal::Malformed(_));
    let refused = |refusal: &Refusal| matches!(refusal, Refusal::RuleRefused(_));
    #[rustfmt::skip]
    let cases: Vec<(&Ask, Answer, Test, &str)> = vec![
        (&here,    Answer { rules: rule(0), ..approve(Scope::Once) },          malformed, "a rule needs a scope"),
        (&here,    Answer { uses: Some(2), ..approve(Scope::Once) },           malformed, "two uses are not once"),
        (&here,    Answer { valid_s: Some(5), ..approve(Scope::Once) },        malformed, "five seconds are not once"),
        (&here,    Answer { uses: Some(0), ..plain() },                        malformed, "no use at all"),
        (&here,    Answer { valid_s: Some(0), ..plain() },                     malformed, "no time at all"),
        (&here,    Answer { rules: rule(0), input: Some("{}".into()), ..approve(Scope::Run) }, malformed, "an offer for another call"),
        (&here,    Answer { rules: rule(3), ..approve(Scope::Always) },        refused,   "a rule that was not offered"),
        (&here,    Answer { rules: rule(0), ..reject() },                      malformed, "a rejection with a rule"),
        (&here,    Answer { scope: Some(Scope::Run), uses: Some(2), ..reject() }, malformed, "a rejection that is counted"),
        (&here,    Answer { scope: Some(Scope::Run), valid_s: Some(5), ..reject() }, malformed, "a rejection for five seconds"),
        (&here,    Answer { scope: Some(Scope::Run), rules: rule(0), ..reject() }, malformed, "a rejection of a rule, for the run"),
        (&here,    Answer { input: Some("{}".into()), ..reject() },            malformed, "a rejection with an input"),
        (&here,    Answer { scope: Some(Scope::Always), ..reject() },          malformed, "a rejection for good"),
        (&here,    Answer { scope: Some(Scope::Session), ..reject() },         malformed, "a rejection for the session"),
        (&nowhere, approve(Scope::Run),                                        malformed, "there is no run"),
        (&nowhere, approve(Scope::Session),                                    malformed, "there is no session"),
    ];
    let verdict = plain_verdict(Outcome::Ask, false);
    for (ask, answer, want, why) in cases {
        let refusal = settle(ask, &answer, &plain_approver(), &verdict, NOW, &mut ids());
        let refusal = refusal.expect_err(why);
        assert!(want(&refusal), "{why}: {refusal:?}");
    }
    // Without a session, what is limited reaches as far as its limit.
    let limited = Answer { uses: Some(2), ..plain() };
    let settled = settle(&nowhere, &limited, &plain_approver(), &verdict, NOW, &mut ids());
    assert_eq!(settled.unwrap().decision.scope, Scope::Always);
}

#[test]
fn a_changed_call_that_is_denied_leaves_the_ask_open() {
    let changed = Answer { input: Some("{}".to_owned()), ..Answer::plain(Reply::Approve) };
    let denied = plain_verdict(Outcome::Deny, false);
    let refusal = settle(&plain_ask(), &changed, &plain_approver(), &denied, NOW, &mut ids());
    assert_eq!(refusal, Err(Refusal::CallDenied("a rule".to_owned())));

    let unchanged = approve(Scope::Always);
    let settled = settle(&plain_ask(), &unchanged, &plain_approver(), &denied, NOW, &mut ids());
    let decision = settled.unwrap().decision;
    assert_eq!((decision.state, decision.scope), (State::Rejected, Scope::Once));
    assert_eq!(decision.reason, "rule.deny");
}
