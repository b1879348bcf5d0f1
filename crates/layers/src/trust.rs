//! Trust: which project files may say more than "stricter".
//!
//! Trust is of the exact content at one place: a file that changes by one byte, or that turns up
//! elsewhere, is as unknown as any other. The list lies in the user's data directory, which
//! nobody else may read or write.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files;

/// One trusted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trusted {
    /// Where it lies, by its physical path.
    pub path: PathBuf,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The trusted files of one user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    trusted: Vec<Trusted>,
}

/// Why the list of trusted files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It is there and does not say what it should.
    #[error("cannot use `{}`: {why}", path.display())]
    Unusable {
        /// The list.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It could not be written.
    #[error("cannot write `{}`: {cause}", path.display())]
    NotWritten {
        /// What could not be written.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl Trust {
    /// Reads the list at `path`; where there is none, nothing is trusted.
    ///
    /// # Errors
    /// The list exists and cannot be read, is broken, or could be written by somebody else.
    pub fn read(path: &Path) -> Result<Trust, TrustError> {
        let unusable = |why: String| TrustError::Unusable { path: path.to_owned(), why };
        let text = match files::read(path) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Trust::default()),
            Err(why) => return Err(unusable(why)),
        };
        for place in [Some(path), path.parent()].into_iter().flatten() {
            let mode = fs::metadata(place)
                .map_err(|error| unusable(error.to_string()))?
                .permissions()
                .mode();
            if mode & 0o022 != 0 {
                let place = place.display();
                return Err(unusable(format!(
                    "others may write to it; run `chmod go-w '{place}'`"
                )));
            }
        }
        parse(&text).ok_or_else(|| {
            unusable("it is not a list of paths and hashes; remove it and trust anew".to_owned())
        })
    }

    /// Whether this very content is trusted at this place.
    #[must_use]
    pub fn covers(&self, path: &Path, text: &str) -> bool {
        let wanted = Trusted { path: physical(path), sha256: sha256(text) };
        self.trusted.contains(&wanted)
    }

    /// The trusted files, in the order they were trusted.
    #[must_use]
    pub fn trusted(&self) -> &[Trusted] {
        &self.trusted
    }
}

/// Trusts a file with exactly this content, and no other content of it from now on.
///
/// # Errors
/// The list at `list` cannot be used or written; what was trusted before still is.
pub fn trust(list: &Path, path: &Path, text: &str) -> Result<(), TrustError> {
    let path = physical(path);
    if path.to_str().is_none() {
        let why = "its name is not UTF-8; rename it".to_owned();
        return Err(TrustError::Unusable { path, why });
    }
    change(list, |trusted| {
        trusted.retain(|known| known.path != path);
        trusted.push(Trusted { path: path.clone(), sha256: sha256(text) });
    })
}

/// Takes the trust in a file back; says whether there was any.
///
/// # Errors
/// The list at `list` cannot be used or written; what was trusted before still is.
pub fn revoke(list: &Path, path: &Path) -> Result<bool, TrustError> {
    let path = physical(path);
    let mut was_trusted = false;
    change(list, |trusted| {
        was_trusted = trusted.iter().any(|known| known.path == path);
        trusted.retain(|known| known.path != path);
    })?;
    Ok(was_trusted)
}

/// SHA-256 of a text, in hexadecimal digits.
#[must_use]
pub fn sha256(text: &str) -> String {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        for nibble in [byte >> 4, byte & 15] {
            digits.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    digits
}

/// The place of a file without links; the place as given where it is gone.
fn physical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn parse(text: &str) -> Option<Trust> {
    let table: toml::Table = text.parse().ok()?;
    let Some(entries) = table.get("trusted") else { return Some(Trust::default()) };
    let trusted = entries.as_array()?.iter().map(|entry| {
        let path = PathBuf::from(entry.get("path")?.as_str()?);
        let sha256 = entry.get("sha256")?.as_str()?.to_owned();
        Some(Trusted { path, sha256 })
    });
    Some(Trust { trusted: trusted.collect::<Option<_>>()? })
}

/// Changes the list as one step: whoever reads meanwhile sees it before or after.
fn change(list: &Path, change: impl FnOnce(&mut Vec<Trusted>)) -> Result<(), TrustError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause: io::Error| TrustError::NotWritten { path, cause }
    };
    let directory = list.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed(directory))?;

    // One writer at a time: the lock ends with this function, however it ends.
    let lock_path = list.with_extension("lock");
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&lock_path)
        .and_then(|lock| lock.lock().map(|()| lock))
        .map_err(failed(&lock_path))?;

    let mut trust = Trust::read(list)?;
    change(&mut trust.trusted);
    replace(list, &written(&trust)).map_err(failed(list))?;
    drop(lock);
    Ok(())
}

/// Puts a private file with this text in the place of `path`.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let fresh = path.with_extension("new");
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file: File =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&fresh, path)
}

fn written(trust: &Trust) -> String {
    let mut text =
        "# Project files that may say more than \"stricter\"; written by `portcullis trust`.\n"
            .to_owned();
    for Trusted { path, sha256 } in &trust.trusted {
        let path = quoted(&path.to_string_lossy());
        // Writing to a text does not fail.
        let _ = write!(text, "\n[[trusted]]\npath = {path}\nsha256 = \"{sha256}\"\n");
    }
    text
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
