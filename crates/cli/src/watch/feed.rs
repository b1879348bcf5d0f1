//! The feed: followed for as long as the inbox is open, over every gap.

use std::time::Duration;

use portcullis_client::{Client, ClientError};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::state::{Event, Link};

/// How long is waited before the feed is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Follows the feed and tells what happens there; ends when nobody listens any more.
///
/// # Errors
/// The daemon refuses, or was never there.
pub async fn follow(client: Client, tell: UnboundedSender<Event>) -> Result<(), ClientError> {
    let mut cursor: Option<String> = None;
    let mut was_there = false;
    loop {
        match client.events(cursor.as_deref()).await {
            Ok(mut events) => {
                if cursor.is_none() && was_there && !reread(&client, &tell).await {
                    return Ok(());
                }
                was_there = true;
                if tell.send(Event::Link(Link::Live)).is_err() {
                    return Ok(());
                }
                loop {
                    match events.next().await {
                        Ok(Some(event)) => {
                            cursor = Some(event.cursor.clone());
                            if !pass(&client, &tell, &event.kind, event.whole).await {
                                return Ok(());
                            }
                        }
                        Ok(None) | Err(ClientError::Broken(_) | ClientError::Late) => break,
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) if was_there && error.is_passing() => {}
            // Another store than before knows no such place; what is pending there counts.
            Err(ClientError::Refused { status: 400, .. }) if cursor.is_some() => cursor = None,
            Err(error) => return Err(error),
        }
        if tell.send(Event::Link(Link::Away)).is_err() {
            return Ok(());
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Passes one event on; whether anybody still listens.
async fn pass(
    client: &Client,
    tell: &UnboundedSender<Event>,
    kind: &str,
    mut whole: Value,
) -> bool {
    let ask = whole.get_mut("ask").map(Value::take).unwrap_or_default();
    match kind {
        "ask.opened" => tell.send(Event::Opened(ask)).is_ok(),
        "ask.settled" => tell.send(Event::Settled(ask)).is_ok(),
        "resync" => reread(client, tell).await,
        _ => true,
    }
}

/// Reads what is pending; whether anybody still listens.
async fn reread(client: &Client, tell: &UnboundedSender<Event>) -> bool {
    match client.pending().await {
        Ok(asks) => tell.send(Event::Pending(asks)).is_ok(),
        Err(error) => tell.send(Event::Told(error.to_string())).is_ok(),
    }
}
