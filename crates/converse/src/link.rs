//! The bytes: requests and web sockets, over TCP or a socket of the file system.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// A stream of either kind.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where to: `host:port`, or the path of a socket.
    pub address: String,
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Its headers.
    pub headers: BTreeMap<String, String>,
    /// Its body.
    pub body: String,
}

/// The status and the body of the answer.
pub type Answer = (u16, Value);

async fn reach(address: &str) -> Result<Box<dyn Stream>, String> {
    let fault = |error: std::io::Error| format!("`{address}` cannot be reached: {error}");
    if address.starts_with('/') {
        return Ok(Box::new(UnixStream::connect(address).await.map_err(fault)?));
    }
    Ok(Box::new(TcpStream::connect(address).await.map_err(fault)?))
}

/// What a request names as its host.
fn host(address: &str) -> &str {
    if address.starts_with('/') { "localhost" } else { address }
}

/// Sends a request and reads the whole answer.
pub async fn send(request: &Request) -> Result<Answer, String> {
    let Request { address, method, path, headers, body } = request;
    let mut stream = reach(address).await?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.keys().any(|name| name.eq_ignore_ascii_case("host")) {
        head.push_str("Host: ");
        head.push_str(host(address));
        head.push_str("\r\n");
    }
    for (name, value) in headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head.push_str("Content-Length: ");
    head.push_str(&body.len().to_string());
    head.push_str("\r\n\r\n");
    let fault = |error: std::io::Error| format!("{method} {path}: {error}");
    stream.write_all(head.as_bytes()).await.map_err(fault)?;
    // A server that refuses early need not read everything.
    let _ = stream.write_all(body.as_bytes()).await;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.map_err(fault)?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) =
        text.split_once("\r\n\r\n").ok_or_else(|| format!("{method} {path}: no answer came"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| format!("{method} {path}: no status in `{head}`"))?;
    Ok((status, value(body)))
}

/// What came over a connection.
#[derive(Debug)]
pub enum Came {
    /// A frame: JSON, or a text as it is.
    Frame(Value),
    /// The connection was closed with this code.
    Closed(Option<u16>),
    /// Nothing, for so long as was waited.
    Nothing,
}

/// A WebSocket.
pub struct Socket {
    stream: WebSocketStream<Box<dyn Stream>>,
}

impl Socket {
    /// Opens one; else the status that refuses it, or why there is none.
    pub async fn open(
        address: &str,
        path: &str,
        headers: &BTreeMap<String, String>,
    ) -> Result<Result<Socket, u16>, String> {
        let url = format!("ws://{}{path}", host(address));
        let mut request = url.into_client_request().map_err(|error| error.to_string())?;
        for (name, value) in headers {
            let name: HeaderName = name.parse().map_err(|_| format!("`{name}` is no header"))?;
            let value: HeaderValue = value.parse().map_err(|_| format!("`{value}` is no value"))?;
            request.headers_mut().insert(name, value);
        }
        match client_async(request, reach(address).await?).await {
            Ok((stream, _)) => Ok(Ok(Socket { stream })),
            Err(tungstenite::Error::Http(response)) => Ok(Err(response.status().as_u16())),
            Err(error) => Err(format!("`{path}` cannot be opened: {error}")),
        }
    }

    /// Sends a text frame.
    pub async fn say(&mut self, text: String) -> Result<(), String> {
        self.stream.send(Message::text(text)).await.map_err(|error| error.to_string())
    }

    /// Sends a binary frame.
    pub async fn say_bytes(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        self.stream.send(Message::binary(bytes)).await.map_err(|error| error.to_string())
    }

    /// What comes next, within a while.
    pub async fn next(&mut self, wait: Duration) -> Came {
        let next = async {
            loop {
                match self.stream.next().await {
                    // Engine.IO asks whether somebody is there; that is no part of what is said.
                    Some(Ok(Message::Text(text))) if text.as_str() == "2" => {
                        if self.say("3".to_owned()).await.is_err() {
                            return Came::Closed(None);
                        }
                    }
                    Some(Ok(Message::Text(text))) => return frame(text.as_bytes()),
                    Some(Ok(Message::Binary(bytes))) => return frame(&bytes),
                    Some(Ok(Message::Close(close))) => {
                        return Came::Closed(close.map(|close| close.code.into()));
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                    Some(Err(_)) | None => return Came::Closed(None),
                }
            }
        };
        tokio::time::timeout(wait, next).await.unwrap_or(Came::Nothing)
    }

    /// Closes it.
    pub async fn close(mut self) {
        let _ = self.stream.close(None).await;
    }
}

fn frame(bytes: &[u8]) -> Came {
    Came::Frame(value(&String::from_utf8_lossy(bytes)))
}

/// JSON as it is. What Socket.IO writes, digits and behind them JSON, is an object with the digits
/// for its name, and several of those behind each other are a list. Else it is a text.
fn value(text: &str) -> Value {
    if let Ok(value) = serde_json::from_str(text) {
        return value;
    }
    if text.contains('\u{1e}') {
        return text.split('\u{1e}').map(value).collect();
    }
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = text.strip_suffix(rest).filter(|digits| !digits.is_empty());
    match (digits, serde_json::from_str::<Value>(rest)) {
        (Some(digits), Ok(value)) => serde_json::json!({ digits: value }),
        (_, _) => Value::String(text.to_owned()),
    }
}
