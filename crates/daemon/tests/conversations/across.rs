//! Across doors: an ask raised through each, answered through each, in every scope both can say,
//! and what each side is told.

use portcullis_converse::{Conversation, play};
use serde_json::{Value, json};

use crate::stage::House;

/// A door through which an ask is raised: the call that waits, and what the agent is told when it
/// is allowed and when it is denied.
#[expect(clippy::struct_excessive_bools, reason = "each is a column of the table")]
struct Raised {
    door: &'static str,
    /// Whether the ask belongs to a run, and to a session.
    has_run: bool,
    has_session: bool,
    /// Whether rules are offered with it.
    has_offers: bool,
    /// Whether the agent is told over its connection, and not by the answer to its request.
    is_socket: bool,
    steps: fn() -> Vec<Value>,
    allowed: fn() -> Value,
    denied: fn() -> Value,
}

/// A way to answer: the door, and what is decided by it.
struct Answered {
    door: &'static str,
    /// The name of the approver's key is always `carol`; this is the door that is told.
    via: &'static str,
    is_approval: bool,
    scope: &'static str,
    /// Whether it leaves a rule behind rather than this very call.
    takes_rules: bool,
    step: fn() -> Value,
}

#[rustfmt::skip]
fn raised() -> [Raised; 5] {
    let native = || json!({ "outcome": "allow", "...": true });
    let no = || json!({ "outcome": "deny", "...": true });
    [
        Raised { door: "native", has_run: true, has_session: true, has_offers: true, is_socket: false, allowed: native, denied: no, steps: || vec![
            json!({ "http": "POST /v1/calls", "key": "${agent}", "later": "agent", "body": { "tool": "Bash", "input": { "command": "npm publish" }, "cwd": "/srv/p", "session": "s", "run": "r", "wait_ms": 20000 } }),
        ] },
        Raised { door: "comma", has_run: true, has_session: false, has_offers: false, is_socket: false, allowed: native, denied: no, steps: || vec![
            json!({ "http": "POST /v1/calls", "key": "${agent}", "later": "agent", "body": { "tool": "write_file", "access": { "kind": "fs.write", "resource": "/srv/x" }, "run": "r", "wait_ms": 20000 } }),
        ] },
        Raised { door: "agentscope", has_run: false, has_session: true, has_offers: true, is_socket: false, allowed: || json!({ "behavior": "allow", "...": true }), denied: || json!({ "behavior": "deny", "...": true }), steps: || vec![
            json!({ "http": "POST /agentscope/calls", "key": "${agent}", "later": "agent", "body": { "session_id": "s", "tool_call": { "id": "t", "name": "Bash", "input": { "command": "npm publish" } }, "cwd": "/srv/p", "wait_seconds": 20 } }),
        ] },
        Raised { door: "agentbot", has_run: false, has_session: false, has_offers: true, is_socket: false, allowed: || json!({ "status": "approved", "...": true }), denied: || json!({ "status": "rejected", "...": true }), steps: || vec![
            json!({ "http": "POST /api/hooks/classify", "key": "${agent}", "body": { "toolName": "bash", "toolInput": { "command": "npm publish" } }, "expect": { "requestId": "<hook:hook>", "...": true } }),
            json!({ "http": "GET /api/permissions/${hook}?wait=20", "key": "${agent}", "later": "agent" }),
        ] },
        Raised { door: "multica", has_run: false, has_session: true, has_offers: true, is_socket: true, allowed: || told_agent(true), denied: || told_agent(false), steps: || vec![
            json!({ "on": "agent", "connect": "/ws?deviceId=agent&deviceType=agent&token=${agent}" }),
            json!({ "on": "agent", "send": { "id": "1", "from": "agent", "to": "${hub}", "action": "request", "payload": { "requestId": "r", "method": "requestExecApproval", "params": { "command": "npm publish", "cwd": "/srv/p", "agentId": "s" } } } }),
        ] },
    ]
}

#[rustfmt::skip]
fn answered() -> Vec<Answered> {
    let native = |is_approval, scope, step| Answered { door: "native", via: "api", is_approval, scope, takes_rules: false, step };
    let multica = |is_approval, scope, takes_rules, step| Answered { door: "multica", via: "multica", is_approval, scope, takes_rules, step };
    let comma = |is_approval, scope, step| Answered { door: "comma", via: "comma", is_approval, scope, takes_rules: false, step };
    vec![
        native(true,  "once",    || json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "approve" } })),
        native(true,  "run",     || json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "approve", "scope": "run" } })),
        native(true,  "session", || json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "approve", "scope": "session" } })),
        native(true,  "always",  || json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "approve", "scope": "always" } })),
        native(false, "once",    || json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "reject" } })),
        native(false, "run",     || json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "reject", "scope": "run" } })),
        comma(true,   "once",    || json!({ "on": "comma", "send": { "type": "permission_decision", "runId": "r", "permissionRequestId": "perm-${id}", "decision": "allow" } })),
        comma(true,   "run",     || json!({ "on": "comma", "send": { "type": "permission_decision", "runId": "r", "permissionRequestId": "perm-${id}", "decision": "allow-session" } })),
        comma(false,  "once",    || json!({ "on": "comma", "send": { "type": "permission_decision", "runId": "r", "permissionRequestId": "perm-${id}", "decision": "deny" } })),
        comma(false,  "run",     || json!({ "on": "comma", "send": { "type": "permission_decision", "runId": "r", "permissionRequestId": "perm-${id}", "decision": "deny-session" } })),
        Answered { door: "agentscope", via: "agentscope", is_approval: true,  scope: "once",   takes_rules: false, step: || json!({ "http": "POST /agentscope/confirm", "key": "${approver}", "body": { "ask_id": "${id}", "confirmed": true } }) },
        Answered { door: "agentscope", via: "agentscope", is_approval: false, scope: "once",   takes_rules: false, step: || json!({ "http": "POST /agentscope/confirm", "key": "${approver}", "body": { "ask_id": "${id}", "confirmed": false } }) },
        Answered { door: "agentbot",   via: "agentbot",   is_approval: true,  scope: "once",   takes_rules: false, step: || json!({ "http": "POST /api/permissions", "key": "${approver}", "body": { "requestId": "${id}", "decision": "approve" } }) },
        Answered { door: "agentbot",   via: "agentbot",   is_approval: true,  scope: "always", takes_rules: true,  step: || json!({ "http": "POST /api/permissions", "key": "${approver}", "body": { "requestId": "${id}", "decision": "approve_always" } }) },
        Answered { door: "agentbot",   via: "agentbot",   is_approval: false, scope: "once",   takes_rules: false, step: || json!({ "http": "POST /api/permissions", "key": "${approver}", "body": { "requestId": "${id}", "decision": "reject" } }) },
        multica(true,  "once",   false, || resolve("allow-once")),
        multica(true,  "always", true,  || resolve("allow-always")),
        multica(false, "once",   false, || resolve("deny")),
    ]
}

/// What an agent of Multica is told.
fn told_agent(approved: bool) -> Value {
    let result = json!({ "approved": approved, "reason": "<like:approver: carol *>", "...": true });
    let payload = json!({ "requestId": "r", "ok": true, "payload": result });
    json!({ "action": "response", "payload": payload, "...": true })
}

/// What a client of Multica says.
fn resolve(decision: &str) -> Value {
    let params = json!({ "approvalId": "${id}", "decision": decision });
    let payload = json!({ "requestId": "x", "method": "resolveExecApproval", "params": params });
    json!({ "on": "multica", "send": { "id": "2", "from": "multica", "to": "${hub}", "action": "request", "payload": payload } })
}

/// Whether an ask of this door can be answered so.
fn both_can_say(raised: &Raised, answered: &Answered) -> bool {
    let needs_run = answered.door == "comma" || answered.scope == "run";
    (!needs_run || raised.has_run)
        && (answered.scope != "session" || raised.has_session)
        && (!answered.takes_rules || raised.has_offers)
}

fn conversation(raised: &Raised, answered: &Answered) -> Vec<Value> {
    let mut steps = vec![
        json!({ "http": "POST /v1/runs", "key": "${agent}", "body": { "run": "r", "session": "s", "cwd": "/srv/p" } }),
        json!({ "on": "comma", "connect": "/ws?token=${approver}" }),
        json!({ "on": "comma", "send": { "type": "subscribe", "runId": "r" } }),
        json!({ "on": "agentbot", "connect": "/ws/permissions?userId=default&token=${approver}" }),
        json!({ "on": "agentbot", "expect": { "type": "connected", "...": true } }),
        json!({ "http": "POST /v1/devices", "key": "${approver}", "body": {}, "expect": { "hub_id": "<uuid:hub>", "...": true } }),
        json!({ "on": "multica", "connect": "/ws?deviceId=multica&deviceType=client&token=${approver}" }),
    ];
    steps.extend((raised.steps)());
    steps.push(json!({ "http": "GET /v1/asks", "key": "${approver}", "eventually": true, "expect": { "asks": [{ "id": "<uuid:id>", "...": true }] } }));
    steps
        .push(json!({ "on": "agentbot", "expect": { "type": "permission_request", "...": true } }));
    steps.push(json!({ "on": "multica", "expect": { "action": "exec-approval-request", "payload": { "approvalId": "${id}", "...": true }, "...": true } }));
    if raised.has_run {
        let asked = json!({ "type": "request_permission", "runId": "r", "requestId": "perm-${id}", "...": true });
        steps.push(json!({ "on": "comma", "expect": asked }));
    }
    steps.push((answered.step)());
    // The agent that waits.
    let told = if answered.is_approval { (raised.allowed)() } else { (raised.denied)() };
    steps.push(if raised.is_socket {
        json!({ "on": "agent", "expect": told })
    } else {
        json!({ "done": "agent", "expect": told })
    });
    // The record, whoever reads it.
    let answer = if answered.is_approval { "approve" } else { "reject" };
    let decision = json!({ "outcome": if answered.is_approval { "allow" } else { "deny" }, "answer": answer, "scope": answered.scope, "by": "carol", "door": answered.via, "...": true });
    steps.push(json!({ "http": "GET /v1/asks/${id}", "key": "${approver}", "expect": { "state": if answered.is_approval { "approved" } else { "rejected" }, "decision": decision, "...": true } }));
    // Everybody else who saw it.
    let word = match (answered.is_approval, answered.scope) {
        (true, "once") => "approve",
        (true, _) => "approve_always",
        (false, _) => "reject",
    };
    steps.push(json!({ "on": "agentbot", "expect": { "type": "decision_ack", "data": { "decision": word, "by": "carol", "door": answered.via, "...": true }, "...": true } }));
    if raised.has_run {
        let word = match (answered.is_approval, answered.scope) {
            (true, "once") => "allow",
            (true, _) => "allow-session",
            (false, "once") => "deny",
            (false, _) => "deny-session",
        };
        steps.push(json!({ "on": "comma", "skipping": true, "expect": { "type": "permission_resolved", "runId": "r", "requestId": "perm-${id}", "decision": word, "by": "carol", "via": answered.via, "outcome": "decided", "ts": "<ts>" } }));
    }
    let word = match (answered.is_approval, answered.scope) {
        (true, "always") => "allow-always",
        (true, _) => "allow-once",
        (false, _) => "deny",
    };
    steps.push(if answered.door == "multica" {
        json!({ "on": "multica", "expect": { "action": "response", "payload": { "requestId": "x", "ok": true, "payload": { "ok": true } }, "...": true } })
    } else {
        json!({ "on": "multica", "expect": { "action": "exec-approval-resolved", "payload": { "approvalId": "${id}", "decision": word, "resolvedBy": "carol", "via": answered.via, "...": true }, "...": true } })
    });
    // Whoever comes later learns which decision stands.
    steps.push(json!({ "http": "POST /v1/asks/${id}/decision", "key": "${approver}", "body": { "answer": "reject" }, "status": 409, "expect": { "error": { "code": "ASK_ALREADY_SETTLED", "details": { "decision": { "answer": answer, "...": true } }, "...": true } } }));
    steps
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_door_asks_every_other_answers() {
    let mut faults = Vec::new();
    let mut count = 0;
    for raised in &raised() {
        for answered in answered().iter().filter(|answered| both_can_say(raised, answered)) {
            let Answered { door, scope, is_approval, .. } = answered;
            let name = format!("{} by {door}, {scope}, {is_approval}", raised.door);
            let conversation = Conversation::of(&name, &conversation(raised, answered)).unwrap();
            let mut house = House::new("", "").await;
            let played =
                play(&conversation, house.stage(), async || Err("no restart".to_owned())).await;
            house.stop().await;
            faults.extend(played.err().map(|fault| fault.to_string()));
            count += 1;
        }
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    assert!(count >= 55, "{count} pairs");
}
