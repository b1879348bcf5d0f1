//! `policy.cache`: what is kept of the policy of a daemon on another machine.
//!
//! It counts only if it is this user's own file, in a directory of this user's own, writable by
//! nobody else, and if the daemon that was pinned has signed exactly this for the key that is
//! shown there. Whatever does not count is as good as nothing: calls are denied then.

use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use portcullis_approval::audit::unhex;
use portcullis_approval::cache::{Cache, holder};
use portcullis_approval::receipt::PublicKey;
use portcullis_engine::{Policy, PolicyText, Source};
use portcullis_hook::cache::{self, Kept};
use rustix::fs::{Mode, OFlags, open};
use serde_json::Value;

/// The file in the data directory.
pub const FILE: &str = "policy.cache";

/// A longer file is refused.
const MOST_BYTES: u64 = 16 << 20;

/// What the hook is handed.
pub const CACHE: cache::Cache = cache::Cache { holder, version, keep, forget };

/// What is kept, if anything is; for whose key is not looked at.
///
/// # Errors
/// Something is there and does not count.
pub fn read(directory: &Path, key: &str) -> anyhow::Result<Option<Cache>> {
    let path = directory.join(FILE);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(&path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => bail!("it cannot be read: {error}"),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        bail!("it is no regular file");
    }
    if !is_private(&metadata) || !is_private(&fs::metadata(directory)?) {
        bail!("others own or may write it or its directory");
    }
    let mut text = String::new();
    let length = file.take(MOST_BYTES + 1).read_to_string(&mut text).context("it is no text")?;
    if length as u64 > MOST_BYTES {
        bail!("it is longer than {} MiB", MOST_BYTES >> 20);
    }
    verified(&text, key).map(Some)
}

/// The policy that is kept for the holder of a key.
///
/// # Errors
/// None is, or it does not count.
pub fn policy(directory: &Path, key: &str, holder: &str) -> anyhow::Result<Policy> {
    let cache = read(directory, key)?.context("there is none")?;
    if cache.holder != holder {
        bail!("it was made for another agent's key");
    }
    understood(&cache)
}

/// The policy in what is kept.
///
/// # Errors
/// It is none to this version.
pub fn understood(cache: &Cache) -> anyhow::Result<Policy> {
    let document: Value = serde_json::from_str(&cache.document)?;
    let layers = document.get("layers").and_then(Value::as_array).context("it has no layers")?;
    let layers = layers.iter().map(layer).collect::<anyhow::Result<Vec<_>>>()?;
    Policy::of_layers(&layers).map_err(|error| anyhow!("{error}"))
}

fn layer(layer: &Value) -> anyhow::Result<(Source, PolicyText)> {
    let source = match layer.get("source").and_then(Value::as_str) {
        Some("organization") => Source::Organization,
        Some("user") => Source::User,
        _ => bail!("it has a layer of an unknown source"),
    };
    let text = layer.get("policy").context("a layer says nothing")?;
    let text = PolicyText::from_json(text).map_err(|error| anyhow!("{error}"))?;
    Ok((source, text))
}

fn version(kept: &Kept<'_>) -> Option<String> {
    let cache = read(kept.directory, kept.key).ok()??;
    (cache.holder == kept.holder).then_some(cache.version)
}

fn keep(kept: &Kept<'_>, text: &str) {
    let is_ours = |text: &str| verified(text, kept.key).is_ok_and(|it| it.holder == kept.holder);
    if !is_ours(text) || write(kept.directory, text).is_err() {
        forget(kept);
    }
}

fn forget(kept: &Kept<'_>) {
    let _ = fs::remove_file(kept.directory.join(FILE));
}

fn verified(text: &str, key: &str) -> anyhow::Result<Cache> {
    let key = unhex(key).and_then(|key| PublicKey::new(&key)).context("no key was pinned")?;
    Ok(Cache::verify(text, &key)?)
}

/// Writes it whole or not at all, for this user alone.
fn write(directory: &Path, text: &str) -> std::io::Result<()> {
    if !is_private(&fs::metadata(directory)?) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    let (mut file, beside) = portcullis_layers::files::beside(directory, 0o600)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| fs::rename(&beside, directory.join(FILE)));
    if placed.is_err() {
        let _ = fs::remove_file(&beside);
    }
    placed?;
    File::open(directory)?.sync_all()
}

/// Whether it belongs to the user of this process, and nobody else may write it.
fn is_private(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}
