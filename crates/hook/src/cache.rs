//! What a hook keeps of the policy of a daemon on another machine (`policy.cache`), to judge by
//! while that daemon cannot be reached.
//!
//! The daemon names the version in force with each answer; where another one is kept, or none, or
//! one that does not hold, it is fetched anew. What this is worth is for others to say: writing,
//! hashes and signatures are functions in [`Cache`].

use std::path::Path;
use std::time::{Duration, Instant};

use crate::http::{Connection, Said};
use crate::link::Place;
use crate::watched::Watch;
use crate::{Started, json};

/// How long fetching may take; the answer to a call waits for it.
const LIMIT: Duration = Duration::from_secs(2);

/// How long before the deadline there must be time for the answer itself.
const MARGIN: Duration = Duration::from_millis(500);

/// What is done with what is kept.
#[derive(Clone, Copy)]
pub struct Cache {
    /// What the holder of an agent's key is called.
    pub holder: fn(&str) -> String,
    /// The version that is kept, if it holds.
    pub version: fn(&Kept<'_>) -> Option<String>,
    /// Keeps this text in its place; where it does not hold or cannot be written, nothing is kept.
    pub keep: fn(&Kept<'_>, &str),
    /// Keeps nothing.
    pub forget: fn(&Kept<'_>),
}

/// Where something is kept, and for whom.
pub struct Kept<'a> {
    /// The data directory.
    pub directory: &'a Path,
    /// The pinned key of the daemon.
    pub key: &'a str,
    /// What the holder of the agent's key is called.
    pub holder: &'a str,
}

/// Sees to it that what is kept is of this version.
///
/// What cannot be fetched is not kept in an older version: calls are denied then, while the daemon
/// is away.
pub fn refresh(started: &Started, place: &Place, version: &str, watch: &Watch) {
    let (Some(directory), Some(key)) = (place.data_dir.as_deref(), place.installed.key.as_deref())
    else {
        return;
    };
    let Some(holder) = place.holder(started) else { return };
    let kept = Kept { directory, key, holder: &holder };
    if (started.cache.version)(&kept).as_deref() == Some(version) {
        return;
    }
    match fetched(place, watch) {
        Some(text) => (started.cache.keep)(&kept, &text),
        None => (started.cache.forget)(&kept),
    }
}

/// What the daemon says that may be kept.
fn fetched(place: &Place, watch: &Watch) -> Option<String> {
    let (server, secret) = place.server(watch).ok()??;
    let last = watch.end.checked_sub(MARGIN)?;
    let end = (Instant::now() + LIMIT).min(last);
    let stream = server.connect(end).ok()?;
    let connection = Connection { stream, end, watch: Some(watch) };
    let said = server.say(connection, "GET", "/v1/policy/cache", secret.as_deref(), "");
    let reply = said.and_then(Said::hear).ok().filter(|reply| reply.status == 200)?;
    let value = json::value(&reply.body).ok()?;
    value.get("cache")?.as_str().map(str::to_owned)
}
