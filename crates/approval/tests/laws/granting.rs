//! Grants: whom they serve, until when, and what they add to a policy.

use portcullis_approval::grant::{Caller, lay_over};
use portcullis_approval::{
    Answer, Asker, Grant, Granted, Moment, Offer, Reach, Reply, Scope, State, settle,
};
use portcullis_engine::{Call, Lexical, Mode, Outcome, Policy, PolicyText, Source, judge};
use serde_json::{Value, json};

use crate::samples::{NOW, id, ids, plain_approver, plain_ask, plain_verdict};

/// A grant without an end, for everybody who works for Ada.
fn plain_grant(granted: Granted) -> Grant {
    Grant {
        id: id(9),
        owner: "ada".to_owned(),
        key: None,
        agent: None,
        profile: None,
        granted,
        reach: Reach::Always,
        expires_at: None,
        uses_left: None,
        made_by: "grace".to_owned(),
        made_at: NOW,
        ask: None,
    }
}

fn pattern(rule: &str) -> Granted {
    Granted::Pattern(rule.to_owned())
}

#[test]
fn a_grant_serves_whom_it_names_and_nobody_else() {
    let asker = plain_ask().asker;
    let caller = Caller { asker: &asker, session: Some("s"), run: Some("r"), profile: Some("p") };
    let others = Asker { owner: "bob".to_owned(), ..asker.clone() };
    let nowhere = Caller { session: None, run: None, profile: None, ..caller };
    let grant = || plain_grant(pattern("Bash(make)"));
    let text = |text: &str| Some(text.to_owned());
    let at = |ms: i64| Some(Moment::from_ms(NOW.ms() + ms));
    #[rustfmt::skip]
    let cases = [
        (grant(),                                                       caller,  true,  "every call of the owner"),
        (grant(),                                                       nowhere, true,  "also without a session"),
        (grant(),                          Caller { asker: &others, ..caller },  false, "another owner"),
        (Grant { key: Some(id(1)), ..grant() },                         caller,  true,  "its key"),
        (Grant { key: Some(id(2)), ..grant() },                         caller,  false, "another key"),
        (Grant { agent: text("coder"), ..grant() },                     caller,  true,  "its agent"),
        (Grant { agent: text("other"), ..grant() },                     caller,  false, "another agent"),
        (Grant { profile: text("p"), ..grant() },                       caller,  true,  "its profile"),
        (Grant { profile: text("q"), ..grant() },                       caller,  false, "another profile"),
        (Grant { profile: text("p"), ..grant() },                       nowhere, false, "no profile"),
        (Grant { reach: Reach::Run("r".to_owned()), ..grant() },        caller,  true,  "its run"),
        (Grant { reach: Reach::Run("s".to_owned()), ..grant() },        caller,  false, "another run"),
        (Grant { reach: Reach::Run("r".to_owned()), ..grant() },        nowhere, false, "no run"),
        (Grant { reach: Reach::Session("s".to_owned()), ..grant() },    caller,  true,  "its session"),
        (Grant { reach: Reach::Session("r".to_owned()), ..grant() },    caller,  false, "another session"),
        (Grant { reach: Reach::Session("s".to_owned()), ..grant() },    nowhere, false, "no session"),
        (Grant { expires_at: at(1), ..grant() },                        caller,  true,  "the last moment"),
        (Grant { expires_at: at(0), ..grant() },                        caller,  false, "the end is exclusive"),
        (Grant { uses_left: Some(1), ..grant() },                       caller,  true,  "one more time"),
        (Grant { uses_left: Some(0), ..grant() },                       caller,  false, "used up"),
    ];
    for (grant, caller, want, why) in cases {
        assert_eq!(grant.serves(&caller, NOW), want, "{why}");
    }
}

#[test]
fn what_ends_by_itself_is_limited() {
    let grant = || plain_grant(pattern("Bash(make)"));
    #[rustfmt::skip]
    let cases = [
        (grant(),                                                false, "for good"),
        (Grant { reach: Reach::Run("r".to_owned()), ..grant() }, true,  "a run"),
        (Grant { reach: Reach::Session("s".into()), ..grant() }, true,  "a session"),
        (Grant { expires_at: Some(NOW), ..grant() },             true,  "a time"),
        (Grant { uses_left: Some(1), ..grant() },                true,  "a count"),
    ];
    for (grant, want, why) in cases {
        assert_eq!(grant.is_limited(), want, "{why}");
    }
}

#[test]
fn a_rule_is_traced_to_its_grant() {
    let grant = plain_grant(pattern("Bash(make)"));
    assert!(grant.has_rule("Bash(make)"));
    assert!(!grant.has_rule("Bash(make:*)"));
    let (tool, input) = ("Bash".to_owned(), "{}".to_owned());
    let exact = Granted::Exact { tool, input, cwd: None, reply: Reply::Approve };
    assert!(!plain_grant(exact).has_rule("Bash(make)"));
}

#[test]
fn grants_add_to_the_policy_what_they_say() {
    use Outcome::{Allow, Ask, Deny};
    let exact = |command: &str, reply| Granted::Exact {
        tool: "Bash".to_owned(),
        input: json!({ "command": command }).to_string(),
        cwd: Some("/src".to_owned()),
        reply,
    };
    let broken = Granted::Exact {
        tool: "Bash".to_owned(),
        input: "{".to_owned(),
        cwd: None,
        reply: Reply::Approve,
    };
    let rules = json!({});
    let exec = json!({ "exec": { "allowlist": [] } });
    let locked = json!({ "exec": { "allowlist": [] }, "locked": ["exec.allowlist"] });
    let full = json!({ "rules": { "deny": ["Bash(make:*)"] } });
    #[rustfmt::skip]
    let cases: Vec<(&Value, Vec<Granted>, &str, Outcome, &str)> = vec![
        (&rules,  vec![],                                     "make",     Ask,   "nothing was granted"),
        (&rules,  vec![pattern("Bash(make)")],                "make",     Allow, "a rule"),
        (&rules,  vec![pattern("Bash(make)")],                "make all", Ask,   "no more than the rule"),
        (&rules,  vec![pattern("Bash(")],                     "make",     Ask,   "what is no rule adds nothing"),
        (&rules,  vec![pattern("Bash("), pattern("Bash(make)")], "make",  Allow, "and spoils nothing"),
        (&rules,  vec![exact("make", Reply::Approve)],        "make",     Allow, "this very call"),
        (&rules,  vec![exact("make", Reply::Approve)],        "make all", Ask,   "another call"),
        (&rules,  vec![exact("make", Reply::Reject)],         "make",     Deny,  "a remembered rejection"),
        (&rules,  vec![broken, exact("make", Reply::Approve)], "make",    Allow, "what cannot be read is passed over"),
        (&rules,  vec![exact("rm -rf /", Reply::Approve)],    "rm -rf /", Ask,   "for good, over a firm finding"),
        (&full,   vec![pattern("Bash(make)")],                "make",     Deny,  "a deny rule stands"),
        (&rules,  vec![pattern("allowlist(make **)")],             "make x",   Ask,   "an entry of a list where there is none"),
        (&exec,   vec![],                                     "make x",   Ask,   "an empty list"),
        (&exec,   vec![pattern("allowlist(make **)")],             "make x",   Allow, "an entry of the list"),
        (&exec,   vec![pattern("allowlist(make **)")],             "rm x",     Ask,   "no more than the entry"),
        (&locked, vec![pattern("allowlist(make **)")],             "make x",   Ask,   "a locked list"),
    ];
    for (text, granted, command, want, why) in cases {
        let text = PolicyText::from_json(text).unwrap();
        let policy = Policy::of_layers(&[(Source::Organization, text)]).unwrap();
        let grants: Vec<Grant> = granted.into_iter().map(plain_grant).collect();
        let policy = lay_over(policy.with_mode(Mode::Default), grants.iter());
        let verdict = judge(&policy, &Call::bash(command, "/src"), &Lexical);
        assert_eq!(verdict.outcome, want, "`{command}`: {why}");
    }
}

#[test]
fn a_limited_grant_of_this_very_call_answers_a_firm_finding() {
    let granted = Granted::Exact {
        tool: "Bash".to_owned(),
        input: "{\"command\":\"rm -rf /\"}".to_owned(),
        cwd: None,
        reply: Reply::Approve,
    };
    let grant = Grant { uses_left: Some(1), ..plain_grant(granted) };
    let policy = lay_over(Policy::builtin(), [&grant].into_iter());
    assert_eq!(judge(&policy, &Call::bash("rm -rf /", "/src"), &Lexical).outcome, Outcome::Allow);
}

#[test]
fn an_entry_of_a_profile_is_stored_for_good_over_a_firm_finding() {
    let answer = |rule: &str| Answer {
        scope: Some(Scope::Always),
        rules: vec![rule.to_owned()],
        ..Answer::plain(Reply::Approve)
    };
    let mut ask = plain_ask();
    ask.call.profile = Some("p".to_owned());
    for rule in ["allowlist(rm **)", "Bash(rm:*)"] {
        ask.offers.push(Offer { rule: rule.to_owned(), also_covers: Vec::new() });
    }
    let firm = plain_verdict(Outcome::Ask, true);
    let stored = |rule: &str| {
        let settled = settle(&ask, &answer(rule), &plain_approver(), &firm, NOW, &mut ids());
        settled.unwrap().grants.len()
    };
    assert_eq!(stored("allowlist(rm **)"), 1, "an entry never silences the finding");
    assert_eq!(stored("Bash(rm:*)"), 0, "a rule is not stored");
}

#[test]
fn every_name_is_read_back() {
    for state in State::ALL {
        assert_eq!(State::named(state.name()), Some(state));
    }
    for scope in Scope::ALL {
        assert_eq!(Scope::named(scope.name()), Some(scope));
    }
    for reply in [Reply::Approve, Reply::Reject] {
        assert_eq!(Reply::named(reply.name()), Some(reply));
    }
    assert_eq!(
        (State::named("open"), Scope::named("ever"), Reply::named("yes")),
        (None, None, None)
    );
}
