//! Listeners: connections in, requests to the router, and what is known about who connects.

mod rest;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::authority::stopped;
use crate::router::{Shown, Visit};

/// So many connections are held at once, if the process may have as many descriptors.
const MOST_CONNECTIONS: usize = 20_000;

/// So many descriptors are kept for the store, the policy files and the log.
const KEPT_DESCRIPTORS: usize = 64;

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// How long open requests may take when the node goes down.
const LAST_TIME: Duration = Duration::from_secs(10);

/// What is known about a connection; clones are the same.
#[derive(Clone, Debug)]
pub struct Connection(Arc<Known>);

#[derive(Debug)]
struct Known {
    names: Option<Arc<Names>>,
    shown: Shown,
}

/// The names a listener answers to.
#[derive(Debug)]
pub struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    /// The names of a listener at an address, and those the configuration adds.
    #[must_use]
    pub fn new(address: SocketAddr, has_tls: bool, hosts: &[String], origins: &[String]) -> Names {
        let port = address.port();
        let mut own = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            own.extend([format!("localhost:{port}"), format!("127.0.0.1:{port}")]);
            own.push(format!("[::1]:{port}"));
        }
        let scheme = if has_tls { "https" } else { "http" };
        if port == if has_tls { 443 } else { 80 } {
            let bare: Vec<String> =
                own.iter().filter_map(|host| Some(host.rsplit_once(':')?.0.to_owned())).collect();
            own.extend(bare);
        }
        let mut own_origins: Vec<String> =
            own.iter().map(|host| format!("{scheme}://{host}")).collect();
        own_origins.extend(origins.iter().cloned());
        own.extend(hosts.iter().cloned());
        Names { hosts: own, origins: own_origins }
    }
}

impl Connection {
    /// A connection over the socket of this user.
    #[must_use]
    pub fn socket() -> Connection {
        Connection(Arc::new(Known { names: None, shown: Shown::default() }))
    }

    /// A connection to a listener with these names.
    #[must_use]
    pub fn tcp(names: Arc<Names>) -> Connection {
        Connection(Arc::new(Known { names: Some(names), shown: Shown::default() }))
    }

    /// Whether it came over the socket of this user.
    #[must_use]
    pub fn is_socket(&self) -> bool {
        self.0.names.is_none()
    }

    /// What was shown over it last.
    #[must_use]
    pub fn shown(&self) -> &Shown {
        &self.0.shown
    }

    /// Whether the listener answers to this `Host`.
    #[must_use]
    pub fn has_host(&self, host: &str) -> bool {
        let is_one =
            |names: &Arc<Names>| names.hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
        self.0.names.as_ref().is_none_or(is_one)
    }

    /// Whether the listener's pages have this `Origin`.
    #[must_use]
    pub fn has_origin(&self, origin: &str) -> bool {
        let is_one = |names: &Arc<Names>| names.origins.iter().any(|known| known == origin);
        self.0.names.as_ref().is_some_and(is_one)
    }
}

/// How many connections may be held at once: over the network, and over the socket of this user,
/// which a flood from outside must not close.
#[derive(Clone, Debug)]
pub struct Places {
    tcp: Arc<Semaphore>,
    socket: Arc<Semaphore>,
}

impl Places {
    /// As many as this process can hold.
    #[must_use]
    pub fn new() -> Places {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let most = descriptors(&limits).map_or(MOST_CONNECTIONS, |most| {
            most.saturating_sub(KEPT_DESCRIPTORS).clamp(16, MOST_CONNECTIONS)
        });
        let socket = most / 8;
        Places {
            tcp: Arc::new(Semaphore::new(most - socket)),
            socket: Arc::new(Semaphore::new(socket)),
        }
    }
}

/// How many descriptors the process may have, as the kernel tells it.
fn descriptors(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Serves connections of a TCP listener until the node goes down.
pub async fn serve_tcp(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    names: Arc<Names>,
    router: Router,
    stopping: watch::Receiver<bool>,
    places: Places,
) {
    let stop = stopping.clone();
    each(listener, stop, places.tcp, move |stream: TcpStream| {
        // Answers are small and somebody waits for them.
        let _ = stream.set_nodelay(true);
        let connection = Connection::tcp(Arc::clone(&names));
        let (tls, router, stopping) = (tls.clone(), router.clone(), stopping.clone());
        async move {
            let Some(tls) = tls else { return serve(stream, connection, router, stopping).await };
            // A client that begins a handshake and does not end it holds its place no longer than
            // one that does not end a head.
            let shaken = tokio::time::timeout(HEAD_TIME, tls.accept(stream)).await;
            if let Ok(Ok(stream)) = shaken {
                serve(stream, connection, router, stopping).await;
            }
        }
    })
    .await;
}

/// Serves connections of a socket in the file system, for this user only.
pub async fn serve_socket(
    listener: UnixListener,
    user: u32,
    router: Router,
    stopping: watch::Receiver<bool>,
    places: Places,
) {
    let stop = stopping.clone();
    each(listener, stop, places.socket, move |stream: UnixStream| {
        let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == user);
        let (router, stopping) = (router.clone(), stopping.clone());
        async move {
            if is_ours {
                serve(stream, Connection::socket(), router, stopping).await;
            } else {
                tracing::warn!("a connection of another user to the socket was closed");
            }
        }
    })
    .await;
}

/// Takes what comes in, each in a task of its own and so many at once, until the node goes down.
async fn each<L, Served>(
    mut listener: L,
    mut stopping: watch::Receiver<bool>,
    places: Arc<Semaphore>,
    take: impl Fn(L::Io) -> Served,
) where
    L: Listener,
    Served: Future<Output = ()> + Send + 'static,
{
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let served = tokio::select! {
            (stream, _) = listener.accept() => take(stream),
            () = stopped(&mut stopping) => return,
        };
        tokio::spawn(async move {
            served.await;
            drop(place);
        });
    }
}

/// Serves one connection.
async fn serve<S>(
    stream: S,
    connection: Connection,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Visit::over(connection.clone()));
        rest::answer(router.clone(), request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(64 << 10);
    // Answers are small: head and body go out as one piece.
    http.writev(false);
    let served = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::pin!(served);
    tokio::select! {
        // What goes wrong on a connection is its client's affair.
        _ = served.as_mut() => return,
        () = stopped(&mut stopping) => {}
    }
    served.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(LAST_TIME, served).await;
}

#[cfg(test)]
mod tests {
    use super::descriptors;

    #[test]
    fn the_kernel_tells_how_many_descriptors_there_are() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
            Max open files            1024                 524288               files\n";
        assert_eq!(descriptors(limits), Some(1024));
        assert_eq!(descriptors("Max open files  unlimited  unlimited  files"), None);
        assert_eq!(descriptors(""), None);
    }
}
