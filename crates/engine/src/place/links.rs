//! Links: what the entries really are that a pattern finds, and what other names a file has.
//!
//! A path that is written out is resolved where it stands. Here the world is asked for the paths
//! that are not: entries that fit a pattern and are links, links in a tree that a program follows
//! to the bottom, and the listed names of a file that has several. Each becomes one more
//! [`Touched`], so that lists, rules, jail and workspace see it as if it were written. Plain
//! entries add nothing, and a world that knows of no directory is asked once.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Ground, Place, Touched, is_rooted, is_within, join};
use crate::act::Act;
use crate::effect::{Effect, Target};
use crate::world::World;
use crate::{glob, lists, sensitive};

/// So many directories and written ends are looked at for one pattern.
const MOST_STEPS: usize = 4096;

/// So many directories are looked at on the way down a tree.
const MOST_BELOW: usize = 128;

/// So many entries are held against the lists for one pattern.
const MOST_FOUND: usize = 1024;

/// Adds what the words of an act lead to beside what they say.
pub(super) fn add(ground: &Ground, act: &Act, world: &dyn World, touched: &mut Vec<Touched>) {
    let mut more = Vec::new();
    // What goes down a tree by itself chooses among the files there, not among links; names that
    // it is handed are another matter.
    let is_handed = !act.via.is_empty() || act.args.iter().any(|arg| arg.as_known().is_none());
    let goes_down = !is_handed
        && !act.base_name().is_some_and(|base| lists::FINDERS.contains(&base))
        && touched.iter().any(|one| one.is_deep && !one.is_pattern);
    let is_search = |one: &Touched| {
        is_whole_tree(one) || goes_down && one.effect == Effect::Read && one.written.contains("**")
    };
    for one in touched.iter().filter(|one| one.is_pattern && !is_search(one)) {
        let found = absolute(&one.written, act, ground)
            .map(|pattern| walk(&pattern, !one.is_listing, world))
            .unwrap_or_default();
        if found.is_cut {
            more.push(Touched { place: None, ..one.clone() });
        }
        more.extend(found.entries.into_iter().map(|entry| entry.touched(one, ground, world)));
    }
    for on in &act.effects {
        let Target::Unknown(text) = &on.target else { continue };
        let Some(pattern) = absolute(text, act, ground) else { continue };
        let one = Touched {
            effect: on.effect,
            place: ground.place(&pattern, "/", world),
            written: text.clone(),
            is_pattern: true,
            is_deep: on.is_deep,
            is_listing: on.is_listing,
            below: on.below,
        };
        if let Some(begun) = begun(&pattern) {
            let found = walk(&begun, !on.is_listing, world).entries.into_iter();
            more.extend(found.map(|entry| entry.touched(&one, ground, world)));
        }
        // Something in a directory that a link names.
        let is_led_out =
            |place: &Place| is_within(&place.normalised, &ground.root) && !ground.holds(place);
        if text.contains('/') && one.place.as_ref().is_some_and(is_led_out) {
            more.push(one);
        }
    }
    // Where the directory is not known, or is one of several, those that it may be.
    let lost = touched.iter().filter(|one| one.place.is_none() && !one.written.is_empty());
    for one in lost.filter(|_| act.directory.is_none()) {
        for directory in act.perhaps_in.iter() {
            let path = join(&one.written, directory, ground.home.as_deref());
            more.extend(path.iter().flat_map(|path| found(path, one, ground, world)));
        }
    }
    if follows(act) {
        more.extend(touched.iter().flat_map(|one| below(one, ground, world)));
    }
    touched.append(&mut more);
    add_names(ground, world, touched);
}

/// What a pattern finds, if it is one.
pub(super) fn found(
    pattern: &str,
    one: &Touched,
    ground: &Ground,
    world: &dyn World,
) -> Vec<Touched> {
    if !sensitive::is_open(pattern) || is_whole_tree(one) {
        return Vec::new();
    }
    let entries = walk(pattern, !one.is_listing, world).entries.into_iter();
    entries.map(|entry| entry.touched(one, ground, world)).collect()
}

/// Whether an act goes down into what links name, and shows more of it than names.
#[must_use]
pub(crate) fn follows(act: &Act) -> bool {
    let Some(base) = act.base_name() else { return false };
    let is_told = || !act.inner.is_empty() || !act.prints.is_empty();
    lists::FOLLOWERS
        .iter()
        .filter_map(|listed| listed.split_once(':'))
        .any(|(program, option)| program == base && has(act, option))
        && (!lists::FINDERS.contains(&base) || is_told())
}

/// Whether an option is given, perhaps among others in one word.
fn has(act: &Act, option: &str) -> bool {
    let letter = option.strip_prefix('-').unwrap_or(option);
    let is_bundle = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_given = |(at, text): (usize, &str)| {
        let bundled = match text.strip_prefix('-') {
            Some(letters) => option.starts_with('-').then_some(letters),
            None => (at == 0 && !option.starts_with('-')).then_some(text),
        };
        text == option
            || letter.len() == 1
                && bundled.is_some_and(|letters| is_bundle(letters) && letters.contains(letter))
    };
    let words = act.args.iter().skip(1).enumerate();
    act.options.contains(&option)
        || words.filter_map(|(at, arg)| Some((at, arg.as_known()?))).any(is_given)
}

/// The links below a place that lead out of it.
fn below(one: &Touched, ground: &Ground, world: &dyn World) -> Vec<Touched> {
    let start = one.place.as_ref().filter(|_| one.effect == Effect::Read);
    let Some(start) = start.map(|place| sensitive::split_open(&place.normalised)) else {
        return Vec::new();
    };
    let start = match start {
        (directory, open) if sensitive::is_open(open) => directory.to_owned(),
        (directory, name) => [directory, "/", name].concat(),
    };
    let searched = Touched { is_deep: true, is_listing: false, is_pattern: false, ..one.clone() };
    let pattern = [start.trim_end_matches('/'), "/**"].concat();
    let links = walk(&pattern, false, world).entries.into_iter();
    let links = links.map(|entry| entry.touched(&searched, ground, world));
    let leaves = |link: &Touched| {
        let real = link.place.as_ref().and_then(|place| place.resolved.as_deref());
        real.is_none_or(|real| !is_within(real, &start))
    };
    links.filter(leaves).map(|link| Touched { is_deep: true, ..link }).collect()
}

/// Adds the other names of files that are read, where they lie at a listed place.
fn add_names(ground: &Ground, world: &dyn World, touched: &mut Vec<Touched>) {
    let mut directories: Option<Arc<[String]>> = None;
    let mut more = Vec::new();
    for one in touched.iter() {
        let is_content = matches!(one.effect, Effect::Read | Effect::Connect | Effect::Execute);
        let real = one.place.as_ref().and_then(|place| place.resolved.as_deref());
        let Some(real) = real.filter(|_| is_content && !one.is_pattern && !one.is_listing) else {
            continue;
        };
        if !world.is_shared(real) {
            continue;
        }
        let directories = directories.get_or_insert_with(|| places_of_names(ground));
        for name in world.other_names(real, directories).iter().flat_map(|names| names.iter()) {
            if let Some(place) = ground.place(name, "/", world) {
                more.push(Touched { place: Some(place), ..one.clone() });
            }
        }
    }
    touched.append(&mut more);
}

/// Where a listed name of a file may be, beside its own directory.
fn places_of_names(ground: &Ground) -> Arc<[String]> {
    let home = ground.home.as_deref().into_iter();
    let listed = home.flat_map(|home| {
        let below = sensitive::directories_of_secrets().into_iter();
        below.map(move |below| [home, "/", &below].concat().trim_end_matches('/').to_owned())
    });
    ground.workspace.iter().cloned().chain(listed).collect()
}

/// One entry that a pattern finds and that is more than its name.
struct Entry {
    path: String,
    is_pattern: bool,
    is_deep: bool,
}

impl Entry {
    fn touched(self, one: &Touched, ground: &Ground, world: &dyn World) -> Touched {
        Touched {
            place: ground.place(&self.path, "/", world),
            is_pattern: self.is_pattern,
            is_deep: one.is_deep || self.is_deep,
            ..one.clone()
        }
    }
}

/// What was found of a pattern.
#[derive(Default)]
struct Found {
    entries: Vec<Entry>,
    /// Whether there is more than was looked at.
    is_cut: bool,
}

/// A directory on the way of a pattern.
struct Step {
    front: String,
    /// The part of the pattern that stands next.
    at: usize,
    is_linked: bool,
    /// Whether a part before this one was open.
    is_open: bool,
}

/// The entries that fit an absolute pattern and are links, lie behind one, or have other names.
fn walk(pattern: &str, reads: bool, world: &dyn World) -> Found {
    let parts: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let mut found = Found::default();
    let (mut steps, mut deep) = (0, 0);
    let start = Step { front: String::new(), at: 0, is_linked: false, is_open: false };
    let mut ahead = VecDeque::from([start]);
    while let Some(mut step) = ahead.pop_front() {
        steps += 1;
        if steps > MOST_STEPS || found.entries.len() > MOST_FOUND {
            found.is_cut = true;
            break;
        }
        while let Some(part) = parts.get(step.at).filter(|part| !sensitive::is_open(part)) {
            step.front = [&step.front, "/", part].concat();
            step.at += 1;
        }
        let Some(part) = parts.get(step.at) else {
            if step.is_linked || step.is_open && is_other(&step.front, reads, world) {
                found.add(step.front, false, false);
            }
            continue;
        };
        let directory = if step.front.is_empty() { "/" } else { step.front.as_str() };
        let Some(listing) = world.listing(directory) else { continue };
        found.is_cut |= listing.is_cut;
        let behind = step.at + 1;
        let is_last = behind == parts.len();
        let front = |name: &String| [&step.front, "/", name].concat();
        if *part == "**" {
            // Nobody follows links on the way down.
            for name in &listing.directories {
                deep += 1;
                if deep <= MOST_BELOW {
                    let front = front(name);
                    ahead.push_back(Step { front, is_open: true, ..step });
                }
            }
            if is_last {
                listing.links.iter().for_each(|name| found.add(front(name), false, false));
            } else {
                ahead.push_back(Step { at: behind, ..step });
            }
            continue;
        }
        let lower = part.to_lowercase();
        let fits = |name: &&String| {
            name.starts_with('.') == part.starts_with('.')
                && glob::matches(&lower, &name.to_lowercase())
        };
        let rest = parts.get(behind..).unwrap_or_default().join("/");
        for name in listing.links.iter().filter(fits) {
            let front = front(name);
            if is_last {
                found.add(front, false, part.contains("**"));
                continue;
            }
            let is_open = sensitive::is_open(&rest);
            found.add([&front, "/", &rest].concat(), is_open, false);
            if is_open {
                ahead.push_back(Step { front, at: behind, is_linked: true, is_open });
            }
        }
        if !is_last {
            for name in listing.directories.iter().filter(fits) {
                let front = front(name);
                ahead.push_back(Step { front, at: behind, is_open: true, ..step });
            }
        } else if reads && let Some(names) = world.shared_names(directory) {
            names.iter().filter(fits).for_each(|name| found.add(front(name), false, false));
        }
    }
    found
}

impl Found {
    fn add(&mut self, path: String, is_pattern: bool, is_deep: bool) {
        self.entries.push(Entry { path, is_pattern, is_deep });
    }
}

/// Whether a path ends in a link, or in a file that has other names.
fn is_other(path: &str, reads: bool, world: &dyn World) -> bool {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let above = world.resolve(if above.is_empty() { "/" } else { above });
    let plain = above.map(|above| [above.trim_end_matches('/'), "/", name].concat());
    world.resolve(path) != plain || reads && world.is_shared(path)
}

/// Whether a pattern is any file of a whole tree: reading that is a search, which follows no link.
fn is_whole_tree(one: &Touched) -> bool {
    let behind = one.written.rsplit_once("**").map(|(_, behind)| behind);
    one.effect == Effect::Read && behind.is_some_and(|behind| !sensitive::has_text(behind))
}

/// The pattern of a path of which the beginning of a name is known: anything may stand behind it.
fn begun(text: &str) -> Option<String> {
    let mut is_escaped = false;
    let is_star = |&(_, letter): &(usize, char)| {
        let is_star = letter == '*' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_star
    };
    let (star, _) = text.char_indices().find(is_star)?;
    let (before, behind) = (text.get(..star)?, text.get(star..)?);
    let name = before.rsplit('/').next().unwrap_or_default();
    sensitive::has_text(name).then(|| [before, "*", behind].concat())
}

/// Where the pattern of an act lies.
fn absolute(written: &str, act: &Act, ground: &Ground) -> Option<String> {
    let directory = act.directory.as_deref().or_else(|| is_rooted(written).then_some("/"))?;
    join(written, directory, ground.home.as_deref())
}
