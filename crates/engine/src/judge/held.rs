//! Held: which files of a shell act a rule or gate about files is held against.
//!
//! Deny and ask rules for files, the lists of `[paths]` and the jail all ask here, so that none
//! of them knows a file of an act which another one misses. What may be one of several files is
//! held as all of them: nobody but those who are stricter than the mode looks at this.

use super::facts::is_stream;
use super::{Bench, Facts};
use crate::act::Act;
use crate::arg::{Arg, Text};
use crate::effect::{Below, Effect, EffectOn, Target};
use crate::guard;
use crate::lists;
use crate::place::{self, Place, Touched};
use crate::rule::paths::{Meant, Way};
use crate::sensitive;

/// So many files are held one by one before patterns are held alone.
const MOST_FOUND: usize = 2048;

/// Any name in a directory.
const ANY: &str = "/?*";

/// One file, or some, of an act.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Where they are.
    pub(super) place: Place,
    /// How the place is meant.
    pub(super) meant: Meant,
    /// What is done to them.
    pub(super) access: Access,
    /// What the act writes for them.
    pub(super) written: String,
    /// Whether it is a word of inline code, which may name no file at all.
    pub(super) is_word: bool,
}

/// What is done to files, as rules and gates tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// They are read.
    Read,
    /// They are named, or only looked at: gates count that as reading, rules do not.
    Named,
    /// They are created, changed or removed.
    Write,
}

impl Bench<'_> {
    /// The files of an act, wherever it may run.
    pub(super) fn held(&self, facts: &Facts) -> Vec<Held> {
        let act = &facts.act;
        let searched = self.only_searched(facts);
        let mut held = Vec::new();
        for touched in facts.touched.iter().filter(|touched| !is_stream(touched)) {
            self.hold(touched, facts, searched, &mut held);
        }
        if !act.perhaps_in.is_empty() {
            for touched in self.ground.perhaps(act, &facts.touched, self.world) {
                self.hold(&touched, facts, searched, &mut held);
            }
        }
        for on in &act.effects {
            let Target::Unknown(pattern) = &on.target else { continue };
            let access = access(on.effect, on.is_listing);
            if act.found_names.is_empty() || !pattern.ends_with("/*") {
                self.hold_unknown(pattern, access, act, &mut held);
            } else if access == Access::Write {
                // What is only read is held already: the search reads it too.
                self.hold_found_names(on, facts, &mut held);
            }
        }
        let may_change = self.ground.touched_by(act, &act.may_change, self.world);
        for touched in may_change.iter().filter(|touched| !is_stream(touched)) {
            self.hold(touched, facts, searched, &mut held);
        }
        self.hold_words(act, &mut held);
        held
    }

    /// What a search hands to a command that it runs: the files whose names it looks for.
    fn hold_found_names(&self, on: &EffectOn, facts: &Facts, held: &mut Vec<Held>) {
        let names = facts
            .act
            .found_names
            .iter()
            .map(|name| EffectOn { target: name.target.clone(), ..on.clone() });
        let names: Vec<EffectOn> = names.collect();
        for touched in self.ground.touched_by(&facts.act, &names, self.world) {
            self.hold(&touched, facts, None, held);
        }
    }

    /// The names in inline code: what is done to the files is not known.
    fn hold_words(&self, act: &Act, held: &mut Vec<Held>) {
        let names = act.code.iter().flat_map(|text| guard::files_in_code(text));
        let directory = act.directory.as_deref().unwrap_or("/");
        for name in names {
            let Some(place) = self.ground.place(name, directory, self.world) else { continue };
            for access in [Access::Read, Access::Write] {
                let (place, written) = (place.clone(), name.to_owned());
                held.push(Held { place, meant: Meant::File, access, written, is_word: true });
            }
        }
    }

    /// How deny and ask rules and gates look a file up that is held.
    pub(super) fn way<'f>(&'f self, held: &Held, facts: &'f Facts) -> Option<Way<'f>> {
        let goes_down = matches!(held.meant, Meant::Tree | Meant::PatternTree);
        (goes_down && held.access == Access::Read).then_some(Way {
            world: self.world,
            left_out: &facts.act.left_out,
            is_search: false,
        })
    }

    /// The same for gates: what only reads means no directory below the workspace that it searches.
    pub(super) fn gated_way<'f>(&'f self, held: &Held, facts: &'f Facts) -> Option<Way<'f>> {
        if held.access == Access::Write || !facts.is_read_only {
            return self.way(held, facts);
        }
        Some(Way { world: self.world, left_out: &facts.act.left_out, is_search: true })
    }

    /// Whether some file of an act may be held so; a first look that places nothing.
    pub(super) fn may_hold(facts: &Facts, wanted: Access) -> bool {
        let is = |effect, is_listing| access(effect, is_listing) == wanted;
        facts.touched.iter().any(|touched| is(touched.effect, touched.is_listing))
            || facts.act.effects.iter().any(|on| is(on.effect, on.is_listing))
            || !facts.act.may_change.is_empty()
            || !facts.act.code.is_empty()
    }

    fn hold(&self, touched: &Touched, facts: &Facts, searched: Option<&str>, held: &mut Vec<Held>) {
        let Some(place) = &touched.place else { return };
        let access = access(touched.effect, touched.is_listing);
        let is_write = access == Access::Write;
        // What is removed in a directory by its names is held under those.
        if touched.effect == Effect::Delete && touched.below == Below::Named {
            return;
        }
        if is_write && touched.below == Below::Named && !is_elsewhere(&facts.act, &touched.written)
        {
            return self.land(place, touched, facts, held);
        }
        if touched.is_pattern && access != Access::Named {
            self.hold_found(place, touched, access, held);
        }
        let meant = match (touched.is_pattern, touched.is_deep) {
            _ if access == Access::Named => Meant::File,
            (false, true) if access == Access::Read && searched == Some(&*place.normalised) => {
                Meant::Search
            }
            (true, true) => Meant::PatternTree,
            (true, false) if touched.below == Below::Unnamed => Meant::PatternTree,
            (true, false) => Meant::Pattern,
            (false, true) => Meant::Tree,
            (false, false) if is_write && touched.below == Below::Unnamed => self.inside(place),
            (false, false) => Meant::File,
        };
        let (place, written) = (place.clone(), touched.written.clone());
        held.push(Held { place, meant, access, written, is_word: false });
    }

    /// The files that a pattern finds, where the world knows them.
    fn hold_found(&self, place: &Place, touched: &Touched, access: Access, held: &mut Vec<Held>) {
        if held.len() > MOST_FOUND {
            return;
        }
        let found = guard::expanded(&place.normalised, self.world);
        for path in found.into_iter().flatten() {
            let meant = if touched.is_deep { Meant::Tree } else { Meant::File };
            let written = touched.written.clone();
            let place = self.ground.place(&path, "/", self.world);
            held.extend(place.map(|place| Held { place, meant, access, written, is_word: false }));
        }
    }

    /// Where an act goes down from the workspace and only searches it: it leaves out what the
    /// project leaves out, or looks for names, which are held by themselves.
    fn only_searched<'f>(&self, facts: &'f Facts) -> Option<&'f str> {
        let act = &facts.act;
        let is_finder = act.base_name().is_some_and(|name| lists::FINDERS.contains(&name));
        // What the shell finds by a pattern stands beside the search and is no part of it.
        let is_found =
            |arg: &Arg| matches!(arg.text, Text::Files { .. }) && !arg.prefix().starts_with('-');
        if is_finder || act.args.iter().any(is_found) {
            return None;
        }
        let deep = facts.touched.iter().filter(|one| one.is_deep && !one.is_pattern);
        let mut places = deep.filter_map(|one| one.place.as_ref());
        let place = places.find(|place| self.is_workspace(place))?;
        let start = [place.normalised.trim_end_matches('/'), "/**/"].concat();
        let mut names = facts.touched.iter().filter(|other| other.is_pattern).filter_map(|other| {
            let pattern = other.place.as_ref()?;
            pattern.normalised.strip_prefix(&start)
        });
        let is_search = match names.next() {
            None => act.is_tidy,
            Some(name) => sensitive::says_enough(name) && names.all(sensitive::says_enough),
        };
        is_search.then_some(&*place.normalised)
    }

    /// How a directory is meant in which something is done under names that are not told: as the
    /// whole tree, but what is done in the whole workspace is not done to each of its files.
    fn inside(&self, place: &Place) -> Meant {
        if self.is_workspace(place) { Meant::Search } else { Meant::Tree }
    }

    /// How a gate takes a file that is held: what only searches the whole workspace, or all that
    /// lies in it, is not known to touch each of its files.
    pub(super) fn as_gated(&self, held: &Held, facts: &Facts) -> Meant {
        let all = || Place {
            normalised: of_all(&held.place.normalised).unwrap_or_default().to_owned(),
            resolved: None,
        };
        match held.meant {
            _ if held.access == Access::Write || !facts.is_read_only => held.meant,
            Meant::Tree if self.is_workspace(&held.place) => Meant::Search,
            Meant::PatternTree if self.is_workspace(&all()) => Meant::Pattern,
            Meant::Tree | Meant::PatternTree | Meant::File | Meant::Search | Meant::Pattern => {
                held.meant
            }
        }
    }

    fn is_workspace(&self, place: &Place) -> bool {
        let is_root = |path: &str| path == &*self.ground.root || self.is_root(path);
        is_root(&place.normalised) || place.resolved.as_deref().is_some_and(is_root)
    }

    fn is_root(&self, path: &str) -> bool {
        self.ground.workspace.iter().any(|root| root == path)
    }

    /// What is copied, moved, linked or fetched to a place: under that name, or into it.
    fn land(&self, place: &Place, touched: &Touched, facts: &Facts, held: &mut Vec<Held>) {
        let act = &facts.act;
        let written = touched.written.as_str();
        let has = |names: &[&str]| names.iter().any(|name| act.options.contains(name));
        let becomes = has(&["-T", "--no-target-directory"]);
        let mut add = |place: Option<Place>, meant| {
            let held_place = place.map(|place| Held {
                place,
                meant,
                access: Access::Write,
                written: written.to_owned(),
                is_word: false,
            });
            held.extend(held_place);
        };
        if touched.is_pattern {
            return add(Some(place.clone()), Meant::PatternTree);
        }
        let sources = sources(facts);
        let is_deep = touched.is_deep || sources.iter().any(|source| source.is_deep);
        // A directory that is there for certain gets what lands in it and is not replaced.
        let is_there = !becomes
            && (place::is_within(&self.ground.cwd, &place.normalised)
                || act
                    .directory
                    .as_deref()
                    .is_some_and(|cwd| place::is_within(cwd, &place.normalised)));
        if !is_there {
            add(Some(place.clone()), if is_deep { Meant::Tree } else { Meant::Search });
        }
        let is_several = sources.len() > 1 || has(&["-t", "--target-directory"]);
        if becomes || !is_several && !is_there && self.is_file(written, &place.normalised) {
            return;
        }
        if sources.is_empty() {
            add(Some(place.clone()), self.inside(place));
        }
        for source in sources {
            let meant = match (source.is_pattern, is_deep) {
                (true, true) => Meant::PatternTree,
                (true, false) => Meant::Pattern,
                (false, true) => Meant::Tree,
                (false, false) => Meant::File,
            };
            match source.name {
                Some(name) => {
                    let joined = [place.normalised.as_str(), "/", name.as_str()].concat();
                    add(self.ground.place(&joined, "/", self.world), meant);
                    if has(&["--parents", "-R", "--relative"]) && !source.written.starts_with('/') {
                        let joined = [place.normalised.as_str(), "/", source.written].concat();
                        add(self.ground.place(&joined, "/", self.world), meant);
                    }
                }
                // Everything that a directory holds, or a name that is not known.
                None if is_deep => add(Some(place.clone()), Meant::Tree),
                None => {
                    let joined = [place.normalised.as_str(), "/*"].concat();
                    add(self.ground.place(&joined, "/", self.world), Meant::Pattern);
                }
            }
        }
    }

    /// Whether a target is a file by its ending, and no directory as far as the world tells.
    fn is_file(&self, written: &str, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default().trim_start_matches('.');
        let has_ending = name.rsplit_once('.').is_some_and(|(_, ending)| ending != "d");
        has_ending && !written.ends_with(['/', '.']) && self.world.names(path).is_none()
    }

    /// A path that is not known before the act runs: whatever may follow what is known of it.
    fn hold_unknown(&self, pattern: &str, access: Access, act: &Act, held: &mut Vec<Held>) {
        let directories = || {
            let here = act.directory.as_deref().into_iter();
            here.chain(act.perhaps_in.iter().map(|directory| &**directory))
        };
        let mut add = |path: &str, directory: &str, meant| {
            let written = path.to_owned();
            let place = self.ground.place(path, directory, self.world);
            held.extend(place.map(|place| Held { place, meant, access, written, is_word: false }));
        };
        if !pattern.is_empty() && !pattern.starts_with(['*', '?', '[']) {
            let is_rooted = pattern.starts_with(['/', '~']);
            let rooted = is_rooted.then_some("/");
            // A word that is not known may be any name, where a star of the shell's says none.
            let any = pattern.strip_suffix("/*").map(|start| [start, ANY].concat());
            let pattern = any.as_deref().unwrap_or(pattern);
            for directory in rooted.into_iter().chain(directories().filter(|_| !is_rooted)) {
                add(pattern, directory, Meant::PatternTree);
            }
        } else if access == Access::Write {
            // Where it works, everything is below a directory that a rule may name.
            for directory in directories().filter(|directory| !self.is_root(directory)) {
                if *directory != *self.ground.root {
                    add(directory, "/", Meant::Search);
                }
            }
        }
        // Only the directories are not known, or only how the name begins.
        let name = pattern.rsplit('/').next().unwrap_or_default();
        let is_told = pattern.contains('/') || name.starts_with('*') && name.contains('.');
        if is_told && !name.is_empty() {
            add(name, "/-", Meant::File);
        }
    }
}

/// What is done to a file.
const fn access(effect: Effect, is_listing: bool) -> Access {
    match effect {
        Effect::Write | Effect::Delete | Effect::Change => Access::Write,
        Effect::Read | Effect::Execute | Effect::Connect if !is_listing => Access::Read,
        Effect::Read
        | Effect::Execute
        | Effect::Connect
        | Effect::Query
        | Effect::Escalate
        | Effect::Unknown => Access::Named,
    }
}

/// The directory of which a pattern names everything.
fn of_all(pattern: &str) -> Option<&str> {
    pattern.strip_suffix(ANY).or_else(|| pattern.strip_suffix("/*"))
}

/// Whether a target lies on another host.
fn is_elsewhere(act: &Act, written: &str) -> bool {
    let before = written.split('/').next().unwrap_or_default();
    before.contains(':')
        && act.base_name().is_some_and(|name| lists::REMOTE_COPIERS.contains(&name))
}

/// What lands somewhere, by its name.
struct Source<'f> {
    /// Its name there; none where it is not known, or where it is all that a directory holds.
    name: Option<String>,
    written: &'f str,
    is_pattern: bool,
    is_deep: bool,
}

fn sources(facts: &Facts) -> Vec<Source<'_>> {
    let mut sources: Vec<Source<'_>> = Vec::new();
    for touched in &facts.touched {
        if touched.effect != Effect::Read || touched.is_listing {
            continue;
        }
        let written = touched.written.as_str();
        let path = written.trim_end_matches('/');
        let name = path.rsplit(['/', ':']).next().unwrap_or_default();
        let is_content = matches!(name, "" | "." | "..")
            || written.ends_with('/') && touched.is_deep && facts.act.is_named("rsync");
        let name = (!is_content).then(|| name.to_owned());
        let (is_pattern, is_deep) = (touched.is_pattern, touched.is_deep);
        sources.push(Source { name, written, is_pattern, is_deep });
    }
    // What is fetched is named as the last part of its address.
    for on in &facts.act.effects {
        let Target::Host(address) = &on.target else { continue };
        let path = address.split_once("://").map_or(address.as_str(), |(_, path)| path);
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let name = path.split_once('/').and_then(|(_, path)| path.rsplit('/').next());
        let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
        sources.push(Source { name, written: "", is_pattern: false, is_deep: false });
    }
    sources
}
