//! Endings without an answer.

use portcullis_approval::settle::{Gone, settle_by_grant};
use portcullis_approval::{Reply, State, cancel, expire};
use portcullis_engine::policy_text::Fallback;
use portcullis_engine::{Call, Lexical, Outcome, Policy, PolicyText, Source, judge};
use portcullis_law::law;
use proptest::prelude::*;
use serde_json::json;

use crate::samples::{NOW, acts, ask, plain_ask, plain_verdict, verdict};

#[test]
fn a_deadline_opens_only_what_its_fallback_opens() {
    law((ask(), verdict(), any::<bool>()), |(ask, verdict, was_watched)| {
        let decision = expire(&ask, &verdict, was_watched, NOW);
        prop_assert_eq!(decision.state, State::Expired);
        prop_assert_eq!(decision.reply, None, "it is nobody's answer");
        prop_assert!(decision.grants.is_empty());
        if decision.outcome != Outcome::Deny {
            prop_assert_eq!(decision.outcome, Outcome::Allow);
            prop_assert!(was_watched && ask.fallback != Fallback::Deny);
            prop_assert!(!ask.is_firm && !verdict.is_firm);
            prop_assert_ne!(verdict.outcome, Outcome::Deny);
        }
        Ok(())
    });
}

#[test]
fn what_is_gone_is_denied() {
    law(ask(), |ask| {
        for gone in [Gone::Withdrawn, Gone::RunEnded, Gone::AgentGone, Gone::NoClient] {
            let decision = cancel(&ask, gone, "coder", "socket", NOW);
            prop_assert_eq!((decision.state, decision.outcome), (State::Cancelled, Outcome::Deny));
            prop_assert_eq!(decision.reason.as_str(), gone.name());
            prop_assert_eq!((decision.by.as_str(), decision.door.as_str()), ("coder", "socket"));
        }
        Ok(())
    });
}

#[test]
fn a_grant_answers_only_what_is_allowed_by_now() {
    law((ask(), verdict()), |(ask, verdict)| {
        let decision = settle_by_grant(&ask, &verdict, "grace", NOW);
        prop_assert_eq!(decision.is_some(), verdict.outcome == Outcome::Allow);
        if let Some(decision) = decision {
            let ended = (decision.state, decision.outcome, decision.reply);
            prop_assert_eq!(ended, (State::Approved, Outcome::Allow, Some(Reply::Approve)));
            prop_assert_eq!((decision.by.as_str(), decision.reason.as_str()), ("grace", "grant"));
        }
        Ok(())
    });
}

#[test]
fn fallbacks_do_what_they_are_called() {
    use Outcome::{Allow, Deny};
    #[rustfmt::skip]
    let cases = [
        (Fallback::Deny,         "ls",       Deny,  "deny"),
        (Fallback::Allow,        "rm x",     Allow, "allow"),
        (Fallback::AllowCovered, "make; ls", Allow, "rules and reading cover it"),
        (Fallback::AllowCovered, "make; rm x", Deny, "one act is not covered"),
    ];
    for (fallback, command, want, why) in cases {
        let mut ask = plain_ask();
        ask.fallback = fallback;
        let mut verdict = plain_verdict(Outcome::Ask, false);
        verdict.acts = acts(command);
        assert_eq!(expire(&ask, &verdict, true, NOW).outcome, want, "{why}");
        assert_eq!(expire(&ask, &verdict, false, NOW).outcome, Deny, "{why}, nobody watched");
    }

    // Where everything is asked about, reading alone is no entry of a list.
    let text = json!({ "exec": { "ask": "always", "allowlist": ["make **"] } });
    let text = PolicyText::from_json(&text).unwrap();
    let policy = Policy::of_layers(&[(Source::User, text)]).unwrap();
    let mut ask = plain_ask();
    ask.fallback = Fallback::AllowCovered;
    #[rustfmt::skip]
    let cases = [
        ("make x",     Allow, "it is on the list"),
        ("ls",         Deny,  "it reads, and is not on the list"),
        ("make x; ls", Deny,  "one of them is not on the list"),
    ];
    for (command, want, why) in cases {
        let verdict = judge(&policy, &Call::bash(command, "/src"), &Lexical);
        assert_eq!(verdict.outcome, Outcome::Ask, "`{command}`");
        assert_eq!(expire(&ask, &verdict, true, NOW).outcome, want, "`{command}`: {why}");
    }
}
