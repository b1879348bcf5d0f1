//! Asks: listed, answered, waited for, granted and ended.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{House, INTERNAL};

#[tokio::test]
async fn ab_2_an_id_decodes_and_every_rendering_of_it_works() {
    let house = House::plain().await;
    let id = house.queued("node x.js").await;
    let (ms, rest) = id.strip_prefix("hook_").unwrap().split_once('_').unwrap();
    assert!(ms.bytes().all(|byte| byte.is_ascii_digit()), "{id}");
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    assert!(rest.len() == 16 && rest.bytes().all(is_digit), "{id}");

    let native = house.get("/v1/asks", &house.approver).await;
    let uuid = native["asks"][0]["id"].as_str().unwrap();
    let first = u64::from_str_radix(uuid.replace('-', "").get(..12).unwrap(), 16).unwrap();
    assert_eq!(first.to_string(), ms, "the first 48 bits are the time");
    let renderings =
        [id.clone(), format!("perm_{ms}_{rest}"), uuid.to_owned(), format!("perm-{uuid}")];
    for rendering in &renderings {
        assert_eq!(house.status(rendering).await["id"], id.as_str(), "{rendering}");
    }
    let mut socket = house.listen("default", &house.approver).await;
    socket.expect("permission_request").await;
    for (at, rendering) in renderings.iter().enumerate() {
        // Of each ask one rendering is answered over REST and one over the socket.
        let body = json!({ "requestId": rendering, "decision": "reject" });
        if at == 0 {
            assert_eq!(house.decide(&body).await.0, 200, "{rendering}");
            assert_eq!(socket.expect("decision_ack").await["requestId"], id.as_str());
        } else {
            let (status, body) = house.decide(&body).await;
            assert_eq!((status, &body["settled"]["by"]), (404, &json!("carol")), "{rendering}");
        }
    }
    for rendering in &renderings {
        socket.decide(&json!({ "requestId": rendering, "decision": "approve" })).await;
        assert_eq!(socket.expect("error").await["message"], "Request not found", "it is settled");
    }
    for id in ["hook_1_x", "x", "019444a0-1234-4abc-8000-abcdef123456"] {
        let (status, body) =
            house.send("GET", &format!("/api/permissions/{id}"), INTERNAL, "").await;
        assert_eq!((status, body), (404, json!({ "error": "Request not found" })), "{id}");
    }
}

#[tokio::test]
async fn ab_5_asks_of_all_doors_are_listed_and_agent_id_only_narrows() {
    let house = House::plain().await;
    house.queued("node x.js").await;
    let call = json!({ "tool": "Bash", "input": { "command": "git push" }, "cwd": "/home/x/p" });
    house.post("/v1/calls", &house.agent, &call).await;
    let list = house.get("/api/permissions", &house.approver).await;
    let items = list["pending"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{list}");
    let want = json!({
        "id": items[0]["id"], "agentId": "agent-1", "userId": "user-1", "toolName": "bash",
        "toolInput": { "command": "node x.js" }, "tier": "dangerous",
        "reason": "Dangerous command: node", "timestamp": items[0]["timestamp"],
        "status": "pending", "command": "node x.js", "confidence": "high",
        "expiresAt": items[0]["timestamp"].as_i64().unwrap() + 1_800_000,
        "suggestion": "node x.js",
    });
    assert_eq!(items[0], want);
    let other = &items[1];
    assert_eq!((&other["agentId"], &other["userId"]), (&json!("coder"), &json!("anna")));
    assert_eq!((&other["toolName"], &other["suggestion"]), (&json!("Bash"), &json!("git push:*")));

    let narrowed = house.get("/api/permissions?agentId=coder", &house.approver).await;
    assert_eq!(narrowed["pending"].as_array().unwrap().len(), 1);
    let hers = house.get("/api/permissions", &house.annas).await;
    assert_eq!(hers["pending"].as_array().unwrap().len(), 1, "only her own");
    let wider = house.get("/api/permissions?agentId=agent-1", &house.annas).await;
    assert_eq!(wider["pending"], json!([]), "the filter never widens");

    house.bash("frobnicate --all \u{202e}x").await;
    let list = house.get("/api/permissions?agentId=agent-1", &house.approver).await;
    let item = &list["pending"][1];
    assert_eq!(item["confidence"], "low", "{item}");
    assert_eq!(item["command"], "frobnicate --all \\u{202e}x");
}

#[tokio::test]
async fn ab_6_each_decision_works_over_rest_and_socket_and_the_agent_sees_it() {
    let house = House::plain().await;
    let mut socket = house.listen("default", &house.approver).await;
    #[rustfmt::skip]
    let cases = [("approve", "approved"), ("approve_always", "approved"), ("reject", "rejected")];
    for (at, (word, status)) in cases.into_iter().enumerate() {
        let id = house.queued(&format!("git push origin rest{at}")).await;
        socket.expect("permission_request").await;
        let body = json!({ "requestId": id, "decision": word });
        let (code, answer) = house.decide(&body).await;
        assert_eq!((code, &answer["decision"]), (200, &json!(word)), "{answer}");
        let ack = socket.expect("decision_ack").await;
        assert_eq!((&ack["requestId"], &ack["decision"]), (&json!(id), &json!(word)));
        let seen = house.status(&id).await;
        assert_eq!((&seen["status"], &seen["decision"]), (&json!(status), &json!(word)));
        assert_eq!(
            (&seen["decidedBy"], seen["receipt"].is_string()),
            (&json!("carol"), status == "approved")
        );
        if let Some(grant) = answer["grant"]["id"].as_str() {
            let path = format!("/v1/grants/{grant}");
            assert_eq!(house.send("DELETE", &path, &house.approver, "").await.0, 200);
        }
        let id = house.queued(&format!("git push origin socket{at}")).await;
        socket.expect("permission_request").await;
        socket.decide(&json!({ "requestId": id, "decision": word })).await;
        let ack = socket.expect("decision_ack").await;
        assert_eq!((&ack["requestId"], &ack["decision"]), (&json!(id), &json!(word)));
        assert_eq!((&ack["by"], &ack["door"]), (&json!("carol"), &json!("agentbot")));
        assert_eq!(house.status(&id).await["decision"], word);
        if word == "approve_always" {
            let grants = house.get("/v1/grants", &house.approver).await;
            let path = format!("/v1/grants/{}", grants["grants"][0]["id"].as_str().unwrap());
            assert_eq!(house.send("DELETE", &path, &house.approver, "").await.0, 200);
        }
    }
}

#[tokio::test]
async fn ab_7_an_approval_serves_one_execution() {
    let house = House::plain().await;
    let id = house.queued("node x.js").await;
    assert_eq!(house.queued("node x.js").await, id, "the same call while it waits");
    house.approve(&id).await;
    let other = house.classify_as("agent-2", "bash", json!({ "command": "node x.js" })).await;
    assert_eq!(other["allow"], false, "another agent's call is another call");
    assert_eq!(house.bash("node x.js").await["allow"], true);
    assert_ne!(house.queued("node x.js").await, id, "the second asks again");

    let id = house.queued("node y.js").await;
    house.approve(&id).await;
    let path = format!("/api/permissions/{id}?claim=1");
    assert_eq!(house.get(&path, INTERNAL).await["status"], "approved");
    let late = house.get(&path, INTERNAL).await;
    assert_eq!((&late["status"], late.get("decision")), (&json!("expired"), None), "it was taken");
    assert_eq!(house.status(&id).await["status"], "approved", "who only looks sees what was said");
    assert_ne!(house.queued("node y.js").await, id);
}

#[tokio::test]
async fn ab_8_approve_always_grants_what_was_suggested_and_nothing_firm() {
    let house = House::plain().await;
    #[rustfmt::skip]
    let cases = [
        ("bash", json!({ "command": "git push origin a" }), "git push:*",
         json!({ "command": "git push origin b" }), json!({ "command": "git commit -m x" })),
        ("bash", json!({ "command": "npm install && git add x" }), "npm install:*, git add:*",
         json!({ "command": "git add z; npm install y" }), json!({ "command": "npm ci" })),
        ("exec", json!({ "input": "python3 a.py" }), "python3 a.py",
         json!({ "input": "python3 a.py" }), json!({ "input": "python3 b.py" })),
        ("bash", json!({ "command": "npx cowsay" }), "npx cowsay",
         json!({ "command": "npx cowsay" }), json!({ "command": "npx other" })),
        ("write", json!({ "path": "/opt/app/conf", "content": "x" }), "/opt/app/conf",
         json!({ "path": "/opt/app/conf", "content": "y" }), json!({ "path": "/opt/app/other" })),
        ("deploy", json!({ "to": "prod" }), r#"{"to":"prod"}"#,
         json!({ "to": "prod" }), json!({ "to": "test" })),
    ];
    for (tool, input, pattern, similar, different) in cases {
        let queued = house.classify(tool, input.clone()).await;
        let list = house.get("/api/permissions?agentId=agent-1", &house.approver).await;
        assert_eq!(list["pending"][0]["suggestion"], pattern, "{tool} {input}");
        let body = json!({ "requestId": queued["requestId"], "decision": "approve_always" });
        let (status, answer) = house.decide(&body).await;
        assert_eq!((status, &answer["grant"]["pattern"]), (200, &json!(pattern)), "{answer}");
        let passed = house.classify(tool, similar.clone()).await;
        assert_eq!(passed["allow"], true, "{tool} {similar}: {passed}");
        assert!(passed["reason"].as_str().unwrap().starts_with("Granted: "), "{passed}");
        let asked = house.classify(tool, different.clone()).await;
        assert_eq!(asked["allow"], false, "{tool} {different}");
        let body = json!({ "requestId": asked["requestId"], "decision": "reject" });
        assert_eq!(house.decide(&body).await.0, 200);
    }
    for (tool, input) in [
        ("bash", json!({ "command": "cat ~/.ssh/id_rsa" })),
        ("write", json!({ "path": ".env", "content": "x" })),
    ] {
        let queued = house.classify(tool, input.clone()).await;
        let list = house.get("/api/permissions", &house.approver).await;
        assert_eq!(list["pending"][0]["suggestion"], Value::Null, "{input}");
        let body = json!({ "requestId": queued["requestId"], "decision": "approve_always" });
        let (status, answer) = house.decide(&body).await;
        assert_eq!((status, &answer["grant"]), (200, &Value::Null), "{answer}");
        assert!(
            answer["grantReason"].is_string() && answer.as_object().unwrap().contains_key("grant")
        );
        assert_eq!(house.classify(tool, input.clone()).await["allow"], true, "once");
        let again = house.classify(tool, input).await;
        let body = json!({ "requestId": again["requestId"], "decision": "reject" });
        assert_eq!(house.decide(&body).await.0, 200);
    }
}

#[tokio::test]
async fn ab_9_feedback_reaches_the_agent_unchanged() {
    let house = House::plain().await;
    let feedback = "Nein — use `make`\n\t\"quoted\" \u{1f600}";
    for word in ["approve", "reject"] {
        let id = house.queued(&format!("node {word}.js")).await;
        let body = json!({ "requestId": id, "decision": word, "feedback": feedback });
        assert_eq!(house.decide(&body).await.0, 200);
        assert_eq!(house.status(&id).await["feedback"], feedback);
    }
}

#[tokio::test]
async fn ab_10_a_modified_input_is_judged_again_and_fits_itself_only() {
    let house = House::new("", "[rules]\ndeny = [\"Bash(npm publish:*)\"]\n").await;
    let id = house.queued("node x.js").await;
    for (modified, why) in [
        (json!("npm publish"), "a deny rule"),
        (json!("rm -rf /"), "destructive"),
        (json!({ "command": "sudo ls" }), "destructive, as an object"),
    ] {
        let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": modified });
        let (status, answer) = house.decide(&body).await;
        assert_eq!((status, &answer["error"]), (422, &json!("Modified input refused")), "{why}");
        assert!(answer["reason"].is_string(), "{why}");
        assert_eq!(house.status(&id).await["status"], "pending", "{why}");
    }
    let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": "node safe.js" });
    assert_eq!(house.decide(&body).await.0, 200);
    let seen = house.get(&format!("/api/permissions/{id}?claim=1"), INTERNAL).await;
    assert_eq!(
        (&seen["status"], &seen["modifiedInput"]),
        (&json!("approved"), &json!("node safe.js"))
    );
    assert_eq!(seen["toolInput"], json!({ "command": "node safe.js" }));
    assert_eq!(house.bash("node x.js").await["allow"], false, "the original does not pass");
    let passed = house.bash("node safe.js").await;
    assert_eq!((&passed["allow"], &passed["reason"]), (&json!(true), &json!("Approved by carol")));
    assert_eq!(house.bash("node safe.js").await["allow"], false, "once");

    let id = house.queued("node z.js").await;
    let modified = json!({ "command": "node w.js", "timeout": 5 });
    let body = json!({ "requestId": id, "decision": "approve", "modifiedInput": modified });
    assert_eq!(house.decide(&body).await.0, 200);
    assert_eq!(house.status(&id).await["modifiedInput"], modified, "in the form it was given");
    let path = format!("/api/permissions/{id}?claim=1&changed=1");
    assert_eq!(house.get(&path, INTERNAL).await["status"], "approved", "the host runs it at once");
    assert_eq!(house.get(&path, INTERNAL).await["status"], "expired", "once");
    assert_eq!(house.classify("bash", modified).await["allow"], false, "it was taken");
}

#[tokio::test]
async fn ab_11_a_destructive_call_passes_as_it_was_enabled_and_no_other_does() {
    let house = House::new("", "[rules]\ndeny = [\"Bash(shutdown:*)\"]\n").await;
    let mut socket = house.listen("default", &house.approver).await;
    let blocked = house.bash("rm -rf /srv/data").await;
    assert_eq!((&blocked["tier"], blocked.get("requestId")), (&json!("destructive"), None));
    assert_eq!(house.get("/api/permissions", &house.approver).await["pending"], json!([]));
    let told = socket.expect("permission_blocked").await;
    assert_eq!(
        (&told["command"], &told["tier"]),
        (&json!("rm -rf /srv/data"), &json!("destructive"))
    );
    assert_eq!(told["agentId"], "agent-1");
    assert_eq!(blocked["reason"], "Blocked: Destructive: recursive removal of /srv/data");
    assert!(told["reason"].as_str().unwrap().starts_with("Destructive: "), "{told}");

    let body = json!({ "callDigest": told["callDigest"], "minutes": 1, "uses": 2 });
    let (status, enabled) = house.post("/api/permissions/enable", &house.approver, &body).await;
    assert_eq!((status, &enabled["uses"], &enabled["success"]), (200, &json!(2), &json!(true)));
    let end = enabled["expiresAt"].as_i64().unwrap() - told["timestamp"].as_i64().unwrap();
    assert!((60_000..120_000).contains(&end), "{end}");
    let other =
        house.classify_as("agent-2", "bash", json!({ "command": "rm -rf /srv/data" })).await;
    assert_eq!(other["allow"], false, "another agent");
    assert_eq!(house.bash("rm -rf /srv/data2").await["allow"], false, "another call");
    let exec = house.classify("exec", json!({ "command": "rm -rf /srv/data" })).await;
    assert_eq!(exec["allow"], false, "another tool");
    for _ in 0..2 {
        let passed = house.bash("rm -rf /srv/data").await;
        assert_eq!((&passed["allow"], &passed["tier"]), (&json!(true), &json!("destructive")));
    }
    assert_eq!(house.bash("rm -rf /srv/data").await["allow"], false, "two uses");

    let input = json!({ "command": "shutdown -h now" });
    let body = json!({ "agentId": "agent-1", "toolName": "bash", "toolInput": input });
    let (_, enabled) = house.post("/api/permissions/enable", &house.approver, &body).await;
    assert_eq!(enabled["uses"], 1);
    let denied = house.classify("bash", input).await;
    assert_eq!(denied["reason"], "Denied: Bash(shutdown:*)", "a deny rule still denies");

    let input = json!({ "command": "rm -rf /srv/other" });
    let body = json!({ "agentId": "agent-1", "toolName": "bash", "toolInput": input });
    let (_, enabled) = house.post("/api/permissions/enable", &house.approver, &body).await;
    let path = format!("/api/permissions/enable/{}", enabled["grantId"].as_str().unwrap());
    let answer = house.send("DELETE", &path, &house.approver, "").await;
    assert_eq!(answer, (200, json!({ "success": true })));
    assert_eq!(house.classify("bash", input).await["allow"], false, "it was taken back");
    let want = (404, json!({ "error": "Request not found" }));
    assert_eq!(house.send("DELETE", &path, &house.approver, "").await, want, "twice");
    let body = json!({ "callDigest": "sha256:00" });
    assert_eq!(house.post("/api/permissions/enable", &house.approver, &body).await, want);
    let body = json!({ "agentId": "agent-1", "toolName": "bash", "toolInput": {} });
    assert_eq!(house.post("/api/permissions/enable", &house.annas, &body).await.0, 404, "not hers");
}

#[tokio::test]
async fn ab_11_a_call_that_several_agents_made_is_enabled_for_the_one_that_is_named() {
    let house = House::plain().await;
    let mut socket = house.listen("default", &house.approver).await;
    let input = json!({ "command": "rm -rf /srv/data" });
    for agent in ["agent-1", "agent-2"] {
        assert_eq!(house.classify_as(agent, "bash", input.clone()).await["allow"], false);
    }
    let told = socket.expect("permission_blocked").await;
    let enable = |body: serde_json::Value| {
        let house = &house;
        async move { house.post("/api/permissions/enable", &house.approver, &body).await }
    };
    let (status, said) = enable(json!({ "callDigest": told["callDigest"] })).await;
    let want = json!({ "error": "Missing agentId: several agents made this call" });
    assert_eq!((status, said), (400, want));
    let named = |agent: &str| json!({ "callDigest": told["callDigest"], "agentId": agent });
    assert_eq!(enable(named("agent-3")).await.0, 404, "who did not make it");
    assert_eq!(enable(named("agent-1")).await.0, 200);
    let passed = house.classify_as("agent-2", "bash", input.clone()).await;
    assert_eq!(passed["allow"], false, "the other agent");
    assert_eq!(house.classify_as("agent-1", "bash", input).await["allow"], true);
}

#[tokio::test]
async fn ab_11_a_blocked_call_is_enabled_by_its_digest_after_a_restart() {
    let house = House::plain().await;
    let mut socket = house.listen("default", &house.approver).await;
    let commands = ["rm -rf /srv/data", "rm -rf /srv/a # password=hunter22"];
    let mut digests = Vec::new();
    for command in commands {
        assert_eq!(house.bash(command).await["tier"], "destructive", "`{command}`");
        digests.push(socket.expect("permission_blocked").await["callDigest"].clone());
    }
    let house = house.restarted().await;
    let enable = |digest: &serde_json::Value| {
        let body = json!({ "callDigest": digest });
        let house = &house;
        async move { house.post("/api/permissions/enable", &house.approver, &body).await.0 }
    };
    assert_eq!(enable(&digests[0]).await, 200, "the audit has the call whole");
    assert_eq!(house.bash(commands[0]).await["allow"], true);
    assert_eq!(house.bash(commands[0]).await["allow"], false, "once");
    assert_eq!(enable(&digests[1]).await, 404, "what was redacted is nobody's call any more");
    assert_eq!(house.bash(commands[1]).await["allow"], false);
}

#[tokio::test]
async fn ab_12_of_two_decisions_one_counts_and_everybody_hears_it_once() {
    let house = House::plain().await;
    let mut first = house.listen("default", &house.approver).await;
    let mut second = house.listen("user-1", &house.approver).await;
    for at in 0..10 {
        let id = house.queued(&format!("node {at}.js")).await;
        let approve = json!({ "requestId": id, "decision": "approve" });
        let reject = json!({ "requestId": id, "decision": "reject" });
        let (one, other) = tokio::join!(house.decide(&approve), house.decide(&reject));
        let mut statuses = [one.0, other.0];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404]);
        let (word, loser) = if one.0 == 200 { ("approve", other.1) } else { ("reject", one.1) };
        let settled = &loser["settled"];
        assert_eq!((&settled["decision"], &settled["by"]), (&json!(word), &json!("carol")));
        assert_eq!((&settled["door"], settled["at"].is_i64()), (&json!("agentbot"), true));
        for socket in [&mut first, &mut second] {
            assert_eq!(socket.expect("permission_request").await["id"], id.as_str());
            let ack = socket.expect("decision_ack").await;
            assert_eq!((&ack["requestId"], &ack["decision"]), (&json!(id), &json!(word)));
        }
    }
}

#[tokio::test]
async fn ab_13_a_wait_ends_at_the_decision_or_when_it_is_over() {
    let house = House::plain().await;
    let id = house.queued("node x.js").await;
    let began = Instant::now();
    let seen = house.get(&format!("/api/permissions/{id}?wait=1"), INTERNAL).await;
    assert_eq!(seen["status"], "pending");
    assert!((Duration::from_secs(1)..Duration::from_secs(3)).contains(&began.elapsed()));
    let path = format!("/api/permissions/{id}?wait=600");
    let decided = async {
        house.approve(&id).await;
        Instant::now()
    };
    let (seen, decided) = tokio::join!(house.get(&path, INTERNAL), decided);
    assert_eq!(seen["status"], "approved");
    assert!(decided.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn ab_24_a_pending_ask_outlives_a_restart() {
    let house = House::plain().await;
    let id = house.queued("node x.js").await;
    let house = house.restarted().await;
    let list = house.get("/api/permissions", &house.approver).await;
    assert_eq!(list["pending"][0]["id"], id.as_str());
    assert_eq!(house.queued("node x.js").await, id, "the same call finds it");
    let path = format!("/api/permissions/{id}?wait=30");
    let (seen, ()) = tokio::join!(house.get(&path, INTERNAL), house.approve(&id));
    assert_eq!(seen["status"], "approved");
}

#[tokio::test]
async fn ab_25_an_expired_ask_is_expired_gone_and_announced() {
    // What other doors do at a deadline is not this one's.
    let policy = "[asks]\nfallback = \"allow\"\n";
    let house = House::new("[dialects.agentbot]\ndeadline_s = 1\n", policy).await;
    let mut socket = house.listen("default", &house.approver).await;
    let id = house.queued("node x.js").await;
    socket.expect("permission_request").await;
    let seen = house.get(&format!("/api/permissions/{id}?wait=30"), INTERNAL).await;
    assert_eq!((&seen["status"], &seen["decidedBy"]), (&json!("expired"), &json!("expiry")));
    let ack = socket.expect("decision_ack").await;
    assert_eq!((&ack["requestId"], &ack["decision"]), (&json!(id), &json!("reject")));
    assert_eq!((&ack["reason"], &ack["by"]), (&json!("expired"), &json!("expiry")));
    assert_eq!(house.get("/api/permissions", &house.approver).await["pending"], json!([]));
    assert_ne!(house.queued("node x.js").await, id, "a new call raises a new ask");
}

#[tokio::test]
async fn ab_26_everything_is_in_the_audit_with_actor_and_time() {
    let house = House::new("[dialects.agentbot]\ndeadline_s = 2\n", "").await;
    house.bash("git status").await;
    let approved = house.queued("git push origin x").await;
    let body = json!({ "requestId": approved, "decision": "approve_always" });
    let (_, answer) = house.decide(&body).await;
    let rejected = house.queued("node x.js").await;
    house.decide(&json!({ "requestId": rejected, "decision": "reject" })).await;
    let body =
        json!({ "agentId": "agent-1", "toolName": "bash", "toolInput": { "command": "reboot" } });
    let (_, enabled) = house.post("/api/permissions/enable", &house.approver, &body).await;
    house.bash("reboot").await;
    let grant = answer["grant"]["id"].as_str().unwrap();
    house.send("DELETE", &format!("/v1/grants/{grant}"), &house.approver, "").await;
    let expired = house.queued("node y.js").await;
    house.get(&format!("/api/permissions/{expired}?wait=30"), INTERNAL).await;

    let audit = house.audit().await;
    let has = |kind: &str, actor: &str, subject: &str| {
        audit.iter().any(|entry| {
            entry["kind"] == kind
                && entry["actor"] == actor
                && (subject.is_empty() || entry["subject"] == subject)
                && entry["at"].as_str().is_some_and(|at| at.ends_with('Z'))
        })
    };
    let enabled = enabled["grantId"].as_str().unwrap();
    #[rustfmt::skip]
    let wanted = [
        ("call.judged",   "agent-1", ""),
        ("ask.opened",    "agent-1", ""),
        ("ask.settled",   "carol",   ""),
        ("ask.settled",   "expiry",  ""),
        ("grant.made",    "carol",   grant),
        ("grant.made",    "carol",   enabled),
        ("grant.used",    "agent-1", enabled),
        ("grant.revoked", "carol",   grant),
    ];
    for (kind, actor, subject) in wanted {
        assert!(has(kind, actor, subject), "{kind} by {actor}");
    }
}
