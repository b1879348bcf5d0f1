//! The socket: what is said first, what is pushed, what is refused.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;

use crate::house::{House, INTERNAL, http};

#[tokio::test]
async fn ab_14_connected_comes_first_then_pending_asks_once_and_every_error_has_its_words() {
    let house = House::plain().await;
    let one = house.queued("node a.js").await;
    let two = house.queued("node b.js").await;
    // The key may stand in the address.
    let query = format!("?userId=default&token={}", house.approver);
    let mut socket = house.connect(&query, "").await.unwrap();
    let connected = socket.expect("connected").await;
    assert_eq!((&connected["userId"], connected["timestamp"].is_i64()), (&json!("default"), true));
    let first = socket.expect("permission_request").await;
    let want = json!({
        "id": one, "command": "node a.js", "tier": "dangerous",
        "reason": "Dangerous command: node", "agentId": "agent-1", "userId": "user-1",
        "toolName": "bash", "toolInput": { "command": "node a.js" },
        "timestamp": first["timestamp"], "expiresAt": first["expiresAt"], "confidence": "high",
        "suggestion": "node a.js",
    });
    assert_eq!(first, want);
    assert_eq!(socket.expect("permission_request").await["id"], two.as_str());
    let three = house.queued("node c.js").await;
    assert_eq!(socket.expect("permission_request").await["id"], three.as_str(), "and then the new");

    socket.say(r#"{"type":"ping"}"#).await;
    assert!(socket.expect("pong").await["timestamp"].is_i64());
    let decision = "Invalid decision. Must be: approve, reject, or approve_always";
    #[rustfmt::skip]
    let cases = [
        ("nonsense".to_owned(),                                       "Invalid JSON"),
        ("[]".to_owned(),                                             "Invalid JSON"),
        (r#"{"type":"decision"}"#.to_owned(),                         "Invalid JSON"),
        (r#"{"type":"decision","data":{}}"#.to_owned(),               "Missing requestId or decision"),
        (r#"{"type":"decision","data":{"requestId":"x","decision":"yes"}}"#.to_owned(), decision),
        (r#"{"type":"decision","data":{"requestId":"x","decision":"reject"}}"#.to_owned(), "Request not found"),
        (json!({ "type": "decision", "data": { "requestId": one, "decision": "approve", "modifiedInput": "rm -rf /" } }).to_string(), "Modified input refused"),
    ];
    for (text, message) in cases {
        // What nobody knows is passed over.
        socket.say(r#"{"type":"dance","data":{}}"#).await;
        socket.say(&text).await;
        assert_eq!(socket.expect("error").await["message"], message, "{text}");
    }
    assert_eq!(house.status(&one).await["status"], "pending");

    let mut nobody = house.connect("", &house.approver).await.unwrap();
    assert_eq!(nobody.closed().await, (4001, "Missing userId".to_owned()));
    assert_eq!(house.connect("?userId=default", "").await.err(), Some(401));
    assert_eq!(house.connect("?userId=default", "wrong").await.err(), Some(401));
    assert_eq!(house.connect("?userId=default", INTERNAL).await.err(), Some(403));
    socket.say(&"x".repeat((256 << 10) + 1)).await;
    assert_eq!(socket.closed().await.0, 1009);
    let mut last = house.listen("nobody-in-particular", &house.approver).await;
    let (closed, ()) = tokio::join!(last.closed(), house.stopped());
    assert_eq!(closed.0, 1001);
}

#[tokio::test]
async fn ab_14_a_heartbeat_comes_every_30_seconds() {
    let house = House::plain().await;
    let mut socket = house.listen("default", &house.approver).await;
    for _ in 0..2 {
        tokio::time::pause();
        tokio::time::advance(Duration::from_millis(30_001)).await;
        tokio::time::resume();
        assert!(socket.expect("heartbeat").await["timestamp"].is_i64());
    }
}

#[tokio::test]
async fn ab_15_a_view_of_somebody_else_is_refused_and_the_key_decides() {
    let house = House::plain().await;
    for user in ["bob", "tester", "local", "carol"] {
        let mut socket = house.connect(&format!("?userId={user}"), &house.annas).await.unwrap();
        assert_eq!(socket.closed().await, (4003, "Forbidden".to_owned()), "{user}");
    }
    let call = json!({ "toolName": "bash", "toolInput": { "command": "node x.js" }, "agentId": "else", "userId": "bob" });
    let (_, queued) = house.post("/api/hooks/classify", &house.agent, &call).await;
    let id = queued["requestId"].as_str().unwrap();
    let mut others = house.listen("bob", &house.approver).await;
    for user in ["anna", "coder", "default"] {
        let mut socket = house.listen(user, &house.annas).await;
        let ask = socket.expect("permission_request").await;
        assert_eq!(
            (&ask["id"], &ask["agentId"], &ask["userId"]),
            (&json!(id), &json!("coder"), &json!("anna"))
        );
    }
    // Whoever decides does it under the name of the key, and is told although it is not in view.
    others.decide(&json!({ "requestId": id, "decision": "approve" })).await;
    let ack = others.expect("decision_ack").await;
    assert_eq!((&ack["requestId"], &ack["by"]), (&json!(id), &json!("carol")));
    let seen = house.get(&format!("/api/permissions/{id}"), &house.agent).await;
    assert_eq!(seen["decidedBy"], "carol");
    for key in [&house.bobs, INTERNAL] {
        let (status, _) = house.send("GET", &format!("/api/permissions/{id}"), key, "").await;
        assert_eq!(status, 404, "asks of others are not there");
    }
}

#[tokio::test]
async fn ab_16_what_is_settled_elsewhere_is_acknowledged_here() {
    let house = House::plain().await;
    let mut socket = house.listen("default", &house.approver).await;
    let id = house.queued("node x.js").await;
    socket.expect("permission_request").await;
    let native = house.get("/v1/asks", &house.approver).await;
    let uuid = native["asks"][0]["id"].as_str().unwrap();
    let path = format!("/v1/asks/{uuid}/decision");
    let (status, body) = house.post(&path, &house.approver, &json!({ "answer": "reject" })).await;
    assert_eq!(status, 200, "{body}");
    let ack = socket.expect("decision_ack").await;
    assert_eq!((&ack["requestId"], &ack["decision"]), (&json!(id), &json!("reject")));
    assert_eq!((&ack["by"], &ack["door"]), (&json!("carol"), &json!("api")));

    let call = json!({ "tool": "Bash", "input": { "command": "git push" }, "cwd": "/home/x/p" });
    let (_, answered) = house.post("/v1/calls", &house.agent, &call).await;
    let uuid = answered["ask"].as_str().unwrap();
    let asked = socket.expect("permission_request").await;
    assert_eq!((&asked["toolName"], &asked["command"]), (&json!("Bash"), &json!("git push")));
    let (status, _) = house.send("DELETE", &format!("/v1/asks/{uuid}"), &house.agent, "").await;
    assert_eq!(status, 200);
    let ack = socket.expect("decision_ack").await;
    assert_eq!((&ack["requestId"], &ack["decision"]), (&asked["id"], &json!("reject")));
    assert_eq!(ack["reason"], "withdrawn");
}

#[tokio::test(flavor = "multi_thread")]
async fn ab_14_who_lags_behind_is_told_again_what_is_pending() {
    let house = House::plain().await;
    let mut slow = house.listen("default", &house.approver).await;
    // More than the feed keeps for one who does not read, and more than lies on the way.
    let (count, padding) = (1400, "x".repeat(16 << 10));
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..8 {
        let (address, padding) = (house.address, padding.clone());
        tasks.spawn(async move {
            let mut ids = Vec::new();
            for number in (task..count).step_by(8) {
                let command = format!("node {number}.js {padding}");
                let body = json!({ "toolName": "bash", "toolInput": { "command": command } });
                let headers = format!("Host: {address}\r\nAuthorization: Bearer {INTERNAL}\r\n");
                let body = body.to_string();
                let (status, said) =
                    http(address, "POST", "/api/hooks/classify", &headers, body.as_bytes()).await;
                assert_eq!(status, 200, "{said}");
                ids.push(said["requestId"].as_str().unwrap().to_owned());
            }
            ids
        });
    }
    let mut missing: HashSet<String> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(missing.len(), count);
    while !missing.is_empty() {
        let (kind, data) = slow.next().await;
        match kind.as_str() {
            "permission_request" => missing.remove(data["id"].as_str().unwrap()),
            "heartbeat" => false,
            other => panic!("`{other}`: {data}"),
        };
    }
}
