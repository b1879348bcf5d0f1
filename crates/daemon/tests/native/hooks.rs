//! Hooks over HTTP: a host's document in, its document out, and nothing that lets a tool run.

use serde_json::{Value, json};

use crate::node::Node;

fn document(command: &str, id: &str) -> Value {
    json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/tmp", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": command }, "tool_use_id": id,
    })
}

async fn hook(node: &Node, path: &str, document: &Value) -> Value {
    let reply = node.as_key(&node.agent, "POST", path, document).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.json()
}

fn decision(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_answered_in_the_words_of_its_host() {
    let node = Node::start().await;
    let allowed = hook(&node, "/v1/hooks/claude", &document("git status", "1")).await;
    assert_eq!(decision(&allowed), "allow", "{allowed}");
    let denied = hook(&node, "/v1/hooks/claude", &document("portcullis keys list", "2")).await;
    assert_eq!(decision(&denied), "deny", "{denied}");
    let late = hook(&node, "/v1/hooks/claude?wait_ms=1", &document("npm publish", "3")).await;
    assert_eq!(decision(&late), "deny", "{late}");
    let reason = late["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.ends_with("[HOOK_DEADLINE]") && reason.contains("still open"), "{reason}");
    let gemini = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/tmp", "timestamp": "x",
        "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
        "tool_input": { "command": "ls" },
    });
    assert_eq!(hook(&node, "/v1/hooks/gemini", &gemini).await, json!({ "decision": "allow" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_denied_with_status_200() {
    let node = Node::start().await;
    for body in [json!({}), json!([]), json!({ "hook_event_name": "PreToolUse" }), json!("x")] {
        let answer = hook(&node, "/v1/hooks/claude", &body).await;
        assert_eq!(decision(&answer), "deny", "{body}: {answer}");
        let answer = hook(&node, "/v1/hooks/gemini", &body).await;
        assert_eq!(answer["decision"], "deny", "{body}: {answer}");
    }
    for query in ["wait_ms=soon", "wait_ms=1&wait_ms=2", "waits=1"] {
        let path = format!("/v1/hooks/claude?{query}");
        let answer = hook(&node, &path, &document("ls", "1")).await;
        assert_eq!(decision(&answer), "deny", "{query}: {answer}");
    }
    let notice = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/tmp",
        "hook_event_name": "Notification", "message": "waits",
    });
    assert_eq!(hook(&node, "/v1/hooks/claude", &notice).await, json!({}));
    let asks = node.as_key(&node.approver, "GET", "/v1/asks", &Value::Null).await.json();
    assert_eq!(asks["asks"], json!([]), "nobody is asked about a notice");
    let mut other = document("ls", "1");
    other["turn_id"] = "t".into();
    other["model"] = "m".into();
    let answer = hook(&node, "/v1/hooks/claude", &other).await;
    assert_eq!(decision(&answer), "deny", "it is Codex's: {answer}");
    let reply = node.as_key(&node.agent, "POST", "/v1/hooks/nobody", &json!({})).await;
    assert_eq!(reply.status, 404);
    let reply = node.as_key(&node.approver, "POST", "/v1/hooks/claude", &json!({})).await;
    assert_eq!(reply.status, 403, "approvers make no calls");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_events_of_one_call_are_asked_about_once_and_two_calls_twice() {
    let node = Node::start().await;
    let gate = document("npm publish", "1");
    let mut prompt = gate.clone();
    prompt["hook_event_name"] = "PermissionRequest".into();
    prompt.as_object_mut().unwrap().remove("tool_use_id");
    // Both stand open at once: one ask, and one answer for both.
    let asked = async {
        loop {
            let asks = node.as_key(&node.approver, "GET", "/v1/asks", &Value::Null).await.json();
            if let Some(ask) = asks["asks"].as_array().unwrap().first() {
                let path = format!("/v1/asks/{}/decision", ask["id"].as_str().unwrap());
                let answer = json!({ "answer": "approve" });
                // The second event joins meanwhile.
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                assert_eq!(node.as_key(&node.approver, "POST", &path, &answer).await.status, 200);
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    let second = async {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        hook(&node, "/v1/hooks/claude", &prompt).await
    };
    let (first, second, ()) = tokio::join!(hook(&node, "/v1/hooks/claude", &gate), second, asked);
    assert_eq!(decision(&first), "allow", "{first}");
    assert_eq!(second["hookSpecificOutput"]["decision"], json!({ "behavior": "allow" }));
    // The same call through the same slot is a second call.
    let again = document("npm publish", "2");
    let late = hook(&node, "/v1/hooks/claude?wait_ms=1", &again).await;
    assert_eq!(decision(&late), "deny", "it is asked about anew: {late}");
    let asks = node.as_key(&node.approver, "GET", "/v1/asks?state=any", &Value::Null).await.json();
    assert_eq!(asks["asks"].as_array().unwrap().len(), 2, "{asks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ran_without_a_decision_is_a_gap() {
    let node = Node::start().await;
    let ran = |command: &str| {
        let mut document = document(command, "9");
        document["hook_event_name"] = "PostToolUse".into();
        document["tool_response"] = json!({});
        document
    };
    let gaps = async || {
        let path = "/v1/audit?kind=gap.found";
        let audit = node.as_key(&node.approver, "GET", path, &Value::Null).await.json();
        audit["entries"].as_array().unwrap().len()
    };
    hook(&node, "/v1/hooks/claude", &document("git status", "9")).await;
    assert_eq!(hook(&node, "/v1/hooks/claude", &ran("git status")).await, json!({}));
    assert_eq!(gaps().await, 0);
    hook(&node, "/v1/hooks/claude", &ran("git push")).await;
    assert_eq!(gaps().await, 1, "nobody was asked");
    hook(&node, "/v1/hooks/claude", &document("portcullis keys list", "7")).await;
    hook(&node, "/v1/hooks/claude", &ran("portcullis keys list")).await;
    assert_eq!(gaps().await, 2, "it was denied");
}
