//! The journal: what was judged without a daemon, one line each, chained by hash.
//!
//! Lines have the form of audit entries of the node `journal`. The daemon takes the file over when
//! it finds one, so that everything is in one record in the end.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, bail};
use portcullis_approval::Moment;
use portcullis_approval::audit::{Link, NOTHING, Written, unhex};

/// The file in the data directory.
pub const FILE: &str = "journal.jsonl";

/// The node that its entries name.
const NODE: &str = "journal";

/// A last line is not longer than this.
const MOST_LINE: u64 = 128 << 10;

/// Most lines are not longer than this.
const USUAL_LINE: u64 = 2 << 10;

/// Appends one entry; it is on the disk when this returns.
///
/// # Errors
/// It could not be written whole, or the journal's end is not what it should be.
pub fn append(
    directory: &Path,
    kind: &str,
    subject: &str,
    data: &str,
    at: Moment,
) -> anyhow::Result<()> {
    let path = directory.join(FILE);
    let mut file = open(&path)?;
    let (seq, prev) = head(&mut file)?;
    let link = Link { node: NODE, seq: seq + 1, prev };
    let entry = Written { kind, at, actor: "hook", subject, data };
    let text = format!("{}\n", entry.line(&link));
    let length = file.metadata()?.len();
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
    if let Err(error) = written {
        // Half a line would break the chain for whoever comes next.
        let _ = file.set_len(length);
        return Err(error).context("cannot write the journal");
    }
    Ok(())
}

/// The journal, locked. The daemon moves it away while it holds the lock; then there is a new one.
fn open(path: &Path) -> anyhow::Result<File> {
    for _ in 0..100 {
        let file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        file.lock()?;
        let (mine, there) = (file.metadata()?, std::fs::metadata(path));
        if there.is_ok_and(|there| (there.dev(), there.ino()) == (mine.dev(), mine.ino())) {
            return Ok(file);
        }
    }
    bail!("the journal is moved away again and again")
}

/// Number and hash of the last entry.
fn head(file: &mut File) -> anyhow::Result<(u64, [u8; 32])> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok((0, NOTHING));
    }
    let mut end = read_last(file, length, USUAL_LINE)?;
    if end.strip_suffix(b"\n").is_none_or(|end| !end.contains(&b'\n')) {
        end = read_last(file, length, MOST_LINE)?;
    }
    let Some(end) = end.strip_suffix(b"\n") else { bail!("the journal ends in half a line") };
    let last = end.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let value: serde_json::Value =
        serde_json::from_slice(last).context("the journal's last line is no entry")?;
    let seq = value.get("seq").and_then(serde_json::Value::as_u64);
    let hash = value.get("hash").and_then(serde_json::Value::as_str).and_then(unhex);
    match (seq, hash) {
        (Some(seq), Some(hash)) => Ok((seq, hash)),
        _ => bail!("the journal's last line is no entry"),
    }
}

/// The last bytes of a file of this length.
fn read_last(file: &mut File, length: u64, count: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(length.saturating_sub(count)))?;
    let mut end = Vec::with_capacity(usize::try_from(count.min(length)).unwrap_or(0) + 1);
    file.read_to_end(&mut end)?;
    Ok(end)
}
