//! The record as the dashboard reads it: history, numbers, explanations, previews, the chain.

use serde_json::{Value, json};

use crate::node::Node;

async fn get(node: &Node, path: &str) -> Value {
    let reply = node.as_key(&node.approver, "GET", path, &Value::Null).await;
    assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    reply.json()
}

async fn call(node: &Node, command: &str, agent: &str) -> Value {
    let input = json!({ "command": command });
    let body =
        json!({ "tool": "Bash", "input": input, "cwd": "/work", "agent": agent, "session": "s" });
    node.call(&body).await
}

fn commands(page: &Value) -> Vec<String> {
    let calls = page["calls"].as_array().unwrap().iter();
    calls.map(|call| call["call"]["input"]["command"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn history_is_filtered_searched_and_paged() {
    let node = Node::start().await;
    for (command, agent) in [
        ("ls -la", "anna"),
        ("git status", "anna"),
        ("npm publish", "berta"),
        ("rm -rf /", "berta"),
    ] {
        call(&node, command, agent).await;
    }
    #[rustfmt::skip]
    let cases = [
        ("",                            vec!["rm -rf /", "npm publish", "git status", "ls -la"], "newest first"),
        ("?outcome=allow",              vec!["git status", "ls -la"],                            "by outcome"),
        ("?tier=destructive",           vec!["rm -rf /"],                                        "by tier"),
        ("?agent=berta&outcome=ask",    vec!["rm -rf /", "npm publish"],                         "by both"),
        ("?q=PUBLISH",                  vec!["npm publish"],                                     "by words, whatever their case"),
        ("?q=rm%20-rf%20/",             vec!["rm -rf /"],                                        "as people see it"),
        ("?tool=Edit",                  vec![],                                                  "by tool"),
        ("?since=2000-01-01T00:00:00.000Z&limit=1", vec!["rm -rf /"],                            "since a moment"),
        ("?since=2999-01-01T00:00:00.000Z", vec![],                                              "since one that is to come"),
    ];
    for (query, want, why) in cases {
        assert_eq!(
            commands(&get(&node, &format!("/v1/calls{query}")).await),
            want,
            "{query}: {why}"
        );
    }
    let mut all = Vec::new();
    let mut after = String::new();
    for _ in 0..10 {
        let page = get(&node, &format!("/v1/calls?limit=1{after}")).await;
        all.extend(commands(&page));
        let Some(next) = page["after"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(all.len(), 4, "{all:?}");
    let bad = node.as_key(&node.approver, "GET", "/v1/calls?since=tuesday", &Value::Null).await;
    assert_eq!(bad.status, 400);
    assert!(bad.text.contains("`since`"), "{}", bad.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn history_tells_how_an_ask_ended() {
    let node = Node::start().await;
    let allowed = call(&node, "ls", "anna").await;
    assert_eq!(allowed["outcome"], "allow");
    let asked = call(&node, "npm install a", "anna").await;
    let other = call(&node, "npm install b", "anna").await;
    let answer = json!({ "answer": "reject", "feedback": "not now" });
    assert_eq!(node.decide(&asked["ask"], &answer).await.status, 200);
    let page = get(&node, "/v1/calls").await;
    let [last, first, read] = [0, 1, 2].map(|at| &page["calls"][at]["ask"]);
    assert_eq!((&first["id"], &first["state"]), (&asked["ask"], &json!("rejected")));
    assert_eq!(first["decision"]["feedback"], "not now");
    assert_eq!((&last["id"], &last["state"]), (&other["ask"], &json!("pending")));
    assert!(last["decision"].is_null() && read.is_null(), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_count_days_answers_programs_and_rules() {
    let node = Node::start().await;
    call(&node, "ls", "anna").await;
    call(&node, "npm install a", "anna").await;
    let asked = call(&node, "npm install b", "anna").await;
    assert_eq!(node.decide(&asked["ask"], &json!({ "answer": "approve" })).await.status, 200);
    let stats = get(&node, "/v1/stats?days=3").await;
    let days = stats["days"].as_array().unwrap();
    assert_eq!(days.len(), 3, "days on which nothing happened are there too");
    let today = &days[2];
    let want = json!([3, 1, 0, 2, 1]);
    let got = ["calls", "allowed", "denied", "asks", "answers"].map(|name| today[name].clone());
    assert_eq!(json!(got), want, "{today}");
    assert_eq!(stats["outcomes"], json!({ "allow": 1, "ask": 2 }));
    assert_eq!(stats["programs"][0], json!({ "program": "npm", "asks": 2 }));
    assert_eq!(stats["agents"][0], json!({ "agent": "anna", "calls": 3, "asks": 2 }));
    assert_eq!(stats["answers"], 1);
    assert_eq!(stats["answer_times"][0], json!({ "under_s": 10, "answers": 1 }));
    assert_eq!(stats["pending"], 1);
    assert_eq!(stats["is_complete"], true);
    let saving = &stats["rules"][0];
    assert_eq!(saving["asks"], 2, "{stats}");
    let rule = saving["rule"].as_str().unwrap();
    assert!(rule.starts_with("Bash(npm install"), "{rule}");
    // Whoever looks again is told what is new, and nothing twice.
    call(&node, "npm install c", "anna").await;
    let stats = get(&node, "/v1/stats?days=3").await;
    assert_eq!(stats["days"][2]["calls"], 4, "{stats}");
    assert_eq!(stats["programs"][0], json!({ "program": "npm", "asks": 3 }));
    assert_eq!(stats["agents"][0], json!({ "agent": "anna", "calls": 4, "asks": 3 }));
    assert_eq!(stats["rules"][0]["asks"], 3, "{stats}");
    assert_eq!(get(&node, "/v1/stats?days=1").await["days"][0]["calls"], 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_is_tried_before_it_is_stored_and_only_if_it_was_offered() {
    let node = Node::start().await;
    call(&node, "npm install a", "anna").await;
    let asked = call(&node, "npm install b", "anna").await["ask"].clone();
    call(&node, "git push", "anna").await;
    let ask = get(&node, &format!("/v1/asks/{}", asked.as_str().unwrap())).await;
    let rule = ask["offers"][0]["rule"].clone();
    let body = json!({ "ask": asked, "rule": rule });
    let send = |path: &'static str, body: Value| {
        let node = &node;
        async move { node.as_key(&node.approver, "POST", path, &body).await }
    };
    let preview = send("/v1/grants/preview", body.clone()).await;
    assert_eq!(preview.status, 200, "{}", preview.text);
    let preview = preview.json();
    assert_eq!(preview["looked_at"], 3);
    assert_eq!(preview["covered"], 2, "{preview}");
    assert_eq!(preview["examples"][0]["command"], "npm install b");
    let tries = ["npm install c --save-dev", "npm install c; rm -rf /", "git push"];
    let tries: Vec<Value> =
        tries.iter().map(|command| json!({ "input": { "command": command } })).collect();
    let reply = send("/v1/grants/preview", json!({ "ask": asked, "rule": rule, "tries": tries }));
    let preview = reply.await.json();
    assert_eq!(preview["tried"], json!(["allow", "ask", "ask"]), "only what it would really allow");
    let many = json!({ "ask": asked, "rule": rule, "tries": vec![&tries[0]; 17] });
    assert_eq!(send("/v1/grants/preview", many).await.status, 400);
    assert_eq!(node.pending().await.len(), 3, "a preview stores nothing");
    for (wrong, status, code) in [
        (json!({ "ask": asked, "rule": "Bash(rm:*)" }), 422, "RULE_REFUSED"),
        (
            json!({ "ask": "019444a0-1234-7abc-8000-abcdef123456", "rule": rule }),
            404,
            "NO_SUCH_ASK",
        ),
        (json!({ "ask": asked }), 400, "INVALID_REQUEST"),
    ] {
        let reply = send("/v1/grants", wrong.clone()).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{wrong}");
    }
    let made = send("/v1/grants", body).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.json()["rule"], rule);
    node.until_pending(1).await;
    assert_eq!(call(&node, "npm install c", "anna").await["outcome"], "allow");
    let stats = get(&node, "/v1/stats").await;
    let rules = stats["rules"].as_array().unwrap();
    assert!(rules.iter().all(|saving| saving["rule"] != rule), "what is in force saves no more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_past_verdict_is_explained_by_the_policy_of_its_time() {
    let node = Node::start().await;
    let kept = |count: usize| {
        let node = &node;
        async move {
            for _ in 0..500 {
                let kept = get(node, "/v1/audit?kind=policy.kept").await;
                if kept["entries"].as_array().unwrap().len() >= count {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            panic!("the policy was never kept");
        }
    };
    let write = |text: &'static str| {
        let node = &node;
        async move {
            let header = format!("Authorization: Bearer {}", node.admin);
            let reply = node.send("PUT", "/v1/policy", &[&header], text).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
    };
    write("[rules]\nask = [\"Bash(ls:*)\"]\n").await;
    let asked = call(&node, "ls -la", "anna").await["ask"].clone();
    kept(1).await;
    write("[rules]\ndeny = [\"Bash(ls:*)\"]\n").await;
    kept(2).await;
    let id = asked.as_str().unwrap();
    let cursor = get(&node, "/v1/calls").await["calls"][0]["cursor"].clone();
    for path in [
        format!("/v1/asks/{id}/explanation"),
        format!("/v1/calls/{}/explanation", cursor.as_str().unwrap()),
    ] {
        let then = get(&node, &path).await;
        assert_eq!(then["policy"]["is"], "then", "{path}: {then}");
        assert_eq!(then["explanation"]["outcome"], "ask", "{path}");
        assert_eq!(then["recorded"]["outcome"], "ask", "{path}");
        assert_eq!(then["explanation"]["acts"][0]["rung"], 4, "an ask rule held it");
        let now = get(&node, &format!("{path}?policy=now")).await;
        assert_eq!(now["policy"]["is"], "now");
        assert_eq!(now["explanation"]["outcome"], "deny", "{path}");
    }
    let allowed = call(&node, "git status", "anna").await;
    assert_eq!(allowed["outcome"], "allow");
    let cursor = get(&node, "/v1/calls?outcome=allow").await["calls"][0]["cursor"].clone();
    let path = format!("/v1/calls/{}/explanation", cursor.as_str().unwrap());
    let explained = get(&node, &path).await;
    assert_eq!(explained["explanation"]["outcome"], "allow", "{explained}");
    let never = format!("{path}?policy=never");
    assert_eq!(node.as_key(&node.approver, "GET", &never, &Value::Null).await.status, 400);
    let gone = "/v1/calls/ffffffffffffffff/explanation";
    assert_eq!(node.as_key(&node.approver, "GET", gone, &Value::Null).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_judged_and_changes_nothing() {
    let node = Node::start().await;
    let asked = call(&node, "npm publish", "anna").await["ask"].clone();
    let path = format!("/v1/asks/{}/check", asked.as_str().unwrap());
    for (command, want) in [("ls", "allow"), ("npm publish --dry-run", "ask"), ("rm -rf /", "ask")]
    {
        let body = json!({ "input": { "command": command } });
        let reply = node.as_key(&node.approver, "POST", &path, &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.json()["verdict"]["outcome"], want, "{command}");
    }
    let doubled = r#"{"input":{"command":"ls","command":"rm"}}"#;
    let header = format!("Authorization: Bearer {}", node.approver);
    assert_eq!(node.send("POST", &path, &[&header], doubled).await.status, 400);
    assert_eq!(node.pending().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_explains_itself_if_asked_to() {
    let node = Node::start().await;
    let body = json!({ "tool": "Bash", "input": { "command": "ls > /etc/passwd" } });
    let reply = node.as_key(&node.approver, "POST", "/v1/check?explain=1", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let shape = reply.json();
    assert_eq!(shape["explanation"]["ladder"].as_array().unwrap().len(), 5);
    assert_eq!(shape["outcome"], shape["explanation"]["outcome"]);
    let reply = node.as_key(&node.approver, "POST", "/v1/check?loud=1", &body).await;
    assert_eq!(reply.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chain_says_whether_it_is_whole() {
    let node = Node::start().await;
    for _ in 0..3 {
        call(&node, "ls", "anna").await;
    }
    get(&node, "/v1/audit/checkpoint").await;
    let state = get(&node, "/v1/audit/state").await;
    assert_eq!(state["is_whole"], true, "{state}");
    assert_eq!(state["is_complete"], true);
    assert!(state["checked"].as_u64().unwrap() >= 3);
    assert!(state["signed_seq"].as_u64().unwrap() >= 3);
    let database = rusqlite::Connection::open(node.directory.path().join("db")).unwrap();
    let forged = "UPDATE audit SET data = replace(data, '\"allow\"', '\"deny\"') WHERE seq = ?1";
    let judged = "SELECT max(seq) FROM audit WHERE kind = 'call.judged'";
    let seq: i64 = database.query_row(judged, [], |row| row.get(0)).unwrap();
    assert_eq!(database.execute(forged, [seq]).unwrap(), 1);
    let state = get(&node, "/v1/audit/state").await;
    assert_eq!((&state["is_whole"], &state["broken"]["seq"]), (&json!(false), &json!(seq)));
    let newest = get(&node, "/v1/audit?order=newest&limit=2").await;
    let seqs: Vec<u64> = newest["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs[0] > seqs[1], "{seqs:?}");
    let older = newest["after"].as_str().unwrap();
    let older = get(&node, &format!("/v1/audit?order=newest&after={older}")).await;
    assert!(older["entries"][0]["seq"].as_u64().unwrap() < seqs[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_are_listed_and_a_link_signs_one_in() {
    let node = Node::start().await;
    let link = node.as_key(&node.admin, "POST", "/v1/login/link", &Value::Null).await;
    assert_eq!(link.status, 201, "{}", link.text);
    let code = json!({ "code": link.json()["code"] }).to_string();
    assert_eq!(node.send("POST", "/v1/login", &[], &code).await.status, 200);
    assert_eq!(node.send("POST", "/v1/login", &[], &code).await.status, 401, "good once");
    let admin = node.as_key(&node.admin, "GET", "/v1/login", &Value::Null).await.json();
    assert_eq!(admin["browsers"].as_array().unwrap().len(), 1);
    assert_eq!(admin["browsers"][0]["is_this"], false);
    let approver = get(&node, "/v1/login").await;
    assert_eq!((&approver["role"], &approver["browsers"]), (&json!("approver"), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_shows_its_layers_and_tests() {
    let node = Node::start().await;
    let text = "mode = \"default\"\n[[test]]\ncommand = \"ls\"\noutcome = \"allow\"\n\
                [[test]]\ncommand = \"ls\"\noutcome = \"deny\"\n";
    let header = format!("Authorization: Bearer {}", node.admin);
    assert_eq!(node.send("PUT", "/v1/policy", &[&header], text).await.status, 200);
    let policy = get(&node, "/v1/policy").await;
    let user = policy["layers"].as_array().unwrap().iter().find(|one| one["source"] == "user");
    assert_eq!(user.unwrap()["text"], text);
    let passed: Vec<&Value> =
        policy["tests"].as_array().unwrap().iter().map(|test| &test["passed"]).collect();
    assert_eq!(passed, [true, false]);
}
