//! What a node does by itself while it is up: it looks after policies, the clock, checkpoints, old
//! things, and counts calls together with other nodes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval, interval_at};

use crate::authority::Authority;
use crate::{App, config, journal, signing};

/// How often policy files and the machine's sleep are looked at, and other nodes told.
const LOOK: Duration = Duration::from_secs(1);

/// How often the end of the chain is signed.
const SIGN: Duration = Duration::from_mins(5);

/// How often old things are removed, and how soon after the start for the first time.
const PRUNE: Duration = Duration::from_hours(1);
const FIRST_PRUNE: Duration = Duration::from_secs(30);

/// Looks after policies, the clock, checkpoints and retention until the node goes down.
pub(crate) async fn tend(app: App, journal: Option<PathBuf>) {
    let mut look = interval(LOOK);
    let mut signs = interval(SIGN);
    let mut cleans = interval_at(tokio::time::Instant::now() + FIRST_PRUNE, PRUNE);
    loop {
        tokio::select! {
            _ = look.tick() => {
                follow_clock(&app.authority).await;
                app.look_at_policies(None).await;
                app.authority.keep_policies().await;
                app.authority.note_profiles().await;
                app.authority.tend_pauses().await;
                if let Some(journal) = &journal {
                    journal::take(&app.authority, journal).await;
                }
            }
            _ = signs.tick() => {
                signing::look(&app.authority).await;
                signing::sign(&app.authority).await;
            }
            _ = cleans.tick() => {
                let config::Retention { days, megabytes } = app.config.retention;
                let kept = portcullis_store::Retention { days, megabytes };
                match app.authority.store().prune(&kept, app.authority.now()).await {
                    Ok(pruned) => tracing::info!(
                        "removed {} asks, {} grants and {} entries that were old enough",
                        pruned.asks, pruned.grants, pruned.entries
                    ),
                    Err(error) => tracing::error!("old things could not be removed: {error}"),
                }
            }
            () = app.authority.stopped() => return,
        }
    }
}

/// Counts calls together with other nodes until this one goes down.
pub(crate) async fn share_rates(authority: Authority) {
    let mut share = interval(LOOK);
    share.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = share.tick() => if let Err(error) = authority.share_rates().await {
                tracing::debug!("calls are counted here alone for a while: {error}");
            },
            () = authority.stopped() => return,
        }
    }
}

/// Keeps the clock right: by the database's where it decides, by the kernel's otherwise.
async fn follow_clock(authority: &Authority) {
    let asked = Instant::now();
    match authority.store().clock().await {
        Ok(Some(moment)) => authority.clock().follow(moment, asked, asked.elapsed()),
        Ok(None) => authority.clock().catch_up(),
        // Who cannot be asked now is asked again in a second; until then time goes on by itself.
        Err(_) => {}
    }
}
