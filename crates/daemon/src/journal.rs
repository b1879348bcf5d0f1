//! The journal of the hooks: what was judged while no daemon ran, taken into the audit.
//!
//! A hook appends to the file under a lock and looks whether it is still the file of that name;
//! so it is moved away under the same lock and read in peace. What was moved and not yet taken
//! when a node died is taken by the next one.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use portcullis_approval::audit::{Chain, Entry};
use portcullis_approval::canonical::{Canonical, object, quoted};
use portcullis_store::StoreError;
use serde_json::Value;

use crate::authority::Authority;

/// Whose affair local calls are.
const LOCAL: &str = "local";

/// So many entries are written at once.
const GROUP: usize = 500;

/// Takes the journal at `path` into the audit, if there is one.
pub async fn take(authority: &Authority, path: &Path) {
    let moved = path.with_extension("taken");
    for _ in 0..2 {
        if moved.exists() {
            let taken = match fs::read(&moved) {
                // Bytes that are no text were not written by a hook: they break the chain, and
                // what stands around them is taken all the same.
                Ok(bytes) => record(authority, &String::from_utf8_lossy(&bytes))
                    .await
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            if let Err(error) = taken.and_then(|()| remove(&moved)) {
                tracing::error!("the journal of the hooks could not be taken over: {error}");
                return;
            }
        }
        match move_away(path, &moved) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::error!("the journal of the hooks could not be taken over: {error}");
                return;
            }
        }
    }
}

fn remove(path: &Path) -> Result<(), String> {
    fs::remove_file(path).map_err(|error| error.to_string())
}

/// Moves the journal away while no hook writes; false where there is none.
fn move_away(path: &Path, moved: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    file.lock()?;
    fs::rename(path, moved)?;
    Ok(true)
}

/// Writes the lines of a journal into the audit, and whether they were a chain.
async fn record(authority: &Authority, text: &str) -> Result<(), StoreError> {
    let now = authority.now();
    let mut chain = Chain::default();
    let mut broken = None;
    let mut entries = Vec::new();
    let mut count = 0_u64;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if broken.is_none() {
            broken = chain.take(line).err();
        }
        entries.extend(entry(line, now));
        count += 1;
        if entries.len() == GROUP {
            authority.store().record(std::mem::take(&mut entries), Vec::new(), now).await?;
        }
    }
    let mut data = vec![("entries", count.to_string())];
    data.extend(broken.as_ref().map(|broken| ("broken", quoted(&broken.to_string()))));
    if let Some(broken) = &broken {
        tracing::error!("the journal of the hooks was changed: {broken}");
    }
    entries.push(Entry {
        kind: "journal.taken",
        at: now,
        actor: "portcullis".to_owned(),
        subject: "journal".to_owned(),
        owner: None,
        data: object(data).into(),
    });
    authority.store().record(entries, Vec::new(), now).await?;
    tracing::info!("took {count} entries of the hooks' journal");
    Ok(())
}

/// A line as an entry of the audit; what is no entry is only counted.
fn entry(line: &str, now: portcullis_approval::Moment) -> Option<Entry> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let kind = match text("kind")? {
        "call.judged" => "call.judged",
        "hook.observed" => "hook.observed",
        "hook.paused" => "hook.paused",
        "hook.resumed" => "hook.resumed",
        _ => "journal.other",
    };
    let mut data = value.get("data")?.as_object()?.clone();
    data.insert("journaled_at".to_owned(), text("at")?.into());
    data.insert("journal_hash".to_owned(), text("hash")?.into());
    Some(Entry {
        kind,
        at: now,
        actor: "hook".to_owned(),
        subject: text("subject")?.to_owned(),
        owner: Some(LOCAL.to_owned()),
        data: Canonical::read(&Value::Object(data).to_string())?,
    })
}
