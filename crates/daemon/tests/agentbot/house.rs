//! A node in this process, and the smallest clients that can talk to it.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use portcullis_approval::receipt::Signer;
use portcullis_approval::{Owners, Role};
use portcullis_daemon::clock::Clock;
use portcullis_daemon::config::Config;
use portcullis_daemon::identity::{NewKey, make_key};
use portcullis_daemon::{Parts, open};
use portcullis_layers::Places;
use portcullis_store::Sqlite;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// The value of `INTERNAL_API_KEY`.
pub const INTERNAL: &str = "internal-secret";

/// A running node with its keys.
pub struct House {
    pub address: SocketAddr,
    /// Sees and answers everything.
    pub approver: String,
    /// Answers for the owner `anna` alone.
    pub annas: String,
    /// Agents of `anna` and of `bob`.
    pub agent: String,
    pub bobs: String,
    directory: tempfile::TempDir,
    config: String,
    internal: Option<&'static str>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

/// What every node here is configured with: tests ask more than agents may.
const LIMITS: &str = "[limits]\npending_asks_per_agent = 100000\nasks_per_minute_per_agent = 0\n";

impl House {
    /// A node with this configuration and policy.
    pub async fn new(config: &str, policy: &str) -> House {
        House::made(&format!("{LIMITS}{config}"), policy, Some(INTERNAL)).await
    }

    /// A node that limits its agents.
    pub async fn limited(limits: &str) -> House {
        House::made(limits, "", Some(INTERNAL)).await
    }

    /// A node that has no `INTERNAL_API_KEY`.
    pub async fn without_internal() -> House {
        House::made(LIMITS, "", None).await
    }

    async fn made(config: &str, policy: &str, internal: Option<&'static str>) -> House {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("config")).unwrap();
        std::fs::write(directory.path().join("config/policy.toml"), policy).unwrap();
        let store = Sqlite::open(directory.path().join("portcullis.db"), "n").unwrap();
        let mut secrets = Vec::new();
        #[rustfmt::skip]
        let keys = [
            ("carol", Role::Approver, Owners::All),
            ("anna",  Role::Approver, Owners::Some(vec!["anna".to_owned()])),
            ("coder", Role::Agent,    Owners::Some(vec!["anna".to_owned()])),
            ("tester", Role::Agent,   Owners::Some(vec!["bob".to_owned()])),
        ];
        for (name, role, owners) in keys {
            let new = NewKey { role, name: name.to_owned(), owners, expires_at: None };
            let (_, secret) = make_key(&store, new, "test", Clock::new().now()).await.unwrap();
            secrets.push(secret.reveal().to_owned());
        }
        let (address, stop, served) = serve(directory.path(), config, store, internal).await;
        let mut secrets = secrets.into_iter();
        let mut next = || secrets.next().unwrap();
        House {
            address,
            approver: next(),
            annas: next(),
            agent: next(),
            bobs: next(),
            directory,
            config: config.to_owned(),
            internal,
            stop,
            served,
        }
    }

    /// A node that says nothing in particular.
    pub async fn plain() -> House {
        House::new("", "").await
    }

    /// The same node after it went down and came up again.
    pub async fn restarted(self) -> House {
        let House {
            directory, config, internal, approver, annas, agent, bobs, stop, served, ..
        } = self;
        stop.send(()).unwrap();
        served.await.unwrap();
        let store = Sqlite::open(directory.path().join("portcullis.db"), "n").unwrap();
        let (address, stop, served) = serve(directory.path(), &config, store, internal).await;
        House { address, approver, annas, agent, bobs, directory, config, internal, stop, served }
    }

    /// Tells the node to go down, and waits until it has.
    pub async fn stopped(self) {
        self.stop.send(()).unwrap();
        self.served.await.unwrap();
    }

    /// Where its store lies.
    pub fn store_path(&self) -> std::path::PathBuf {
        self.directory.path().join("portcullis.db")
    }

    /// One request; the status and the body.
    pub async fn send(&self, method: &str, path: &str, key: &str, body: &str) -> (u16, Value) {
        let authorization = format!("Authorization: Bearer {key}\r\n");
        let headers = if key.is_empty() { "" } else { &authorization };
        self.raw(method, path, headers, body).await
    }

    /// One request with these headers.
    pub async fn raw(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, Value) {
        let host = format!("Host: {}\r\n", self.address);
        let host = if headers.contains("Host:") { "" } else { &host };
        http(self.address, method, path, &format!("{host}{headers}"), body.as_bytes()).await
    }

    pub async fn get(&self, path: &str, key: &str) -> Value {
        let (status, body) = self.send("GET", path, key, "").await;
        assert_eq!(status, 200, "GET {path}: {body}");
        body
    }

    pub async fn post(&self, path: &str, key: &str, body: &Value) -> (u16, Value) {
        self.send("POST", path, key, &body.to_string()).await
    }

    /// What becomes of a call of the shared credential.
    pub async fn classify(&self, tool: &str, input: Value) -> Value {
        self.classify_as("agent-1", tool, input).await
    }

    pub async fn classify_as(&self, agent: &str, tool: &str, input: Value) -> Value {
        let body =
            json!({ "toolName": tool, "toolInput": input, "agentId": agent, "userId": "user-1" });
        let (status, body) = self.post("/api/hooks/classify", INTERNAL, &body).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    pub async fn bash(&self, command: &str) -> Value {
        self.classify("bash", json!({ "command": command })).await
    }

    /// The id of the ask that a command raises.
    pub async fn queued(&self, command: &str) -> String {
        let body = self.bash(command).await;
        body["requestId"].as_str().unwrap_or_else(|| panic!("`{command}`: {body}")).to_owned()
    }

    pub async fn decide(&self, body: &Value) -> (u16, Value) {
        self.post("/api/permissions", &self.approver, body).await
    }

    pub async fn approve(&self, id: &str) {
        let (status, body) = self.decide(&json!({ "requestId": id, "decision": "approve" })).await;
        assert_eq!(status, 200, "{body}");
    }

    /// How an ask stands, as its agent sees it.
    pub async fn status(&self, id: &str) -> Value {
        self.get(&format!("/api/permissions/{id}"), INTERNAL).await
    }

    /// Kinds, actors and subjects of the audit.
    pub async fn audit(&self) -> Vec<Value> {
        let body = self.get("/v1/audit?limit=1000", &self.approver).await;
        body["entries"].as_array().unwrap_or_else(|| panic!("{body}")).clone()
    }

    /// A connection to the socket.
    pub async fn listen(&self, user: &str, key: &str) -> Socket {
        let mut socket = self.connect(&format!("?userId={user}"), key).await.unwrap();
        let (kind, data) = socket.next().await;
        assert_eq!((kind.as_str(), data["userId"].as_str()), ("connected", Some(user)));
        socket
    }

    /// Tries to connect; the status where that was refused.
    pub async fn connect(&self, query: &str, key: &str) -> Result<Socket, u16> {
        let address = format!("ws://{}/ws/permissions{query}", self.address);
        let mut request = address.into_client_request().unwrap();
        if !key.is_empty() {
            let value = format!("Bearer {key}").parse().unwrap();
            request.headers_mut().insert("authorization", value);
        }
        match connect_async(request).await {
            Ok((stream, _)) => Ok(Socket { stream }),
            Err(tokio_tungstenite::tungstenite::Error::Http(response)) => {
                Err(response.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }
}

async fn serve(
    directory: &Path,
    config: &str,
    store: Sqlite,
    internal: Option<&str>,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let places = Places {
        organization: directory.join("none.toml"),
        config: Some(directory.join("config")),
        data: Some(directory.to_owned()),
        home: None,
    };
    let node = open(Parts {
        store: Arc::new(store),
        places,
        policy: None,
        signer: Signer::new(&[7; 32]),
        config: Config::read(config).unwrap(),
        internal_key: internal.map(str::to_owned),
    })
    .await
    .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(async move {
        let stopped = async {
            let _ = stopped.await;
        };
        node.serve(listener, None, stopped).await.unwrap();
    });
    (address, stop, served)
}

/// One request over a connection of its own.
pub async fn http(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // A server that refuses early need not read everything.
    let _ = stream.write_all(body).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let text = String::from_utf8(answer).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("`{text}`"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::String(body.to_owned())))
}

/// A connection to the socket.
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    /// The next frame: its type and data.
    pub async fn next(&mut self) -> (String, Value) {
        let message = self.stream.next().await.unwrap().unwrap();
        let frame: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        (frame["type"].as_str().unwrap().to_owned(), frame["data"].clone())
    }

    /// The data of the next frame, which must be of this type.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let (got, data) = self.next().await;
        assert_eq!(got, kind, "{data}");
        data
    }

    /// The code and the words the connection is closed with.
    pub async fn closed(&mut self) -> (u16, String) {
        loop {
            let message = self.stream.next().await.unwrap().unwrap();
            if let Message::Close(frame) = message {
                let frame = frame.unwrap();
                return (frame.code.into(), frame.reason.as_str().to_owned());
            }
        }
    }

    pub async fn say(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    pub async fn decide(&mut self, data: &Value) {
        self.say(&json!({ "type": "decision", "data": data }).to_string()).await;
    }
}
