//! Gates: the globs of `[paths]`, ready to be asked.

use super::Paths;
use crate::pattern::path::{Reach, alternatives};
use crate::place::{Ground, Place};
use crate::rule::paths::{Meant, PathIndex, Way};
use crate::world::World;

/// The lists of `[paths]`.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    forbidden: PathIndex,
    /// The very directories whose content is forbidden.
    forbidden_directories: PathIndex,
    read_deny: PathIndex,
    write_deny: PathIndex,
    read_allow: PathIndex,
    write_allow: PathIndex,
    pub(crate) has_denials: bool,
}

impl Gates {
    pub(super) fn new(paths: &Paths) -> Gates {
        let mut gates = Gates {
            has_denials: paths.is_jail
                || [&paths.forbidden, &paths.read_deny, &paths.write_deny]
                    .iter()
                    .any(|list| !list.is_empty()),
            ..Gates::default()
        };
        for glob in paths.forbidden.iter().flat_map(|glob| alternatives(glob)) {
            forbid(&mut gates.forbidden, &mut gates.forbidden_directories, &glob);
        }
        let lists =
            [(&mut gates.read_deny, &paths.read_deny), (&mut gates.write_deny, &paths.write_deny)];
        for (index, globs) in lists {
            for glob in globs.iter().flat_map(|glob| alternatives(glob)) {
                index.insert_strict(&glob, Reach::Everywhere, 0);
            }
        }
        let lists = [(&mut gates.read_allow, &paths.read), (&mut gates.write_allow, &paths.write)];
        for (index, gate) in lists {
            let globs = gate.iter().flat_map(|gate| &gate.allow);
            for glob in globs.flat_map(|glob| alternatives(glob)) {
                index.insert(&glob, Reach::Root, 0);
            }
        }
        gates
    }

    /// Whether nobody may touch the place.
    pub(crate) fn forbids(
        &self,
        place: &Place,
        meant: Meant,
        ground: &Ground,
        world: &dyn World,
        way: Option<Way<'_>>,
    ) -> bool {
        let names = |index: &PathIndex| index.speaks_on(place, meant, ground, world, way).is_some();
        // A pattern names files, and a directory is none.
        names(&self.forbidden) || !meant.is_pattern() && names(&self.forbidden_directories)
    }

    /// Whether the deny list of reads, or of writes, names the place.
    pub(crate) fn denies(
        &self,
        is_write: bool,
        place: &Place,
        meant: Meant,
        ground: &Ground,
        world: &dyn World,
        way: Option<Way<'_>>,
    ) -> bool {
        let list = if is_write { &self.write_deny } else { &self.read_deny };
        list.speaks_on(place, meant, ground, world, way).is_some()
    }

    /// Whether the allow list of reads, or of writes, names the place where it really is.
    pub(crate) fn allows(
        &self,
        is_write: bool,
        place: &Place,
        meant: Meant,
        ground: &Ground,
    ) -> bool {
        let list = if is_write { &self.write_allow } else { &self.read_allow };
        list.covers(place, meant, ground).is_some()
    }
}

/// Forbidden globs hold at any depth of the folder, and for the named directory itself.
fn forbid(files: &mut PathIndex, directories: &mut PathIndex, glob: &str) {
    let directory = glob.strip_suffix("/**").filter(|directory| !directory.is_empty());
    let is_floating = glob.starts_with(['/', '~']) || glob.starts_with("**");
    for (index, glob) in [(files, Some(glob)), (directories, directory)] {
        let Some(glob) = glob else { continue };
        index.insert_strict(glob, Reach::Everywhere, 0);
        if !is_floating {
            let glob = glob.strip_prefix("./").unwrap_or(glob);
            index.insert_strict(&format!("**/{glob}"), Reach::Root, 0);
        }
    }
}
