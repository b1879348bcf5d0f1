//! The client against a server that plays what it is told, byte for byte.

#![cfg(test)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use portcullis_client::{Address, Client, ClientError, Outcome, shell_call};

/// What one request to a server becomes that answers with these bytes.
fn ask<T>(
    bytes: &str,
    work: impl AsyncFnOnce(Client) -> Result<T, ClientError>,
) -> (Result<T, ClientError>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let bytes = bytes.to_owned();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 64 << 10];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        String::from_utf8_lossy(request.get(..length).unwrap()).into_owned()
    });
    let client =
        Client::new(Address::url(&url).unwrap()).with_key("pcl_agent_x").through("terminal");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    (runtime.block_on(work(client)), server.join().unwrap())
}

fn reply(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn submit(client: Client) -> Result<Outcome, ClientError> {
    Ok(client.submit(&shell_call("ls", Some("/"))).await?.outcome)
}

#[test]
fn a_call_goes_out_with_its_key_and_its_door() {
    let (outcome, request) = ask(&reply(200, r#"{"outcome":"allow","verdict":{}}"#), submit);
    assert_eq!(outcome.unwrap(), Outcome::Allow);
    assert!(request.starts_with("POST /v1/calls HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer pcl_agent_x\r\n"), "{request}");
    assert!(request.contains("x-portcullis-door: terminal\r\n"), "{request}");
    assert!(
        request.ends_with(r#"{"cwd":"/","input":{"command":"ls"},"tool":"Bash"}"#),
        "{request}"
    );
}

#[test]
fn what_is_no_answer_lets_nothing_run() {
    let allow = r#"{"outcome":"allow"}"#;
    let cases = [
        (format!("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{allow}"), "truncated"),
        (reply(200, "<html>"), "HTML"),
        (reply(200, r#"{"outcome":"deny","outcome":"allow"}"#), "said twice"),
        (reply(200, r#"{"outcome":"sure"}"#), "an unknown word"),
        (reply(200, r#"["allow"]"#), "a list"),
        (reply(500, allow), "a failure"),
        (reply(302, allow), "a way elsewhere"),
        (String::new(), "nothing"),
        ("SSH-2.0-OpenSSH\r\n".to_owned(), "something else"),
    ];
    for (bytes, why) in cases {
        assert!(ask(&bytes, submit).0.is_err(), "{why}");
    }
}

#[test]
fn a_refusal_has_its_code() {
    let body = r#"{"error":{"code":"TOO_MANY_ASKS","message":"wait","details":{"n":1}}}"#;
    let error = ask(&reply(429, body), submit).0.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (Some("TOO_MANY_ASKS"), "wait"));
    let odd = ask(&reply(404, "gone"), submit).0.unwrap_err();
    assert!(matches!(odd, ClientError::Unreadable(_)), "{odd}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let nobody = Client::new(Address::Socket("/nowhere/portcullis.sock".into()));
    let error = runtime.block_on(submit(nobody)).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
}

#[test]
fn the_feed_is_read_event_by_event() {
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                  : alive\n\nid: 01\nevent: ask.opened\ndata: {\"cursor\":\"01\",\"type\":\"ask.opened\"}\n\n\
                  id: 02\nevent: x\ndata: {\"cursor\":\"02\",\"type\":\"x\"}\n\nid: 03\ndata: {\"cur";
    let read = async |client: Client| {
        let mut events = client.events(Some("00")).await?;
        let mut kinds = Vec::new();
        while let Some(event) = events.next().await? {
            kinds.push((event.cursor, event.kind));
        }
        Ok(kinds)
    };
    let (kinds, request) = ask(events, read);
    let pair = |cursor: &str, kind: &str| (cursor.to_owned(), kind.to_owned());
    assert_eq!(
        kinds.unwrap(),
        [pair("01", "ask.opened"), pair("02", "x")],
        "half an event is none"
    );
    assert!(request.starts_with("GET /v1/events?after=00 HTTP/1.1\r\n"), "{request}");
}
