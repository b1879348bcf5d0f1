//! Traces, as a collector gets them from the real daemon: whole, in their places, and without a
//! word of what was called.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::house::{Home, json};

/// What a collector was sent, each with the first line of its request.
type Sent = Arc<Mutex<Vec<(String, String)>>>;

/// A collector on this machine: takes everything, and keeps it.
fn collector() -> (String, Sent) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let sent = Sent::default();
    let kept = Arc::clone(&sent);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = BufReader::new(stream);
            let (mut first, mut length) = (String::new(), 0);
            stream.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = said.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            kept.lock().unwrap().push((first, String::from_utf8(body).unwrap()));
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
            stream.get_mut().write_all(answer).unwrap();
        }
    });
    (address, sent)
}

fn configured(otlp: &str) -> Home {
    let home = Home::new();
    let config = home.0.join(".config/portcullis");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), format!("[otlp]\nendpoint = \"{otlp}\"\n")).unwrap();
    home
}

fn spans(sent: &Sent) -> Vec<Value> {
    let sent = sent.lock().unwrap();
    let of = |body: &String| json(body)["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
    sent.iter().flat_map(|(_, body)| of(body).as_array().unwrap().clone()).collect()
}

fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a Value> {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().find(|attribute| attribute["key"] == key).map(|found| &found["value"])
}

#[test]
fn a_call_is_told_as_one_trace_without_what_was_called() {
    let (address, sent) = collector();
    let home = configured(&format!("http://{address}"));
    let key = home.says(&["keys", "create", "--role", "agent", "--name", "traced"]).out;
    let command = home.serving();
    let daemon = home.serve_by(command);
    let at = daemon.url.strip_prefix("http://").unwrap().to_owned();
    let body = r#"{"tool":"Bash","input":{"command":"cat hunter2"},"cwd":"/tmp"}"#;
    let mut stream = TcpStream::connect(&at).unwrap();
    let request = format!(
        "POST /v1/calls HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {}\r\n\
         traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        key.trim_end(),
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(daemon.stop());

    let spans = spans(&sent);
    let request = spans
        .iter()
        .find(|span| span["parentSpanId"] == "b7ad6b7169203331")
        .unwrap_or_else(|| panic!("no request: {spans:?}"));
    assert_eq!(request["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!((&request["name"], &request["kind"]), (&"request".into(), &2.into()));
    let told = [
        ("http.request.method", "stringValue", "POST"),
        ("http.route", "stringValue", "/v1/calls"),
        ("http.response.status_code", "intValue", "200"),
    ];
    for (key, kind, want) in told {
        assert_eq!(attribute(request, key).unwrap()[kind], want, "{key}");
    }
    for name in ["judge", "commit"] {
        let inner = spans
            .iter()
            .find(|span| span["name"] == name && span["parentSpanId"] == request["spanId"]);
        let inner = inner.unwrap_or_else(|| panic!("no `{name}`: {spans:?}"));
        assert_eq!(inner["traceId"], request["traceId"]);
        let time = |name: &str| inner[name].as_str().unwrap().parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        if name == "judge" {
            assert_eq!(attribute(inner, "portcullis.outcome").unwrap()["stringValue"], "allow");
        }
    }
    let sent = sent.lock().unwrap();
    for (first, body) in sent.iter() {
        assert!(first.starts_with("POST /v1/traces HTTP/1.1"), "{first}");
        for secret in ["hunter2", key.trim_end(), "/tmp"] {
            assert!(!body.contains(secret), "`{secret}` in {body}");
        }
    }
}

#[test]
fn a_collector_that_is_gone_costs_nothing_but_a_warning() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = gone.local_addr().unwrap().to_string();
    drop(gone);
    let home = configured(&format!("http://{address}"));
    let command = home.serving();
    let daemon = home.serve_by(command);
    let said = daemon.says(&["call", "ls", "--cwd", "/"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.error);
    let logs = Arc::clone(&daemon.logs);
    let home = daemon.stop();
    assert!(home.says(&["audit", "verify"]).code == 0);
    let logs = logs.lock().unwrap();
    assert_eq!(logs.matches("traces do not reach the collector").count(), 1, "{logs}");
}
