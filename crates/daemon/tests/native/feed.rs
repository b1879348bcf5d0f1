//! The feed: in order, resumable, and only what one may see.

use portcullis_approval::{Owners, Role};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

use crate::gate::key;
use crate::node::Node;

/// A stream of server-sent events.
struct Stream {
    lines: Lines<BufReader<OwnedReadHalf>>,
    _writer: tokio::net::tcp::OwnedWriteHalf,
}

impl Stream {
    async fn open(node: &Node, key: &str, path: &str) -> Stream {
        let stream = TcpStream::connect(node.address).await.unwrap();
        let (reader, mut writer) = stream.into_split();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\r\n",
            node.address
        );
        writer.write_all(request.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(reader).lines();
        while lines.next_line().await.unwrap().expect("an answer") != ": connected" {}
        Stream { lines, _writer: writer }
    }

    async fn next(&mut self) -> Value {
        let wait = std::time::Duration::from_secs(10);
        let next = async {
            loop {
                let line = self.lines.next_line().await.unwrap().expect("the stream goes on");
                if let Some(data) = line.strip_prefix("data: ") {
                    return serde_json::from_str(data).unwrap();
                }
            }
        };
        tokio::time::timeout(wait, next).await.expect("an event in time")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_is_told_in_order_and_can_be_resumed() {
    let node = Node::start().await;
    let call = json!({ "tool": "Bash", "input": { "command": "npm publish" } });
    let before = node.call(&call).await["ask"].clone();
    let mut stream = Stream::open(&node, &node.approver, "/v1/events").await;
    let first = stream.next().await;
    assert_eq!((&first["type"], &first["ask"]["id"]), (&json!("ask.opened"), &before));
    let mut bare = Stream::open(&node, &node.approver, "/v1/events?pending=0").await;
    node.decide(
        &before,
        &json!({ "answer": "approve", "scope": "always", "rules": ["Bash(npm publish:*)"] }),
    )
    .await;
    let settled = stream.next().await;
    assert_eq!(bare.next().await, settled, "who reads the inbox anyway hears only what is new");
    assert_eq!(
        (&settled["type"], &settled["ask"]["state"]),
        (&json!("ask.settled"), &json!("approved"))
    );
    assert_eq!(stream.next().await["type"], "grant.made");
    let path = format!("/v1/events?after={}", first["cursor"].as_str().unwrap());
    let mut resumed = Stream::open(&node, &node.approver, &path).await;
    assert_eq!(resumed.next().await["cursor"], settled["cursor"]);
    let mut lost = Stream::open(&node, &node.approver, "/v1/events?after=00000000ffffffff").await;
    assert_eq!(lost.next().await["type"], "resync");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_of_its_own_asks_only() {
    let node = Node::start().await;
    let call = json!({ "tool": "Bash", "input": { "command": "npm publish" } });
    let mut stream = Stream::open(&node, "internal-secret", "/v1/events").await;
    let mut everything = Stream::open(&node, &node.approver, "/v1/events?calls=1").await;
    node.call(&call).await;
    assert_eq!(everything.next().await["type"], "call.judged");
    assert_eq!(everything.next().await["type"], "ask.opened");
    let own = node.as_key("internal-secret", "POST", "/v1/calls", &call).await.json();
    let told = stream.next().await;
    assert_eq!(told["ask"]["id"], own["ask"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_hears_of_the_asks_of_others() {
    let node = Node::start().await;
    let owners = Owners::Some(vec!["berta".to_owned()]);
    let approver = key(&node, Role::Approver, "berta", owners.clone(), false).await;
    let agent = key(&node, Role::Agent, "berta-agent", owners, false).await;
    let node = node.restart().await;
    let mut theirs = Stream::open(&node, &approver, "/v1/events?calls=1").await;
    let mut ours = Stream::open(&node, &node.approver, "/v1/events").await;
    let call = |command: &str| json!({ "tool": "Bash", "input": { "command": command } });
    let first = node.call(&call("npm publish")).await["ask"].clone();
    let second = node.as_key(&agent, "POST", "/v1/calls", &call("npm pack")).await.json();
    assert_eq!(theirs.next().await["type"], "call.judged");
    assert_eq!(theirs.next().await["ask"]["id"], second["ask"], "the first thing berta hears");
    assert_eq!(ours.next().await["ask"]["id"], first, "who answers for all hears both");
    assert_eq!(ours.next().await["ask"]["id"], second["ask"]);
    node.decide(&first, &json!({ "answer": "reject" })).await;
    node.decide(&second["ask"], &json!({ "answer": "reject" })).await;
    let settled = theirs.next().await;
    let told = (&settled["type"], &settled["ask"]["id"]);
    assert_eq!(told, (&json!("ask.settled"), &second["ask"]), "nor how they ended");
}
