//! The hook of Agentbot against a server that plays what it is told, byte for byte.

#![cfg(test)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_hook::cache::Cache;
use portcullis_hook::{Signals, Started, Trouble, VERDICT_LIMIT, run};
use serde_json::{Value, json};

const CALL: &str = r#"{"tool":"bash","input":{"command":"npm publish"}}"#;

/// An environment, arguments, and why they cannot be used.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a str);

/// What the hook printed, and what the server was asked.
struct Told {
    answer: Value,
    requests: Vec<String>,
}

/// What the server does with one connection.
#[derive(Clone)]
enum Play {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// Nothing until the other side gives up.
    Silence,
}

fn json_reply(status: u16, body: &Value) -> Play {
    let body = body.to_string();
    let length = body.len();
    Play::Bytes(
        format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes(),
    )
}

fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(text) = line.strip_prefix("Content-Length: ") {
            length = text.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn hook(stdin: &str, environment: &[(&str, &str)], arguments: &[&str], limit: Duration) -> Value {
    let variables: HashMap<String, String> =
        environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let started = Started {
        arguments: ["agentbot"].iter().chain(arguments).map(ToString::to_string).collect(),
        variable: Box::new(move |name| variables.get(name).cloned()),
        limit,
        began: Instant::now(),
        program: "/nothing".into(),
        kept: Vec::new(),
        directory: None,
        name: "test".to_owned(),
        user: 0,
        ready: |_| true,
        is_near: |_| true,
        check: |_, _| Box::new(|_| Err("nobody checks".to_owned())),
        dial: |path, _| UnixStream::connect(path),
        cache: Cache { holder: str::to_owned, version: |_| None, keep: |_, _| {}, forget: |_| {} },
        signals: Signals { note: |_| Ok(()), tell: |_| Ok(()) },
        run: |_, _, _, _, _| Err(Trouble::Unstarted),
        end: |_| {},
    };
    let stdin = Box::new(Cursor::new(stdin.to_owned()));
    let (mut out, mut error) = (Vec::new(), Vec::new());
    let code = run(&started, stdin, &mut out, &mut error);
    assert_eq!(code, 0, "the exit code is 0 whatever happens");
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 1, "one line: {text:?}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert!(answer["allow"].is_boolean(), "{answer}");
    answer
}

fn told(plays: &[Play], stdin: &str, more: &[(&str, &str)], arguments: &[&str]) -> Told {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let plays = plays.to_vec();
    let is_silent = plays.iter().any(|play| matches!(play, Play::Silence));
    let server = thread::spawn(move || {
        let mut requests = Vec::new();
        for play in plays {
            let (mut stream, _) = listener.accept().unwrap();
            requests.push(request(&stream));
            match play {
                Play::Bytes(bytes) => drop(stream.write_all(&bytes)),
                Play::Silence => drop(stream.read(&mut [0])),
            }
        }
        requests
    });
    let mut environment = vec![("AGENTBOT_API_URL", url.as_str()), ("INTERNAL_API_KEY", "k")];
    environment.extend(more);
    let limit = if is_silent { Duration::from_millis(100) } else { VERDICT_LIMIT };
    let answer = hook(stdin, &environment, arguments, limit);
    Told { answer, requests: server.join().unwrap() }
}

fn queued() -> Play {
    json_reply(
        200,
        &json!({
            "allow": false, "tier": "dangerous", "reason": "Queued for approval: x",
            "requestId": "hook_1_aaaaaaaaaaaaaaaa",
        }),
    )
}

fn ask(more: &Value) -> Play {
    let mut ask = json!({
        "id": "hook_1_aaaaaaaaaaaaaaaa", "tier": "dangerous", "reason": "x", "timestamp": 1,
        "expiresAt": 2, "toolInput": { "command": "npm publish" },
    });
    ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json_reply(200, &ask)
}

#[test]
fn a_verdict_is_passed_on() {
    let safe = json_reply(200, &json!({ "allow": true, "tier": "safe", "reason": "Safe: ls" }));
    let told_safe = told(&[safe], CALL, &[("AGENTBOT_AGENT_ID", "a\"b")], &[]);
    assert_eq!(told_safe.answer, json!({ "allow": true }));
    let request = &told_safe.requests[0];
    assert!(request.starts_with("POST /api/hooks/classify HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("Authorization: Bearer k\r\n"), "{request}");
    let body: Value = serde_json::from_str(request.lines().last().unwrap()).unwrap();
    let want = json!({
        "toolName": "bash", "toolInput": { "command": "npm publish" },
        "agentId": "a\"b", "userId": "unknown",
    });
    assert_eq!(body, want);

    let long = r#"{"toolName":"x","toolInput":{"n":123456789012345678901234567890}}"#;
    let exact = told(&[json_reply(200, &json!({ "allow": false, "reason": "x" }))], long, &[], &[]);
    let body = exact.requests[0].lines().last().unwrap();
    assert!(body.contains("123456789012345678901234567890"), "numbers stay as written: {body}");

    let blocked = json!({ "allow": false, "tier": "destructive", "reason": "Blocked: x" });
    let told = told(&[json_reply(200, &blocked)], CALL, &[], &[]);
    assert_eq!(told.answer, json!({ "allow": false, "reason": "Blocked: x" }));
}

#[test]
fn a_person_is_waited_for() {
    let pending = ask(&json!({ "status": "pending" }));
    let approved = json!({ "status": "approved", "decision": "approve", "decidedBy": "anna" });
    let told_yes = told(&[queued(), pending.clone(), ask(&approved)], CALL, &[], &[]);
    assert_eq!(told_yes.answer, json!({ "allow": true }));
    let held = &told_yes.requests[1];
    let want = "GET /api/permissions/hook_1_aaaaaaaaaaaaaaaa?wait=50&claim=1 HTTP/1.1\r\n";
    assert!(held.starts_with(want), "{held}");

    let rejected = ask(&json!({
        "status": "rejected", "decision": "reject", "decidedBy": "anna", "feedback": "not on a Friday",
    }));
    let told_no = told(&[queued(), rejected], CALL, &[], &[]);
    let want = json!({ "allow": false, "reason": "Rejected by anna: not on a Friday" });
    assert_eq!(told_no.answer, want);

    let expired = ask(&json!({ "status": "expired", "decidedBy": "expiry" }));
    let denied = told(&[queued(), expired], CALL, &[], &[]).answer;
    assert_eq!(denied, json!({"allow": false, "reason": "Nobody answered in time (expired)"}));
    let reason = "Approval used or too old";
    let taken = ask(&json!({ "status": "expired", "decidedBy": "carol", "reason": reason }));
    let denied = told(&[queued(), taken], CALL, &[], &[]).answer;
    assert_eq!(denied, json!({"allow": false, "reason": format!("{reason} (expired)")}));

    let no_wait = told(&[queued()], CALL, &[("PORTCULLIS_HOOK_WAIT_SECONDS", "0")], &[]);
    let want = json!({
        "allow": false, "reason": "Queued for approval: x", "requestId": "hook_1_aaaaaaaaaaaaaaaa",
    });
    assert_eq!(no_wait.answer, want);
}

#[test]
fn a_changed_input_runs_only_where_the_host_takes_it() {
    let changed = ask(&json!({
        "status": "approved", "decision": "approve", "modifiedInput": "npm pack",
        "toolInput": { "command": "npm pack" },
    }));
    let plays = [queued(), changed];
    let taken = told(&plays, CALL, &[], &["--accept-modified-input"]).answer;
    assert_eq!(taken, json!({ "allow": true, "modifiedInput": { "command": "npm pack" } }));
    let refused = told(&plays, CALL, &[], &[]).answer;
    assert_eq!(refused["allow"], false);
    assert!(refused["reason"].as_str().unwrap().contains(r#"{"command":"npm pack"}"#), "{refused}");

    // The field is missing, and yet another input is in force.
    let hidden = ask(&json!({
        "status": "approved", "decision": "approve", "toolInput": { "command": "npm pack" },
    }));
    assert_eq!(told(&[queued(), hidden], CALL, &[], &[]).answer["allow"], false);
}

#[test]
fn ab_22_what_is_no_answer_allows_nothing() {
    let raw = |text: &str| Play::Bytes(text.as_bytes().to_vec());
    let safe = r#"{"allow":true,"tier":"safe","reason":"x"}"#;
    let length = safe.len();
    let cases = [
        (json_reply(500, &json!({ "allow": true, "tier": "safe", "reason": "x" })), "a status"),
        (json_reply(401, &json!({ "error": "Unauthorized" })), "another status"),
        (json_reply(200, &json!({ "allow": "true", "tier": "safe", "reason": "x" })), "a text"),
        (json_reply(200, &json!({ "allow": 1, "tier": "safe" })), "a number"),
        (json_reply(200, &json!({ "allow": true })), "no tier"),
        (json_reply(200, &json!([true])), "a list"),
        (json_reply(200, &json!({ "allow": false, "reason": "x", "requestId": 7 })), "an odd id"),
        (json_reply(200, &json!({ "allow": false, "reason": "x", "requestId": "../x" })), "a path"),
        (raw("HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n<html>ok</html>"), "HTML"),
        (raw(&format!("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{safe}")), "truncated"),
        (raw(&format!("HTTP/1.1 200 OK\r\n\r\n{safe}")), "no length"),
        (
            raw(
                "HTTP/1.1 200 OK\r\ncontent-length: 51\r\n\r\n{\"allow\":false,\"allow\":true,\"tier\":\"safe\",\"reason\":1}",
            ),
            "twice",
        ),
        (raw(""), "nothing"),
        (Play::Silence, "silence"),
    ];
    for (play, why) in cases {
        let answer = told(&[play], CALL, &[], &[]).answer;
        assert_eq!(answer["allow"], false, "{why}");
        assert!(answer["reason"].is_string(), "{why}: {answer}");
    }
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}\r\n{:x}\r\n{}\r\n0\r\n\r\n",
        safe.get(..5).unwrap(),
        length - 5,
        safe.get(5..).unwrap()
    );
    assert_eq!(told(&[raw(&chunked)], CALL, &[], &[]).answer, json!({ "allow": true }));
}

#[test]
fn an_approval_counts_only_if_it_is_whole() {
    let cases = [
        json!({ "status": "approved" }),
        json!({ "status": "approved", "decision": "reject" }),
        json!({ "status": "approved", "decision": "approve", "toolInput": null }),
        json!({ "status": "approved", "decision": "approve", "id": "hook_2_bbbbbbbbbbbbbbbb" }),
        json!({ "status": true, "decision": "approve" }),
        json!({ "allow": true, "tier": "safe" }),
    ];
    for more in cases {
        let answer = told(&[queued(), ask(&more)], CALL, &[], &[]).answer;
        assert_eq!(answer["allow"], false, "{more}");
    }
    let gone = json_reply(404, &json!({ "error": "Request not found" }));
    assert_eq!(told(&[queued(), gone], CALL, &[], &[]).answer["allow"], false);
    let html = Play::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>".to_vec());
    assert_eq!(told(&[queued(), html], CALL, &[], &[]).answer["allow"], false);
}

#[test]
fn ab_22_a_gate_that_is_not_there_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let environment = [("AGENTBOT_API_URL", url.as_str()), ("INTERNAL_API_KEY", "k")];
    let answer = hook(CALL, &environment, &[], VERDICT_LIMIT);
    assert_eq!(answer["allow"], false);
    assert!(answer["reason"].as_str().unwrap().contains("unreachable"), "{answer}");
}

#[test]
fn ab_22_what_is_no_call_is_denied_without_asking() {
    let url = "http://127.0.0.1:1";
    let good = [("AGENTBOT_API_URL", url), ("INTERNAL_API_KEY", "k")];
    for stdin in [
        "",
        "null",
        "[]",
        "{}",
        "{\"tool\":\"\"}",
        "{\"tool\":7}",
        "{\"tool\":\"a\",\"toolName\":\"b\"}",
        "{\"tool\":\"a\",\"tool\":\"a\"}",
        "{\"tool\":\"a\",\"input\":{\"x\":1,\"x\":1}}",
        "{\"tool\":\"a\",\"input\":\"x\"}",
        "{\"tool\":\"a\"} {\"tool\":\"a\"}",
        "{\"tool\":\"a\"",
        "not JSON",
    ] {
        let answer = hook(stdin, &good, &[], VERDICT_LIMIT);
        assert_eq!(answer["allow"], false, "{stdin}");
        assert!(!answer["reason"].as_str().unwrap().contains("unreachable"), "{stdin}: {answer}");
    }
    #[rustfmt::skip]
    let surroundings: &[Case<'_>] = &[
        (&[("AGENTBOT_API_URL", "https://gate"), ("INTERNAL_API_KEY", "k")], &[], "https"),
        (&[("AGENTBOT_API_URL", url)], &[], "no key"),
        (&[("AGENTBOT_API_URL", url), ("INTERNAL_API_KEY", "k\r\nX: y")], &[], "an odd key"),
        (&good, &["--yes"], "an unknown option"),
        (&[("PORTCULLIS_HOOK_WAIT_SECONDS", "soon"), ("INTERNAL_API_KEY", "k")], &[], "no number"),
    ];
    for (environment, arguments, why) in surroundings {
        let answer = hook(CALL, environment, arguments, VERDICT_LIMIT);
        assert_eq!(answer["allow"], false, "{why}");
    }
}
