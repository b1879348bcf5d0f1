//! Rules about files, found by name, directory and extension.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use super::heads::Glance;
use super::keyed::Keyed;
use super::words::RuleId;
use crate::glob;
use crate::pattern::path::{Anchor, PathGlob, Reach, Segment, above, below, fits, names};
use crate::pattern::sharing::{self, Listed};
use crate::place::{Ground, Place, is_within};
use crate::world::World;

/// Rules about files.
#[derive(Clone, Debug, Default)]
pub struct PathIndex {
    anchors: Vec<(Anchor, GlobIndex)>,
    /// The patterns as written, for a second index that ignores letter case.
    written: Vec<(Box<str>, Reach, RuleId)>,
    folded: OnceLock<Box<PathIndex>>,
}

/// How a path is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// The file itself.
    File,
    /// The root of a search: `dir/**` also fits `dir`.
    Search,
    /// The file and everything below it is removed or changed.
    Tree,
    /// Files that fit a pattern, which the path is.
    Pattern,
    /// The same, with everything below them.
    PatternTree,
}

impl Meant {
    /// Whether the path is a pattern.
    pub(crate) const fn is_pattern(self) -> bool {
        matches!(self, Meant::Pattern | Meant::PatternTree)
    }

    /// Whether what lies below is meant too.
    const fn is_deep(self) -> bool {
        matches!(self, Meant::Tree | Meant::PatternTree)
    }
}

/// What a reader that goes down from a directory meets on its way.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    /// What is known of the disk.
    pub world: &'a dyn World,
    /// Names of directories that it leaves out.
    pub left_out: &'a [String],
    /// Whether it only searches the workspace, and so means no directory there, known or not.
    pub is_search: bool,
}

/// So many places below a directory are looked for.
const MOST_BELOW: usize = 256;

impl Way<'_> {
    /// Whether it may meet what lies there: not if it leaves a directory out on the way, nor where
    /// nothing of that name is known to be.
    fn meets(&self, base: &str, below: &str) -> bool {
        let is_left = |name: &str| self.left_out.iter().any(|left| glob::matches(left, name));
        !names(below).any(is_left) && is_there(self.world, base, below) != Some(false)
    }
}

/// Whether something is there, by the names that directories hold; none where that is not known.
fn is_there(world: &dyn World, base: &str, below: &str) -> Option<bool> {
    let mut directory = base.trim_end_matches('/').to_owned();
    for name in names(below) {
        let held = world.names(if directory.is_empty() { "/" } else { &directory })?;
        // Volumes may take several spellings for one.
        let is_it = |known: &String| known.eq_ignore_ascii_case(name);
        if name.is_ascii() && !held.iter().any(is_it) {
            return Some(false);
        }
        if !name.is_ascii() {
            return None;
        }
        directory = [&directory, "/", name].concat();
    }
    Some(true)
}

impl PathIndex {
    /// Adds a pattern that denies or asks: letter case does not count where the volume folds it.
    pub fn insert_strict(&mut self, glob: &str, reach: Reach, rule: RuleId) {
        self.written.push((glob.into(), reach, rule));
        self.insert(glob, reach, rule);
    }

    /// Adds a pattern.
    pub fn insert(&mut self, glob: &str, reach: Reach, rule: RuleId) {
        let Some(PathGlob { anchor, segments }) = PathGlob::parse(glob, reach) else { return };
        let known = self.anchors.iter().position(|(known, _)| *known == anchor);
        let place = known.unwrap_or_else(|| {
            self.anchors.push((anchor, GlobIndex::default()));
            self.anchors.len() - 1
        });
        if let Some((_, index)) = self.anchors.get_mut(place) {
            index.insert(segments, rule);
        }
    }

    /// A pattern that covers the place where it really is.
    #[must_use]
    pub fn covers(&self, place: &Place, meant: Meant, ground: &Ground) -> Option<RuleId> {
        self.find(place.resolved.as_deref()?, &With { meant, ground, way: None, world: None })
    }

    /// A pattern that fits either form of the place, in any letter case where the volume folds it.
    #[must_use]
    pub fn speaks(
        &self,
        place: &Place,
        meant: Meant,
        ground: &Ground,
        world: &dyn World,
    ) -> Option<RuleId> {
        self.speaks_on(place, meant, ground, world, None)
    }

    /// The same for what a reader meets on its way down from the place.
    #[must_use]
    pub fn speaks_on(
        &self,
        place: &Place,
        meant: Meant,
        ground: &Ground,
        world: &dyn World,
        way: Option<Way<'_>>,
    ) -> Option<RuleId> {
        if self.anchors.is_empty() {
            return None;
        }
        let with = With { meant, ground, way, world: Some(world) };
        let resolved = place.resolved.as_deref().filter(|path| **path != *place.normalised);
        let found = self.find_written(&place.normalised, &with);
        let found = found.or_else(|| resolved.and_then(|path| self.find(path, &with)));
        let folds = |path: &str| world.folds_case(path);
        if found.is_some() || !(folds(&place.normalised) || resolved.is_some_and(folds)) {
            return found;
        }
        let index = self.folded.get_or_init(|| {
            let mut folded = PathIndex::default();
            for (glob, reach, rule) in &self.written {
                folded.insert(&glob.to_lowercase(), *reach, *rule);
            }
            Box::new(folded)
        });
        let ground = Ground {
            cwd: ground.cwd.to_lowercase().into(),
            root: ground.root.to_lowercase().into(),
            home: ground.home.as_ref().map(|home| home.to_lowercase()),
            workspace: ground.workspace.iter().map(|root| root.to_lowercase()).collect(),
            folds_names: ground.folds_names,
        };
        let with = With { meant, ground: &ground, way, world: Some(world) };
        index
            .find_written(&place.normalised.to_lowercase(), &with)
            .or_else(|| resolved.and_then(|path| index.find(&path.to_lowercase(), &with)))
    }

    /// The same for a path whose links were not followed: neither are those of the root.
    fn find_written(&self, path: &str, with: &With<'_>) -> Option<RuleId> {
        let ground = with.ground;
        let found = self.find(path, with);
        let is_moved = ground.workspace.first().is_some_and(|root| **root != *ground.root);
        if found.is_some() || !is_moved {
            return found;
        }
        self.find_from(&ground.root, path, with)
    }

    fn find(&self, path: &str, with: &With<'_>) -> Option<RuleId> {
        let root = with.ground.workspace.first().map_or(&*with.ground.root, String::as_str);
        self.find_from(root, path, with)
    }

    fn find_from(&self, root: &str, path: &str, with: &With<'_>) -> Option<RuleId> {
        let (meant, ground) = (with.meant, with.ground);
        for (anchor, index) in &self.anchors {
            let base = match anchor {
                Anchor::Absolute => None,
                Anchor::Home => ground.home.as_deref(),
                Anchor::Root(levels) => Some(above(root, *levels)),
            };
            let from = From { base: base.unwrap_or("/"), with };
            let find = |rest: &str| index.find(rest, &from);
            let rest = below(path, *anchor, root, ground);
            if let Some(rule) = rest.and_then(find) {
                return Some(rule);
            }
            // A pattern may name the directories above too.
            let behind = base.filter(|_| meant.is_pattern() && rest.is_none());
            let behind = behind.and_then(|base| sharing::behind(path, base));
            if let Some(rule) = behind.as_deref().and_then(find) {
                return Some(rule);
            }
            let is_above = |base: &str| {
                is_within(base, path) || meant.is_pattern() && sharing::is_above(path, base)
            };
            let holds_all = meant.is_deep() && base.is_some_and(is_above);
            if holds_all && let Some(rule) = from.first_met(index.ordered.iter()) {
                return Some(rule);
            }
        }
        None
    }
}

/// With what a path is looked up.
struct With<'a> {
    meant: Meant,
    ground: &'a Ground,
    /// Where it is read from the top down: what it meets there.
    way: Option<Way<'a>>,
    /// What is known of the disk, for patterns that deny or ask.
    world: Option<&'a dyn World>,
}

/// The same, with the directory that the patterns of an index hang on.
struct From<'a> {
    base: &'a str,
    with: &'a With<'a>,
}

impl From<'_> {
    /// The first of these places that is met.
    fn first_met<'k>(
        &self,
        mut places: impl Iterator<Item = (&'k Box<str>, &'k RuleId)>,
    ) -> Option<RuleId> {
        let Some(way) = &self.with.way else { return places.next().map(|(_, rule)| *rule) };
        let mut looked = 0;
        let mut met = places.filter(|(place, _)| {
            looked += 1;
            looked > MOST_BELOW || way.meets(self.base, place)
        });
        met.next().map(|(_, rule)| *rule)
    }

    /// Whether a place is known to be there.
    fn is_there(&self, place: &str) -> bool {
        let is_search = self.with.way.is_some_and(|way| way.is_search);
        let world = self.with.world.filter(|_| !place.is_empty() && !is_search);
        world.is_some_and(|world| is_there(world, self.base, place) == Some(true))
    }
}

/// Patterns below one anchor.
#[derive(Clone, Debug, Default)]
struct GlobIndex {
    /// `a/b`
    exact: ByName<RuleId>,
    /// `a/**`
    below: ByName<RuleId>,
    /// `**/name`
    names: ByName<RuleId>,
    /// `**/name/**`
    within: ByName<RuleId>,
    /// `**/*.extension`
    extensions: ByName<RuleId>,
    /// Everything else, by the directories before the first letter that means something.
    rest: ByName<Vec<(Vec<Segment>, RuleId)>>,
    /// Whatever names something, in order, to find what lies below a directory.
    ordered: BTreeMap<Box<str>, RuleId>,
    /// The first names of all that begin with one, and whether some do not.
    firsts: Glance,
    is_floating: bool,
}

type ByName<T> = HashMap<Box<str>, T, Keyed>;

impl GlobIndex {
    fn insert(&mut self, segments: Vec<Segment>, rule: RuleId) {
        let leading: Vec<&str> = segments
            .iter()
            .map_while(|segment| match segment {
                Segment::Literal(name) => Some(name.as_str()),
                Segment::Fits(_) | Segment::Deep => None,
            })
            .collect();
        let literal: Box<str> = leading.join("/").into();
        match leading.first() {
            Some(first) => self.firsts = self.firsts.with(first),
            None => self.is_floating = true,
        }
        if !literal.is_empty() {
            self.ordered.entry(literal.clone()).or_insert(rule);
        }
        let tail = segments.get(leading.len()..).unwrap_or_default();
        let (map, key) = match tail {
            [] => (&mut self.exact, literal),
            [Segment::Deep] => (&mut self.below, literal),
            [Segment::Deep, Segment::Literal(name)] if literal.is_empty() => {
                (&mut self.names, name.as_str().into())
            }
            [Segment::Deep, Segment::Literal(name), Segment::Deep] if literal.is_empty() => {
                (&mut self.within, name.as_str().into())
            }
            [Segment::Deep, Segment::Fits(glob)] if literal.is_empty() && extension(glob) => {
                (&mut self.extensions, glob.trim_start_matches('*').into())
            }
            _ => {
                self.rest.entry(literal).or_default().push((segments, rule));
                return;
            }
        };
        map.entry(key).or_insert(rule);
    }

    /// Whether some pattern may name a path, or what lies below it: most begin with another name.
    fn may_name(&self, path: &str) -> bool {
        let first = path.bytes().position(|byte| byte == b'/').map_or(path, |end| {
            // What begins with no name is looked up as it is.
            path.get(..end).unwrap_or_default()
        });
        self.is_floating
            || first.is_empty()
            || sharing::is_open(first)
            || self.firsts.meets(Glance::default().with(first))
    }

    fn find(&self, path: &str, from: &From<'_>) -> Option<RuleId> {
        if !self.may_name(path) {
            return None;
        }
        let meant = from.with.meant;
        // Whoever removes a tree removes what lies below it.
        let is_search = matches!(meant, Meant::Search | Meant::Tree);
        if meant.is_pattern()
            && let Some(rule) = self.find_sharing(path, meant.is_deep(), from)
        {
            return Some(rule);
        }
        let found = self.exact.get(path).or_else(|| self.find_below(path, is_search));
        let found = found.or_else(|| self.find_floating(path, is_search)).copied();
        found.or_else(|| self.find_rest(path, is_search)).or_else(|| {
            if meant != Meant::Tree {
                return None;
            }
            // A pattern may begin with the very directory: `dir/*.key`.
            self.ordered.get(path).copied().or_else(|| {
                let start: Box<str> =
                    if path.is_empty() { "".into() } else { [path, "/"].concat().into() };
                let behind = self.ordered.range(start.clone()..);
                from.first_met(behind.take_while(|(place, _)| place.starts_with(&*start)))
            })
        })
    }

    /// A pattern that may name a file which another one, or what lies below it, names too.
    fn find_sharing(&self, pattern: &str, is_deep: bool, from: &From<'_>) -> Option<RuleId> {
        let given: Vec<&str> = names(pattern).collect();
        let shares = |listed: &[Listed<'_>]| sharing::may_share(&given, listed, is_deep);
        // What is looked for by its name in all directories below one means a directory of a rule
        // only if that is known to be there.
        let searched = sharing::searched(&given);
        let shares_below = |place: &str, listed: &[Listed<'_>]| match &searched {
            Some(start) if !sharing::may_share(start, listed, false) => {
                shares(listed) && from.is_there(place)
            }
            Some(_) | None => shares(listed),
        };
        let fixed: Vec<&str> =
            given.iter().copied().take_while(|name| !sharing::is_open(name)).collect();
        let start: Box<str> = fixed.join("/").into();
        let mut named = self.ordered.range(start.clone()..);
        let named =
            named.by_ref().take_while(|(key, _)| key.starts_with(&*start)).find(|(key, _)| {
                let mut listed: Vec<Listed<'_>> = names(key).map(Listed::Name).collect();
                if self.exact.contains_key(*key) && shares(&listed) {
                    return true;
                }
                listed.push(Listed::Deep);
                self.below.contains_key(*key) && shares_below(key, &listed)
            });
        let floating = || {
            let alone = |name| [Listed::Deep, Listed::Name(name)];
            let found = self.names.iter().find(|(name, _)| shares(&alone(name)));
            let within = || {
                let mut within = self.within.iter();
                let listed = |name| [Listed::Deep, Listed::Name(name), Listed::Deep];
                within.find(|(name, _)| shares_below("", &listed(name)))
            };
            let ending = || {
                let mut endings = self.extensions.iter();
                endings.find(|(end, _)| shares(&[Listed::Deep, Listed::Ends(end)]))
            };
            found.or_else(within).or_else(ending).map(|(_, rule)| *rule)
        };
        named.map(|(_, rule)| *rule).or_else(floating).or_else(|| {
            let mut rest =
                self.rest.iter().flat_map(|(place, all)| all.iter().map(move |one| (place, one)));
            let found = rest.find(|(place, (segments, _))| {
                let listed: Vec<Listed<'_>> = segments.iter().map(Listed::from).collect();
                match listed.last() {
                    Some(Listed::Deep | Listed::Fits("*")) => shares_below(place, &listed),
                    _ => shares(&listed),
                }
            });
            found.map(|(_, (_, rule))| *rule)
        })
    }

    fn find_below(&self, path: &str, is_search: bool) -> Option<&RuleId> {
        if self.below.is_empty() {
            return None;
        }
        let own = self.below.get(path).filter(|_| is_search);
        let everything = self.below.get("").filter(|_| !path.is_empty());
        own.or(everything).or_else(|| {
            let mut cuts = path.match_indices('/').map(|(at, _)| path.get(..at));
            cuts.find_map(|above| self.below.get(above.unwrap_or_default()))
        })
    }

    fn find_floating(&self, path: &str, is_search: bool) -> Option<&RuleId> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let found = self.names.get(name).filter(|_| !name.is_empty());
        found
            .or_else(|| {
                if self.extensions.is_empty() {
                    return None;
                }
                let mut dots = name.match_indices('.').map(|(at, _)| name.get(at..));
                dots.find_map(|end| self.extensions.get(end.unwrap_or_default()))
            })
            .or_else(|| {
                if self.within.is_empty() {
                    return None;
                }
                let own = self.within.get(name).filter(|_| is_search);
                own.or_else(|| names(above).find_map(|name| self.within.get(name)))
            })
    }

    fn find_rest(&self, path: &str, is_search: bool) -> Option<RuleId> {
        if self.rest.is_empty() {
            return None;
        }
        let all: Vec<&str> = names(path).collect();
        let test = |key: &str| {
            let globs = self.rest.get(key)?;
            let mut fitting = globs.iter().filter(|(glob, _)| fits(glob, &all, is_search));
            fitting.next().map(|(_, rule)| *rule)
        };
        let mut cuts = path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
        test("").or_else(|| cuts.find_map(test)).or_else(|| test(path))
    }
}

/// Whether a segment is `*.extension` with nothing else that means something.
fn extension(glob: &str) -> bool {
    glob.strip_prefix("*.")
        .is_some_and(|rest| !rest.is_empty() && !rest.contains(['*', '?', '[', '\\']))
}
