//! Conversations with the inbox: events and keys in, what is shown and to be done out.

use serde_json::{Value, json};

use super::*;

fn moment(second: i64) -> Moment {
    Moment::from_ms(1_794_774_900_000 + second * 1000)
}

/// An ask; its command is its name.
fn ask(id: &str, tier: &str, second: i64) -> Value {
    json!({
        "id": format!("0199aaaa-0000-7000-8000-0000000{id}"), "state": "pending", "agent": "reviewer",
        "owner": "local", "session": "s-1", "run": "r-1",
        "opened_at": moment(second).to_string(), "deadline_at": moment(second + 1800).to_string(),
        "call": { "tool": "Bash", "input": { "command": format!("do {id}") }, "cwd": "/p" },
        "verdict": { "tier": tier, "outcome": "ask", "acts": [], "reasons": [] },
        "offers": [{ "rule": "Bash(do:*)", "scopes": ["run", "session", "always"], "also_covers": [] }],
    })
}

fn settled(id: &str, state: &str, decision: Value) -> Value {
    let mut ask = ask(id, "review", 0);
    ask["state"] = state.into();
    ask["decision"] = decision;
    ask
}

fn inbox(asks: &[(&str, &str)]) -> Inbox {
    let mut inbox = Inbox::default();
    for (second, (id, tier)) in (0..).zip(asks) {
        inbox.apply(Event::Opened(ask(id, tier, second)), moment(second));
    }
    inbox
}

/// Presses keys, at once: a letter each, `\n` for Enter, `\x1b` for Escape, `\t` for Tab.
fn press(inbox: &mut Inbox, keys: &str) -> Vec<Effect> {
    press_at(inbox, keys, moment(100))
}

fn press_at(inbox: &mut Inbox, keys: &str, now: Moment) -> Vec<Effect> {
    let key = |letter| match letter {
        '\n' => Key::Enter,
        '\x1b' => Key::Escape,
        '\t' => Key::Tab,
        letter => Key::Char(letter),
    };
    keys.chars().flat_map(|letter| inbox.apply(Event::Key(key(letter)), now)).collect()
}

fn order(inbox: &Inbox) -> String {
    inbox
        .cards
        .iter()
        .map(|card| card.short().trim_start_matches('0'))
        .collect::<Vec<_>>()
        .join(" ")
}

fn selected(inbox: &Inbox) -> &str {
    inbox.card().map_or("", |card| card.short().trim_start_matches('0'))
}

fn whole(id: &str) -> String {
    format!("0199aaaa-0000-7000-8000-0000000{id}")
}

fn last(inbox: &Inbox) -> &str {
    inbox.notices.last().map_or("", |notice| notice.text.as_str())
}

#[test]
fn the_worst_stands_first_and_of_these_the_newest() {
    let asks = [
        ("aaaa1", "review"),
        ("aaaa2", "destructive"),
        ("aaaa3", "review"),
        ("aaaa4", "dangerous"),
    ];
    let mut inbox = inbox(&asks);
    assert_eq!(order(&inbox), "aaaa2 aaaa4 aaaa3 aaaa1");
    assert_eq!(selected(&inbox), "aaaa1", "what is looked at stays when worse comes");
    let again = inbox.apply(Event::Opened(ask("aaaa1", "review", 0)), moment(9));
    assert!(again.is_empty() && inbox.cards.len() == 4, "an ask stands there once");
    press(&mut inbox, "kk");
    assert_eq!(selected(&inbox), "aaaa4");
    press(&mut inbox, "jjjjjj");
    assert_eq!(selected(&inbox), "aaaa1");
}

#[test]
fn what_keys_decide() {
    let once = |answer: Value| Some(answer);
    #[rustfmt::skip]
    let cases: &[(&str, &str, Option<Value>, &str)] = &[
        ("review",      "ao",          once(json!({ "answer": "approve", "scope": "once" })),    "a scope approves"),
        ("review",      "au",          once(json!({ "answer": "approve", "scope": "run" })),     "this run"),
        ("review",      "as",          once(json!({ "answer": "approve", "scope": "session" })), "this session"),
        ("review",      "aw",          once(json!({ "answer": "approve", "scope": "always" })),  "always"),
        ("review",      "am",          once(json!({ "answer": "approve", "valid_s": 600 })),     "10 minutes"),
        ("review",      "an",          once(json!({ "answer": "approve", "uses": 3 })),          "some times"),
        ("review",      "a++-n",       once(json!({ "answer": "approve", "uses": 4 })),          "more times"),
        ("review",      "a-----n",     once(json!({ "answer": "approve", "uses": 2 })),          "never less than twice"),
        ("review",      "a\tw",        once(json!({ "answer": "approve", "scope": "always", "rules": ["Bash(do:*)"] })), "an offer"),
        ("review",      "a\t\tw",      once(json!({ "answer": "approve", "scope": "always" })),  "around the offers"),
        ("review",      "a",           None, "one key does not approve"),
        ("review",      "\n",          None, "nor does Enter"),
        ("review",      "\n\n\n\n",    None, "nor do many"),
        ("review",      "a\n",         None, "Enter leads to the rejection"),
        ("review",      "a\x1bo",      None, "Escape leads back"),
        ("review",      "ay",          None, "a key that is no scope"),
        ("review",      "at",          None, "nor is the key that asks why"),
        ("review",      "?ao",         None, "the first key only closes the help"),
        ("review",      "a\n\n",       once(json!({ "answer": "reject" })),                      "which Enter sends"),
        ("review",      "r\n",         once(json!({ "answer": "reject" })),                      "reject"),
        ("review",      "rnot now\n",  once(json!({ "answer": "reject", "feedback": "not now" })), "with feedback"),
        ("review",      "r\tx\n",      once(json!({ "answer": "reject", "scope": "run", "feedback": "x" })), "for the run"),
        ("review",      "rao\x1b",     None, "letters are feedback"),
        ("destructive", "ao",          None, "what could destroy takes a second step"),
        ("destructive", "ao\n",        None, "which is not Enter"),
        ("destructive", "aoo",         None, "nor the same key again"),
        ("destructive", "aoy\nes",     None, "nor a word with a stray Enter in it"),
        ("destructive", "aoyes",       once(json!({ "answer": "approve", "scope": "once" })),    "but a word"),
        ("destructive", "a\tsyes",     once(json!({ "answer": "approve", "scope": "session", "rules": ["Bash(do:*)"] })), "for any scope"),
        ("destructive", "r\n",         once(json!({ "answer": "reject" })),                      "to reject takes one"),
        ("unheard-of",  "ao",          None, "a tier that nobody knows is the worst"),
    ];
    for (tier, keys, want, why) in cases {
        let mut inbox = inbox(&[("aaaa1", tier)]);
        let effects = press(&mut inbox, keys);
        let want: Vec<_> =
            want.iter().map(|answer| Effect::Decide(whole("aaaa1"), answer.clone())).collect();
        assert_eq!(effects, want, "{keys:?} for {tier}: {why}");
    }
}

#[test]
fn no_row_of_enters_and_escapes_ever_approves() {
    // Every sequence of six of these keys from every mode that two keys lead to.
    let starts = ["", "a", "r", "e", "f", "?", "a\t", "ao", "aoy", "aoye", "ea"];
    for tier in ["review", "destructive"] {
        for start in starts {
            if tier == "review" && start.starts_with("ao") {
                continue;
            }
            for bits in 0..64_u8 {
                let mut inbox = inbox(&[("aaaa1", tier), ("aaaa2", tier)]);
                let mut effects = press(&mut inbox, start);
                for bit in 0..6 {
                    let key = if bits >> bit & 1 == 0 { "\n" } else { "\x1b" };
                    effects.extend(press(&mut inbox, key));
                }
                let approves = |effect: &Effect| matches!(effect, Effect::Decide(_, answer) if answer["answer"] == "approve");
                assert!(!effects.iter().any(approves), "{start:?} and {bits:06b}");
            }
        }
    }
}

#[test]
fn a_paste_never_decides() {
    let mut inbox = inbox(&[("aaaa1", "review")]);
    for _ in 0..3 {
        assert!(inbox.apply(Event::Paste("ao\nyes\n".to_owned()), moment(9)).is_empty());
    }
    assert_eq!(inbox.mode, Mode::Inbox);
    press(&mut inbox, "r");
    inbox.apply(Event::Paste("no\r\nreally".to_owned()), moment(9));
    let effects = press(&mut inbox, "\n");
    let want = json!({ "answer": "reject", "feedback": "no\nreally" });
    assert_eq!(effects, [Effect::Decide(whole("aaaa1"), want)]);
}

#[test]
fn what_was_settled_elsewhere_goes_with_who_and_how() {
    let by = |who: &str, door: &str| json!({ "outcome": "allow", "answer": "approve", "scope": "session", "by": who, "door": door, "reason": "approver" });
    #[rustfmt::skip]
    let cases = [
        ("approved",  by("berta", "dashboard"), "aaaa1 approved, session by berta (dashboard): do aaaa1"),
        ("expired",   json!({ "reason": "fallback", "by": "expiry" }), "aaaa1 expired, nobody answered in time: do aaaa1"),
        ("cancelled", json!({ "reason": "run_ended" }), "aaaa1 cancelled, its run ended: do aaaa1"),
        ("cancelled", json!({ "reason": "withdrawn" }), "aaaa1 cancelled, it was withdrawn: do aaaa1"),
        ("approved",  json!({ "reason": "grant", "by": "anna" }), "aaaa1 approved, by a grant of anna: do aaaa1"),
    ];
    for (state, decision, want) in cases {
        let mut inbox = inbox(&[("aaaa1", "review")]);
        inbox.apply(Event::Settled(settled("aaaa1", state, decision)), moment(5));
        assert_eq!((inbox.cards.len(), inbox.selected.as_deref()), (0, None));
        assert_eq!(last(&inbox).trim_start_matches('0'), want);
        assert_eq!(inbox.said(moment(6)).count(), 1);
        assert_eq!(inbox.said(moment(60)).count(), 0, "it is shown for a while");
    }
}

#[test]
fn keys_meant_for_one_ask_never_decide_about_the_next() {
    let mut inbox = inbox(&[("aaaa1", "review"), ("aaaa2", "review")]);
    assert_eq!(selected(&inbox), "aaaa1");
    press_at(&mut inbox, "a", moment(10));
    inbox.apply(Event::Settled(settled("aaaa1", "rejected", json!({ "by": "b" }))), moment(10));
    assert_eq!((selected(&inbox), &inbox.mode), ("aaaa2", &Mode::Inbox));
    assert!(press_at(&mut inbox, "oao", moment(10)).is_empty(), "too soon after the change");
    assert!(last(&inbox).starts_with("that ask is gone"));
    assert_eq!(press_at(&mut inbox, "ao", moment(12)).len(), 1);

    assert_eq!(selected(&inbox), "aaaa2", "until its end is known");
    inbox.apply(Event::Opened(ask("aaaa3", "review", 3)), moment(12));
    let decision =
        json!({ "outcome": "allow", "answer": "approve", "scope": "once", "by": "anna" });
    inbox.apply(Event::Answered(whole("aaaa2"), Ok(decision)), moment(12));
    assert_eq!(
        press_at(&mut inbox, "ao", moment(12)).len(),
        1,
        "one after the other is no mistake"
    );

    let mut other = self::inbox(&[("aaaa1", "review"), ("aaaa2", "review")]);
    press(&mut other, "a");
    other.apply(Event::Settled(settled("aaaa2", "rejected", json!({ "by": "b" }))), moment(100));
    assert!(matches!(other.mode, Mode::Approve(_)), "another ask's end disturbs nobody");
    assert_eq!(press(&mut other, "o").len(), 1);
}

#[test]
fn an_edited_call_is_judged_before_it_is_approved() {
    let mut inbox = inbox(&[("aaaa1", "destructive")]);
    let effects = press(&mut inbox, "e --dry-run\n");
    let input = json!({ "command": "do aaaa1 --dry-run" });
    let call =
        json!({ "tool": "Bash", "input": input, "cwd": "/p", "session": "s-1", "run": "r-1" });
    assert_eq!(effects, [Effect::Judge(whole("aaaa1"), call)]);
    assert!(press(&mut inbox, "a\n").is_empty(), "not before the verdict");
    let verdict = |outcome: &str, tier: &str| json!({ "outcome": outcome, "tier": tier });
    let id = whole("aaaa1");
    inbox.apply(Event::Judged(id.clone(), Ok(verdict("deny", "review"))), moment(1));
    assert!(press(&mut inbox, "a\n").is_empty(), "what is denied cannot be approved");
    press(&mut inbox, "e!\n");
    inbox.apply(Event::Judged(id.clone(), Ok(verdict("ask", "review"))), moment(1));
    let effects = press(&mut inbox, "\na");
    let input = json!({ "command": "do aaaa1 --dry-run!" });
    let want = json!({ "answer": "approve", "scope": "once", "input": input });
    assert_eq!(effects, [Effect::Decide(id.clone(), want)], "by the tier of what would run");

    press(&mut inbox, "e\n");
    inbox.apply(Event::Judged(id.clone(), Ok(verdict("ask", "destructive"))), moment(1));
    assert!(press(&mut inbox, "a").is_empty() && matches!(inbox.mode, Mode::Sure(..)));
    press(&mut inbox, "\x1be\n");
    inbox.apply(Event::Judged(id, Err("no daemon".to_owned())), moment(1));
    assert_eq!(last(&inbox), "the edited call cannot be judged: no daemon");
    assert!(matches!(inbox.mode, Mode::Edit(_)));
}

#[test]
fn what_is_answered_is_gone_and_what_failed_stays() {
    let mut inbox = inbox(&[("aaaa1", "review")]);
    let id = whole("aaaa1");
    inbox.apply(Event::Answered(id.clone(), Err("the daemon went away".to_owned())), moment(1));
    assert_eq!(inbox.cards.len(), 1);
    assert!(last(&inbox).ends_with("was not answered: the daemon went away"));
    let decision = json!({ "outcome": "deny", "answer": "approve", "scope": "once", "by": "anna" });
    inbox.apply(Event::Answered(id, Ok(decision)), moment(2));
    assert!(inbox.cards.is_empty());
    assert!(last(&inbox).contains("denied by the policy, once by anna"), "{}", last(&inbox));
    let told = inbox.notices.len();
    inbox.apply(Event::Settled(settled("aaaa1", "rejected", json!({ "by": "anna" }))), moment(3));
    assert_eq!(inbox.notices.len(), told, "it is said once");
}

#[test]
fn after_a_gap_only_what_is_pending_counts() {
    let mut inbox = inbox(&[("aaaa1", "review"), ("aaaa2", "review")]);
    let asks = vec![ask("aaaa2", "review", 1), ask("aaaa3", "dangerous", 3)];
    let effects = inbox.apply(Event::Pending(asks), moment(5));
    let alert = Effect::Alert("dangerous: Bash by reviewer".to_owned());
    assert_eq!(effects, [Effect::Look(whole("aaaa1")), alert]);
    assert_eq!(order(&inbox), "aaaa3 aaaa2 aaaa1", "until it is known how it ended");
    inbox.apply(Event::Settled(settled("aaaa1", "expired", json!({}))), moment(6));
    assert_eq!(order(&inbox), "aaaa3 aaaa2");
}

#[test]
fn many_of_one_kind_are_answered_together() {
    let approve = json!({ "answer": "approve", "scope": "once" });
    let reject = json!({ "answer": "reject" });
    #[rustfmt::skip]
    let cases: &[(&[&str], &str, usize, &Value, &str)] = &[
        (&["review", "review", "review"],      "Xao",        3, &approve, "all of a kind"),
        (&["review", "review", "review"],      "xkxao",      2, &approve, "those that are marked"),
        (&["review", "review", "review"],      "xxXxao",     2, &approve, "one is marked no longer"),
        (&["review", "review"],                "Xa\n\n\n",   0, &approve, "Enter approves nothing"),
        (&["review", "review"],                "Xa\x1b",     0, &approve, "Escape goes back"),
        (&["review", "review"],                "Xr\n",       2, &reject,  "Enter rejects them"),
        (&["review", "review"],                "X\x1bao",    1, &approve, "none is marked: the one that is looked at"),
        (&["review", "dangerous"],             "xkxjxxao",   0, &approve, "two kinds are not approved together"),
        (&["review", "dangerous"],             "xkxr\n",     2, &reject,  "but rejected"),
        (&["destructive", "destructive"],      "Xao",        0, &approve, "what could destroy goes one by one"),
        (&["destructive", "destructive"],      "Xaoyes",     0, &approve, "whatever is typed"),
    ];
    for (tiers, keys, count, answer, why) in cases {
        let names = ["aaaa1", "aaaa2", "aaaa3"];
        let asks: Vec<(&str, &str)> = names.into_iter().zip(tiers.iter().copied()).collect();
        let mut inbox = inbox(&asks);
        let effects = press(&mut inbox, keys);
        let is_right = |effect: &Effect| match effect {
            Effect::Decide(_, sent) => sent == *answer,
            Effect::Judge(..)
            | Effect::Explain(_)
            | Effect::Look(_)
            | Effect::Alert(_)
            | Effect::Quit => false,
        };
        assert_eq!(effects.len(), *count, "{keys:?}: {why}: {effects:?}");
        assert!(effects.iter().all(is_right), "{keys:?}: {why}: {effects:?}");
    }
}

#[test]
fn a_mark_goes_with_its_ask() {
    let mut inbox = inbox(&[("aaaa1", "review"), ("aaaa2", "review")]);
    press(&mut inbox, "Xa");
    let over = settled("aaaa2", "rejected", json!({ "answer": "reject", "by": "anna" }));
    inbox.apply(Event::Settled(over), moment(101));
    assert_eq!(inbox.marked.len(), 1);
    // What comes meanwhile is not among them.
    inbox.apply(Event::Opened(ask("aaaa3", "review", 102)), moment(102));
    let effects = press_at(&mut inbox, "ao", moment(200));
    let once = json!({ "answer": "approve", "scope": "once" });
    assert_eq!(effects, [Effect::Decide(whole("aaaa1"), once)]);
}

#[test]
fn why_is_asked_for_and_shown_for_the_ask_that_is_looked_at() {
    let mut inbox = inbox(&[("aaaa1", "review")]);
    assert_eq!(press(&mut inbox, "t"), [Effect::Explain(whole("aaaa1"))]);
    let why = json!({ "explanation": {} });
    inbox.apply(Event::Explained(whole("bbbb1"), Ok(why.clone())), moment(101));
    assert_eq!(inbox.mode, Mode::Why(None), "that was about another one");
    inbox.apply(Event::Explained(whole("aaaa1"), Ok(why.clone())), moment(101));
    assert_eq!(inbox.mode, Mode::Why(Some(why)));
    assert!(press(&mut inbox, "jjao\n").is_empty(), "nothing is decided there");
    press(&mut inbox, "t\x1b");
    assert_eq!(inbox.mode, Mode::Inbox);
    press(&mut inbox, "t");
    inbox.apply(Event::Explained(whole("aaaa1"), Err("no such ask".to_owned())), moment(102));
    assert_eq!(
        (inbox.mode.clone(), last(&inbox)),
        (Mode::Inbox, "it cannot be told why: no such ask")
    );
}
