//! The live world: what the disk says about paths, asked at the moment of the call.
//!
//! [`Live`] looks and remembers every answer, so that a verdict can be replayed; [`Recorded`]
//! gives the same answers again, on any machine. What cannot be looked at is never harmless:
//! it has no physical path, and more than one name may lead to it.

mod entries;
mod way;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use portcullis_engine::Lexical;
use portcullis_engine::world::{Listing, World, WorldKind};

use entries::Numbers;
use way::Way;

/// So many names of a directory are looked at to learn whether it folds case.
const MOST_NAMES: usize = 16;

/// So many names of a directory are looked at to learn which files a pattern finds.
const MOST_LISTED: usize = 4096;

/// What was answered about paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Physical paths; none where that could not be told.
    pub resolved: BTreeMap<String, Option<String>>,
    /// Whether more than one name leads to the file.
    pub shared: BTreeMap<String, bool>,
    /// Whether the volume takes names that differ in letter case for the same.
    pub folding: BTreeMap<String, bool>,
    /// The names in directories; none where they could not be told.
    pub names: BTreeMap<String, Option<Arc<[String]>>>,
    /// The links and directories in directories; none where they could not be told.
    pub listings: BTreeMap<String, Option<Arc<Listing>>>,
    /// The names in directories of files that have others.
    pub shared_names: BTreeMap<String, Option<Arc<[String]>>>,
    /// The other names of files, by where they were looked for.
    pub other_names: BTreeMap<String, OtherNames>,
}

/// The other names of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherNames {
    /// Where they were looked for, beside its own directory.
    pub directories: Arc<[String]>,
    /// What was found.
    pub names: Arc<[String]>,
}

impl Answers {
    /// Whether the disk, asked the same questions now, answers all of them alike.
    #[must_use]
    pub fn still_hold(&self) -> bool {
        let live = Live::new();
        self.resolved.iter().all(|(path, known)| live.resolve(path) == *known)
            && self.shared.iter().all(|(path, known)| live.is_shared(path) == *known)
            && self.folding.iter().all(|(path, known)| live.folds_case(path) == *known)
            && self.names.iter().all(|(path, known)| live.names(path) == *known)
            && self.listings.iter().all(|(path, known)| live.listing(path) == *known)
            && self.shared_names.iter().all(|(path, known)| live.shared_names(path) == *known)
            && self.other_names.iter().all(|(path, known)| {
                live.other_names(path, &known.directories).is_some_and(|now| now == known.names)
            })
    }
}

/// The file system of this machine.
#[derive(Debug, Default)]
pub struct Live {
    answers: RefCell<Answers>,
    /// The ways to the paths that were asked about; none where one could not be told.
    ways: RefCell<BTreeMap<String, Option<Way>>>,
    /// The numbers of the files in directories where other names were looked for.
    numbers: RefCell<BTreeMap<String, Numbers>>,
}

impl Live {
    /// A world that has not been asked anything yet.
    #[must_use]
    pub fn new() -> Live {
        Live::default()
    }

    /// What was asked so far, with the answers.
    #[must_use]
    pub fn answers(&self) -> Answers {
        self.answers.borrow().clone()
    }

    /// The way to a path, from the nearest directory on it whose way is known already: nearly all
    /// paths of a call lie below its working directory.
    fn way(&self, path: &str) -> Option<Way> {
        let ways = self.ways.borrow();
        let mut above = path;
        while let Some((directory, _)) = above.rsplit_once('/') {
            if let Some(way) = ways.get(directory) {
                return way.clone()?.walk(path.get(directory.len()..)?);
            }
            above = directory;
        }
        Way::default().walk(path)
    }
}

impl World for Live {
    fn kind(&self) -> WorldKind {
        WorldKind::Live
    }

    fn resolve(&self, path: &str) -> Option<String> {
        if let Some(known) = self.answers.borrow().resolved.get(path) {
            return known.clone();
        }
        let way = self.way(path);
        let resolved = way.as_ref().map(Way::end);
        self.ways.borrow_mut().insert(path.to_owned(), way);
        self.answers.borrow_mut().resolved.insert(path.to_owned(), resolved.clone());
        resolved
    }

    fn is_shared(&self, path: &str) -> bool {
        if let Some(&known) = self.answers.borrow().shared.get(path) {
            return known;
        }
        let shared = self.resolve(path).is_none_or(|path| is_shared(&path));
        self.answers.borrow_mut().shared.insert(path.to_owned(), shared);
        shared
    }

    fn folds_case(&self, path: &str) -> bool {
        if let Some(&known) = self.answers.borrow().folding.get(path) {
            return known;
        }
        let folds = self.resolve(path).is_none_or(|path| folds_case(&path));
        self.answers.borrow_mut().folding.insert(path.to_owned(), folds);
        folds
    }

    fn names(&self, directory: &str) -> Option<Arc<[String]>> {
        if let Some(known) = self.answers.borrow().names.get(directory) {
            return known.clone();
        }
        let names = names(directory);
        self.answers.borrow_mut().names.insert(directory.to_owned(), names.clone());
        names
    }

    fn listing(&self, directory: &str) -> Option<Arc<Listing>> {
        if let Some(known) = self.answers.borrow().listings.get(directory) {
            return known.clone();
        }
        let real = self.resolve(directory);
        let listing = real.and_then(|real| entries::listing(&real)).map(Arc::new);
        self.answers.borrow_mut().listings.insert(directory.to_owned(), listing.clone());
        listing
    }

    fn shared_names(&self, directory: &str) -> Option<Arc<[String]>> {
        if let Some(known) = self.answers.borrow().shared_names.get(directory) {
            return known.clone();
        }
        let real = self.resolve(directory);
        let names = real.and_then(|real| entries::shared_names(&real)).map(Arc::from);
        self.answers.borrow_mut().shared_names.insert(directory.to_owned(), names.clone());
        names
    }

    fn other_names(&self, path: &str, directories: &Arc<[String]>) -> Option<Arc<[String]>> {
        if let Some(known) = self.answers.borrow().other_names.get(path) {
            return Some(Arc::clone(&known.names));
        }
        let metadata = fs::symlink_metadata(path).ok()?;
        let own = path.rsplit_once('/').map(|(directory, _)| directory);
        let mut names: Vec<String> = Vec::new();
        for directory in own.into_iter().chain(directories.iter().map(String::as_str)) {
            let mut numbers = self.numbers.borrow_mut();
            if !numbers.contains_key(directory) {
                let read = if directory.is_empty() { "/" } else { directory };
                numbers.insert(directory.to_owned(), entries::numbers(read));
            }
            let alike = numbers.get(directory).and_then(|numbers| numbers.get(&metadata.ino()));
            let alike = alike.into_iter().flatten().map(|name| [directory, "/", name].concat());
            for other in alike.filter(|other| other != path) {
                if !names.contains(&other) && entries::is_same(&metadata, &other) {
                    names.push(other);
                }
            }
        }
        let names: Arc<[String]> = names.into();
        let known = OtherNames { directories: Arc::clone(directories), names: Arc::clone(&names) };
        self.answers.borrow_mut().other_names.insert(path.to_owned(), known);
        Some(names)
    }
}

/// A world that repeats what another one answered. About anything else it knows nothing, and
/// says so in the strictest way, or takes a path for the file it names.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    answers: Answers,
    is_lexical: bool,
}

impl Recorded {
    /// The world of these answers.
    #[must_use]
    pub fn new(answers: Answers) -> Recorded {
        Recorded { answers, is_lexical: false }
    }

    /// The world of a caller who attached these answers to a call: anything else is as if nothing
    /// had been attached.
    #[must_use]
    pub fn beside_lexical(answers: Answers) -> Recorded {
        Recorded { answers, is_lexical: true }
    }
}

impl World for Recorded {
    fn kind(&self) -> WorldKind {
        WorldKind::Recorded
    }

    fn resolve(&self, path: &str) -> Option<String> {
        match self.answers.resolved.get(path) {
            Some(known) => known.clone(),
            None if self.is_lexical => Lexical.resolve(path),
            None => None,
        }
    }

    fn is_shared(&self, path: &str) -> bool {
        self.answers.shared.get(path).copied().unwrap_or(!self.is_lexical)
    }

    fn folds_case(&self, path: &str) -> bool {
        self.answers.folding.get(path).copied().unwrap_or(!self.is_lexical)
    }

    fn names(&self, directory: &str) -> Option<Arc<[String]>> {
        self.answers.names.get(directory).cloned().flatten()
    }

    fn listing(&self, directory: &str) -> Option<Arc<Listing>> {
        self.answers.listings.get(directory).cloned().flatten()
    }

    fn shared_names(&self, directory: &str) -> Option<Arc<[String]>> {
        self.answers.shared_names.get(directory).cloned().flatten()
    }

    fn other_names(&self, path: &str, _directories: &Arc<[String]>) -> Option<Arc<[String]>> {
        self.answers.other_names.get(path).map(|known| Arc::clone(&known.names))
    }
}

/// Whether an error says that there is nothing of that name.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn is_shared(path: &str) -> bool {
    match fs::symlink_metadata(path) {
        Ok(metadata) => !metadata.is_dir() && metadata.nlink() > 1,
        Err(error) => !is_absence(&error),
    }
}

/// The names in a directory; none where it cannot be read, or holds too many.
fn names(directory: &str) -> Option<Arc<[String]>> {
    let entries = fs::read_dir(directory).ok()?;
    let mut names = Vec::new();
    for entry in entries {
        if names.len() == MOST_LISTED {
            return None;
        }
        names.push(entry.ok()?.file_name().to_string_lossy().into_owned());
    }
    Some(names.into())
}

/// Looks whether a name on the way, with its letter case turned, is the same file.
fn folds_case(path: &str) -> bool {
    let mut nearest = Some(Path::new(path));
    while let Some(path) = nearest {
        match fs::symlink_metadata(path) {
            Ok(metadata) => return names_fold(path, &metadata),
            Err(error) if is_absence(&error) => nearest = path.parent(),
            Err(_) => return true,
        }
    }
    false
}

/// Whether the directory that holds this file, or is this file, folds case.
fn names_fold(path: &Path, metadata: &Metadata) -> bool {
    if let Some(is_same) = is_same_when_turned(path, metadata)
        && (is_same || !metadata.is_dir())
    {
        return is_same;
    }
    // The directory may be a volume of its own, or fold alone.
    let Ok(names) = fs::read_dir(path) else { return false };
    let turned = |entry: io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        is_same_when_turned(&path, &fs::symlink_metadata(&path).ok()?)
    };
    names.take(MOST_NAMES).find_map(turned).unwrap_or(false)
}

/// Whether the name in the other letter case is the same file; none for a name without letters.
fn is_same_when_turned(path: &Path, metadata: &Metadata) -> Option<bool> {
    let name = path.file_name()?.to_str()?;
    let turn = |letter: char| {
        if letter.is_ascii_lowercase() {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        }
    };
    let turned: String = name.chars().map(turn).collect();
    if turned == name {
        return None;
    }
    let other = fs::symlink_metadata(path.with_file_name(turned));
    Some(other.is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino())))
}
