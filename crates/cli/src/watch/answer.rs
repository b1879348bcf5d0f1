//! Answers: how far an approval may reach, and what each reach would store.

use serde_json::{Value, json};

use super::card::Card;
use crate::render::ask::{list, text};

/// How far an approval reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This call.
    Once,
    /// The run it belongs to.
    Run,
    /// The session it belongs to.
    Session,
    /// So many minutes.
    Minutes(u64),
    /// So many executions, this one included.
    Uses(u32),
    /// For good.
    Always,
}

/// One way to approve: its key, its reach, its name and what it would store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The key that takes it.
    pub key: char,
    /// How far it reaches.
    pub reach: Reach,
    /// What it is called.
    pub name: String,
    /// What would be stored, exactly.
    pub stores: String,
}

/// How long `for a while` is.
pub const MINUTES: u64 = 10;

/// Every way to approve an ask: exactly this call, or one of its offers.
pub fn choices(card: &Card, rule: Option<&Value>, uses: u32) -> Vec<Choice> {
    let has = |scope: &str| match rule {
        Some(offer) => list(offer, "scopes").iter().any(|known| known.as_str() == Some(scope)),
        None => match scope {
            "always" => !card.is_firm(),
            scope => !card.text(scope).is_empty(),
        },
    };
    let subject = match rule {
        Some(offer) => format!("the rule {}", text(offer, "rule")),
        None => "exactly this call".to_owned(),
    };
    let unlimited = if card.text("session").is_empty() { "" } else { " of this session" };
    let mut choices = Vec::new();
    let mut add = |key, reach, name: &str, stores: String| {
        choices.push(Choice { key, reach, name: name.to_owned(), stores });
    };
    add('o', Reach::Once, "once", "nothing".to_owned());
    if has("run") {
        add('u', Reach::Run, "this run", format!("{subject}, until run {} ends", card.text("run")));
    }
    if has("session") {
        let session = card.text("session");
        add('s', Reach::Session, "this session", format!("{subject}, for session {session}"));
    }
    let minutes = format!("{subject}{unlimited}, for {MINUTES} minutes");
    add('m', Reach::Minutes(MINUTES), &format!("{MINUTES} minutes"), minutes);
    let times = format!("{subject}{unlimited}, {uses} times");
    add('n', Reach::Uses(uses), &format!("{uses} times"), times);
    if has("always") {
        add('w', Reach::Always, "always", format!("{subject}, for good"));
    }
    choices
}

/// The body of an approval.
pub fn approval(reach: Reach, rule: Option<&Value>, input: Option<&Value>) -> Value {
    let mut answer = json!({ "answer": "approve" });
    let Some(members) = answer.as_object_mut() else { return answer };
    // Without a scope, a limited answer reaches the session if there is one.
    match reach {
        Reach::Once => members.insert("scope".to_owned(), "once".into()),
        Reach::Run => members.insert("scope".to_owned(), "run".into()),
        Reach::Session => members.insert("scope".to_owned(), "session".into()),
        Reach::Always => members.insert("scope".to_owned(), "always".into()),
        Reach::Minutes(minutes) => members.insert("valid_s".to_owned(), (minutes * 60).into()),
        Reach::Uses(uses) => members.insert("uses".to_owned(), uses.into()),
    };
    if let Some(offer) = rule.filter(|_| reach != Reach::Once) {
        members.insert("rules".to_owned(), json!([text(offer, "rule")]));
    }
    if let Some(input) = input {
        members.insert("input".to_owned(), input.clone());
    }
    answer
}

/// The body of a rejection.
pub fn rejection(feedback: &str, for_run: bool) -> Value {
    let mut answer = json!({ "answer": "reject" });
    if let Some(members) = answer.as_object_mut() {
        members.extend(for_run.then(|| ("scope".to_owned(), "run".into())));
        let feedback = Some(feedback.trim()).filter(|text| !text.is_empty());
        members.extend(feedback.map(|text| ("feedback".to_owned(), text.into())));
    }
    answer
}

/// The text of a call that can be edited: its command, else its input as JSON.
pub fn editable(card: &Card) -> String {
    let input = card.call().get("input").unwrap_or(&Value::Null);
    if card.is_command { card.text.clone() } else { format!("{input:#}") }
}

/// The input that an edited text means.
///
/// # Errors
/// It is not JSON; the message says where.
pub fn edited(card: &Card, text: &str) -> Result<Value, String> {
    if !card.is_command {
        return portcullis_wire::json::value(text);
    }
    let input = card.call().get("input").and_then(Value::as_object);
    let mut input = input.cloned().unwrap_or_default();
    let name = ["command", "cmd", "script"].into_iter().find(|name| input.contains_key(*name));
    input.insert(name.unwrap_or("command").to_owned(), text.into());
    Ok(input.into())
}

/// The call of an ask with another input, as it is judged before it is approved.
pub fn changed_call(card: &Card, input: &Value) -> Value {
    let mut call = json!({ "tool": text(card.call(), "tool"), "input": input });
    if let Some(members) = call.as_object_mut() {
        let cwd = text(card.call(), "cwd");
        let facts = [
            ("cwd", cwd),
            ("host", card.text("host")),
            ("session", card.text("session")),
            ("run", card.text("run")),
        ];
        let facts = facts.into_iter().filter(|(_, value)| !value.is_empty());
        members.extend(facts.map(|(name, value)| (name.to_owned(), value.into())));
    }
    call
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(is_firm: bool) -> Card {
        Card::new(json!({
            "id": "0199", "session": "s-1",
            "call": { "tool": "Bash", "input": { "command": "npm publish", "timeout": 5 }, "cwd": "/p" },
            "verdict": { "tier": "review", "firm": is_firm },
            "offers": [{ "rule": "Bash(npm publish:*)", "scopes": ["session", "always"] }],
        }))
        .unwrap()
    }

    fn keys(card: &Card, rule: Option<&Value>) -> String {
        choices(card, rule, 3).iter().map(|choice| choice.key).collect()
    }

    #[test]
    fn only_what_the_daemon_takes_is_offered() {
        assert_eq!(keys(&card(false), None), "osmnw");
        assert_eq!(keys(&card(true), None), "osmn", "always is not for a firm finding");
        let card = card(true);
        assert_eq!(keys(&card, card.offers().first()), "osmnw", "a rule may stay");
    }

    #[test]
    fn each_way_says_what_it_stores() {
        let card = card(false);
        let stores = |rule: Option<&Value>| -> Vec<String> {
            choices(&card, rule, 3).into_iter().map(|choice| choice.stores).collect()
        };
        assert_eq!(
            stores(None),
            [
                "nothing",
                "exactly this call, for session s-1",
                "exactly this call of this session, for 10 minutes",
                "exactly this call of this session, 3 times",
                "exactly this call, for good",
            ]
        );
        assert_eq!(
            stores(card.offers().first())[1],
            "the rule Bash(npm publish:*), for session s-1"
        );
    }

    #[test]
    fn answers_are_what_the_daemon_reads() {
        let offer = json!({ "rule": "Bash(x:*)" });
        #[rustfmt::skip]
        let cases = [
            (approval(Reach::Once, Some(&offer), None),  json!({ "answer": "approve", "scope": "once" })),
            (approval(Reach::Run, None, None),           json!({ "answer": "approve", "scope": "run" })),
            (approval(Reach::Always, Some(&offer), None), json!({ "answer": "approve", "scope": "always", "rules": ["Bash(x:*)"] })),
            (approval(Reach::Minutes(10), None, None),   json!({ "answer": "approve", "valid_s": 600 })),
            (approval(Reach::Uses(3), None, None),       json!({ "answer": "approve", "uses": 3 })),
            (rejection(" no ", false),                   json!({ "answer": "reject", "feedback": "no" })),
            (rejection("", true),                        json!({ "answer": "reject", "scope": "run" })),
        ];
        for (answer, want) in cases {
            assert_eq!(answer, want);
        }
    }

    #[test]
    fn an_edited_command_keeps_the_rest_of_the_input() {
        let card = card(false);
        let input = edited(&card, "npm pack").unwrap();
        assert_eq!(input, json!({ "command": "npm pack", "timeout": 5 }));
        let want = json!({ "tool": "Bash", "input": input, "cwd": "/p", "session": "s-1" });
        assert_eq!(changed_call(&card, &input), want);
    }
}
