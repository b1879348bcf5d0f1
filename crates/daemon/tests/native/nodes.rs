//! Two nodes on one PostgreSQL: whatever is done on one holds on the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_database::Database;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::node::Node;

/// How long something may take to hold on the other node, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A second node with the keys of the first.
async fn beside(first: &Node, address: &str) -> Node {
    let directory = Arc::new(TempDir::new().unwrap());
    for role in ["agent", "approver", "admin"] {
        std::fs::copy(first.directory.path().join(role), directory.path().join(role)).unwrap();
    }
    Node::at(directory, address).await
}

/// Waits until something holds.
async fn at_last(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < PATIENCE, "{what}: never");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn call(command: &str, wait_ms: u64) -> Value {
    json!({ "tool": "Bash", "input": { "command": command }, "wait_ms": wait_ms })
}

/// One database for all of these: it takes longer to make than they take.
#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_are_one() {
    let mut database = Database::start(&["fsync=off"]).unwrap();
    let a = Node::at(Arc::new(TempDir::new().unwrap()), &database.address()).await;
    let b = beside(&a, &database.address()).await;

    decided_on_one_awaited_on_the_other(&a, &b).await;
    approved_once_is_one_execution_wherever(&a, &b).await;
    a_grant_holds_and_goes_everywhere(&a, &b).await;
    a_key_counts_and_counts_no_longer_everywhere(&a, &b).await;
    a_browser_logs_in_at_any_node(&a, &b).await;
    a_pause_holds_and_ends_everywhere(&a, &b).await;
    a_session_is_changed_everywhere(&a, &b).await;
    a_policy_is_set_everywhere(&a, &b).await;
    a_node_that_comes_forgets_nothing_of_others(&a, &database.address()).await;
    while_the_database_is_away_nothing_is_allowed(&a, &b, &mut database).await;
}

async fn decided_on_one_awaited_on_the_other(a: &Node, b: &Node) {
    let asking = call("npm publish one", 30_000);
    let answering = async {
        let ask = b.until_pending(1).await[0]["id"].clone();
        let decided = b.decide(&ask, &json!({ "answer": "approve", "feedback": "go" })).await;
        assert_eq!(decided.status, 200, "{}", decided.text);
        // Who comes second learns what stands, on either node.
        let again = a.decide(&ask, &json!({ "answer": "reject" })).await;
        assert_eq!(again.code(), "ASK_ALREADY_SETTLED", "{}", again.text);
        ask
    };
    let (answer, ask) = tokio::join!(a.call(&asking), answering);
    assert_eq!(answer["outcome"], "allow");
    assert_eq!(answer["ask"], ask);
    assert_eq!(answer["decision"]["feedback"], "go");
    assert!(answer["receipt"].is_string());
}

async fn approved_once_is_one_execution_wherever(a: &Node, b: &Node) {
    let asking = call("npm publish twice", 3_000);
    let answering = async {
        let ask = a.until_pending(1).await[0]["id"].clone();
        a.decide(&ask, &json!({ "answer": "approve" })).await;
    };
    let (one, two, ()) = tokio::join!(a.call(&asking), b.call(&asking), answering);
    let allowed = [&one, &two].iter().filter(|answer| answer["outcome"] == "allow").count();
    assert_eq!(allowed, 1, "{one} {two}");
    // The other one asks anew.
    let ask = b.until_pending(1).await[0]["id"].clone();
    b.decide(&ask, &json!({ "answer": "reject" })).await;
    a.until_pending(0).await;
}

async fn a_grant_holds_and_goes_everywhere(a: &Node, b: &Node) {
    let asked = a.call(&call("make all", 0)).await;
    let decided = a.decide(&asked["ask"], &json!({ "answer": "approve", "scope": "always" })).await;
    let grant = decided.json()["grants"][0].as_str().unwrap().to_owned();
    let allows = async |node: &Node| node.call(&call("make all", 0)).await["outcome"] == "allow";
    at_last("the grant holds", async || allows(b).await).await;
    let path = format!("/v1/grants/{grant}");
    let revoked = b.as_key(&b.approver, "DELETE", &path, &Value::Null).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text);
    assert!(!allows(b).await, "here at once");
    at_last("the grant is gone", async || !allows(a).await).await;
    for ask in a.pending().await {
        a.decide(&ask["id"], &json!({ "answer": "reject" })).await;
    }
}

async fn a_key_counts_and_counts_no_longer_everywhere(a: &Node, b: &Node) {
    let new = json!({ "role": "approver", "name": "eve" });
    let made = a.as_key(&a.admin, "POST", "/v1/keys", &new).await.json();
    let secret = made["secret"].as_str().or(made["key"].as_str()).unwrap().to_owned();
    let id = made["id"].as_str().unwrap().to_owned();
    let counts = async || b.as_key(&secret, "GET", "/v1/asks", &Value::Null).await.status == 200;
    at_last("the key counts", async || counts().await).await;
    let path = format!("/v1/keys/{id}");
    let revoked = a.as_key(&a.admin, "DELETE", &path, &Value::Null).await;
    assert_eq!(revoked.status, 200, "{}", revoked.text);
    at_last("the key is revoked", async || !counts().await).await;
}

async fn a_browser_logs_in_at_any_node(a: &Node, b: &Node) {
    let login = json!({ "code": a.code }).to_string();
    let header = ["X-Portcullis: 1"];
    assert_eq!(b.send("POST", "/v1/login", &header, &login).await.status, 200);
    assert_eq!(a.send("POST", "/v1/login", &header, &login).await.status, 401, "once");
}

async fn a_pause_holds_and_ends_everywhere(a: &Node, b: &Node) {
    let paused = a.as_key(&a.admin, "POST", "/v1/pause", &json!({ "minutes": 5 })).await;
    assert_eq!(paused.status, 200, "{}", paused.text);
    let allows =
        async |node: &Node, command: &str| node.call(&call(command, 0)).await["outcome"] == "allow";
    at_last("the pause holds", async || allows(b, "npm publish paused").await).await;
    let ended = b.as_key(&b.admin, "DELETE", "/v1/pause", &Value::Null).await;
    assert_eq!(ended.json()["ended"], 1, "{}", ended.text);
    assert!(!allows(b, "npm publish resumed").await);
    at_last("the pause is over", async || !allows(a, "npm publish again").await).await;
    for ask in a.pending().await {
        a.decide(&ask["id"], &json!({ "answer": "reject" })).await;
    }
}

async fn a_session_is_changed_everywhere(a: &Node, b: &Node) {
    let asking = |command: &str| {
        let mut asking = call(command, 0);
        asking["session"] = json!("s-1");
        asking["cwd"] = json!("/src");
        asking
    };
    for node in [a, b] {
        assert_eq!(node.call(&asking("ls")).await["outcome"], "allow");
    }
    let body = json!({ "mode": "explore" });
    let changed = a.as_key(&a.approver, "PATCH", "/v1/sessions/s-1", &body).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    at_last("the mode holds", async || {
        b.call(&asking("npm publish in-session")).await["outcome"] == "deny"
    })
    .await;
    for ask in a.pending().await {
        a.decide(&ask["id"], &json!({ "answer": "reject" })).await;
    }
}

async fn a_policy_is_set_everywhere(a: &Node, b: &Node) {
    let policy = "[rules]\ndeny = [\"Bash(curl:*)\"]\n";
    let header = format!("Authorization: Bearer {}", a.admin);
    let set = a.send("PUT", "/v1/policy", &[&header], policy).await;
    assert_eq!(set.status, 200, "{}", set.text);
    at_last("the policy holds", async || {
        b.call(&call("curl -X POST http://x.example", 0)).await["outcome"] == "deny"
    })
    .await;
    assert_eq!(std::fs::read_to_string(b.policy()).unwrap(), policy);
    for ask in a.pending().await {
        a.decide(&ask["id"], &json!({ "answer": "reject" })).await;
    }
}

async fn a_node_that_comes_forgets_nothing_of_others(a: &Node, address: &str) {
    let run = json!({ "run": "r-1", "cwd": "/src" });
    let started = a.as_key(&a.agent, "POST", "/v1/runs", &run).await;
    assert!(started.status < 300, "{}", started.text);
    let access = json!({ "tool": "run_command", "run": "r-1", "cwd": "/src",
        "access": { "kind": "command.execute", "resource": "npm publish" }, "wait_ms": 0 });
    let asked = a.call(&access).await;
    assert_eq!(asked["outcome"], "ask", "{asked}");
    let answer = json!({ "answer": "approve", "scope": "run" });
    assert_eq!(a.decide(&asked["ask"], &answer).await.status, 200);
    assert_eq!(a.call(&access).await["outcome"], "allow");
    let c = beside(a, address).await;
    assert_eq!(c.call(&access).await["outcome"], "allow");
    assert_eq!(a.call(&access).await["outcome"], "allow");
}

async fn while_the_database_is_away_nothing_is_allowed(
    a: &Node,
    b: &Node,
    database: &mut Database,
) {
    let waiting = call("npm publish awaited", 60_000);
    let outage = async {
        let ask = b.until_pending(1).await[0]["id"].clone();
        database.stop().unwrap();
        for node in [a, b] {
            let refused = node.as_key(&node.agent, "POST", "/v1/calls", &call("ls", 0)).await;
            assert_eq!(refused.status, 503, "{}", refused.text);
            assert_eq!(refused.code(), "UNAVAILABLE");
            assert_ne!(node.as_key(&node.admin, "GET", "/readyz", &Value::Null).await.status, 200);
        }
        database.resume().unwrap();
        at_last("it is answered", async || {
            b.decide(&ask, &json!({ "answer": "approve" })).await.status == 200
        })
        .await;
    };
    let (answer, ()) = tokio::join!(a.call(&waiting), outage);
    assert_eq!(answer["outcome"], "allow", "whoever waited went on waiting: {answer}");
}
