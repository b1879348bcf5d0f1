//! A kept connection: each of its requests is looked at for itself, whatever came before it.

use std::time::{Duration, Instant};

use portcullis_approval::{Key, Owners, Role};
use portcullis_daemon::clock::Clock;
use portcullis_daemon::identity::{NewKey, key_entry, make_key};
use portcullis_store::{Keys, Sqlite};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::node::Node;

/// How soon a key must count no longer, whoever ended it, on a machine that is busy.
const SOON: Duration = Duration::from_secs(5);

struct Kept {
    stream: TcpStream,
    host: String,
}

impl Kept {
    async fn open(node: &Node) -> Kept {
        let stream = TcpStream::connect(node.address).await.unwrap();
        Kept { stream, host: format!("Host: {}", node.address) }
    }

    /// Sends a request with these headers; the status of the answer.
    async fn send(&mut self, path: &str, headers: &[&str]) -> u16 {
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let own = if has_host { Vec::new() } else { vec![self.host.as_str()] };
        let head = [&own, headers].concat().join("\r\n");
        let text = format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n");
        self.stream.write_all(text.as_bytes()).await.unwrap();
        let mut said = Vec::new();
        let (head, length) = loop {
            assert_ne!(self.stream.read_buf(&mut said).await.unwrap(), 0, "it was closed");
            let text = String::from_utf8_lossy(&said);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let lines = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let missing = lines.unwrap().parse::<usize>().unwrap() - body.len();
            break (head.to_owned(), missing);
        };
        self.stream.read_exact(&mut vec![0; length]).await.unwrap();
        head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Shows a key again and again until it counts no longer.
    async fn until_refused(&mut self, key: &str) {
        let began = Instant::now();
        while self.send("/v1/asks", &[key]).await == 200 {
            assert!(began.elapsed() < SOON, "it counts for ever");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(self.send("/v1/asks", &[key]).await, 401);
    }
}

fn bearer(secret: &str) -> String {
    format!("Authorization: Bearer {secret}")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_before_lets_nothing_else_in() {
    let node = Node::start().await;
    let (admin, agent) = (bearer(&node.admin), bearer(&node.agent));
    let wrong = bearer(&format!("pcl_admin_{}", "A".repeat(43)));
    let (asks, keys) = ("/v1/asks", "/v1/keys");
    #[rustfmt::skip]
    let steps: [(&str, &[&str], u16, &str); 16] = [
        (keys, &[&admin],                                200, "an admin"),
        (keys, &[&admin],                                200, "again"),
        (keys, &[&agent],                                403, "another key"),
        (asks, &[&agent],                                200, "as far as it reaches"),
        (asks, &[&agent],                                200, "again"),
        (keys, &[&agent],                                403, "and no further"),
        (asks, &[&wrong],                                401, "a key that is none"),
        (asks, &[&agent, "Origin: https://evil.example"], 403, "a page of another site"),
        (asks, &[&agent, "Sec-Fetch-Site: cross-site"],  403, "the same without an origin"),
        (asks, &[&agent, "Host: evil.example"],          403, "another host"),
        (asks, &[&agent, &agent],                        401, "two keys"),
        (asks, &[],                                      401, "no key"),
        ("/healthz", &[&agent],                          200, "what needs none"),
        ("/healthz", &[&agent, "Host: evil.example"],    403, "but a host"),
        (keys, &[&admin],                                200, "the first key again"),
        (keys, &[&agent],                                403, "and the other"),
    ];
    let mut kept = Kept::open(&node).await;
    for (path, headers, want, why) in steps {
        assert_eq!(kept.send(path, headers).await, want, "{path} {headers:?}: {why}");
    }
}

/// A key made beside a node, as another process would make it.
async fn made(store: &Sqlite, name: &str, valid_ms: Option<u64>) -> (Key, String) {
    let now = Clock::new().now();
    let expires_at = valid_ms.map(|ms| now.after_ms(ms));
    let new =
        NewKey { role: Role::Approver, name: name.to_owned(), owners: Owners::All, expires_at };
    let (key, secret) = make_key(store, new, "test", now).await.unwrap();
    (key, bearer(secret.reveal()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_counts_no_longer_is_refused_over_a_kept_connection() {
    let node = Node::start().await;
    let store = Sqlite::open(node.directory.path().join("db"), "local").unwrap();
    let (revoked, secret) = made(&store, "carla", None).await;
    let (_, short) = made(&store, "dora", Some(1500)).await;
    let (mut one, mut other) = (Kept::open(&node).await, Kept::open(&node).await);
    let began = Instant::now();
    while one.send("/v1/asks", &[&secret]).await != 200 {
        assert!(began.elapsed() < SOON, "it never counts");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(one.send("/v1/asks", &[&secret]).await, 200);
    let now = Clock::new().now();
    let entry = key_entry("key.revoked", &revoked, "test", now);
    assert!(store.revoke_key(revoked.id, now, vec![entry]).await.unwrap());
    one.until_refused(&secret).await;
    other.until_refused(&short).await;
}
