//! Clients that send too much, too slowly, half of it or nonsense: each gets an error or is cut
//! off, and the node goes on answering others.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::node::Node;

/// Nothing takes as long as this unless it hangs.
const LONG: Duration = Duration::from_mins(2);

/// What comes back on a connection until it is closed, after these bytes were sent.
async fn said(node: &Node, bytes: &[u8], ends: bool) -> String {
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    // A server that refuses early need not read everything.
    let _ = stream.write_all(bytes).await;
    if ends {
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let read = tokio::time::timeout(LONG, stream.read_to_end(&mut answer)).await;
    assert!(read.is_ok(), "the connection is held for good");
    String::from_utf8_lossy(&answer).into_owned()
}

async fn lives(node: &Node) {
    let call = json!({ "tool": "Bash", "input": { "command": "ls" }, "cwd": "/tmp" });
    assert_eq!(node.call(&call).await["outcome"], "allow");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_never_ends_is_cut_off_and_holds_nobody_up() {
    let node = Node::start().await;
    let beginnings = ["", "GET", "GET /healthz HTTP/1.1\r\nHost: x", "\r\n"];
    let mut loris = JoinSet::new();
    for number in 0..200 {
        let (address, begin) = (node.address, beginnings[number % beginnings.len()]);
        loris.spawn(async move {
            let stream = TcpStream::connect(address).await.unwrap();
            let (mut read, mut write) = stream.into_split();
            let _ = write.write_all(begin.as_bytes()).await;
            // A byte now and then does not make it a request.
            let drip = async {
                while write.write_all(b"\r\nX:").await.is_ok() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                std::future::pending::<()>().await;
            };
            let mut answer = Vec::new();
            let ended = async { read.read_to_end(&mut answer).await };
            tokio::select! {
                ended = tokio::time::timeout(LONG, ended) => assert!(ended.is_ok(), "held for good"),
                () = drip => {}
            }
        });
    }
    for _ in 0..10 {
        lives(&node).await;
    }
    while let Some(ended) = loris.join_next().await {
        ended.unwrap();
    }
    lives(&node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_request_and_nonsense_are_refused() {
    let node = Node::start().await;
    let head = |length: usize| {
        format!(
            "POST /v1/calls HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Connection: close\r\nContent-Length: {length}\r\n\r\n",
            node.address, node.agent
        )
    };
    let get = |rest: &str| {
        format!("GET {rest} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", node.address)
    };
    let with = |length: usize, body: &[u8]| [head(length).as_bytes(), body].concat();
    let whole = |body: &[u8]| with(body.len(), body);
    let chunked = format!(
        "POST /v1/calls HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        node.address, node.agent
    );
    let twice = head(2).replace("Content-Length: 2", "Content-Length: 2\r\nContent-Length: 3");
    #[rustfmt::skip]
    let cases: Vec<(Vec<u8>, &[u16], &str)> = vec![
        (with(100, b"{\"tool\""),                              &[0, 400, 408], "half a body, then the end"),
        (whole(b"{\"tool\":\"\xff"),                        &[400],         "not UTF-8"),
        (whole(b"\"\xed\xa0\x80\""),                        &[400],         "half a surrogate"),
        (whole(b"\0\0\0\0"),                                 &[400],         "zeros"),
        (chunked.into_bytes(),                                 &[0, 400, 408], "a chunk without a length"),
        (format!("{twice}{{}}").into_bytes(),                  &[0, 400],      "two lengths"),
        (get("/v1/asks/%ff%fe").into_bytes(),                  &[400, 401, 404], "no UTF-8 in the path"),
        (get(&format!("/{}", "a".repeat(100 << 10))).into_bytes(), &[414, 431, 0], "a long address"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), &[0, 400], "another protocol"),
        (b"GET / HTTP/9.9\r\n\r\n".to_vec(),                   &[0, 400, 505], "another version"),
    ];
    for (bytes, want, why) in cases {
        // Whoever hangs up first need not be answered.
        let answer = said(&node, &bytes, want.contains(&0)).await;
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        assert!(want.contains(&status), "{why}: {answer}");
    }
    let many = "X-Many: y\r\n".repeat(10_000);
    let heads = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n{many}\r\n", node.address);
    let answer = said(&node, heads.as_bytes(), false).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    lives(&node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_bodies_take_turns_and_too_long_ones_are_not_read() {
    let node = Node::start().await;
    let address = node.address;
    let request = |key: &str, path: &str, body: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let long = json!({ "tool": "Bash", "input": { "command": "x".repeat(1 << 20) } }).to_string();
    let good = request(&node.agent, "/v1/calls", &long);
    let bad = request(&node.admin, "/v1/keys", &long);
    let stranger = request("pcl_agent_nobody", "/v1/calls", &long);
    let mut senders = JoinSet::new();
    for number in 0..90 {
        let (text, want) = match number % 3 {
            0 => (good.clone(), [200, 429]),
            1 => (bad.clone(), [413, 413]),
            _ => (stranger.clone(), [401, 401]),
        };
        senders.spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let _ = stream.write_all(text.as_bytes()).await;
            let mut answer = Vec::new();
            let _ = tokio::time::timeout(LONG, stream.read_to_end(&mut answer)).await;
            let answer = String::from_utf8_lossy(&answer).into_owned();
            let status: u16 =
                answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
            // A connection that is closed while its body is on the way may lose the answer.
            assert!(
                want.contains(&status) || (status == 0 && want[0] != 200),
                "{want:?}: {answer}"
            );
        });
    }
    while let Some(sent) = senders.join_next().await {
        sent.unwrap();
    }
    lives(&node).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_key_holds_no_place() {
    let node = Node::start().await;
    let head = |path: &str, length: usize| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n",
            node.address
        )
    };
    // A long body that never comes would hold a place that long calls need.
    let answer = said(&node, head("/v1/login", 1 << 20).as_bytes(), true).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 413"), "{answer}");
    let body = format!("{{\"code\":\"{}\"}}", "x".repeat(5000));
    let whole = format!("{}{body}", head("/v1/login", body.len()));
    let answer = said(&node, whole.as_bytes(), false).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    lives(&node).await;
}
