//! Entries: what stands in directories that is more than plain files with one name.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};

use portcullis_engine::world::Listing;

use super::is_absence;

/// So many entries of a directory are looked at for links; more than any pattern can name in one
/// command.
const MOST_ENTRIES: usize = 1 << 16;

/// So many files of a directory are asked how many names they have.
const MOST_FILES: usize = 1024;

/// Files of a directory by their number: what finds the other names of one.
pub(super) type Numbers = HashMap<u64, Vec<String>>;

/// The links and directories in a directory; none where that cannot be told.
pub(super) fn listing(directory: &str) -> Option<Listing> {
    let mut listing = Listing::default();
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // A pattern finds nothing there either.
        Err(error) if is_closed(&error) => return Some(listing),
        Err(_) => return None,
    };
    for (at, entry) in entries.enumerate() {
        if at == MOST_ENTRIES {
            listing.is_cut = true;
            break;
        }
        let entry = entry.ok()?;
        let kind = entry.file_type().ok()?;
        let names = if kind.is_symlink() {
            &mut listing.links
        } else if kind.is_dir() {
            &mut listing.directories
        } else {
            continue;
        };
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    // What a limit leaves out must not depend on how the disk keeps it.
    listing.links.sort_unstable();
    listing.directories.sort_unstable();
    Some(listing)
}

/// The names of files that have others; none where that cannot be told.
pub(super) fn shared_names(directory: &str) -> Option<Vec<String>> {
    let mut shared = Vec::new();
    let files = fs::read_dir(directory).ok()?.filter_map(Result::ok);
    let files = files.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    for entry in files.take(MOST_FILES) {
        if entry.metadata().is_ok_and(|metadata| metadata.nlink() > 1) {
            shared.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    shared.sort_unstable();
    Some(shared)
}

/// The numbers of the files in a directory; none of one that cannot be read.
pub(super) fn numbers(directory: &str) -> Numbers {
    let mut numbers = Numbers::new();
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    for entry in files.take(MOST_ENTRIES) {
        let name = entry.file_name().to_string_lossy().into_owned();
        numbers.entry(entry.ino()).or_default().push(name);
    }
    numbers
}

/// Whether two names lead to one file.
pub(super) fn is_same(one: &fs::Metadata, other: &str) -> bool {
    fs::symlink_metadata(other)
        .is_ok_and(|other| (other.dev(), other.ino()) == (one.dev(), one.ino()))
}

/// Whether an error says that there is no directory to read, or none for this user.
fn is_closed(error: &io::Error) -> bool {
    is_absence(error) || error.kind() == io::ErrorKind::PermissionDenied
}
