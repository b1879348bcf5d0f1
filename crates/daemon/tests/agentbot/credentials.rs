//! Credentials in a browser and without a configuration, and what comes of asking too often.

use serde_json::json;

use crate::house::{House, INTERNAL};

#[tokio::test]
async fn ab_3_without_a_configured_credential_every_call_is_refused() {
    let house = House::without_internal().await;
    let body = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    for key in ["", INTERNAL, "undefined", "null"] {
        let answer = house.send("POST", "/api/hooks/classify", key, body).await;
        assert_eq!(answer, (401, json!({ "error": "Unauthorized" })), "`{key}`");
    }
    let empty = house.raw("POST", "/api/hooks/classify", "Authorization: Bearer \r\n", body).await;
    assert_eq!(empty.0, 401, "an empty one is none");
    let registered = house.send("POST", "/api/hooks/classify", &house.agent, body).await;
    assert_eq!(registered.0, 200, "a registered agent needs no shared one");
}

#[tokio::test]
async fn ab_15_a_cookie_decides_with_an_origin_of_ours_and_not_without() {
    let house = House::plain().await;
    let own = format!("Origin: http://{}\r\n", house.address);
    let alike = format!("Origin: http://{}.evil.example\r\n", house.address);
    #[rustfmt::skip]
    let cases = [
        (own.as_str(),                        200, "ours"),
        ("",                                  403, "none: any page could have sent it"),
        ("Origin: http://evil.example\r\n",   403, "another page"),
        ("Origin: null\r\n",                  403, "a page without one"),
        (alike.as_str(),                      403, "one that looks like ours"),
    ];
    for (origin, want, why) in cases {
        let id = house.queued(&format!("node {want}-{}.js", origin.len())).await;
        let cookie = format!("Cookie: other=1; portcullis={}\r\n{origin}", house.approver);
        let body = json!({ "requestId": id, "decision": "reject" }).to_string();
        let (status, said) = house.raw("POST", "/api/permissions", &cookie, &body).await;
        assert_eq!(status, want, "{why}: {said}");
        let state = house.status(&id).await["status"].clone();
        assert_eq!(state, if want == 200 { "rejected" } else { "pending" }, "{why}");
    }
    let agents = format!("Cookie: portcullis={INTERNAL}\r\n{own}");
    let (status, _) = house.raw("GET", "/api/permissions", &agents, "").await;
    assert_eq!(status, 403, "an agent's key is one in a cookie too");
    let wrong = format!("Cookie: portcullis=wrong\r\n{own}");
    let (status, _) = house.raw("GET", "/api/permissions", &wrong, "").await;
    assert_eq!(status, 403, "a cookie that nobody gave");

    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let cookie = format!("Cookie: portcullis={}\r\n{upgrade}", house.approver);
    let (status, _) = house.raw("GET", "/ws/permissions?userId=default", &cookie, "").await;
    assert_eq!(status, 403, "a socket of a page that does not say where it comes from");
}

#[tokio::test]
async fn ab_23_who_asks_too_often_is_told_so_and_still_finds_its_asks() {
    let house = House::limited("[limits]\npending_asks_per_agent = 2\n").await;
    let first = house.queued("node a.js").await;
    house.queued("node b.js").await;
    let classify = |command: &'static str| {
        let body = json!({
            "toolName": "bash", "toolInput": { "command": command }, "agentId": "agent-1",
        });
        let house = &house;
        async move { house.post("/api/hooks/classify", INTERNAL, &body).await }
    };
    let want = (429, json!({ "allow": false, "reason": "Too many requests" }));
    assert_eq!(classify("node c.js").await, want, "a third one");
    let (status, again) = classify("node a.js").await;
    assert_eq!((status, &again["requestId"]), (200, &json!(first)), "the same call has its ask");
    let (status, safe) = classify("ls").await;
    assert_eq!((status, &safe["allow"]), (200, &json!(true)), "what needs nobody still runs");
    house.approve(&first).await;
    assert_eq!(classify("node c.js").await.0, 200, "once one is answered");

    let house = House::limited("[limits]\ncalls_per_second_per_agent = 1\n").await;
    let body = json!({ "toolName": "bash", "toolInput": { "command": "ls" } });
    let mut refused = 0;
    for _ in 0..20 {
        let (status, said) = house.post("/api/hooks/classify", INTERNAL, &body).await;
        assert!(status == 200 || (status, &said) == (429, &want.1), "{status} {said}");
        refused += usize::from(status == 429);
    }
    assert!(refused > 0, "twenty calls at once are more than one a second");
}
