//! The world: what is known of the file system for one call.

use std::sync::Arc;

use crate::place;

/// How the file system is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldKind {
    /// By looking at it.
    Live,
    /// By what the caller looked up before.
    Recorded,
    /// Not at all: a path is the file it names.
    Lexical,
}

impl WorldKind {
    /// The kind's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            WorldKind::Live => "live",
            WorldKind::Recorded => "recorded",
            WorldKind::Lexical => "lexical",
        }
    }
}

/// What stands in a directory beside plain files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The names of links.
    pub links: Vec<String>,
    /// The names of directories.
    pub directories: Vec<String>,
    /// Whether it holds more than is looked at.
    pub is_cut: bool,
}

/// What the engine may ask about files. Paths are absolute.
pub trait World {
    /// How the answers are known.
    fn kind(&self) -> WorldKind;

    /// The physical path: links followed for the longest part that exists, the rest kept. The
    /// given one may hold `..`, which leads to the parent of what stands before it on the disk.
    /// None where it cannot be told, which is never taken for harmless.
    fn resolve(&self, path: &str) -> Option<String>;

    /// Whether more than one name leads to this file.
    fn is_shared(&self, path: &str) -> bool;

    /// Whether the volume takes names that differ in letter case for the same.
    fn folds_case(&self, path: &str) -> bool;

    /// The names in a directory; none where they are not known.
    fn names(&self, directory: &str) -> Option<Arc<[String]>> {
        let _ = directory;
        None
    }

    /// The links and directories in a directory; none where they are not known.
    fn listing(&self, directory: &str) -> Option<Arc<Listing>> {
        let _ = directory;
        None
    }

    /// The names in a directory of files to which more than one name leads; none where they are
    /// not known. Of a large directory only so many are looked at.
    fn shared_names(&self, directory: &str) -> Option<Arc<[String]>> {
        let _ = directory;
        None
    }

    /// The other names of a file, by physical path, in its own directory and in these; none where
    /// they are not known.
    fn other_names(&self, path: &str, directories: &Arc<[String]>) -> Option<Arc<[String]>> {
        let _ = (path, directories);
        None
    }
}

/// The world of a caller who knows nothing of the disk.
#[derive(Clone, Copy, Debug)]
pub struct Lexical;

impl World for Lexical {
    fn kind(&self) -> WorldKind {
        WorldKind::Lexical
    }

    fn resolve(&self, path: &str) -> Option<String> {
        Some(place::normalise(path, "/"))
    }

    fn is_shared(&self, _path: &str) -> bool {
        false
    }

    fn folds_case(&self, _path: &str) -> bool {
        false
    }
}
