//! Sensitive paths: secrets that are read, and files that run or configure something later.

use std::path::Path;

use super::removal::{is_above_home, is_home, is_system};
use super::{Findings, Scene};
use crate::act::Act;
use crate::arg::Arg;
use crate::effect::{Effect, Target};
use crate::glob;
use crate::lists;
use crate::place::{self, Touched};
use crate::sensitive::{self, Access};
use crate::world::World;

const BELOW_A_HOME: &str = "reads everything below a home, secrets included";

pub(super) fn inspect(act: &Act, touched: &[Touched], scene: &Scene<'_>, found: &mut Findings<'_>) {
    for touched in touched {
        let access = match touched.effect {
            Effect::Write | Effect::Delete | Effect::Change => Access::Write,
            Effect::Read if touched.is_listing => continue,
            Effect::Read | Effect::Query | Effect::Connect | Effect::Execute => Access::Read,
            Effect::Escalate | Effect::Unknown => continue,
        };
        let held = if touched.is_pattern { Held::Pattern } else { Held::File };
        let Some(place) = &touched.place else {
            // Where it lies is not known, but its name may be enough.
            if !touched.written.is_empty() {
                let path = place::normalise(touched.written.trim_start_matches('~'), "/-");
                judge(&path, held, access, scene, found);
                let home = scene.ground.home.as_deref();
                for directory in act.perhaps_in.iter() {
                    let is_open = directory.contains(['*', '?', '[']);
                    let held = if is_open { Held::Pattern } else { held };
                    if let Some(path) = place::absolute(&touched.written, directory, home) {
                        judge(&path, held, access, scene, found);
                    }
                }
            }
            continue;
        };
        if access == Access::Read && shows_no_key(act, &place.normalised) {
            continue;
        }
        let resolved = place.resolved.as_ref().filter(|path| **path != place.normalised);
        let forms = [Some(&place.normalised), resolved];
        for path in forms.into_iter().flatten() {
            judge(path, held, access, scene, found);
            if access == Access::Read
                && touched.is_deep
                && reads_a_home(path, touched.is_pattern, scene)
            {
                found.about("secret_read", BELOW_A_HOME);
            }
            if access == Access::Read && touched.is_deep && !touched.is_pattern {
                whole(path, scene, found);
            }
        }
    }
    // Of an unknown path the beginning or the end may be known, and that may be enough.
    for on in &act.effects {
        let Target::Unknown(pattern) = &on.target else { continue };
        let access = match on.effect {
            Effect::Write | Effect::Delete => Access::Write,
            Effect::Read if !on.is_listing => Access::Read,
            Effect::Read
            | Effect::Query
            | Effect::Change
            | Effect::Execute
            | Effect::Connect
            | Effect::Escalate
            | Effect::Unknown => continue,
        };
        if pattern.is_empty() {
            continue;
        }
        let home = scene.ground.home.as_deref();
        let strays = act.perhaps_in.iter().filter(|_| act.directory.is_some());
        let directory = act.directory.as_deref().unwrap_or("/");
        for directory in strays.map(|stray| &**stray).chain([directory]) {
            let Some(path) = unknown_place(pattern, directory, home) else { continue };
            let is_anywhere = path.starts_with("/**");
            let held = if is_anywhere { Held::Anywhere } else { Held::Pattern };
            judge(&path, held, access, scene, found);
        }
        // Enough steps upwards lead to the root, wherever they begin.
        if let Some((_, below)) = pattern.rsplit_once("/../") {
            judge(&format!("/{below}"), Held::Pattern, access, scene, found);
        }
    }
}

/// Whether a program prints of a file only certificates, whatever keys are in it too.
fn shows_no_key(act: &Act, path: &str) -> bool {
    let sub = act.args.get(1).and_then(Arg::as_known);
    act.is_named("openssl")
        && sub.is_some_and(|sub| lists::CERTIFICATE_READERS.contains(&sub))
        && Path::new(path).extension().is_some_and(|end| end.eq_ignore_ascii_case("pem"))
}

/// Where a path may lie of which only a part is known: what begins with nothing known, anywhere.
fn unknown_place(pattern: &str, directory: &str, home: Option<&str>) -> Option<String> {
    match pattern.strip_prefix('*') {
        Some(rest) if rest.starts_with('/') => Some(format!("/**{rest}")),
        Some(_) => Some(format!("/**/{pattern}")),
        None => place::absolute(pattern, directory, home),
    }
}

fn reads_a_home(path: &str, is_pattern: bool, scene: &Scene<'_>) -> bool {
    let path = match path.rsplit_once('/') {
        Some((above, "*" | ".*" | "**")) if is_pattern => above,
        _ => path,
    };
    is_home(path, scene.ground)
        || is_above_home(if path.is_empty() { "/" } else { path }, scene.ground)
}

/// Everything in a directory of a home or of the system, with a secret somewhere below it.
fn whole(path: &str, scene: &Scene<'_>, found: &mut Findings<'_>) {
    let home = scene.ground.home.as_deref();
    let listed = match home {
        Some(home) if place::is_within(path, home) => sensitive::secret_below(path, home),
        _ => sensitive::secret_in_system(path),
    };
    if let Some(pattern) = listed {
        let message = format!("reads everything in `{path}`, `{}` included", pattern.pattern);
        found.about("secret_read", &message);
    }
}

/// Whether homes lie somewhere below a directory.
fn is_wide(start: &str, scene: &Scene<'_>) -> bool {
    let start = if start.is_empty() { "/" } else { start };
    is_home(start, scene.ground) || is_above_home(start, scene.ground)
}

/// The files that a pattern finds, if only names in one directory are open and the world knows
/// them.
pub(crate) fn expanded(path: &str, world: &dyn World) -> Option<Vec<String>> {
    let (directory, name) = path.rsplit_once('/')?;
    if sensitive::is_open(directory) || has_stars(name) {
        return None;
    }
    let names = world.names(if directory.is_empty() { "/" } else { directory })?;
    let pattern = name.to_lowercase();
    let is_found = |known: &&String| {
        known.starts_with('.') == pattern.starts_with('.')
            && glob::matches(&pattern, &known.to_lowercase())
    };
    Some(names.iter().filter(is_found).map(|known| format!("{directory}/{known}")).collect())
}

/// Whether a pattern goes down into directories.
fn has_stars(pattern: &str) -> bool {
    pattern.as_bytes().windows(2).any(|two| two == b"**")
}

/// How a path is held against the lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// As the one file it names.
    File,
    /// As a pattern whose directory is known.
    Pattern,
    /// As a pattern that may lie anywhere.
    Anywhere,
}

/// Holds one path against the lists.
pub(super) fn judge(
    path: &str,
    held: Held,
    access: Access,
    scene: &Scene<'_>,
    found: &mut Findings<'_>,
) {
    let root = scene.ground.workspace.first().map_or("/", String::as_str);
    let home = scene.ground.home.as_deref();
    let own = |patterns: &[String]| {
        // Few policies list any.
        if patterns.is_empty() {
            return false;
        }
        let lower = path.to_lowercase();
        patterns.iter().any(|pattern| {
            let pattern = if pattern.starts_with("**") {
                Some(format!("/{pattern}"))
            } else {
                place::absolute(pattern, root, home)
            };
            pattern.is_some_and(|pattern| sensitive::fits(&pattern.to_lowercase(), &lower))
        })
    };
    let listed = match held {
        Held::File => sensitive::find(path, access),
        Held::Anywhere => sensitive::aimed_at(path, access, true),
        // Below a part of the workspace the name counts, and not where it might lie.
        Held::Pattern => {
            let below = has_stars(path).then(|| path.split_once("/**/")).flatten();
            let is_anywhere =
                below.is_some_and(|(start, _)| !is_wide(start, scene) && !is_system(start));
            let aimed = sensitive::aimed_at(path, access, is_anywhere);
            if !aimed.is_some_and(|pattern| pattern.denies)
                && let Some(files) = expanded(path, scene.world)
            {
                for file in files {
                    judge(&file, Held::File, access, scene, found);
                }
                return;
            }
            if aimed.is_none() && access == Access::Read {
                let (directory, open) = sensitive::split_open(path);
                if !sensitive::has_text(open) {
                    whole(directory, scene, found);
                }
                if below.is_some_and(|(start, name)| {
                    is_wide(start, scene) && !sensitive::says_enough(name)
                }) {
                    found.about("secret_read", BELOW_A_HOME);
                }
            }
            aimed
        }
    };
    if let Some(pattern) = listed.filter(|pattern| pattern.denies) {
        found.about("self_protection", &format!("touches Portcullis itself: {}", pattern.why));
        return;
    }
    if own(&scene.sensitive.except) {
        return;
    }
    let shown = place::shown(path);
    match access {
        Access::Read => {
            if let Some(pattern) = listed {
                let fit = fit(held, pattern);
                found.about("secret_read", &format!("reads `{shown}`{fit}: {}", pattern.why));
            } else if own(&scene.sensitive.read) {
                found.about("secret_read", &format!("reads `{shown}`, which the policy lists"));
            }
        }
        Access::Write => {
            if let Some(pattern) = listed {
                let fit = fit(held, pattern);
                found.about("sensitive_path", &format!("writes `{shown}`{fit}: {}", pattern.why));
            } else if own(&scene.sensitive.write) {
                found.about("sensitive_path", &format!("writes `{shown}`, which the policy lists"));
            }
        }
    }
}

/// What of the list a pattern may name; a file is named itself.
fn fit(held: Held, pattern: &sensitive::Pattern) -> String {
    match held {
        Held::File => String::new(),
        Held::Pattern | Held::Anywhere => format!(", which may name `{}`", pattern.pattern),
    }
}
