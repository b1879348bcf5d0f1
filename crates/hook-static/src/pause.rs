//! A pause where no daemon runs: a file that only root can have written.
//!
//! It lies beside the organization's policy. It counts only if file and directory belong to root
//! and nobody else may write them, and only for hooks of other users: to an agent that is root,
//! what root wrote proves nothing.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, bail};
use portcullis_approval::canonical::{object, quoted};
use portcullis_approval::{CallText, Moment, pause};
use portcullis_engine::Verdict;
use serde::{Deserialize, Serialize};

use crate::journal;

/// Where it lies.
pub const FILE: &str = "/etc/portcullis/pause.json";

/// Which pause the journal has told of: a file in the data directory.
const SEEN: &str = "pause.seen";

/// The longest file that is read.
const MOST_BYTES: u64 = 4 << 10;

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Who paused.
    pub by: String,
    /// From when.
    pub from_ms: i64,
    /// Until when.
    pub until_ms: i64,
    /// Calls of this host only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Calls in this directory, or below it, only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

impl Pause {
    /// When it ends.
    #[must_use]
    pub fn until(&self) -> Moment {
        Moment::from_ms(self.until_ms)
    }

    /// Whether it goes on, and is no longer than one may be.
    fn is_on(&self, now: Moment) -> bool {
        let most = i64::try_from(pause::MOST_MINUTES * 60_000).unwrap_or(0);
        let length = self.until_ms.saturating_sub(self.from_ms);
        self.from_ms <= now.ms() && now.ms() < self.until_ms && length <= most
    }

    fn data(&self) -> String {
        let mut data = vec![("by", quoted(&self.by)), ("until", quoted(&self.until().to_string()))];
        data.extend(self.host.as_ref().map(|host| ("host", quoted(host))));
        data.extend(self.workspace.as_ref().map(|root| ("workspace", quoted(root))));
        object(data)
    }
}

/// Whose file counts for whom.
#[derive(Clone, Copy)]
struct Owners {
    /// Who must own it.
    root: u32,
    /// Whose process this is.
    own: u32,
}

/// The pause that goes on, if root has said so.
#[must_use]
pub fn find(now: Moment) -> Option<Pause> {
    let own = fs::metadata("/proc/self").ok()?.uid();
    read(Path::new(FILE), Owners { root: 0, own }, now)
}

/// The pause that goes on, for whoever looks at it.
#[must_use]
pub fn there(now: Moment) -> Option<Pause> {
    read(Path::new(FILE), Owners { root: 0, own: u32::MAX }, now)
}

fn read(path: &Path, owners: Owners, now: Moment) -> Option<Pause> {
    let file = File::open(path).ok()?;
    let (there, directory) = (fs::symlink_metadata(path).ok()?, fs::metadata(path.parent()?).ok()?);
    let metadata = file.metadata().ok()?;
    let is_roots = |uid: u32, mode: u32| uid == owners.root && mode & 0o022 == 0;
    let counts = owners.own != owners.root
        && metadata.is_file()
        && (there.dev(), there.ino()) == (metadata.dev(), metadata.ino())
        && is_roots(metadata.uid(), metadata.mode())
        && is_roots(directory.uid(), directory.mode());
    if !counts {
        return None;
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    let pause: Pause = serde_json::from_str(&text).ok()?;
    pause.is_on(now).then_some(pause)
}

/// A verdict as the pause leaves it.
#[must_use]
pub fn lifted(pause: Option<&Pause>, call: &CallText, verdict: Verdict) -> Verdict {
    match pause {
        Some(on) if pause::covers(call, on.host.as_deref(), on.workspace.as_deref()) => {
            pause::lifted(verdict, &on.by, on.until())
        }
        _ => verdict,
    }
}

/// Has the journal tell once that a pause began, and once that it ended.
///
/// # Errors
/// The journal cannot be written.
pub fn note(data: &Path, on: Option<&Pause>, now: Moment) -> anyhow::Result<()> {
    let seen = data.join(SEEN);
    let said = fs::read_to_string(&seen).ok();
    let shown = on.map(Pause::data);
    if said == shown {
        return Ok(());
    }
    if let Some(said) = said {
        let said = if said.starts_with('{') { said } else { "{}".to_owned() };
        journal::append(data, "hook.resumed", "pause", &said, now)?;
        fs::remove_file(&seen)?;
    }
    if let Some(shown) = shown {
        journal::append(data, "hook.paused", "pause", &shown, now)?;
        fs::write(&seen, shown)?;
    }
    Ok(())
}

/// Writes a pause down, as root.
///
/// # Errors
/// This is not root, or the file cannot be written.
pub fn write(pause: &Pause) -> anyhow::Result<()> {
    let path = Path::new(FILE);
    let directory = path.parent().context("it lies nowhere")?;
    fs::DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
    let metadata = fs::metadata(directory)?;
    if metadata.uid() != 0 || metadata.mode() & 0o022 != 0 {
        bail!("`{}` is not root's alone; nothing in it would count", directory.display());
    }
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = File::options();
    let mut file = options.write(true).create_new(true).mode(0o644).open(&beside)?;
    let written = file.write_all(serde_json::to_string(pause)?.as_bytes());
    let written = written.and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

/// Ends the pause; whether there was one.
///
/// # Errors
/// It cannot be taken away.
pub fn end() -> anyhow::Result<bool> {
    match fs::remove_file(FILE) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot remove `{FILE}`")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_what_root_alone_can_have_written_counts_and_never_for_root() {
        let directory =
            std::env::temp_dir().join(format!("portcullis-pause-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("pause.json");
        let own = fs::metadata(&directory).unwrap().uid();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let (now, minute) = (Moment::from_ms(1_000_000), 60_000);
        let write = |from_ms: i64, until_ms: i64| {
            let pause = Pause { by: "root".into(), from_ms, until_ms, host: None, workspace: None };
            fs::write(&path, serde_json::to_string(&pause).unwrap()).unwrap();
            mode(&path, 0o644);
        };
        // Whoever runs this test stands for root here.
        let (root, other) = (own, own + 1);
        let counts = |root, own| read(&path, Owners { root, own }, now).is_some();
        mode(&directory, 0o755);
        assert!(!counts(root, other), "there is none");
        write(now.ms(), now.ms() + 5 * minute);
        assert!(counts(root, other));
        assert!(!counts(root, root), "to root it proves nothing");
        assert!(!counts(root + 1, other), "it is somebody else's");
        mode(&path, 0o666);
        assert!(!counts(root, other), "others may write it");
        mode(&path, 0o644);
        mode(&directory, 0o777);
        assert!(!counts(root, other), "others may write its directory");
        mode(&directory, 0o755);
        write(now.ms() - 5 * minute, now.ms());
        assert!(!counts(root, other), "it is over");
        write(now.ms() + 1, now.ms() + minute);
        assert!(!counts(root, other), "it has not begun");
        write(now.ms(), now.ms() + 61 * minute);
        assert!(!counts(root, other), "it is longer than one may be");
        fs::write(&path, r#"{"by":"x","from_ms":0,"until_ms":9999999,"all":true}"#).unwrap();
        assert!(!counts(root, other), "it says what nobody knows");
        write(now.ms(), now.ms() + minute);
        fs::rename(&path, directory.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(directory.join("elsewhere"), &path).unwrap();
        assert!(!counts(root, other), "it is a link");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_journal_tells_of_a_pause_twice() {
        let directory =
            std::env::temp_dir().join(format!("portcullis-paused-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let now = Moment::from_ms(1_000_000);
        let pause = Pause {
            by: "root".into(),
            from_ms: 0,
            until_ms: 2_000_000,
            host: Some("claude".into()),
            workspace: None,
        };
        for on in [None, Some(&pause), Some(&pause), None, None] {
            note(&directory, on, now).unwrap();
        }
        let text = fs::read_to_string(directory.join(journal::FILE)).unwrap();
        let kinds: Vec<bool> = text.lines().map(|line| line.contains("hook.paused")).collect();
        assert_eq!(kinds, [true, false], "{text}");
        assert!(text.contains("hook.resumed") && text.contains("\"host\":\"claude\""), "{text}");
        fs::remove_dir_all(&directory).unwrap();
    }
}
