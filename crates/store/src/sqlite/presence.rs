//! Whether the file is still where it was opened.
//!
//! A file that was deleted can be written as before, and what is written is gone with the process.
//! So each group looks before it commits.

use std::path::{Path, PathBuf};

use crate::StoreError;

/// Why nothing is written any more.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` was removed or replaced while the store was open; start again")]
struct Removed(PathBuf);

/// The files of a store, as they were when it was opened.
pub(super) struct Presence {
    files: Vec<(PathBuf, Identity)>,
}

/// What tells a file from another of the same name.
type Identity = (u64, u64);

impl Presence {
    /// Remembers the database and its log, which must both exist by now.
    pub(super) fn of(path: &Path) -> Result<Presence, StoreError> {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let files = [path.to_owned(), PathBuf::from(log)];
        let known = files.into_iter().map(|file| {
            let identity = identity(&file).ok_or_else(|| removed(&file))?;
            Ok((file, identity))
        });
        Ok(Presence { files: known.collect::<Result<_, StoreError>>()? })
    }

    /// Where the database lies.
    pub(super) fn database(&self) -> Option<&Path> {
        self.files.first().map(|(file, _)| file.as_path())
    }

    /// Where the log lies.
    pub(super) fn log(&self) -> Option<&Path> {
        self.files.last().map(|(file, _)| file.as_path())
    }

    /// Looks whether they are still there.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.files.iter().find(|(file, known)| identity(file).as_ref() != Some(known)) {
            Some((file, _)) => Err(removed(file)),
            None => Ok(()),
        }
    }
}

fn removed(file: &Path) -> StoreError {
    StoreError::Unavailable(Box::new(Removed(file.to_owned())))
}

#[cfg(unix)]
fn identity(file: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(file).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(file: &Path) -> Option<Identity> {
    std::fs::metadata(file).ok().map(|_| (0, 0))
}
