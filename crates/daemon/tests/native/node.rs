//! A node in a directory of its own, and a client that says exactly what it is told to.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use portcullis_approval::receipt::Signer;
use portcullis_approval::{Owners, Role};
use portcullis_daemon::clock::Clock;
use portcullis_daemon::config::Config;
use portcullis_daemon::identity::{NewKey, make_key};
use portcullis_daemon::{Parts, StartError, open};
use portcullis_layers::Places;
use portcullis_store::{Sqlite, Store};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The secret half of the keys that nodes of these tests sign with.
pub const SECRET: [u8; 32] = [7; 32];

/// A running node.
pub struct Node {
    pub directory: Arc<TempDir>,
    pub address: SocketAddr,
    pub agent: String,
    pub approver: String,
    pub admin: String,
    /// What a browser logs in with, once.
    pub code: String,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub text: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Node {
    pub async fn start() -> Node {
        Node::with(Config::default()).await
    }

    pub async fn with(config: Config) -> Node {
        Node::in_directory(Arc::new(TempDir::new().unwrap()), config).await
    }

    /// A node, if it comes up.
    pub async fn try_with(config: Config) -> Result<Node, StartError> {
        Node::try_in_directory(Arc::new(TempDir::new().unwrap()), config).await
    }

    /// A node on whatever an earlier one left behind.
    pub async fn in_directory(directory: Arc<TempDir>, config: Config) -> Node {
        Node::try_in_directory(directory, config).await.unwrap()
    }

    async fn try_in_directory(directory: Arc<TempDir>, config: Config) -> Result<Node, StartError> {
        let path = directory.path();
        let store: Arc<dyn Store> = Arc::new(Sqlite::open(path.join("db"), "local").unwrap());
        Node::on_store(directory, store, config, &SECRET).await
    }

    /// A node on a store of several, with the keys that lie in its directory.
    pub async fn at(directory: Arc<TempDir>, address: &str) -> Node {
        Node::try_at(directory, address, Config::default(), &SECRET).await.unwrap()
    }

    /// The same with a configuration and a key to sign with, if it comes up.
    pub async fn try_at(
        directory: Arc<TempDir>,
        address: &str,
        config: Config,
        secret: &[u8; 32],
    ) -> Result<Node, StartError> {
        let store = portcullis_store::open(address, "local").await.unwrap();
        Node::on_store(directory, store, config, secret).await
    }

    async fn on_store(
        directory: Arc<TempDir>,
        store: Arc<dyn Store>,
        config: Config,
        secret: &[u8; 32],
    ) -> Result<Node, StartError> {
        let path = directory.path();
        let now = Clock::new().now();
        let mut secrets = Vec::new();
        for role in Role::ALL {
            let file = path.join(role.name());
            if let Ok(secret) = std::fs::read_to_string(&file) {
                secrets.push(secret);
                continue;
            }
            let owners = match role {
                Role::Agent => Owners::Some(vec!["local".to_owned()]),
                Role::Approver | Role::Admin => Owners::All,
            };
            let name = role.name().to_owned();
            let new = NewKey { role, name, owners, expires_at: None };
            let (_, secret) = make_key(&*store, new, "test", now).await.unwrap();
            std::fs::write(&file, secret.reveal()).unwrap();
            secrets.push(secret.reveal().to_owned());
        }
        let places = Places {
            organization: path.join("organization.toml"),
            config: Some(path.join("config")),
            data: Some(path.join("data")),
            home: Some(path.to_owned()),
        };
        let parts = Parts {
            store,
            places,
            policy: None,
            signer: Signer::new(secret),
            config,
            internal_key: Some("internal-secret".to_owned()),
        };
        let node = open(parts).await?;
        let code = node.login_code().await.unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let socket = path.join("sock");
        let _ = std::fs::remove_file(&socket);
        let socket = UnixListener::bind(socket).unwrap();
        let user = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(path).unwrap());
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            let stopped = async move {
                let _ = stopped.await;
            };
            node.serve(tcp, Some((socket, user)), stopped).await.unwrap();
        });
        let [agent, approver, admin]: [String; 3] = secrets.try_into().unwrap();
        Ok(Node { directory, address, agent, approver, admin, code, stop: Some(stop), served })
    }

    /// Stops the node.
    pub async fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        (&mut self.served).await.unwrap();
    }

    /// Stops the node and starts another on what it left behind.
    pub async fn restart(mut self) -> Node {
        self.stop().await;
        Node::in_directory(Arc::clone(&self.directory), Config::default()).await
    }

    pub fn policy(&self) -> PathBuf {
        self.directory.path().join("config/policy.toml")
    }

    /// Sends a request with these headers and reads the answer whole.
    pub async fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let host = format!("Host: {}", self.address);
        let has_host = headers.iter().any(|header| header.starts_with("Host:"));
        let mut lines: Vec<&str> = if has_host { Vec::new() } else { vec![&host] };
        lines.extend(headers);
        talk(stream, method, path, &lines, body).await
    }

    /// The same over the socket of the user.
    pub async fn send_local(&self, method: &str, path: &str, body: &str) -> Reply {
        let stream = UnixStream::connect(self.directory.path().join("sock")).await.unwrap();
        talk(stream, method, path, &["Host: local"], body).await
    }

    /// Sends with a key.
    pub async fn as_key(&self, key: &str, method: &str, path: &str, body: &Value) -> Reply {
        let header = format!("Authorization: Bearer {key}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, &[&header], &body).await
    }

    /// Submits a call as the agent.
    pub async fn call(&self, body: &Value) -> Value {
        let reply = self.as_key(&self.agent, "POST", "/v1/calls", body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    }

    /// Answers an ask as the approver.
    pub async fn decide(&self, ask: &Value, answer: &Value) -> Reply {
        let path = format!("/v1/asks/{}/decision", ask.as_str().unwrap());
        self.as_key(&self.approver, "POST", &path, answer).await
    }

    /// The pending asks, as the approver sees them.
    pub async fn pending(&self) -> Vec<Value> {
        let reply = self.as_key(&self.approver, "GET", "/v1/asks", &Value::Null).await;
        reply.json()["asks"].as_array().unwrap().clone()
    }

    /// Waits until so many asks are pending.
    pub async fn until_pending(&self, count: usize) -> Vec<Value> {
        for _ in 0..500 {
            let pending = self.pending().await;
            if pending.len() == count {
                return pending;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("never {count} asks pending");
    }
}

/// Says one request on a connection and reads the answer whole.
pub async fn talk<S>(mut stream: S, method: &str, path: &str, headers: &[&str], body: &str) -> Reply
where
    S: AsyncReadExt + AsyncWriteExt + Unpin,
{
    let head = headers.join("\r\n");
    let length = body.len();
    let text = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\n{head}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    // A server that refuses a large body may close before it was read.
    let _ = stream.read_to_end(&mut bytes).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Reply { status, text: body.to_owned() }
}
