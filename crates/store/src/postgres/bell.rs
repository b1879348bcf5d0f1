//! The bell between nodes: one connection listens, tells others to look, and looks by itself now
//! and then, because a word may be lost.
//!
//! What is said carries nothing: whoever hears it reads the store. It is said behind the commit,
//! over this connection and without a sync of its own; inside the transaction it would make all
//! commits of the database wait for each other.

use std::future::poll_fn;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_postgres::{AsyncMessage, Client};

use super::address::Address;
use super::chain::NEWEST;
use super::pool::within;
use crate::StoreError;
use crate::rows::number;

/// How often the store is looked at without a word.
const LOOK: Duration = Duration::from_secs(1);

/// How long a look may take before the connection counts as gone.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long nobody tries again after the connection was lost.
const PAUSE: Duration = Duration::from_millis(500);

/// Where it is rung.
const LISTEN: &str = "SET synchronous_commit = off; LISTEN portcullis; SELECT \
    pg_advisory_lock_shared(1885564019, hashtext(current_schema()))";

/// How many nodes hold the lock that every one of them shares.
pub(super) const OTHERS: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND classid = 1885564019 AND objsubid = 2 \
    AND objid::bigint = (hashtext(current_schema())::bigint & 4294967295)";

const RING: &str = "NOTIFY portcullis";

/// Listens and rings until `stop` goes.
///
/// `written` tells what this node wrote, `bell` is told what anybody did.
pub(super) async fn tend(
    address: Address,
    mut written: watch::Receiver<u64>,
    bell: watch::Sender<u64>,
    mut stop: oneshot::Receiver<()>,
) {
    loop {
        let listening = listen(&address, &mut written, &bell);
        tokio::select! {
            _ = &mut stop => return,
            ended = listening => {
                if let Err(error) = ended {
                    tracing::warn!("the bell cannot be heard: {error:?}; the store is asked again");
                }
            }
        }
        // What this node writes is heard here even while nobody else is.
        let pause = tokio::time::sleep(PAUSE);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                _ = &mut stop => return,
                () = &mut pause => break,
                changed = written.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    ring(&bell, *written.borrow_and_update());
                }
            }
        }
    }
}

async fn listen(
    address: &Address,
    written: &mut watch::Receiver<u64>,
    bell: &watch::Sender<u64>,
) -> Result<(), StoreError> {
    let (client, mut connection) = address.config.connect(address.tls.clone()).await?;
    let (heard, mut words) = mpsc::unbounded_channel();
    let driver = tokio::spawn(async move {
        // Ends with the connection or with whoever listens.
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(word) = message
                && heard.send(word.process_id()).is_err()
            {
                return;
            }
        }
    });
    let own = within(PATIENCE, async {
        client.batch_execute(LISTEN).await?;
        Ok(client.query_one("SELECT pg_backend_pid()", &[]).await?.try_get::<_, i32>(0)?)
    });
    let own = own.await?;
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let ended = loop {
        tokio::select! {
            changed = written.changed() => {
                if changed.is_err() {
                    break Ok(());
                }
                ring(bell, *written.borrow_and_update());
                let said = within(PATIENCE, async { Ok(client.batch_execute(RING).await?) }).await;
                if said.is_err() {
                    break said;
                }
            }
            word = words.recv() => match word {
                Some(process) => {
                    // Many words are one: they all say the same.
                    let mut is_foreign = process != own;
                    while let Some(Some(process)) = words.recv().now_or_never() {
                        is_foreign |= process != own;
                    }
                    if is_foreign && let Err(error) = look_at(&client, bell).await {
                        break Err(error);
                    }
                }
                None => break Err(crate::broken("the connection ended")),
            },
            _ = look.tick() => if let Err(error) = look_at(&client, bell).await {
                break Err(error);
            }
        }
    };
    driver.abort();
    ended
}

/// Reads what is newest and tells it.
async fn look_at(client: &Client, bell: &watch::Sender<u64>) -> Result<(), StoreError> {
    let newest =
        within(PATIENCE, async { Ok(client.query_one(NEWEST, &[]).await?.try_get::<_, i64>(0)?) });
    ring(bell, number(newest.await?));
    Ok(())
}

fn ring(bell: &watch::Sender<u64>, position: u64) {
    bell.send_if_modified(|known| {
        let is_newer = position > *known;
        *known = position.max(*known);
        is_newer
    });
}
