//! Two nodes on one PostgreSQL: whatever is done on one holds on the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_daemon::config::{Config, Limits};
use portcullis_database::Database;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::node::{Node, SECRET};

/// How long something may take to hold on the other node, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A second node with the keys of the first.
async fn beside(first: &Node, address: &str) -> Node {
    Node::at(keys_of(first), address).await
}

/// A directory with the keys of a node.
fn keys_of(node: &Node) -> Arc<TempDir> {
    let directory = Arc::new(TempDir::new().unwrap());
    for role in ["agent", "approver", "admin"] {
        std::fs::copy(node.directory.path().join(role), directory.path().join(role)).unwrap();
    }
    directory
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
    all_nodes_sign_with_one_key(&database).await;
    limits_hold_over_all_nodes(&database).await;
    what_a_node_leaves_behind_ends_on_another(&database).await;
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

/// A schema of its own in the database.
fn schema(database: &Database, name: &str) -> String {
    database.sql(&format!("CREATE SCHEMA {name}")).unwrap();
    database.address_of(name)
}

async fn all_nodes_sign_with_one_key(database: &Database) {
    let address = schema(database, "signed");
    let other = [9; 32];
    let with = async |directory, secret| {
        Node::try_at(directory, &address, Config::default(), secret).await
    };
    let mut a = with(Arc::new(TempDir::new().unwrap()), &SECRET).await.unwrap();
    let refused = with(keys_of(&a), &other).await.err().unwrap().to_string();
    assert!(refused.contains("copy `signing.key`"), "{refused}");
    let mut b = with(keys_of(&a), &SECRET).await.unwrap();
    b.stop().await;
    a.stop().await;
    // Nobody is there any more: the key was changed on purpose.
    let c = with(keys_of(&a), &other).await.unwrap();
    let entries = "/v1/audit?kind=signer.changed";
    let changed = c.as_key(&c.admin, "GET", entries, &Value::Null).await.json();
    assert_eq!(changed["entries"].as_array().map(Vec::len), Some(1), "{changed}");
    assert!(with(keys_of(&a), &SECRET).await.is_err(), "now the other one is the stranger");
    // What the key before signed is vouched for by the one that signs now.
    at_last("the record is whole", async || {
        let state = c.as_key(&c.admin, "GET", "/v1/audit/state", &Value::Null).await.json();
        state["is_whole"] == true
    })
    .await;
}

async fn limits_hold_over_all_nodes(database: &Database) {
    let address = schema(database, "limited");
    let limits = Limits {
        calls_per_second_per_agent: 20,
        asks_per_minute_per_agent: 10,
        ..Limits::default()
    };
    let config = || Config { limits: limits.clone(), ..Config::default() };
    let first = Arc::new(TempDir::new().unwrap());
    let a = Node::try_at(first, &address, config(), &SECRET).await.unwrap();
    let b = Node::try_at(keys_of(&a), &address, config(), &SECRET).await.unwrap();

    let mut asked = 0;
    for number in 0..40 {
        let node = if number % 2 == 0 { &a } else { &b };
        let asking = call(&format!("npm publish {number}"), 0);
        let sent = node.as_key(&node.agent, "POST", "/v1/calls", &asking).await;
        assert!(matches!(sent.status, 200 | 429), "{}", sent.text);
        asked += u32::from(sent.status == 200);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Ten at once, and one more in six seconds.
    assert!((10..=14).contains(&asked), "{asked} questions of two nodes together");

    // A node that has just come up cannot know what was before.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let seconds = 6;
    let until = Instant::now() + Duration::from_secs(seconds);
    let flood = async |node: &Node| {
        let mut allowed = 0;
        while Instant::now() < until {
            let sent = node.as_key(&node.agent, "POST", "/v1/calls", &call("ls", 0)).await;
            allowed += u64::from(sent.status == 200);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        allowed
    };
    let (one, two) = tokio::join!(flood(&a), flood(&b));
    // Each node's first second, and what comes until it is heard of, is all there is beyond.
    let bound = 20 * (seconds + 2 + 2);
    assert!(one + two <= bound, "{one} and {two} calls of two nodes together, above {bound}");
    assert!(one + two >= 20 * seconds / 2, "{one} and {two}: what is allowed is not refused");
}

async fn what_a_node_leaves_behind_ends_on_another(database: &Database) {
    let address = schema(database, "orphaned");
    let directory = Arc::new(TempDir::new().unwrap());
    std::fs::create_dir(directory.path().join("config")).unwrap();
    let policy = "[asks]\ndeadline_s = 3\n";
    std::fs::write(directory.path().join("config/policy.toml"), policy).unwrap();
    let mut a = Node::at(directory, &address).await;
    let b = beside(&a, &address).await;
    let asked = a.call(&call("npm publish orphan", 0)).await;
    a.stop().await;
    let began = Instant::now();
    let path = format!("/v1/asks/{}", asked["ask"].as_str().unwrap());
    at_last("it ends", async || {
        let ask = b.as_key(&b.approver, "GET", &path, &Value::Null).await.json();
        ask["state"] == "expired"
    })
    .await;
    assert!(began.elapsed() < Duration::from_secs(15), "not by looking again after a while");
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
