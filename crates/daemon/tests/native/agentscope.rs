//! `AgentScope`'s door: what its clients send and what they must get (its page, sections 3, 4, 14).

use std::sync::Arc;

use portcullis_daemon::config::Config;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::node::{Node, Reply};

fn call(command: &str) -> Value {
    let input = json!({ "command": command });
    json!({ "session_id": "s", "tool_call": { "id": "t1", "name": "Bash", "input": input }, "cwd": "/my/project" })
}

async fn submit(node: &Node, body: &Value) -> Value {
    let reply = node.as_key(&node.agent, "POST", "/agentscope/calls", body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json()
}

async fn confirm(node: &Node, body: &Value) -> Reply {
    node.as_key(&node.approver, "POST", "/agentscope/confirm", body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_call_carries_its_input_and_a_receipt() {
    let node = Node::start().await;
    let decision = submit(&node, &call("git status")).await;
    assert_eq!(decision["behavior"], "allow");
    assert_eq!(decision["decision_reason"], "read_only");
    assert_eq!(decision["updated_input"]["command"], "git status");
    assert_eq!(decision["risk"]["tier"], "safe");
    assert!(decision["receipt"].as_str().unwrap().starts_with("v1."));
    assert!(decision.get("ask_id").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_is_confirmed_with_an_offered_rule_and_the_next_call_passes() {
    let node = Node::start().await;
    let asked = submit(&node, &call("npm run build")).await;
    assert_eq!(asked["behavior"], "ask");
    assert_eq!(asked["bypass_immune"], false);
    let rules = &asked["suggested_rules"];
    assert_eq!(rules[0]["tool_name"], "Bash");
    let not_offered = json!([{ "tool_name": "Bash", "rule_content": null, "behavior": "allow", "source": "suggested" }]);
    let refused = confirm(
        &node,
        &json!({ "ask_id": asked["ask_id"], "confirmed": true, "rules": not_offered }),
    )
    .await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "RULE_REFUSED"));
    let body = json!({ "results": [{ "ask_id": asked["ask_id"], "confirmed": true, "rules": rules, "feedback": "fine" }] });
    let settled = confirm(&node, &body).await.json();
    assert_eq!(settled["results"][0]["status"], "settled");
    assert_eq!(settled["results"][0]["grants"][0]["rule"], "Bash(npm run:*)");
    let path = format!("/agentscope/asks/{}?wait=5", asked["ask_id"].as_str().unwrap());
    let shown = node.as_key(&node.agent, "GET", &path, &Value::Null).await.json();
    assert_eq!(
        (&shown["behavior"], &shown["decision_reason"]),
        (&json!("allow"), &json!("approver"))
    );
    assert_eq!(shown["decision"]["feedback"], "fine");
    let mut next = call("npm run build --fast");
    next["tool_call"]["id"] = json!("t2");
    assert_eq!(submit(&node, &next).await["behavior"], "allow");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_confirmations_one_settles() {
    let node = Node::start().await;
    let asked = submit(&node, &call("npm run build")).await;
    let body = |confirmed: bool| json!({ "ask_id": asked["ask_id"], "confirmed": confirmed });
    let (yes, no) = (body(true), body(false));
    let (one, two) = tokio::join!(confirm(&node, &yes), confirm(&node, &no));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    let again = confirm(&node, &json!({ "results": [body(true)] })).await.json();
    assert_eq!(again["results"][0]["status"], "already_settled");
    let unknown = json!({ "results": [{ "ask_id": "none", "confirmed": true }] });
    assert_eq!(confirm(&node, &unknown).await.json()["results"][0]["status"], "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_call_is_judged_again() {
    let node = Node::start().await;
    let asked = submit(&node, &call("npm run build")).await;
    let context = json!({ "deny_rules": { "Bash": [{ "tool_name": "Bash", "rule_content": "rm:*", "behavior": "deny", "source": "session" }] } });
    let path = "/agentscope/sessions/s/context";
    assert_eq!(node.as_key(&node.agent, "PATCH", path, &context).await.status, 403);
    let changed = node.as_key(&node.approver, "PATCH", path, &context).await;
    assert_eq!(changed.json()["deny_rules"]["Bash"][0]["rule_content"], "rm:*", "{}", changed.text);
    let edit = |name: &str, command: &str| json!({ "ask_id": asked["ask_id"], "confirmed": true, "tool_call": { "id": "t1", "name": name, "input": { "command": command } } });
    let denied = confirm(&node, &edit("Bash", "rm -r dist")).await;
    assert_eq!((denied.status, denied.code().as_str()), (422, "CALL_DENIED"));
    assert_eq!(
        confirm(&node, &edit("Read", "ls")).await.status,
        422,
        "another tool is another call"
    );
    assert_eq!(confirm(&node, &edit("Bash", "npm run build -- --fast")).await.status, 200);
    let path = format!("/agentscope/asks/{}", asked["ask_id"].as_str().unwrap());
    let shown = node.as_key(&node.agent, "GET", &path, &Value::Null).await.json();
    assert_eq!(shown["updated_input"]["command"], "npm run build -- --fast");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_switch_takes_effect_with_the_next_call_of_that_session_only() {
    let node = Node::start().await;
    let asked = submit(&node, &call("npm run build")).await;
    let path = "/agentscope/sessions/s/context";
    let switched = node.as_key(&node.approver, "PATCH", path, &json!({ "mode": "EXPLORE" })).await;
    assert_eq!(switched.json()["mode"], "explore", "{}", switched.text);
    assert_eq!(node.pending().await[0]["id"], asked["ask_id"], "pending asks stay as they are");
    let mut next = call("npm run other");
    next["tool_call"]["id"] = json!("t2");
    assert_eq!(submit(&node, &next).await["behavior"], "deny");
    next["session_id"] = json!("another");
    assert_eq!(submit(&node, &next).await["behavior"], "ask");
    let own = node.as_key(&node.agent, "GET", path, &Value::Null).await;
    assert_eq!(own.json()["mode"], "explore", "an agent reads its own");
    let unknown =
        node.as_key(&node.approver, "GET", "/agentscope/sessions/none/context", &Value::Null).await;
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "NO_SUCH_SESSION"));
    let bad = node.as_key(&node.approver, "PUT", path, &json!({ "mode": "yolo" })).await;
    assert_eq!((bad.status, bad.code().as_str()), (400, "INVALID_REQUEST"));
    let audit = node
        .as_key(&node.admin, "GET", "/v1/audit?kind=session.changed", &Value::Null)
        .await
        .json();
    assert_eq!(audit["entries"][0]["data"]["after"]["mode"], "explore");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_says_what_it_is_called() {
    let node = Node::start().await;
    let mut nameless = call("git status");
    nameless["tool_call"].as_object_mut().unwrap().remove("id");
    let refused = node.as_key(&node.agent, "POST", "/agentscope/calls", &nameless).await;
    assert_eq!((refused.status, refused.code().as_str()), (400, "INVALID_REQUEST"));
    assert!(refused.text.contains("`tool_call.id` is missing"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_that_is_put_back_as_it_was_read_shows_every_rule_once() {
    let directory = Arc::new(TempDir::new().unwrap());
    std::fs::create_dir(directory.path().join("config")).unwrap();
    let rules = "[rules]\nallow = [\"Bash(npm run:*)\"]\n";
    std::fs::write(directory.path().join("config/policy.toml"), rules).unwrap();
    let node = Node::in_directory(directory, Config::default()).await;
    submit(&node, &call("git status")).await;
    let path = "/agentscope/sessions/s/context";
    let mut context = node.as_key(&node.approver, "GET", path, &Value::Null).await.json();
    assert_eq!(context["allow_rules"]["Bash"][0]["source"], "userSettings", "{context}");
    let put = node.as_key(&node.approver, "PUT", path, &context).await.json();
    assert_eq!(put, context);
    let own = json!({ "tool_name": "Bash", "rule_content": "make:*", "behavior": "allow", "source": "session" });
    context["allow_rules"]["Bash"].as_array_mut().unwrap().push(own);
    let put = node.as_key(&node.approver, "PUT", path, &context).await.json();
    assert_eq!(put, context);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_stores_nothing_and_needs_no_session() {
    let node = Node::start().await;
    let body = json!({
        "context": { "mode": "dont_ask" },
        "tool_call": { "id": "t", "name": "Bash", "input": { "command": "npm run build" } },
        "cwd": "/my/project",
    });
    let reply = node.as_key(&node.agent, "POST", "/agentscope/check", &body).await.json();
    assert_eq!(
        (&reply["behavior"], &reply["decision_reason"]),
        (&json!("deny"), &json!("mode.dont_ask"))
    );
    assert!(node.pending().await.is_empty());
    let wrong = json!({ "tool_call": { "name": "Bash", "input": [] } });
    assert_eq!(node.as_key(&node.agent, "POST", "/agentscope/check", &wrong).await.status, 400);
}
