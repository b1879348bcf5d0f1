//! Rules about files, found by name, directory and extension.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use super::heads::Glance;
use super::keyed::Keyed;
use super::words::RuleId;
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
        self.find(place.resolved.as_deref()?, meant, ground)
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
        if self.anchors.is_empty() {
            return None;
        }
        let resolved = place.resolved.as_deref().filter(|path| **path != *place.normalised);
        let found = self.find_written(&place.normalised, meant, ground);
        let found = found.or_else(|| resolved.and_then(|path| self.find(path, meant, ground)));
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
        index
            .find_written(&place.normalised.to_lowercase(), meant, &ground)
            .or_else(|| resolved.and_then(|path| index.find(&path.to_lowercase(), meant, &ground)))
    }

    /// The same for a path whose links were not followed: neither are those of the root.
    fn find_written(&self, path: &str, meant: Meant, ground: &Ground) -> Option<RuleId> {
        let found = self.find(path, meant, ground);
        let is_moved = ground.workspace.first().is_some_and(|root| **root != *ground.root);
        if found.is_some() || !is_moved {
            return found;
        }
        self.find_from(&ground.root, path, meant, ground)
    }

    fn find(&self, path: &str, meant: Meant, ground: &Ground) -> Option<RuleId> {
        let root = ground.workspace.first().map_or(&*ground.root, String::as_str);
        self.find_from(root, path, meant, ground)
    }

    fn find_from(&self, root: &str, path: &str, meant: Meant, ground: &Ground) -> Option<RuleId> {
        for (anchor, index) in &self.anchors {
            let rest = below(path, *anchor, root, ground);
            let found = rest.and_then(|rest| index.find(rest, meant));
            if found.is_some() {
                return found;
            }
            let base = match anchor {
                Anchor::Absolute => continue,
                Anchor::Home => ground.home.as_deref(),
                Anchor::Root(levels) => Some(above(root, *levels)),
            };
            // A pattern may name the directories above too.
            let behind = base.filter(|_| meant.is_pattern() && rest.is_none());
            let behind = behind.and_then(|base| sharing::behind(path, base));
            let found = behind.as_deref().and_then(|rest| index.find(rest, meant));
            if found.is_some() {
                return found;
            }
            let is_above = |base: &str| {
                is_within(base, path) || meant.is_pattern() && sharing::is_above(path, base)
            };
            let holds_all = meant.is_deep() && base.is_some_and(is_above);
            if holds_all && let Some(rule) = index.ordered.values().next() {
                return Some(*rule);
            }
        }
        None
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

    fn find(&self, path: &str, meant: Meant) -> Option<RuleId> {
        if !self.may_name(path) {
            return None;
        }
        // Whoever removes a tree removes what lies below it.
        let is_search = matches!(meant, Meant::Search | Meant::Tree);
        if meant.is_pattern()
            && let Some(rule) = self.find_sharing(path, meant.is_deep())
        {
            return Some(rule);
        }
        let found = self.exact.get(path).or_else(|| self.find_below(path, is_search));
        let found = found.or_else(|| self.find_floating(path, is_search)).copied();
        found.or_else(|| self.find_rest(path, is_search)).or_else(|| {
            (meant == Meant::Tree)
                .then(|| {
                    let start: Box<str> = format!("{path}/").into();
                    let mut behind = self.ordered.range(start.clone()..);
                    let named = behind.next();
                    let named =
                        named.filter(|(key, _)| key.starts_with(&*start) || path.is_empty());
                    // A pattern may begin with the very directory: `dir/*.key`.
                    self.ordered.get(path).or(named.map(|(_, rule)| rule))
                })
                .flatten()
                .copied()
        })
    }

    /// A pattern that may name a file which another one, or what lies below it, names too.
    fn find_sharing(&self, pattern: &str, is_deep: bool) -> Option<RuleId> {
        let given: Vec<&str> = names(pattern).collect();
        let shares = |listed: &[Listed<'_>]| sharing::may_share(&given, listed, is_deep);
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
                self.below.contains_key(*key) && shares(&listed)
            });
        let floating = || {
            let alone = |name| [Listed::Deep, Listed::Name(name)];
            let found = self.names.iter().find(|(name, _)| shares(&alone(name)));
            let within = || {
                let mut within = self.within.iter();
                let listed = |name| [Listed::Deep, Listed::Name(name), Listed::Deep];
                within.find(|(name, _)| shares(&listed(name)))
            };
            let ending = || {
                let mut endings = self.extensions.iter();
                endings.find(|(end, _)| shares(&[Listed::Deep, Listed::Ends(end)]))
            };
            found.or_else(within).or_else(ending).map(|(_, rule)| *rule)
        };
        named.map(|(_, rule)| *rule).or_else(floating).or_else(|| {
            let mut rest = self.rest.values().flatten();
            let found = rest.find(|(segments, _)| {
                let listed: Vec<Listed<'_>> = segments.iter().map(Listed::from).collect();
                shares(&listed)
            });
            found.map(|(_, rule)| *rule)
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
