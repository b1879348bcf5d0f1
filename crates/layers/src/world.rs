//! The live world: what the disk says about paths, asked at the moment of the call.
//!
//! [`Live`] looks and remembers every answer, so that a verdict can be replayed; [`Recorded`]
//! gives the same answers again, on any machine. What cannot be looked at is never harmless:
//! it has no physical path, and more than one name may lead to it.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use portcullis_engine::Lexical;
use portcullis_engine::world::{World, WorldKind};

/// So many links are followed on the way to one file; the kernel follows no more either.
const MOST_LINKS: usize = 40;

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
    }
}

/// The file system of this machine.
#[derive(Debug, Default)]
pub struct Live {
    answers: RefCell<Answers>,
    /// The ways to the paths that were asked about; none where one could not be told.
    ways: RefCell<BTreeMap<String, Option<Way>>>,
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
}

/// The way to a file: component by component, as the kernel walks it.
#[derive(Clone, Debug, Default)]
struct Way {
    /// The physical path so far; empty at the root.
    walked: String,
    /// How many links were followed.
    links: usize,
    /// Whether there is nothing of that name.
    is_missing: bool,
}

impl Way {
    /// Walks on; none where it cannot be told where that leads.
    fn walk(mut self, path: &str) -> Option<Way> {
        // What is still to be walked, the next component last.
        let mut ahead: Vec<Cow<'_, str>> = components(path).map(Cow::Borrowed).collect();
        self.walked.reserve(path.len());
        while let Some(component) = ahead.pop() {
            if component == ".." {
                // A link that leads through a directory that is not there leads nowhere yet.
                if self.is_missing {
                    return None;
                }
                self.walked.truncate(self.walked.rfind('/').unwrap_or(0));
                continue;
            }
            let view = own_view(&self.walked, &component);
            let parent = self.walked.len();
            self.walked.push('/');
            self.walked.push_str(&component);
            match view {
                OwnView::Elsewhere => return None,
                OwnView::Kept => continue,
                OwnView::Ordinary if self.is_missing => continue,
                OwnView::Ordinary => {}
            }
            match fs::symlink_metadata(&self.walked) {
                Ok(metadata) if metadata.is_symlink() => {
                    self.links += 1;
                    if self.links > MOST_LINKS {
                        return None;
                    }
                    let target = fs::read_link(&self.walked).ok()?;
                    let target = target.to_str()?;
                    self.walked.truncate(if target.starts_with('/') { 0 } else { parent });
                    ahead.extend(components(target).map(|part| Cow::Owned(part.to_owned())));
                }
                Ok(_) => {}
                Err(error) if is_absence(&error) => self.is_missing = true,
                Err(_) => return None,
            }
        }
        Some(self)
    }

    /// Where it leads.
    fn end(&self) -> String {
        if self.walked.is_empty() { "/".to_owned() } else { self.walked.clone() }
    }
}

/// How a component is to be taken that may mean something else in another process.
enum OwnView {
    /// As everywhere.
    Ordinary,
    /// As it is written: what it leads to is a matter of the process, and harmless to name.
    Kept,
    /// It leads into another process's files, directory or root.
    Elsewhere,
}

/// What this process sees in `/proc/self` and `/dev/fd` says nothing about the one that will run.
fn own_view(directory: &str, component: &str) -> OwnView {
    let is_process = |name: &str| {
        matches!(name, "self" | "thread-self") || name.bytes().all(|byte| byte.is_ascii_digit())
    };
    match directory {
        "/proc" if is_process(component) => OwnView::Kept,
        "/dev" if matches!(component, "fd" | "stdin" | "stdout" | "stderr") => OwnView::Kept,
        "/dev/fd" => OwnView::Elsewhere,
        _ => match directory.strip_prefix("/proc/") {
            Some(process) if is_process(process) => match component {
                "cwd" | "root" | "exe" | "fd" | "map_files" | "task" => OwnView::Elsewhere,
                _ => OwnView::Ordinary,
            },
            Some(_) | None => OwnView::Ordinary,
        },
    }
}

/// The parts of a path, the first one last.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit('/').filter(|part| !part.is_empty() && *part != ".")
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
