//! The link: one request over the socket or over TCP.

use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::error::ClientError;

/// The longest answer that is read.
const MOST_BYTES: usize = 64 << 20;

/// Where a daemon is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Behind a socket of this machine.
    Socket(PathBuf),
    /// Behind `HOST:PORT`.
    Tcp(String),
}

impl Address {
    /// The daemon behind a URL.
    ///
    /// # Errors
    /// It is not `http://HOST[:PORT]`.
    pub fn url(url: &str) -> Result<Address, ClientError> {
        let bad = || ClientError::Address(url.to_owned());
        let rest = url.strip_prefix("http://").ok_or_else(bad)?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        if authority.is_empty() || !authority.bytes().all(is_plain) {
            return Err(bad());
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
        Ok(Address::Tcp(if has_port { authority.to_owned() } else { format!("{authority}:80") }))
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Socket(path) => write!(f, "{}", path.display()),
            Address::Tcp(authority) => write!(f, "http://{authority}"),
        }
    }
}

/// What stands above a body.
pub(crate) struct Head<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) key: Option<&'a str>,
    pub(crate) door: &'static str,
}

/// Sends one request; the answer's head is there when this returns.
pub(crate) async fn request(
    address: &Address,
    head: Head<'_>,
    body: Option<String>,
) -> Result<Response<Incoming>, ClientError> {
    let unreachable = |cause| ClientError::Unreachable { at: address.to_string(), cause };
    match address {
        Address::Socket(path) => {
            let stream = UnixStream::connect(path).await.map_err(unreachable)?;
            send(stream, "localhost", head, body).await
        }
        Address::Tcp(authority) => {
            let stream = TcpStream::connect(authority.as_str()).await.map_err(unreachable)?;
            send(stream, authority, head, body).await
        }
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    host: &str,
    head: Head<'_>,
    body: Option<String>,
) -> Result<Response<Incoming>, ClientError> {
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(ClientError::Broken)?;
    // It ends with the answer; what went wrong with it is told to whoever reads the answer.
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(head.method)
        .uri(head.path)
        .header(header::HOST, host)
        .header("x-portcullis-door", head.door);
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/json");
    }
    if let Some(key) = head.key {
        request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
    }
    let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|_| {
        ClientError::Address("the key or the address has odd characters".to_owned())
    })?;
    sender.send_request(request).await.map_err(ClientError::Broken)
}

/// Reads an answer to its end.
pub(crate) async fn read(
    reply: Response<Incoming>,
    limit: Duration,
) -> Result<Vec<u8>, ClientError> {
    let mut incoming = reply.into_body();
    let mut body = Vec::new();
    let whole = async {
        while let Some(frame) = incoming.frame().await {
            if let Ok(data) = frame.map_err(ClientError::Broken)?.into_data() {
                body.extend_from_slice(&data);
            }
            if body.len() > MOST_BYTES {
                return Err(ClientError::Unreadable("it does not end".to_owned()));
            }
        }
        Ok(body)
    };
    tokio::time::timeout(limit, whole).await.map_err(|_| ClientError::Late)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        #[rustfmt::skip]
        let cases = [
            ("http://127.0.0.1:4283",  Some("127.0.0.1:4283")),
            ("http://127.0.0.1:4283/", Some("127.0.0.1:4283")),
            ("http://gate",            Some("gate:80")),
            ("http://[::1]:4283",      Some("[::1]:4283")),
            ("https://gate",           None),
            ("gate:4283",              None),
            ("http://a@b",             None),
            ("http://gate/v1",         None),
        ];
        for (url, want) in cases {
            let got = Address::url(url).ok();
            assert_eq!(got, want.map(|at| Address::Tcp(at.to_owned())), "`{url}`");
        }
    }
}
