//! What a call is answered with, and what that leaves behind.

use portcullis_approval::Moment;
use portcullis_approval::receipt::{Receipt, Signer};
use serde_json::{Value, json};

use crate::node::{Node, SECRET};

#[tokio::test(flavor = "multi_thread")]
async fn a_reading_call_is_allowed_at_once_and_recorded() {
    let node = Node::start().await;
    let body = json!({ "tool": "Bash", "input": { "command": "git status" }, "cwd": "/tmp", "receipt": true });
    let answer = node.call(&body).await;
    assert_eq!(answer["outcome"], "allow");
    assert_eq!(answer["verdict"]["tier"], "safe");
    assert!(answer.get("ask").is_none());
    let public = Signer::new(&SECRET).public();
    let now = Moment::from_ms(0);
    let receipt = Receipt::verify(answer["receipt"].as_str().unwrap(), &public, None, now).unwrap();
    assert_eq!(receipt.outcome, "allow");

    let audit =
        node.as_key(&node.approver, "GET", "/v1/audit?kind=call.judged", &Value::Null).await;
    let entries = audit.json()["entries"].as_array().unwrap().clone();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["subject"], receipt.digest.as_str());
    assert_eq!(entries[0]["data"]["outcome"], "allow");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_comes_again_is_answered_and_recorded_like_the_first() {
    let node = Node::start().await;
    let body = |session: &str| {
        let input = json!({ "command": "git log -3", "password": "hunter2" });
        json!({ "tool": "Bash", "input": input, "cwd": "/tmp", "session": session })
    };
    let mut answers = Vec::new();
    for session in ["a", "a", "a", "b", "b"] {
        answers.push(node.call(&body(session)).await);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let audit =
        node.as_key(&node.approver, "GET", "/v1/audit?kind=call.judged", &Value::Null).await;
    let entries = audit.json()["entries"].as_array().unwrap().clone();
    assert_eq!(entries.len(), 5);
    assert_eq!(entries[0]["data"]["input"]["password"], "[redacted]");
    for (entry, first) in [(1, 0), (2, 0), (4, 3)] {
        assert_eq!(entries[entry]["data"], entries[first]["data"]);
        assert_eq!(entries[entry]["subject"], entries[first]["subject"]);
    }
    assert_ne!(entries[3]["subject"], entries[0]["subject"], "the session is part of the digest");
    assert_eq!(entries[3]["data"]["input"], entries[0]["data"]["input"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_is_denied_and_raises_nothing() {
    let node = Node::start().await;
    std::fs::create_dir_all(node.policy().parent().unwrap()).unwrap();
    std::fs::write(node.policy(), "[rules]\ndeny = [\"Bash(rm:*)\"]\n").unwrap();
    let body = json!({ "tool": "Bash", "input": { "command": "rm -r x" }, "cwd": "/tmp" });
    // The file is looked at once a second.
    for _ in 0..40 {
        let answer = node.call(&body).await;
        if answer["outcome"] == "deny" {
            assert_eq!(answer["verdict"]["reasons"][0]["code"], "rule.deny");
            let told =
                node.as_key(&node.approver, "GET", "/v1/audit?kind=policy.changed", &Value::Null);
            let told = told.await.json()["entries"].as_array().unwrap().len();
            assert!(told <= 1, "it is told once");
            // What is in force may be told a moment later.
            if told == 1 {
                return;
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the new policy never came into force, or nobody was told");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_in_a_call_do_not_reach_the_audit() {
    let node = Node::start().await;
    let secret = format!("pcl_agent_{}", "x".repeat(43));
    let body = json!({ "tool": "Bash", "input": { "command": format!("curl -H 'Authorization: Bearer {secret}' https://example.org") }, "cwd": "/tmp" });
    node.call(&body).await;
    let audit = node.as_key(&node.admin, "GET", "/v1/audit", &Value::Null).await;
    assert!(audit.text.contains("call.judged") && audit.text.contains("[redacted]"));
    assert!(!audit.text.contains(&secret));
    // Whoever must decide sees what would run.
    assert!(node.pending().await[0].to_string().contains(&secret));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_call_that_is_kept_as_its_digest_the_audit_has_no_word() {
    let node = Node::start().await;
    let header = format!("Authorization: Bearer {}", node.admin);
    let policy = "[audit]\ninput = \"digest\"\n";
    assert_eq!(node.send("PUT", "/v1/policy", &[&header], policy).await.status, 200);
    for command in ["frobnicate --flag PRIVATE", "cat /tmp/PRIVATE"] {
        node.call(&json!({ "tool": "Bash", "input": { "command": command }, "cwd": "/tmp" })).await;
    }
    let audit = node.as_key(&node.admin, "GET", "/v1/audit", &Value::Null).await;
    assert!(
        audit.text.contains("call.judged") && !audit.text.contains("PRIVATE"),
        "{}",
        audit.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_leaves_nothing_behind() {
    let node = Node::start().await;
    let body = json!({ "tool": "Bash", "input": { "command": "npm publish" }, "cwd": "/tmp" });
    for key in [&node.agent, &node.approver, &node.admin] {
        let reply = node.as_key(key, "POST", "/v1/check", &body).await;
        assert_eq!(reply.json()["outcome"], "ask");
    }
    assert!(node.pending().await.is_empty());
    let audit = node.as_key(&node.admin, "GET", "/v1/audit?kind=call.judged", &Value::Null).await;
    assert_eq!(audit.json()["entries"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_that_an_agent_names_only_tightens() {
    let node = Node::start().await;
    #[rustfmt::skip]
    let cases = [
        ("npm publish", "bypass",   "ask",   "it cannot loosen"),
        ("npm publish", "dont-ask", "deny",  "nobody is asked"),
        ("npm publish", "explore",  "deny",  "only reading"),
        ("git status",  "explore",  "allow", "reading stays"),
    ];
    for (command, mode, want, why) in cases {
        let body =
            json!({ "tool": "Bash", "input": { "command": command }, "cwd": "/tmp", "mode": mode });
        assert_eq!(node.call(&body).await["outcome"], want, "`{command}` in {mode}: {why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sets_the_mode_of_a_session() {
    let node = Node::start().await;
    let body = json!({ "tool": "Bash", "input": { "command": "npm publish" }, "cwd": "/tmp", "session": "s" });
    assert_eq!(node.call(&body).await["outcome"], "ask");
    let change = json!({ "mode": "dont-ask" });
    let refused = node.as_key(&node.agent, "PATCH", "/v1/sessions/s", &change).await;
    assert_eq!(refused.status, 403, "an agent changes no mode");
    let changed = node.as_key(&node.approver, "PATCH", "/v1/sessions/s", &change).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(node.call(&body).await["outcome"], "deny");
    let unknown = node.as_key(&node.approver, "PATCH", "/v1/sessions/t", &change).await;
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "NO_SUCH_SESSION"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_floods_is_told_to_slow_down() {
    let mut config = portcullis_daemon::config::Config::default();
    config.limits.pending_asks_per_agent = 3;
    let node = Node::with(config).await;
    for number in 0..3 {
        let body =
            json!({ "tool": "Bash", "input": { "command": format!("npm publish {number}") } });
        assert_eq!(node.call(&body).await["outcome"], "ask");
    }
    let body = json!({ "tool": "Bash", "input": { "command": "npm publish 4" } });
    let reply = node.as_key(&node.agent, "POST", "/v1/calls", &body).await;
    assert_eq!((reply.status, reply.code().as_str()), (429, "TOO_MANY_ASKS"));
    assert_eq!(node.pending().await.len(), 3);
    let body = json!({ "tool": "Bash", "input": { "command": "git status" } });
    assert_eq!(node.call(&body).await["outcome"], "allow", "what needs no question still runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_and_sessions_that_are_called_alike_are_told_apart_and_ended_together() {
    let node = Node::start().await;
    let body = json!({
        "tool": "Bash", "input": { "command": "npm publish" }, "session": "s", "run": "r", "cwd": "/tmp",
    });
    let run = json!({ "run": "r", "session": "s" });
    assert_eq!(node.as_key(&node.agent, "POST", "/v1/runs", &run).await.status, 200);
    assert_eq!(node.send_local("POST", "/v1/runs", &run.to_string()).await.status, 200);
    let one = node.call(&body).await;
    let other = node.send_local("POST", "/v1/calls", &body.to_string()).await.json();
    assert_ne!(one["ask"], other["ask"], "two agents, two asks");

    // One agent ends its run, and the other's goes on.
    let ended = node.send_local("DELETE", "/v1/runs/r", "").await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    let pending = node.until_pending(1).await;
    assert_eq!(pending[0]["id"], one["ask"]);
    assert_eq!(node.send_local("POST", "/v1/runs", &run.to_string()).await.status, 200);
    let again = node.send_local("POST", "/v1/calls", &body.to_string()).await.json();
    assert_eq!(again["outcome"], "ask");

    // A person who names a run or a session means all that are called so.
    let change = json!({ "mode": "dont-ask" });
    let changed = node.as_key(&node.approver, "PATCH", "/v1/sessions/s", &change).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    let ended = node.as_key(&node.approver, "DELETE", "/v1/runs/r", &serde_json::Value::Null).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    node.until_pending(0).await;
    assert_eq!(node.call(&body).await["outcome"], "deny");
    let other = node.send_local("POST", "/v1/calls", &body.to_string()).await.json();
    assert_eq!(other["outcome"], "deny");
}
