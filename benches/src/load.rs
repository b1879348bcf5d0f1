//! A client that says its requests on kept connections and wastes no time of its own: the same for
//! the daemon and for what it is measured against.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A kept connection.
pub struct Connection {
    stream: TcpStream,
    head: String,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects, to say `key` with each request.
    ///
    /// # Panics
    /// Nobody listens there.
    pub async fn open(address: SocketAddr, key: &str) -> Connection {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let head = format!(
            "Host: {address}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        );
        Connection { stream, head, buffer: Vec::with_capacity(16 << 10) }
    }

    /// Says one request and gives the body of the answer.
    ///
    /// # Panics
    /// The answer is not 200, or none.
    pub async fn say(&mut self, method: &str, path: &str, body: &str) -> String {
        let head = &self.head;
        let length = body.len();
        let text =
            format!("{method} {path} HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{body}");
        self.stream.write_all(text.as_bytes()).await.expect("said");
        self.buffer.clear();
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await.expect("an answer");
            assert!(read > 0, "the connection was closed");
            let Some(end) = find(&self.buffer, b"\r\n\r\n") else { continue };
            let head = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default());
            let length: usize = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
                })
                .expect("a length");
            if self.buffer.len() < end + 4 + length {
                continue;
            }
            let body = self.buffer.get(end + 4..end + 4 + length).unwrap_or_default();
            let body = String::from_utf8_lossy(body).into_owned();
            assert!(head.contains(" 200 "), "{head}\n{body}");
            return body;
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// How it went.
pub struct Went {
    /// Requests a second.
    pub rate: f64,
    /// How long each took, in milliseconds.
    pub took: Vec<f64>,
}

/// So many connections say one request after the other for a while; with a pace, each only so many
/// a second.
///
/// # Panics
/// A request fails.
pub async fn load(
    address: SocketAddr,
    key: &str,
    connections: usize,
    turn: Duration,
    pace: Option<f64>,
    (method, path, body): (&'static str, &'static str, String),
) -> Went {
    // Connected first: only what is said is measured.
    let mut opened = Vec::with_capacity(connections);
    for _ in 0..connections {
        opened.push(Connection::open(address, key).await);
    }
    let began = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for mut connection in opened {
        let body = body.clone();
        workers.spawn(async move {
            let mut took = Vec::new();
            while began.elapsed() < turn {
                let began = Instant::now();
                connection.say(method, path, &body).await;
                took.push(began.elapsed().as_secs_f64() * 1e3);
                if let Some(pace) = pace {
                    let next = began + Duration::from_secs_f64(1.0 / pace);
                    tokio::time::sleep_until(next.into()).await;
                }
            }
            took
        });
    }
    let took: Vec<f64> = workers.join_all().await.into_iter().flatten().collect();
    #[expect(clippy::cast_precision_loss, reason = "a few hundred thousand")]
    let count = took.len() as f64;
    Went { rate: count / began.elapsed().as_secs_f64(), took }
}
