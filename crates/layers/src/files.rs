//! Where policy files lie, and how they are read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

/// The organization's policy file.
const ORGANIZATION: &str = "/etc/portcullis/policy.toml";

/// Names of a project's policy file, the preferred one first.
const PROJECT: [&str; 2] = ["portcullis.toml", ".portcullis.toml"];

/// A policy file longer than this is refused; a hundred thousand rules need a tenth of it.
const MOST_BYTES: u64 = 64 << 20;

/// Opening for reading never waits for somebody to write (a pipe in the place of a file).
#[cfg(target_os = "linux")]
const NO_WAITING: i32 = 0o4000;
#[cfg(not(target_os = "linux"))]
const NO_WAITING: i32 = 0x0004;

/// Where a user's files lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The organization's policy file.
    pub organization: PathBuf,
    /// The user's directory for configuration of this program, if there is one.
    pub config: Option<PathBuf>,
    /// The user's directory for data of this program, if there is one.
    pub data: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Places {
    /// The places of the user this process runs as, by the environment.
    #[must_use]
    pub fn of_this_user() -> Places {
        // The convention asks to ignore relative paths in these variables.
        let named = |variable: &str| {
            std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
        };
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let config = named("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
        let data = named("XDG_DATA_HOME").or_else(|| below_home(".local/share"));
        Places {
            organization: PathBuf::from(ORGANIZATION),
            config: config.map(|config| config.join("portcullis")),
            data: named("PORTCULLIS_DATA_DIR").or_else(|| data.map(|data| data.join("portcullis"))),
            home,
        }
    }

    /// The user's policy file.
    #[must_use]
    pub fn user_policy(&self) -> Option<PathBuf> {
        self.config.as_ref().map(|config| config.join("policy.toml"))
    }

    /// The file that says which project files are trusted.
    #[must_use]
    pub fn trust(&self) -> Option<PathBuf> {
        self.data.as_ref().map(|data| data.join("trust.toml"))
    }
}

/// The policy file of the project around a directory: the nearest one upwards.
#[must_use]
pub fn project_policy(directory: &Path) -> Option<PathBuf> {
    // What cannot be looked at is taken for there: reading it will say what is wrong.
    let is_there = |path: &PathBuf| {
        path.symlink_metadata().map_or_else(|error| !is_absence(error.kind()), |_| true)
    };
    project_places(directory).into_iter().find(is_there)
}

/// Where the policy file of the project around a directory may lie, the preferred place first.
#[must_use]
pub fn project_places(directory: &Path) -> Vec<PathBuf> {
    plain(directory)
        .ancestors()
        .flat_map(|directory| PROJECT.map(|name| directory.join(name)))
        .collect()
}

/// A directory without `..`, so that what stands before one is not taken for a parent.
fn plain(directory: &Path) -> PathBuf {
    if !directory.components().any(|part| part == Component::ParentDir) {
        return directory.to_owned();
    }
    directory.canonicalize().unwrap_or_else(|_| {
        let mut plain = PathBuf::new();
        for part in directory.components() {
            if part == Component::ParentDir {
                plain.pop();
            } else {
                plain.push(part);
            }
        }
        plain
    })
}

/// The text of a policy file; none where there is no such file.
///
/// # Errors
/// Why it is there and cannot be read: it is no regular file, too long, not UTF-8 …
pub fn read(path: &Path) -> Result<Option<String>, String> {
    let file = match OpenOptions::new().read(true).custom_flags(NO_WAITING).open(path) {
        Ok(file) => file,
        Err(error) if is_absence(error.kind()) && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    text(&file).map(Some)
}

/// Writes a policy file where there is none, with the directories on the way to it.
///
/// # Errors
/// There is one already ([`ErrorKind::AlreadyExists`]), or it cannot be written.
pub fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Replaces a policy file, or writes it where there is none: whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or_else(|| Path::new("/"));
    fs::create_dir_all(directory)?;
    let (mut file, beside) = beside(directory, 0o666)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    File::open(directory)?.sync_all()
}

/// So many names are tried for a file that is written first and then put in its place.
const MOST_NAMES: u32 = 1000;

/// A new file in a directory, which nobody has put there before: not even as a link.
///
/// # Errors
/// It cannot be made.
pub fn beside(directory: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    for number in 0..MOST_NAMES {
        let name = format!(".portcullis-{}-{number}.new", std::process::id());
        let path = directory.join(name);
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// The text of an open file, or why it has none.
fn text(file: &File) -> Result<String, String> {
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).min(1 << 20));
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it is longer than {} MiB", MOST_BYTES >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("it is not UTF-8 from byte {at} on")
    })
}

fn is_absence(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory)
}
