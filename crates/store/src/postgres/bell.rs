//! The bell between nodes: one connection listens, tells others to look, and looks by itself now
//! and then, because a word may be lost.
//!
//! What is said carries nothing: whoever hears it reads the store. It is said behind the commit,
//! over this connection and without a sync of its own; inside the transaction it would make all
//! commits of the database wait for each other.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_postgres::{AsyncMessage, Client};

use super::address::Address;
use super::chain::{NEWEST, Written};
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
/// `written` tells what this node wrote, `bell` is told what anybody did. Others are not told of
/// verdicts alone: who wants those hears of them when it looks by itself.
pub(super) async fn tend(
    address: Address,
    mut written: watch::Receiver<Written>,
    bell: Bell,
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
                    bell.ring_own(*written.borrow_and_update());
                }
            }
        }
    }
}

async fn listen(
    address: &Address,
    written: &mut watch::Receiver<Written>,
    bell: &Bell,
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
    let mut told = written.borrow().change;
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let ended = loop {
        tokio::select! {
            changed = written.changed() => {
                if changed.is_err() {
                    break Ok(());
                }
                let newest = *written.borrow_and_update();
                bell.ring_own(newest);
                if newest.change <= told {
                    continue;
                }
                told = newest.change;
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
async fn look_at(client: &Client, bell: &Bell) -> Result<(), StoreError> {
    let newest =
        within(PATIENCE, async { Ok(client.query_one(NEWEST, &[]).await?.try_get::<_, i64>(0)?) });
    bell.ring_others(number(newest.await?));
    Ok(())
}

/// Where this node hears the bell.
pub(super) struct Bell {
    newest: watch::Sender<u64>,
    changed: Arc<AtomicU64>,
}

impl Bell {
    /// A bell that has rung for what is there, and who hears it.
    pub(super) fn new(newest: u64) -> (Bell, watch::Receiver<u64>, Arc<AtomicU64>) {
        let (sender, receiver) = watch::channel(newest);
        let changed = Arc::new(AtomicU64::new(newest));
        (Bell { newest: sender, changed: Arc::clone(&changed) }, receiver, changed)
    }

    /// Rings for what this node wrote. Where others wrote in between, verdicts alone are left to
    /// the next look: what others did meanwhile, if it matters, they tell.
    fn ring_own(&self, written: Written) {
        let known = *self.newest.borrow();
        let has_changed = written.change > known;
        if has_changed || written.since <= known {
            self.ring(written.newest, has_changed);
        }
    }

    /// Rings for what anybody wrote.
    fn ring_others(&self, newest: u64) {
        let known = *self.newest.borrow();
        self.ring(newest, newest > known);
    }

    // INVARIANT: what changed is known before the bell rings for it.
    fn ring(&self, newest: u64, has_changed: bool) {
        if has_changed {
            self.changed.fetch_max(newest, Ordering::AcqRel);
        }
        self.newest.send_if_modified(|known| {
            let is_newer = newest > *known;
            *known = newest.max(*known);
            is_newer
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_change_is_read_and_verdicts_of_ones_own_are_not() {
        let own = |since, newest, change| Some(Written { since, newest, change });
        #[rustfmt::skip]
        let cases = [
            (own(10, 12, 10), None,     (12, 10), "verdicts of its own behind what is known"),
            (own(10, 14, 13), None,     (14, 14), "a change among them"),
            (own(16, 18, 13), None,     (14, 14), "others wrote before: left to the next look"),
            (own(16, 20, 19), None,     (20, 20), "others wrote before a change of its own"),
            (own(16, 22, 19), None,     (22, 20), "its own again, behind what is known"),
            (own(24, 25, 19), None,     (22, 20), "others wrote before"),
            (own(24, 27, 19), None,     (22, 20), "what others wrote is not passed over"),
            (None,            Some(27), (27, 27), "a look finds it"),
            (None,            Some(27), (27, 27), "nothing new"),
            (own(24, 29, 19), None,     (29, 27), "its own again, behind what is known"),
        ];
        let (bell, newest, changed) = Bell::new(10);
        for (own, others, want, why) in cases {
            if let Some(written) = own {
                bell.ring_own(written);
            }
            if let Some(newest) = others {
                bell.ring_others(newest);
            }
            assert_eq!((*newest.borrow(), changed.load(Ordering::Acquire)), want, "{why}");
        }
    }
}
