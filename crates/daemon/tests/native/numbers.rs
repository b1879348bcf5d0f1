//! The numbers for Prometheus: each one that a person on call looks for is there, and counts.

use serde_json::{Value, json};

use crate::node::Node;

fn value_of(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no `{name}` in {text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_asks_times_and_the_queue_are_counted() {
    let node = Node::start().await;
    for command in ["ls", "npm publish", "npm publish --dry-run"] {
        node.call(&json!({ "tool": "Bash", "input": { "command": command } })).await;
    }
    let pending = node.until_pending(2).await;
    let answered = node.decide(&pending[0]["id"], &json!({ "answer": "reject" })).await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    let reply = node.as_key(&node.approver, "GET", "/metrics", &Value::Null).await;
    let text = reply.text;
    #[rustfmt::skip]
    let cases = [
        (r#"portcullis_verdicts_total{outcome="allow",tier="safe"}"#, 1.0),
        (r#"portcullis_verdicts_total{outcome="ask",tier="review"}"#, 2.0),
        ("portcullis_asks_pending",        1.0),
        ("portcullis_asks_settled_total",  1.0),
        ("portcullis_store_queue_depth",   0.0),
        ("portcullis_judge_seconds_count", 3.0),
        // The verdict, two asks opened and one settled.
        ("portcullis_commit_seconds_count", 4.0),
        ("portcullis_answer_seconds_count", 1.0),
    ];
    for (name, want) in cases {
        assert!((value_of(&text, name) - want).abs() < 0.5, "`{name}` is not {want}: {text}");
    }
}
