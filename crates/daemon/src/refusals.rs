//! Refusals: every request that was not served is recorded, without making it dearer.

use axum::http::{Method, StatusCode};
use portcullis_approval::audit::Entry;
use portcullis_approval::canonical::{object, quoted};
use tokio::sync::mpsc;

use crate::authority::Authority;

/// So many wait to be written; beyond that they are counted only.
const MOST_WAITING: usize = 1024;

/// A request that was not served.
#[derive(Debug)]
pub struct Refused {
    method: String,
    path: &'static str,
    status: u16,
    actor: Option<String>,
}

impl Refused {
    /// A request of this method to this route, answered with this status.
    #[must_use]
    pub fn new(
        method: &Method,
        path: &'static str,
        status: StatusCode,
        actor: Option<String>,
    ) -> Refused {
        Refused { method: method.to_string(), path, status: status.as_u16(), actor }
    }
}

/// Where refusals are noted.
#[derive(Clone, Debug)]
pub struct Refusals {
    sender: mpsc::Sender<Refused>,
}

impl Refusals {
    /// Begins to write refusals down.
    #[must_use]
    pub fn new(authority: &Authority) -> Refusals {
        let (sender, mut receiver) = mpsc::channel(MOST_WAITING);
        let authority = authority.clone();
        tokio::spawn(async move {
            let mut batch = Vec::new();
            while receiver.recv_many(&mut batch, MOST_WAITING).await > 0 {
                let now = authority.now();
                let entries = batch.drain(..).map(|refused: Refused| Entry {
                    kind: "access.refused",
                    at: now,
                    actor: refused.actor.unwrap_or_else(|| "unknown".to_owned()),
                    subject: format!("{} {}", refused.method, refused.path),
                    owner: None,
                    data: object(vec![("status", quoted(&refused.status.to_string()))]).into(),
                });
                let entries = entries.collect();
                if let Err(error) = authority.store().record(entries, Vec::new(), now).await {
                    tracing::warn!("refusals could not be recorded: {error}");
                }
            }
        });
        Refusals { sender }
    }

    /// Notes one; never waits.
    pub fn note(&self, refused: Refused) {
        // A flood is not worth more than a full queue of entries.
        let _ = self.sender.try_send(refused);
    }
}
