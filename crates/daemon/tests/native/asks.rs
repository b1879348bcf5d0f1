//! The life of an ask between an agent and an approver.

use portcullis_approval::Moment;
use portcullis_approval::receipt::{Receipt, Signer};
use serde_json::{Value, json};

use crate::node::{Node, SECRET};

fn publish() -> Value {
    json!({ "tool": "Bash", "input": { "command": "npm publish" }, "cwd": "/tmp", "session": "s", "wait_ms": 20_000 })
}

fn now(body: &Value) -> Value {
    let mut body = body.clone();
    body["wait_ms"] = json!(0);
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_releases_the_call_that_waits() {
    let node = Node::start().await;
    let body = publish();
    let (answer, ()) = tokio::join!(node.call(&body), async {
        let pending = node.until_pending(1).await;
        assert_eq!(pending[0]["waiting"], 1);
        let answer = json!({ "answer": "approve", "feedback": "go" });
        assert_eq!(node.decide(&pending[0]["id"], &answer).await.status, 200);
    });
    assert_eq!(answer["outcome"], "allow");
    assert_eq!(answer["decision"]["by"], "approver");
    assert_eq!(answer["decision"]["feedback"], "go");
    let public = Signer::new(&SECRET).public();
    let receipt = answer["receipt"].as_str().unwrap();
    let receipt = Receipt::verify(receipt, &public, None, Moment::from_ms(0)).unwrap();
    assert_eq!(receipt.ask.unwrap().to_string(), answer["ask"].as_str().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn once_is_one_execution() {
    let node = Node::start().await;
    let body = now(&publish());
    let first = node.call(&body).await;
    assert_eq!(node.call(&body).await["ask"], first["ask"], "identical calls share an ask");
    assert_eq!(node.decide(&first["ask"], &json!({ "answer": "approve" })).await.status, 200);
    assert_eq!(
        node.call(&body).await["outcome"],
        "allow",
        "nobody waited: the next call is served"
    );
    let third = node.call(&body).await;
    assert_eq!(third["outcome"], "ask", "and the one after it asks anew");
    assert_ne!(third["ask"], first["ask"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_that_wait_one_is_released() {
    let node = Node::start().await;
    let body = publish();
    let mut short = body.clone();
    short["wait_ms"] = json!(3000);
    let (one, two, ()) = tokio::join!(node.call(&short), node.call(&short), async {
        loop {
            let pending = node.until_pending(1).await;
            if pending[0]["waiting"] == 2 {
                assert_eq!(
                    node.decide(&pending[0]["id"], &json!({ "answer": "approve" })).await.status,
                    200
                );
                break;
            }
        }
    });
    let mut outcomes = [one["outcome"].as_str().unwrap(), two["outcome"].as_str().unwrap()];
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["allow", "ask"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_call_again_finds_its_ask() {
    let node = Node::start().await;
    let mut body = now(&publish());
    body["call_id"] = json!("toolu_1");
    let first = node.call(&body).await;
    node.decide(&first["ask"], &json!({ "answer": "approve" })).await;
    for _ in 0..2 {
        let again = node.call(&body).await;
        assert_eq!((&again["outcome"], &again["ask"]), (&json!("allow"), &first["ask"]));
    }
    body["call_id"] = json!("toolu_2");
    assert_eq!(node.call(&body).await["outcome"], "ask", "another call is another execution");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_racing_answers_exactly_one_wins() {
    let node = Node::start().await;
    for round in 0..10 {
        let body =
            json!({ "tool": "Bash", "input": { "command": format!("npm publish {round}") } });
        let ask = node.call(&body).await["ask"].clone();
        let (yes, no) = (json!({ "answer": "approve" }), json!({ "answer": "reject" }));
        let (one, two) = tokio::join!(node.decide(&ask, &yes), node.decide(&ask, &no));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        let (won, lost) = if one.status == 200 { (one, two) } else { (two, one) };
        assert_eq!(lost.code(), "ASK_ALREADY_SETTLED");
        let stands = &lost.json()["error"]["details"]["decision"];
        assert_eq!(stands["answer"], won.json()["answer"], "the loser learns what stands");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_is_a_rejection_and_carries_its_feedback() {
    let node = Node::start().await;
    let first = node.call(&now(&publish())).await;
    let reject = json!({ "answer": "reject", "feedback": "not on a Friday" });
    assert_eq!(node.decide(&first["ask"], &reject).await.json()["outcome"], "deny");
    let path = format!("/v1/asks/{}", first["ask"].as_str().unwrap());
    let shown = node.as_key(&node.agent, "GET", &path, &Value::Null).await.json();
    assert_eq!(shown["state"], "rejected");
    assert_eq!(shown["decision"]["feedback"], "not on a Friday");
    assert_eq!(shown["decision"]["reason"], "approver");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wider_scope_leaves_a_grant_that_can_be_revoked() {
    let node = Node::start().await;
    let first = node.call(&now(&publish())).await;
    let rule = "Bash(npm publish:*)";
    let answer = json!({ "answer": "approve", "scope": "always", "rules": [rule] });
    let decided = node.decide(&first["ask"], &answer).await.json();
    let grant = decided["grants"][0].as_str().unwrap().to_owned();
    let other =
        json!({ "tool": "Bash", "input": { "command": "npm publish --tag next" }, "cwd": "/tmp" });
    assert_eq!(node.call(&other).await["outcome"], "allow");
    let grants = node.as_key(&node.approver, "GET", "/v1/grants", &Value::Null).await.json();
    assert_eq!(grants["grants"][0]["rule"], rule);
    assert_eq!(grants["grants"][0]["used"], 1);
    let path = format!("/v1/grants/{grant}");
    assert_eq!(node.as_key(&node.agent, "DELETE", &path, &Value::Null).await.status, 403);
    assert_eq!(node.as_key(&node.approver, "DELETE", &path, &Value::Null).await.status, 200);
    assert_eq!(node.call(&other).await["outcome"], "ask", "the next call is judged without it");
    assert_eq!(node.as_key(&node.approver, "DELETE", &path, &Value::Null).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_answers_what_waits_already() {
    let node = Node::start().await;
    let first = node.call(&now(&publish())).await;
    let mut other = publish();
    other["input"] = json!({ "command": "npm publish --tag next" });
    let (answer, ()) = tokio::join!(node.call(&other), async {
        node.until_pending(2).await;
        let answer =
            json!({ "answer": "approve", "scope": "session", "rules": ["Bash(npm publish:*)"] });
        assert_eq!(node.decide(&first["ask"], &answer).await.status, 200);
    });
    assert_eq!(answer["outcome"], "allow");
    assert_eq!(answer["decision"]["reason"], "grant");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_of_uses_is_that_number() {
    let node = Node::start().await;
    let body = now(&publish());
    let first = node.call(&body).await;
    let answer = json!({ "answer": "approve", "uses": 3 });
    assert_eq!(node.decide(&first["ask"], &answer).await.status, 200);
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        outcomes.push(node.call(&body).await["outcome"].clone());
    }
    let allowed = outcomes.iter().filter(|outcome| **outcome == "allow").count();
    assert!((2..=3).contains(&allowed), "{outcomes:?}");
    assert_eq!(outcomes.last().unwrap(), "ask");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_offered_is_not_stored() {
    let node = Node::start().await;
    let first = node.call(&now(&publish())).await;
    #[rustfmt::skip]
    let cases = [
        (json!({ "answer": "approve", "scope": "always", "rules": ["Bash"] }),  422, "RULE_REFUSED",    "a rule nobody offered"),
        (json!({ "answer": "approve", "scope": "run" }),                        422, "INVALID_REQUEST", "it belongs to no run"),
        (json!({ "answer": "reject", "scope": "always" }),                      422, "INVALID_REQUEST", "a rejection reaches no further"),
        (json!({ "answer": "approve", "uses": 0 }),                             422, "INVALID_REQUEST", "none is no number of uses"),
        (json!({ "answer": "maybe" }),                                          400, "INVALID_REQUEST", "an unknown word"),
        (json!({ "answer": "approve", "rule": [] }),                            400, "INVALID_REQUEST", "an unknown field"),
        (json!({ "answer": "approve", "feedback": "x".repeat(4001) }),          400, "INVALID_REQUEST", "too long"),
    ];
    for (answer, status, code, why) in cases {
        let reply = node.decide(&first["ask"], &answer).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{why}");
    }
    assert_eq!(node.pending().await.len(), 1, "it is still pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_call_is_judged_again_and_runs_as_changed() {
    let node = Node::start().await;
    std::fs::create_dir_all(node.policy().parent().unwrap()).unwrap();
    std::fs::write(node.policy(), "[rules]\ndeny = [\"Bash(rm:*)\"]\n").unwrap();
    let node = node.restart().await;
    let first = node.call(&now(&publish())).await;
    let bad = json!({ "answer": "approve", "input": { "command": "rm -r dist" } });
    let reply = node.decide(&first["ask"], &bad).await;
    assert_eq!((reply.status, reply.code().as_str()), (422, "CALL_DENIED"));
    let good = json!({ "answer": "approve", "input": { "command": "npm publish --dry-run" } });
    assert_eq!(node.decide(&first["ask"], &good).await.status, 200);
    let path = format!("/v1/asks/{}", first["ask"].as_str().unwrap());
    let shown = node.as_key(&node.agent, "GET", &path, &Value::Null).await.json();
    assert_eq!(shown["decision"]["input"]["command"], "npm publish --dry-run");
    let public = Signer::new(&SECRET).public();
    let receipt = shown["receipt"].as_str().unwrap();
    let receipt = Receipt::verify(receipt, &public, None, Moment::from_ms(0)).unwrap();
    assert_ne!(receipt.digest, first["verdict"]["digest"].as_str().unwrap_or_default());
    assert_ne!(receipt.digest, shown["digest"].as_str().unwrap(), "it is about the changed call");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_denies_meanwhile_stands_against_an_approval() {
    let node = Node::start().await;
    let first = node.call(&now(&publish())).await;
    std::fs::create_dir_all(node.policy().parent().unwrap()).unwrap();
    std::fs::write(node.policy(), "[rules]\ndeny = [\"Bash(npm publish:*)\"]\n").unwrap();
    let node = node.restart().await;
    let decided = node.decide(&first["ask"], &json!({ "answer": "approve" })).await.json();
    assert_eq!(decided["outcome"], "deny");
    assert_eq!(decided["answer"], "approve");
    assert_eq!(decided["reason"], "rule.deny");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_denies_and_is_no_persons_rejection() {
    let node = Node::start().await;
    std::fs::create_dir_all(node.policy().parent().unwrap()).unwrap();
    std::fs::write(node.policy(), "[asks]\ndeadline_s = 1\n").unwrap();
    let node = node.restart().await;
    let answer = node.call(&publish()).await;
    assert_eq!(answer["outcome"], "deny");
    assert_eq!(answer["decision"]["by"], "expiry");
    assert_eq!(answer["decision"]["reason"], "fallback");
    assert!(answer["decision"].get("answer").is_none());
    let late = node.decide(&answer["ask"], &json!({ "answer": "approve" })).await;
    assert_eq!(late.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_ask_survives_a_restart() {
    let node = Node::start().await;
    let first = node.call(&now(&publish())).await;
    let node = node.restart().await;
    assert_eq!(node.pending().await[0]["id"], first["ask"]);
    let path = format!("/v1/asks/{}?wait_ms=20000", first["ask"].as_str().unwrap());
    let answer = json!({ "answer": "approve" });
    let (waited, decided) = tokio::join!(
        node.as_key(&node.agent, "GET", &path, &Value::Null),
        node.decide(&first["ask"], &answer)
    );
    assert_eq!(decided.status, 200);
    assert_eq!(waited.json()["state"], "approved");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_takes_its_own_ask_back_and_no_other() {
    let node = Node::start().await;
    let first = node.call(&now(&publish())).await;
    let path = format!("/v1/asks/{}", first["ask"].as_str().unwrap());
    let internal = "internal-secret";
    assert_eq!(node.as_key(internal, "GET", &path, &Value::Null).await.status, 404);
    assert_eq!(node.as_key(internal, "DELETE", &path, &Value::Null).await.status, 404);
    let taken = node.as_key(&node.agent, "DELETE", &path, &Value::Null).await;
    assert_eq!(taken.json()["reason"], "withdrawn");
    assert_eq!(node.decide(&first["ask"], &json!({ "answer": "approve" })).await.status, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ends_takes_its_asks_and_grants_with_it() {
    let node = Node::start().await;
    let run = node.as_key(&node.agent, "POST", "/v1/runs", &json!({ "run": "r" })).await;
    assert_eq!(run.json()["run"], "r");
    let mut body = now(&publish());
    body["run"] = json!("r");
    let first = node.call(&body).await;
    node.decide(&first["ask"], &json!({ "answer": "approve", "scope": "run" })).await;
    assert_eq!(node.call(&body).await["outcome"], "allow");
    body["input"] = json!({ "command": "npm publish again" });
    let second = node.call(&body).await;
    assert_eq!(node.as_key(&node.agent, "DELETE", "/v1/runs/r", &Value::Null).await.status, 200);
    let path = format!("/v1/asks/{}", second["ask"].as_str().unwrap());
    let shown = node.as_key(&node.agent, "GET", &path, &Value::Null).await.json();
    assert_eq!(
        (&shown["state"], &shown["decision"]["reason"]),
        (&json!("cancelled"), &json!("run_ended"))
    );
    body["input"] = json!({ "command": "npm publish" });
    assert_eq!(node.call(&body).await["outcome"], "ask", "the grant is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_beginning_of_the_inbox_is_the_riskiest_and_newest() {
    let node = Node::start().await;
    for command in ["npm publish", "rm -rf /srv", "npm publish --tag next", "rm -rf /var"] {
        node.call(&json!({ "tool": "Bash", "input": { "command": command } })).await;
    }
    let list = async |query: &str| -> Value {
        let path = format!("/v1/asks{query}");
        node.as_key(&node.approver, "GET", &path, &Value::Null).await.json()
    };
    let commands = |list: &Value| -> Vec<String> {
        let asks = list["asks"].as_array().unwrap().iter();
        asks.map(|ask| ask["call"]["input"]["command"].as_str().unwrap().to_owned()).collect()
    };
    let first = list("?order=risk&limit=3").await;
    assert_eq!(commands(&first), ["rm -rf /var", "rm -rf /srv", "npm publish --tag next"]);
    assert_eq!(first["after"], Value::Null, "there is no going on from there");
    let all = list("?order=oldest").await;
    assert_eq!(commands(&all)[..2], ["npm publish", "rm -rf /srv"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_answers_are_many_results() {
    let node = Node::start().await;
    let mut answers = Vec::new();
    for number in 0..3 {
        let body =
            json!({ "tool": "Bash", "input": { "command": format!("npm publish {number}") } });
        answers.push(json!({ "ask": node.call(&body).await["ask"], "answer": "approve" }));
    }
    answers.push(json!({ "ask": "nobody", "answer": "approve" }));
    let body = json!({ "answers": answers });
    let reply = node.as_key(&node.approver, "POST", "/v1/asks/decisions", &body).await.json();
    let results = reply["results"].as_array().unwrap();
    assert!(results.iter().take(3).all(|result| result["decision"]["outcome"] == "allow"));
    assert_eq!(results[3]["error"]["code"], "NO_SUCH_ASK");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_call_is_bound_to_must_still_be_there() {
    let node = Node::start().await;
    let place = node.directory.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let body = json!({ "tool": "Bash", "input": { "command": "npm publish" }, "cwd": place });
    let first = node.send_local("POST", "/v1/calls", &body.to_string()).await.json();
    std::fs::rename(&place, node.directory.path().join("elsewhere")).unwrap();
    std::fs::create_dir(&place).unwrap();
    let decided = node.decide(&first["ask"], &json!({ "answer": "approve" })).await.json();
    assert_eq!((&decided["outcome"], &decided["reason"]), (&json!("deny"), &json!("bound.cwd")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_policy_holds_no_rejection_up() {
    let node = Node::start().await;
    let project = node.directory.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let call = |command: &str| {
        json!({ "tool": "Bash", "input": { "command": command }, "cwd": project }).to_string()
    };
    let mut asks = Vec::new();
    for command in ["npm publish", "npm publish --tag next"] {
        let reply = node.send_local("POST", "/v1/calls", &call(command)).await;
        asks.push(reply.json()["ask"].clone());
    }
    // A node that never read the file whole has no last good version of it.
    std::fs::write(project.join("portcullis.toml"), "mode = \"yolo\"").unwrap();
    let node = node.restart().await;
    let reply = node.decide(&asks[0], &json!({ "answer": "approve" })).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "UNAVAILABLE"), "nothing is opened");
    let reject = json!({ "answer": "reject", "feedback": "no" });
    for ask in &asks {
        let reply = node.decide(ask, &reject).await;
        assert_eq!(
            (reply.status, &reply.json()["outcome"]),
            (200, &json!("deny")),
            "{}",
            reply.text
        );
    }
    assert!(node.pending().await.is_empty());
}
