//! Calls: what the classifier answers, to whom, and what it refuses.

use serde_json::{Value, json};

use crate::house::{House, INTERNAL, http};

const RULES: &str = "[rules]\nallow = [\"Bash(make:*)\"]\nask = [\"Bash(git log:*)\"]\n\
    deny = [\"Bash(npm publish:*)\", \"Read(secret/**)\"]\n";

/// A body with the names of its fields in order.
fn fields(body: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn ab_1_every_row_of_classify_has_exactly_its_fields_and_words() {
    let house = House::new("", RULES).await;
    let plain = ["allow", "reason", "tier"];
    #[rustfmt::skip]
    let cases = [
        ("git status",      true,  "safe",        "Safe: git status"),
        ("make release",    true,  "dangerous",   "Granted: make:*"),
        ("npm publish",     false, "dangerous",   "Denied: Bash(npm publish:*)"),
    ];
    for (command, allow, tier, reason) in cases {
        let want = json!({ "allow": allow, "tier": tier, "reason": reason });
        assert_eq!(house.bash(command).await, want, "`{command}`");
    }
    let blocked = house.bash("rm -rf /").await;
    assert_eq!((fields(&blocked), &blocked["allow"]), (plain.to_vec(), &json!(false)));
    assert_eq!(blocked["tier"], "destructive");
    assert!(blocked["reason"].as_str().unwrap().starts_with("Blocked: Destructive: "), "{blocked}");

    let queued = house.bash("node server.js").await;
    assert_eq!(fields(&queued), ["allow", "reason", "requestId", "tier"]);
    assert_eq!(queued["reason"], "Queued for approval: Dangerous command: node");
    assert_eq!((&queued["allow"], &queued["tier"]), (&json!(false), &json!("dangerous")));
    let ruled = house.bash("git log -3").await;
    assert_eq!(ruled["reason"], "Queued for approval: Ask rule: Bash(git log:*)");
    assert_eq!(ruled["tier"], "safe");

    house.approve(queued["requestId"].as_str().unwrap()).await;
    let want = json!({ "allow": true, "tier": "dangerous", "reason": "Approved by carol" });
    assert_eq!(house.bash("node server.js").await, want);

    let id = house.queued("node a.js").await;
    let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": "node b.js" });
    assert_eq!(house.decide(&body).await.0, 200);
    let want = json!({
        "allow": false, "tier": "dangerous", "reason": "Approved only with changed input",
        "modifiedInput": "node b.js",
    });
    assert_eq!(house.bash("node a.js").await, want);

    let input = json!({ "command": "sudo reboot" });
    let body = json!({ "agentId": "agent-1", "toolName": "bash", "toolInput": input });
    let (status, enabled) = house.post("/api/permissions/enable", &house.approver, &body).await;
    assert_eq!(status, 200, "{enabled}");
    let passed = house.bash("sudo reboot").await;
    assert_eq!((fields(&passed), &passed["allow"]), (plain.to_vec(), &json!(true)));
    let reason = passed["reason"].as_str().unwrap();
    assert!(reason.starts_with("Enabled by carol until 20") && reason.ends_with('Z'), "{reason}");

    let refusals = [
        ("{}", 400, "Missing toolName"),
        (r#"{"toolName":""}"#, 400, "Missing toolName"),
        ("[]", 400, "Invalid JSON"),
        (r#"{"toolName":"a","toolName":"b"}"#, 400, "Invalid JSON"),
        (r#"{"toolName":7}"#, 400, "Invalid toolName"),
    ];
    for (body, status, reason) in refusals {
        let want = (status, json!({ "allow": false, "reason": reason }));
        assert_eq!(house.send("POST", "/api/hooks/classify", INTERNAL, body).await, want, "{body}");
    }
    let large = format!(r#"{{"toolName":"{}"}}"#, "x".repeat(1 << 20));
    let (status, body) = house.send("POST", "/api/hooks/classify", INTERNAL, &large).await;
    assert_eq!((status, body), (413, json!({ "allow": false, "reason": "Body too large" })));
    let (status, body) = house.send("POST", "/api/hooks/classify", &house.approver, "{}").await;
    assert_eq!((status, body), (401, json!({ "error": "Unauthorized" })), "an approver's key");
}

#[tokio::test]
async fn ab_3_without_an_agent_credential_nothing_is_classified() {
    let house = House::plain().await;
    let body = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    #[rustfmt::skip]
    let cases = [
        (String::new(),                                        "none"),
        ("Authorization: Bearer wrong\r\n".to_owned(),         "a wrong one"),
        (format!("Authorization: bearer {INTERNAL}\r\n"),      "another spelling"),
        (format!("Authorization: Bearer  {INTERNAL}\r\n"),     "two blanks"),
        (format!("Authorization: Basic {INTERNAL}\r\n"),       "another scheme"),
        (format!("Authorization: {INTERNAL}\r\n"),             "no scheme"),
        (format!("X-Api-Key: {INTERNAL}\r\n"),                 "another header"),
        (format!("Authorization: Bearer {}\r\n", house.approver), "an approver's"),
    ];
    for (headers, why) in cases {
        let answer = house.raw("POST", "/api/hooks/classify", &headers, body).await;
        assert_eq!(answer, (401, json!({ "error": "Unauthorized" })), "{why}");
    }
    let path = format!("/api/hooks/classify?token={INTERNAL}");
    assert_eq!(house.send("POST", &path, "", body).await.0, 401, "in the address");
    let (status, _) = house.send("POST", "/api/hooks/classify", INTERNAL, body).await;
    assert_eq!(status, 200, "the right one");
    for headers in ["Host: evil.example\r\n", "Origin: http://evil.example\r\n"] {
        let headers = format!("{headers}Authorization: Bearer {INTERNAL}\r\n");
        let answer = house.raw("POST", "/api/hooks/classify", &headers, body).await;
        assert_eq!(answer, (403, json!({ "error": "Forbidden" })), "{headers}");
    }
}

#[tokio::test]
async fn ab_4_the_agent_credential_decides_nothing() {
    let house = House::plain().await;
    let id = house.queued("node x.js").await;
    let decision = json!({ "requestId": id, "decision": "approve" }).to_string();
    let enable = json!({ "agentId": "agent-1", "toolName": "bash", "toolInput": {} }).to_string();
    #[rustfmt::skip]
    let cases = [
        ("GET",    "/api/permissions",          ""),
        ("POST",   "/api/permissions",          decision.as_str()),
        ("POST",   "/api/permissions/enable",   enable.as_str()),
        ("DELETE", "/api/permissions/enable/x", ""),
    ];
    for key in [INTERNAL, &house.agent] {
        for (method, path, body) in cases {
            let answer = house.send(method, path, key, body).await;
            assert_eq!(answer, (403, json!({ "error": "Forbidden" })), "{method} {path}");
        }
        let refused = house.connect("?userId=default", key).await.err();
        assert_eq!(refused, Some(403), "the socket");
    }
    assert_eq!(house.status(&id).await["status"], "pending");
    for (method, path, body) in cases {
        let answer = house.send(method, path, "", body).await;
        assert_eq!(answer, (401, json!({ "error": "Unauthorized" })), "{method} {path}");
        let answer = house.send(method, path, "wrong", body).await;
        assert_eq!(answer, (403, json!({ "error": "Forbidden" })), "{method} {path}");
    }
}

#[tokio::test]
async fn ab_20_reads_are_safe_and_a_deny_rule_still_denies_them() {
    let house = House::new("", RULES).await;
    for tool in ["read", "file_read"] {
        for input in [
            json!({ "path": "src/main.rs" }),
            json!({ "file_path": "/home/x/.ssh/id_rsa" }),
            json!({ "path": "/etc/shadow" }),
            json!({}),
        ] {
            let body = house.classify(tool, input.clone()).await;
            let want = json!({ "allow": true, "tier": "safe", "reason": format!("Safe: {tool}") });
            assert_eq!(body, want, "{tool} {input}");
        }
        let body = house.classify(tool, json!({ "path": "secret/x" })).await;
        assert_eq!(
            (&body["allow"], &body["reason"]),
            (&json!(false), &json!("Denied: Read(secret/**)"))
        );
    }
    let house = House::new("[dialects.agentbot]\nreads_are_safe = false\n", "").await;
    let body = house.classify("read", json!({ "path": "/home/x/.ssh/id_rsa" })).await;
    assert_eq!((&body["allow"], &body["tier"]), (&json!(false), &json!("dangerous")), "{body}");
    let body = house.classify("read", json!({ "path": "src/main.rs" })).await;
    assert_eq!(body["allow"], true, "{body}");
}

#[tokio::test]
async fn ab_21_a_plain_get_is_safe_here_only_and_can_be_switched_off() {
    let house = House::plain().await;
    for command in ["curl https://example.org/x", "wget https://example.org/x"] {
        assert_eq!(house.bash(command).await["tier"], "safe", "`{command}`");
        let call = json!({ "tool": "Bash", "input": { "command": command }, "cwd": "/home/x" });
        let (status, body) = house.post("/v1/check", &house.agent, &call).await;
        assert_eq!((status, &body["outcome"]), (200, &json!("ask")), "`{command}` elsewhere");
    }
    let house = House::new("[dialects.agentbot]\nplain_get_is_safe = false\n", "").await;
    for command in ["curl https://example.org/x", "wget https://example.org/x"] {
        assert_eq!(house.bash(command).await["tier"], "dangerous", "`{command}` switched off");
    }
}

#[tokio::test]
async fn ab_23_malformed_bodies_are_refused_and_nothing_is_allowed() {
    let house = House::plain().await;
    let field = |name: &str| format!("Invalid {name}");
    let cases = [
        ("{".to_owned(), "Invalid JSON".to_owned()),
        (String::new(), "Invalid JSON".to_owned()),
        ("\u{feff}{}".to_owned(), "Invalid JSON".to_owned()),
        (r#"{"toolName":"bash"} x"#.to_owned(), "Invalid JSON".to_owned()),
        (
            r#"{"toolName":"bash","toolInput":{"a":{"b":1,"b":2}}}"#.to_owned(),
            "Invalid JSON".to_owned(),
        ),
        (
            format!(r#"{{"toolName":"x","toolInput":{}}}"#, "[".repeat(5000)),
            "Invalid JSON".to_owned(),
        ),
        (r#"{"toolName":"bash","toolInput":[]}"#.to_owned(), field("toolInput")),
        (r#"{"toolName":"bash","toolInput":null}"#.to_owned(), field("toolInput")),
        (r#"{"toolName":"bash","agentId":7}"#.to_owned(), field("agentId")),
        (r#"{"toolName":"bash","userId":{}}"#.to_owned(), field("userId")),
        (r#"{"toolName":"bash","toolInput":{"command":["ls"]}}"#.to_owned(), field("command")),
        (r#"{"toolName":"bash","toolInput":{"input":1}}"#.to_owned(), field("input")),
        (r#"{"toolName":"write","toolInput":{"path":null}}"#.to_owned(), field("path")),
        (r#"{"toolName":"read","toolInput":{"file_path":1}}"#.to_owned(), field("file_path")),
    ];
    for (body, reason) in cases {
        let answer = house.send("POST", "/api/hooks/classify", INTERNAL, &body).await;
        assert_eq!(answer, (400, json!({ "allow": false, "reason": reason })), "{body}");
    }
    let host = format!("Host: {}\r\nAuthorization: Bearer {INTERNAL}\r\n", house.address);
    let answer = http(house.address, "POST", "/api/hooks/classify", &host, b"\xff{}").await;
    assert_eq!(answer.0, 400, "not UTF-8");

    let id = house.queued("node x.js").await;
    let with = |rest: &str| format!(r#"{{"requestId":"{id}",{rest}}}"#);
    let missing = "Missing requestId or decision";
    let decision = "Invalid decision. Must be: approve, reject, or approve_always";
    #[rustfmt::skip]
    let cases = [
        ("nonsense".to_owned(),                                      "Invalid JSON"),
        ("{}".to_owned(),                                            missing),
        (r#"{"requestId":"x"}"#.to_owned(),                          missing),
        (r#"{"decision":"approve"}"#.to_owned(),                     missing),
        (with(r#""decision":"maybe""#),                              decision),
        (with(r#""decision":"Approve""#),                            decision),
        (with(r#""decision":"approve","feedback":1"#),               "Invalid feedback"),
        (with(&format!(r#""decision":"reject","feedback":"{}""#, "x".repeat(4001))), "Invalid feedback"),
        (with(r#""decision":"approve","modifiedInput":7"#),          "Invalid modifiedInput"),
        (with(r#""decision":"reject","modifiedInput":"ls""#),        "Invalid modifiedInput"),
    ];
    for (body, error) in cases {
        let answer = house.send("POST", "/api/permissions", &house.approver, &body).await;
        assert_eq!(answer, (400, json!({ "error": error })), "{body}");
    }
    let other = house.classify("deploy", json!({ "target": "x" })).await;
    let body =
        json!({ "requestId": other["requestId"], "decision": "approve", "modifiedInput": "ls" });
    let want = (400, json!({ "error": "Invalid modifiedInput" }));
    assert_eq!(house.decide(&body).await, want, "a command for a tool that has none");
    for wait in ["x", "-1", "1.5"] {
        let path = format!("/api/permissions/{id}?wait={wait}");
        let answer = house.send("GET", &path, INTERNAL, "").await;
        assert_eq!(answer, (400, json!({ "error": "Invalid wait" })), "{wait}");
    }
    for body in [
        "{}",
        r#"{"callDigest":7}"#,
        r#"{"callDigest":"x","minutes":61}"#,
        r#"{"callDigest":"x","uses":0}"#,
    ] {
        let (status, _) =
            house.send("POST", "/api/permissions/enable", &house.approver, body).await;
        assert_eq!(status, 400, "{body}");
    }
    assert_eq!(house.status(&id).await["status"], "pending");
}

#[tokio::test]
async fn ab_23_a_store_that_cannot_commit_allows_nothing() {
    let house = House::plain().await;
    house.bash("ls").await;
    let path = house.store_path();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let body = r#"{"toolName":"bash","toolInput":{"command":"ls"}}"#;
    let (status, body) = house.send("POST", "/api/hooks/classify", INTERNAL, body).await;
    assert_eq!((status, body), (503, json!({ "allow": false, "reason": "Unavailable" })));
}
