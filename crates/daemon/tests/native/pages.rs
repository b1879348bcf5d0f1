//! The dashboard's files: embedded, compressed, and shut against everything that is not ours.

use crate::node::Node;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Says one request and gives head and body as they came.
async fn fetch(node: &Node, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(node.address).await.unwrap();
    let text = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n",
        node.address
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    (String::from_utf8_lossy(&bytes[..end]).to_lowercase(), bytes[end + 4..].to_vec())
}

const FILES: [&str; 6] =
    ["/", "/app.js", "/app.css", "/worker.js", "/icon.svg", "/manifest.webmanifest"];

#[tokio::test(flavor = "multi_thread")]
async fn every_file_comes_compressed_or_plain_and_is_the_same() {
    let node = Node::start().await;
    for path in FILES {
        let (head, plain) = fetch(&node, path, "").await;
        assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
        assert!(!head.contains("content-encoding"), "{path}");
        let (head, packed) = fetch(&node, path, "Accept-Encoding: br, gzip;q=0.8\r\n").await;
        assert!(head.contains("content-encoding: gzip"), "{path}: {head}");
        // Its end says how long it was; `cargo xtask web` compares every byte.
        let end: [u8; 4] = packed[packed.len() - 4..].try_into().unwrap();
        assert_eq!(u32::from_le_bytes(end) as usize, plain.len(), "{path} is another file");
        assert!(!plain.is_empty(), "{path} is empty");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_foreign_may_be_loaded_and_nobody_may_frame_it() {
    let node = Node::start().await;
    for path in FILES {
        let (head, body) = fetch(&node, path, "").await;
        let policy = head.lines().find(|line| line.starts_with("content-security-policy")).unwrap();
        for want in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(want), "{path}: no {want} in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{path}: {policy}");
        assert!(head.contains("x-frame-options: deny"), "{path}");
        assert!(head.contains("x-content-type-options: nosniff"), "{path}");
        assert!(head.contains("referrer-policy: no-referrer"), "{path}");
        let text = String::from_utf8_lossy(&body);
        let text = text.replace("http://www.w3.org/", "");
        assert!(!text.contains("http://") && !text.contains("https://"), "{path} names a host");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_known_is_not_sent_again() {
    let node = Node::start().await;
    let (head, _) = fetch(&node, "/app.js", "").await;
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let (head, body) = fetch(&node, "/app.js", &format!("If-None-Match: {tag}\r\n")).await;
    assert!(head.starts_with("http/1.1 304"), "{head}");
    assert!(body.is_empty());
}
