//! Races: several doors answer one ask at once, and exactly one decision stands.
//!
//! Some hundred rounds are played with every run of the tests; `PORTCULLIS_RACES=10000` plays
//! more.

use portcullis_converse::{Conversation, play};
use serde_json::{Value, json};

use crate::stage::House;

/// How many rounds are played unless somebody wants more.
const ROUNDS: usize = 200;

/// So many rounds are one conversation.
const AT_ONCE: usize = 50;

/// One round: an ask of a run, an answer through every door before any is awaited, one that counts.
fn round(number: usize) -> Vec<Value> {
    let command = format!("npm publish {number}");
    let native = |answer: &str| json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": answer }, "later": answer, "status": 200 });
    let comma = |on: &str, decision: &str| json!({ "on": on, "send": { "type": "permission_decision", "runId": "r", "permissionRequestId": "perm-${id}", "decision": decision, "requestId": decision } });
    let answered = format!("multica-{number}");
    let resolve = json!({ "requestId": answered, "method": "resolveExecApproval", "params": { "approvalId": "${id}", "decision": "allow-once" } });
    let mut steps = vec![
        json!({ "http": "POST /v1/calls", "key": "${agent}", "body": { "tool": "run_command", "access": { "kind": "command.execute", "resource": command }, "run": "r" }, "expect": { "outcome": "ask", "ask": "<uuid:id>", "...": true } }),
        // Whoever lost the round before may hear so only now.
        json!({ "on": "one", "skipping": true, "expect": { "type": "request_permission", "requestId": "perm-${id}", "...": true } }),
        json!({ "on": "two", "skipping": true, "expect": { "type": "request_permission", "requestId": "perm-${id}", "...": true } }),
        json!({ "on": "multica", "skipping": true, "expect": { "action": "exec-approval-request", "payload": { "approvalId": "${id}", "...": true }, "...": true } }),
    ];
    // Whoever comes first differs from round to round.
    let mut answers = vec![
        native("approve"),
        comma("one", "deny"),
        json!({ "http": "POST /api/permissions", "key": "${anna}", "body": { "requestId": "${id}", "decision": "reject" }, "later": "agentbot" }),
        comma("two", "allow-session"),
        json!({ "on": "multica", "send": { "id": answered, "from": "multica", "to": "${hub}", "action": "request", "payload": resolve } }),
        json!({ "http": "POST /agentscope/confirm", "key": "${approver}", "body": { "ask_id": "${id}", "confirmed": false }, "later": "agentscope" }),
    ];
    let turn = number % answers.len();
    answers.rotate_left(turn);
    steps.extend(answers);
    // Nobody waits for ever, and one decision stands in the audit.
    steps.push(json!({ "on": "one", "skipping": true, "expect": { "type": "permission_resolved", "requestId": "perm-${id}", "decision": "<text:stands>", "via": "<text:via>", "...": true } }));
    steps.push(json!({ "on": "two", "skipping": true, "expect": { "type": "permission_resolved", "requestId": "perm-${id}", "decision": "${stands}", "via": "${via}", "...": true } }));
    steps.push(json!({ "answered": "approve" }));
    steps.push(json!({ "answered": "agentbot" }));
    steps.push(json!({ "answered": "agentscope" }));
    steps.push(json!({ "on": "multica", "skipping": true, "expect": { "action": "response", "payload": { "requestId": answered, "...": true }, "...": true } }));
    steps
}

#[tokio::test(flavor = "multi_thread")]
async fn of_doors_that_answer_at_once_one_decides() {
    let rounds = std::env::var("PORTCULLIS_RACES").ok().and_then(|rounds| rounds.parse().ok());
    let rounds: usize = rounds.unwrap_or(ROUNDS);
    let mut house = House::new("", "").await;
    let mut left = rounds;
    let mut number = 0;
    let mut steps = vec![
        json!({ "http": "POST /v1/runs", "key": "${agent}", "body": { "run": "r", "cwd": "/srv/p" } }),
    ];
    while left > 0 {
        for on in ["one", "two"] {
            steps.push(json!({ "on": on, "connect": "/ws?token=${approver}" }));
            steps.push(json!({ "on": on, "send": { "type": "subscribe", "runId": "r" } }));
            steps.push(json!({ "on": on, "send": { "type": "ping" } }));
            steps.push(
                json!({ "on": on, "skipping": true, "expect": { "type": "pong", "ts": "<ts>" } }),
            );
        }
        steps.push(json!({ "http": "POST /v1/devices", "key": "${approver}", "body": {}, "expect": { "hub_id": "<uuid:hub>", "...": true } }));
        steps.push(json!({ "on": "multica", "connect": "/ws?deviceId=multica&deviceType=client&token=${approver}" }));
        for _ in 0..left.min(AT_ONCE) {
            steps.extend(round(number));
            number += 1;
        }
        left = left.saturating_sub(AT_ONCE);
        let conversation = Conversation::of("races", &steps).unwrap();
        play(&conversation, house.stage(), async || Err("no restart".to_owned())).await.unwrap();
        steps.clear();
    }
    let settled = house.settled().await;
    assert_eq!(settled.len(), rounds, "one decision for each ask");
    let mut asks: Vec<&String> = settled.iter().collect();
    asks.sort();
    asks.dedup();
    assert_eq!(asks.len(), rounds, "and never a second");
    house.stop().await;
}
