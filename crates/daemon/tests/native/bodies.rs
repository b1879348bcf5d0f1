//! Bodies that are wrong get an error that names the field; nothing gets a 5xx.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::node::Node;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_body_is_named() {
    let node = Node::start().await;
    let deep = format!("{{\"tool\":\"x\",\"input\":{}{}}}", "[".repeat(70), "]".repeat(70));
    #[rustfmt::skip]
    let cases = [
        ("",                                              400, "not JSON"),
        ("[]",                                            400, "an object is expected"),
        (r#"["Bash",{"command":"ls"}]"#,                  400, "an object is expected"),
        ("{",                                             400, "not JSON"),
        (r#"{"tool":"Bash"}"#,                            400, "`input` is missing"),
        (r#"{"input":{}}"#,                               400, "`tool`"),
        (r#"{"tool":"","input":{}}"#,                     400, "`tool` is empty"),
        (r#"{"tool":3,"input":{}}"#,                      400, "`tool`"),
        (r#"{"tool":"a","tool":"b","input":{}}"#,         400, "`tool`"),
        (r#"{"tool":"a","input":{"x":1,"x":2}}"#,         400, "`x` stands there twice"),
        (r#"{"tool":"a","input":{},"cwd":"tmp"}"#,        400, "`cwd` must be an absolute path"),
        (r#"{"tool":"a","input":{},"mode":"yolo"}"#,      400, "unknown mode `yolo`"),
        (r#"{"tool":"a","input":{},"wait_ms":-1}"#,       400, "`wait_ms`"),
        (r#"{"tool":"a","input":{},"toolname":"b"}"#,     400, "unknown field `toolname`"),
        (r#"{"tool":"a","input":{},"profile":"none"}"#,   403, "profile `none`"),
        (r#"{"tool":"a","access":{"kind":"fs.read","resource":"x"}}"#, 400, "`access` needs `run`"),
        (&deep,                                           400, "nested deeper"),
        (r#"{"tool":"a","input":{},"session":"\u0007"}"#, 400, "`session` has a control character"),
    ];
    for (body, status, want) in cases {
        let header = format!("Authorization: Bearer {}", node.agent);
        let reply = node.send("POST", "/v1/calls", &[&header], body).await;
        assert_eq!(reply.status, status, "`{body}`: {}", reply.text);
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(want), "`{body}`: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_before_the_body_has_come_keeps_the_connection() {
    let node = Node::start().await;
    let large = "x".repeat(9 << 20);
    #[rustfmt::skip]
    let cases = [
        ("POST /v1/calls",     "",            "{}",    "401"),
        ("POST /v1/asks/x",    "",            "{}",    "405"),
        ("POST /nowhere",      "",            "{}",    "404"),
        ("PUT /agentscope/sessions/s/context", &node.agent, "{}", "403"),
        ("POST /v1/calls",     &node.agent,   &large,  "413"),
    ];
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    for (line, key, body, want) in cases {
        let (host, length) = (node.address, body.len());
        let key =
            if key.is_empty() { String::new() } else { format!("Authorization: Bearer {key}\r\n") };
        let head =
            format!("{line} HTTP/1.1\r\nHost: {host}\r\n{key}Content-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // Time enough to refuse it, had nobody the patience for the body.
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        stream.write_all(body.as_bytes()).await.unwrap();
        let mut start = [0; 4096];
        let read = stream.read(&mut start).await.unwrap();
        let reply = String::from_utf8_lossy(start.get(..read).unwrap()).into_owned();
        assert!(reply.starts_with(&format!("HTTP/1.1 {want}")), "{line}: `{reply}`");
        assert!(!reply.to_lowercase().contains("connection: close"), "{line}: {reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_have_a_limit() {
    let node = Node::start().await;
    let fill = |bytes: usize| json!({ "tool": "Bash", "input": { "command": "x".repeat(bytes) } });
    let reply = node.as_key(&node.agent, "POST", "/v1/calls", &fill(9 << 20)).await;
    assert_eq!((reply.status, reply.code().as_str()), (413, "TOO_LARGE"));
    let reply = node.as_key(&node.agent, "POST", "/v1/calls", &fill(1 << 20)).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let reply =
        node.as_key(&node.admin, "POST", "/v1/keys", &json!({ "role": "x".repeat(2 << 20) })).await;
    assert_eq!(reply.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_methods_and_parameters_are_errors() {
    let node = Node::start().await;
    #[rustfmt::skip]
    let cases = [
        ("GET",    "/v1/nothing",          404, "NOT_FOUND"),
        ("PUT",    "/v1/asks",             405, "METHOD_NOT_ALLOWED"),
        ("GET",    "/v1/asks?limit=many",  400, "INVALID_REQUEST"),
        ("GET",    "/v1/asks?sort=up",     400, "INVALID_REQUEST"),
        ("GET",    "/v1/asks?state=lost",  400, "INVALID_REQUEST"),
        ("GET",    "/v1/asks?order=up",    400, "INVALID_REQUEST"),
        ("GET",    "/v1/asks?order=risk&after=019444a0-1234-7abc-8000-abcdef123456", 400, "INVALID_REQUEST"),
        ("GET",    "/v1/asks/none",        404, "NO_SUCH_ASK"),
        ("GET",    "/v1/asks/019444a0-1234-7abc-8000-abcdef123456", 404, "NO_SUCH_ASK"),
        ("GET",    "/v1/audit?after=zz",   400, "INVALID_REQUEST"),
        ("DELETE", "/v1/grants/none",      404, "NOT_FOUND"),
        ("DELETE", "/v1/runs/none",        404, "NOT_FOUND"),
        ("DELETE", "/v1/keys/none",        404, "NOT_FOUND"),
    ];
    for (method, path, status, code) in cases {
        let reply = node.as_key(&node.admin, method, path, &Value::Null).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{method} {path}");
    }
}
