//! The feed, as server-sent events.

use std::collections::VecDeque;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use serde_json::Value;

use crate::error::ClientError;

/// A daemon says every 15 seconds that it lives.
const SILENCE: Duration = Duration::from_mins(1);

/// The longest event.
const MOST_BYTES: usize = 32 << 20;

/// One event of the feed.
#[derive(Clone, Debug)]
pub struct Event {
    /// Where the feed goes on behind it.
    pub cursor: String,
    /// What happened.
    pub kind: String,
    /// All of it.
    pub whole: Value,
}

/// A feed that is followed.
pub struct Events {
    body: Incoming,
    text: Vec<u8>,
    ready: VecDeque<Event>,
}

impl Events {
    pub(crate) fn new(reply: Response<Incoming>) -> Events {
        Events { body: reply.into_body(), text: Vec::new(), ready: VecDeque::new() }
    }

    /// The next event; none when the daemon goes down.
    ///
    /// # Errors
    /// The connection broke or fell silent, or an event cannot be read.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let frame = tokio::time::timeout(SILENCE, self.body.frame()).await;
            let Some(frame) = frame.map_err(|_| ClientError::Late)? else { return Ok(None) };
            if let Ok(data) = frame.map_err(ClientError::Broken)?.into_data() {
                self.text.extend_from_slice(&data);
            }
            if self.text.len() > MOST_BYTES {
                return Err(ClientError::Unreadable("an event does not end".to_owned()));
            }
            self.cut()?;
        }
    }

    /// Takes whole events out of what came.
    fn cut(&mut self) -> Result<(), ClientError> {
        let is_end = |pair: &[u8]| pair == b"\n\n";
        while let Some(at) = self.text.windows(2).position(is_end) {
            let block: Vec<u8> = self.text.drain(..at + 2).collect();
            let block = String::from_utf8_lossy(&block);
            let data: String =
                block.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            if data.is_empty() {
                continue;
            }
            let whole: Value = serde_json::from_str(&data)
                .map_err(|_| ClientError::Unreadable("an event is not JSON".to_owned()))?;
            let text = |name: &str| whole.get(name).and_then(Value::as_str).map(str::to_owned);
            let (Some(cursor), Some(kind)) = (text("cursor"), text("type")) else {
                return Err(ClientError::Unreadable("an event has no type".to_owned()));
            };
            self.ready.push_back(Event { cursor, kind, whole });
        }
        Ok(())
    }
}
