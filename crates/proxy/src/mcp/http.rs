//! A server behind a URL: the streamable HTTP of MCP on its side, lines on ours.
//!
//! Every message of the client is one request; its answer is one message, or a stream of them. A
//! second stream, opened after the handshake, carries what the server says by itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, StatusCode, header};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;

use super::{Relay, Setting};
use crate::ProxyError;
use crate::lines::{self, MOST};
use crate::message::{self, Message};

/// So many messages may wait to be sent.
const QUEUE: usize = 256;

/// How long is waited before a stream that ended is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// How long the server may take to hear that the conversation is over.
const GOODBYE: Duration = Duration::from_secs(2);

/// The code of an answer that did not come.
const UNANSWERED: i64 = -32000;

/// The header with the name that the server gave to the conversation.
const SESSION: &str = "mcp-session-id";

/// Where certificates of authorities lie.
const AUTHORITIES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// A server behind a URL.
pub struct Server {
    authority: String,
    host: String,
    path: String,
    tls: Option<TlsConnector>,
    authorization: Option<String>,
    session: Mutex<Option<String>>,
    version: Mutex<Option<String>>,
}

impl Server {
    /// The server behind this URL, with a value for the header `Authorization` if it wants one.
    ///
    /// # Errors
    /// It is no URL of one, or no authority is known for `https`.
    pub fn new(url: &str, authorization: Option<String>) -> Result<Server, ProxyError> {
        let bad = || ProxyError::Address(url.to_owned());
        let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
        let (authority, path) = match rest.find('/') {
            Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default()),
            None => (rest, "/"),
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        if authority.is_empty() || !authority.bytes().all(is_plain) {
            return Err(bad());
        }
        let (port, tls) = match scheme {
            "http" => ("80", None),
            "https" => ("443", Some(connector()?)),
            _ => return Err(bad()),
        };
        let is_port = |port: &str| !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if is_port(port) => host,
            Some(_) | None => authority,
        };
        let has_port = host.len() != authority.len();
        Ok(Server {
            authority: if has_port { authority.into() } else { format!("{authority}:{port}") },
            host: host.trim_matches(['[', ']']).to_owned(),
            path: path.split('#').next().unwrap_or(path).to_owned(),
            tls,
            authorization,
            session: Mutex::default(),
            version: Mutex::default(),
        })
    }

    /// The name of the host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    async fn request(&self, method: Method, body: Vec<u8>) -> Result<Response<Incoming>, String> {
        let accept = if method == Method::GET { STREAM } else { EITHER };
        let mut request = Request::builder()
            .method(method)
            .uri(&self.path)
            .header(header::HOST, &self.authority)
            .header(header::ACCEPT, accept)
            .header(header::CONTENT_TYPE, "application/json");
        let kept = |kept: &Mutex<Option<String>>| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        if let Some(session) = kept(&self.session) {
            request = request.header(SESSION, session);
        }
        if let Some(version) = kept(&self.version) {
            request = request.header("mcp-protocol-version", version);
        }
        if let Some(value) = &self.authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(said)?;
        let stream = TcpStream::connect(&self.authority).await.map_err(said)?;
        let reply = match &self.tls {
            None => send(TokioIo::new(stream), request).await?,
            Some(tls) => {
                let name = ServerName::try_from(self.host.clone()).map_err(said)?;
                let stream = tls.connect(name, stream).await.map_err(said)?;
                send(TokioIo::new(stream), request).await?
            }
        };
        if let Some(session) = reply.headers().get(SESSION).and_then(|it| it.to_str().ok()) {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.to_owned());
        }
        Ok(reply)
    }

    /// Sends one message, and hands on what comes back.
    async fn post(&self, relay: &Arc<Relay>, line: Vec<u8>) {
        let text = lines::text(&line).unwrap_or_default().to_owned();
        let message = Message::read(&text).ok();
        let id = message.as_ref().filter(|it| it.method.is_some()).and_then(Message::id);
        let is_handshake =
            message.as_ref().and_then(|it| it.method.as_deref()) == Some("initialize");
        let reply = match self.request(Method::POST, text.clone().into_bytes()).await {
            Ok(reply) if reply.status().is_success() => self.read(relay, reply, is_handshake).await,
            Ok(reply) => Err(format!("the server answered with status {}", reply.status())),
            Err(what) => Err(what),
        };
        if let (Err(what), Some(id)) = (reply, id) {
            let what = format!("no answer of the MCP server: {what}");
            relay.take_server(message::error(Some(id), UNANSWERED, &what)).await;
        }
    }

    /// Hands on an answer: one message, or a stream of them.
    async fn read(
        &self,
        relay: &Arc<Relay>,
        reply: Response<Incoming>,
        is_handshake: bool,
    ) -> Result<(), String> {
        let kind = reply.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with(STREAM));
        let mut body = reply.into_body();
        let (mut bytes, mut looked_at) = (Vec::new(), 0);
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame.map_err(said)?.into_data() {
                bytes.extend_from_slice(&data);
            }
            if bytes.len() as u64 > MOST {
                return Err("its answer does not end".to_owned());
            }
            while let Some(text) = is_stream.then(|| cut(&mut bytes, &mut looked_at)).flatten() {
                self.hand_on(relay, &text, is_handshake).await;
            }
        }
        if !is_stream && bytes.iter().any(|byte| !byte.is_ascii_whitespace()) {
            let text = String::from_utf8(bytes).map_err(said)?;
            self.hand_on(relay, &text, is_handshake).await;
        }
        Ok(())
    }

    async fn hand_on(&self, relay: &Arc<Relay>, text: &str, is_handshake: bool) {
        if is_handshake {
            let whole: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
            let version = whole.pointer("/result/protocolVersion").and_then(|it| it.as_str());
            *self.version.lock().unwrap_or_else(PoisonError::into_inner) =
                version.map(str::to_owned);
        }
        relay.take_server(message::line(text.trim())).await;
    }

    /// Follows what the server says by itself, as long as it has a stream for it.
    async fn follow(&self, relay: &Arc<Relay>) {
        while let Ok(reply) = self.request(Method::GET, Vec::new()).await {
            if reply.status() != StatusCode::OK || self.read(relay, reply, false).await.is_err() {
                return;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

const STREAM: &str = "text/event-stream";
const EITHER: &str = "application/json, text/event-stream";

/// Stands between the server and the client until the client ends.
///
/// # Errors
/// A stream broke.
pub async fn run(
    setting: Setting,
    server: Server,
    mut client: impl AsyncBufRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ProxyError> {
    let server = Arc::new(server);
    let (to_client, told) = lines::outlet(output);
    let (to_server, mut sent) = mpsc::channel::<Vec<u8>>(QUEUE);
    let relay = Relay::new(setting, to_client, to_server);
    let sending = {
        let (server, relay) = (Arc::clone(&server), Arc::clone(&relay));
        tokio::spawn(async move {
            let mut tasks = tokio::task::JoinSet::new();
            while let Some(line) = sent.recv().await {
                let text = lines::text(&line).unwrap_or_default();
                let method = Message::read(text).ok().and_then(|it| it.method);
                let (server, relay) = (Arc::clone(&server), Arc::clone(&relay));
                match method.as_deref() {
                    // The handshake comes first, and so do its effects.
                    Some("initialize") => server.post(&relay, line).await,
                    Some("notifications/initialized") => {
                        server.post(&relay, line).await;
                        tasks.spawn(async move { server.follow(&relay).await });
                    }
                    Some(_) | None => drop(tasks.spawn(async move {
                        server.post(&relay, line).await;
                    })),
                }
            }
        })
    };
    let ended = loop {
        match lines::next(&mut client, MOST).await {
            Ok(Some(line)) => relay.take_client(line).await,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
    };
    relay.end().await;
    sending.abort();
    let has_session = server.session.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    if has_session {
        let _ = tokio::time::timeout(GOODBYE, server.request(Method::DELETE, Vec::new())).await;
    }
    drop(relay);
    let _ = tokio::time::timeout(GOODBYE, told).await;
    ended
}

/// Takes the next event out of a stream; the data of it. What was looked at is not looked at again.
fn cut(bytes: &mut Vec<u8>, looked_at: &mut usize) -> Option<String> {
    loop {
        let found = (looked_at.saturating_sub(3)..bytes.len()).find_map(|at| {
            let rest = bytes.get(at..)?;
            let ends: [&[u8]; 2] = [b"\n\n", b"\r\n\r\n"];
            ends.iter().find(|end| rest.starts_with(end)).map(|end| (at, end.len()))
        });
        *looked_at = if found.is_some() { 0 } else { bytes.len() };
        let (at, length) = found?;
        let event: Vec<u8> = bytes.drain(..at + length).collect();
        let event = String::from_utf8_lossy(&event).into_owned();
        let data: Vec<&str> = event
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|data| data.strip_prefix(' ').unwrap_or(data))
            .collect();
        if data.iter().any(|line| !line.trim().is_empty()) {
            return Some(data.join("\n"));
        }
    }
}

async fn send<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, String>
where
    S: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(stream).await.map_err(said)?;
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(said)
}

/// A way to speak TLS, with the authorities that this machine trusts.
fn connector() -> Result<TlsConnector, ProxyError> {
    let named = std::env::var("SSL_CERT_FILE").ok();
    let files = named.as_deref().into_iter().chain(AUTHORITIES.iter().copied());
    let mut roots = rustls::RootCertStore::empty();
    for file in files {
        if let Ok(found) = CertificateDer::pem_file_iter(file) {
            roots.add_parsable_certificates(found.filter_map(Result::ok));
            break;
        }
    }
    if roots.is_empty() {
        let what = "no authorities are known for https; name a file of them in SSL_CERT_FILE";
        return Err(std::io::Error::other(what).into());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_cut_out_of_a_stream() {
        let mut bytes =
            b": hello\n\nid: 1\ndata: {\"a\":\ndata: 1}\n\ndata: {}\r\n\r\ndata: ".to_vec();
        let mut looked_at = 0;
        let mut cut = |bytes: &mut Vec<u8>| super::cut(bytes, &mut looked_at);
        assert_eq!(cut(&mut bytes).as_deref(), Some("{\"a\":\n1}"));
        assert_eq!(cut(&mut bytes).as_deref(), Some("{}"));
        assert_eq!(cut(&mut bytes), None, "the last one is not whole");
        for (more, want) in [("{}\r", None), ("\n\r", None), ("\n", Some("{}"))] {
            bytes.extend_from_slice(more.as_bytes());
            assert_eq!(cut(&mut bytes).as_deref(), want, "{more:?}");
        }
    }

    #[test]
    fn a_url_is_a_scheme_a_host_and_a_path() {
        #[rustfmt::skip]
        let cases = [
            ("http://127.0.0.1:3000/mcp", Some(("127.0.0.1:3000", "127.0.0.1", "/mcp"))),
            ("http://gate",               Some(("gate:80", "gate", "/"))),
            ("http://[::1]:80/a#b",       Some(("[::1]:80", "::1", "/a"))),
            ("ftp://gate",                None),
            ("http://a@b/",               None),
            ("gate",                      None),
        ];
        for (url, want) in cases {
            let got = Server::new(url, None).ok();
            let got = got.as_ref().map(|it| (it.authority.as_str(), it.host(), it.path.as_str()));
            assert_eq!(got, want, "`{url}`");
        }
    }
}
