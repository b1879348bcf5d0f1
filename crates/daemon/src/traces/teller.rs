//! The teller: takes spans that have ended and posts them to the collector, many at once.

use std::time::Duration;

use portcullis_wire::traces::{Export, Span};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::config::ConfigError;

/// So many spans are told at once.
const MOST_AT_ONCE: usize = 512;

/// How long spans are gathered.
const GATHER: Duration = Duration::from_millis(500);

/// How long the collector may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The path that takes traces, below the address that is configured.
const PATH: &str = "/v1/traces";

/// Where the collector is.
#[derive(Debug)]
pub(super) struct Collector {
    authority: String,
    path: String,
}

impl Collector {
    /// The collector at an address such as `http://127.0.0.1:4318`.
    pub(super) fn at(endpoint: &str) -> Result<Collector, ConfigError> {
        let wrong = |why: &str| {
            let message = format!(
                "`otlp.endpoint`: `{endpoint}` {why}; use the address of a collector near by, such \
                 as `http://127.0.0.1:4318`"
            );
            Err(ConfigError::new(message))
        };
        let Some(rest) = endpoint.strip_prefix("http://") else {
            return wrong("does not begin with `http://`");
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'@';
        if authority.is_empty() || !endpoint.bytes().all(is_plain) {
            return wrong("is no plain address");
        }
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.ends_with(']') && port.parse::<u16>().is_ok());
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:4318") };
        let path = path.trim_end_matches('/');
        let path = if path.ends_with(PATH) { path.to_owned() } else { format!("{path}{PATH}") };
        Ok(Collector { authority, path })
    }

    async fn post(&self, body: &[u8]) -> Result<(), String> {
        let told = |error: std::io::Error| error.to_string();
        let mut stream = TcpStream::connect(&self.authority).await.map_err(told)?;
        let Collector { authority, path } = self;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.map_err(told)?;
        stream.write_all(body).await.map_err(told)?;
        // The first line tells; whatever else it says is not asked for.
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.map_err(told)?;
        match answer {
            [b'H', b'T', b'T', b'P', b'/', b'1', b'.', _, b' ', b'2', _, _] => Ok(()),
            _ => Err(format!("it answered `{}`", String::from_utf8_lossy(&answer))),
        }
    }
}

/// What posts spans.
#[derive(Debug)]
pub struct Teller {
    collector: Collector,
    spans: mpsc::Receiver<Span>,
}

impl Teller {
    pub(super) const fn new(collector: Collector, spans: mpsc::Receiver<Span>) -> Teller {
        Teller { collector, spans }
    }

    /// Posts what comes until `stop`, then what is left.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        let mut is_heard = true;
        loop {
            let mut batch = Vec::new();
            let stops = tokio::select! {
                () = &mut stop => true,
                // Nothing is sent while nothing comes.
                count = self.spans.recv_many(&mut batch, MOST_AT_ONCE) => {
                    if count == 0 {
                        return;
                    }
                    tokio::time::sleep(GATHER).await;
                    false
                }
            };
            while let Ok(span) = self.spans.try_recv() {
                batch.push(span);
            }
            if !batch.is_empty() {
                self.tell(batch, &mut is_heard).await;
            }
            if stops {
                return;
            }
        }
    }

    async fn tell(&self, batch: Vec<Span>, is_heard: &mut bool) {
        let export = Export::new(env!("CARGO_PKG_VERSION"), batch);
        let body = serde_json::to_vec(&export).unwrap_or_default();
        let posted = tokio::time::timeout(PATIENCE, self.collector.post(&body));
        let failure = match posted.await {
            Ok(Ok(())) => None,
            Ok(Err(why)) => Some(why),
            Err(_) => Some("it takes too long".to_owned()),
        };
        // Said once, not every half second.
        match (failure, *is_heard) {
            (Some(why), true) => {
                *is_heard = false;
                let at = &self.collector.authority;
                tracing::warn!("traces do not reach the collector at {at}: {why}");
            }
            (None, false) => {
                *is_heard = true;
                tracing::info!("traces reach the collector again");
            }
            (Some(_), false) | (None, true) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Collector;

    #[test]
    fn a_collector_has_a_plain_address() {
        #[rustfmt::skip]
        let cases = [
            ("http://127.0.0.1:4318",             Some(("127.0.0.1:4318", "/v1/traces"))),
            ("http://collector",                  Some(("collector:4318", "/v1/traces"))),
            ("http://[::1]",                      Some(("[::1]:4318", "/v1/traces"))),
            ("http://[::1]:9/otel/",              Some(("[::1]:9", "/otel/v1/traces"))),
            ("http://collector:80/v1/traces",     Some(("collector:80", "/v1/traces"))),
            ("https://collector",                 None),
            ("http://",                           None),
            ("http://user:password@collector",    None),
            ("http://collector\r\nX: y",          None),
            ("collector:4318",                    None),
        ];
        for (endpoint, want) in cases {
            let at = Collector::at(endpoint);
            let got = at.as_ref().ok().map(|at| (at.authority.as_str(), at.path.as_str()));
            assert_eq!(got, want, "`{endpoint}`");
        }
    }
}
