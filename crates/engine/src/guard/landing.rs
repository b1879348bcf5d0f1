//! Landing: what is copied or moved into a directory keeps its name there, and what a directory
//! becomes or loses counts for everything below it.

use super::secret::{Held, expanded, judge};
use super::{CHANGES, Findings, Scene};
use crate::act::Act;
use crate::effect::Effect;
use crate::place::{self, Touched};
use crate::sensitive::{self, Access};

pub(super) fn inspect(act: &Act, touched: &[Touched], scene: &Scene<'_>, found: &mut Findings<'_>) {
    let is_changed =
        |one: &&Touched| matches!(one.effect, Effect::Write | Effect::Delete | Effect::Change);
    if !found.effects.has_any(&CHANGES) || !touched.iter().any(|one| is_changed(&one)) {
        return;
    }
    let name = found.base;
    let moves = matches!(name, Some("mv" | "gmv"));
    for one in touched.iter().filter(is_changed) {
        let Some(place) = &one.place else { continue };
        if (moves || one.is_deep)
            && let Some(pattern) = sensitive::listed_below(&place.normalised)
        {
            let path = place::shown(&place.normalised);
            let message = format!("changes all of `{path}`, `{}` included", pattern.pattern);
            found.about("sensitive_path", &message);
        }
    }
    if moves || matches!(name, Some("cp" | "gcp" | "install" | "ginstall" | "ln" | "rsync")) {
        land(act, touched, scene, found);
        let is_program = |one: &Touched| {
            one.effect == Effect::Read
                && one.place.as_ref().is_some_and(|place| is_program(&place.normalised))
        };
        if touched.iter().any(is_program) {
            found.about("dynamic", "puts a program under another name, which no rule knows");
        }
    }
}

/// Whether a path lies where the system has its programs.
fn is_program(path: &str) -> bool {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    matches!(
        directory,
        "/bin" | "/sbin" | "/usr/bin" | "/usr/sbin" | "/usr/local/bin" | "/usr/local/sbin"
    )
}

/// Holds what lands in a directory against the lists, under the name it has there.
fn land(act: &Act, touched: &[Touched], scene: &Scene<'_>, found: &mut Findings<'_>) {
    let has = |name: &str| act.options.contains(&name);
    let (becomes, keeps_path) = (has("-T") || has("--no-target-directory"), has("--parents"));
    let targets = touched.iter().filter(|one| one.effect == Effect::Write && !one.is_pattern);
    let places = targets.filter_map(|one| Some((one, &one.place.as_ref()?.normalised)));
    let directories = places.filter(|(one, path)| is_directory(&one.written, path, scene));
    for (_, directory) in directories {
        let is_source =
            |one: &&Touched| matches!(one.effect, Effect::Read | Effect::Delete) && !one.is_listing;
        for source in touched.iter().filter(is_source) {
            let Some(place) = &source.place else { continue };
            let path = place.normalised.as_str();
            // A directory that becomes the target, or that some programs take for what is in it.
            let is_content = becomes && source.is_deep
                || source.written.ends_with("/.")
                || source.is_deep && source.written.ends_with('/')
                || source.written == ".";
            if keeps_path {
                let path = format!("{directory}/{}", source.written);
                let path = place::normalise(&path, "/");
                judge(&path, Held::File, Access::Write, scene, found);
            }
            let names = if source.is_pattern {
                expanded(path, scene.world)
            } else if is_content {
                scene.world.names(path).map(|names| names.to_vec())
            } else {
                Some(vec![path.to_owned()])
            };
            let is_root = scene.ground.workspace.contains(directory);
            match names {
                Some(names) => {
                    for name in &names {
                        let name = name.rsplit('/').next().unwrap_or_default();
                        let path = format!("{directory}/{name}");
                        judge(&path, Held::File, Access::Write, scene, found);
                    }
                }
                None if is_root && (is_content || is_open(path)) => {
                    let message = "puts files whose names are not known into the workspace's root";
                    found.about("sensitive_path", message);
                }
                None => {
                    let name = path.rsplit('/').next().unwrap_or_default();
                    let path = format!("{directory}/{name}");
                    judge(&path, Held::Pattern, Access::Write, scene, found);
                }
            }
        }
    }
}

/// Whether a name has an ending, as files do.
fn has_ending(name: &str) -> bool {
    name.trim_start_matches('.').contains('.')
}

/// Whether a pattern says nothing of the names that it fits.
fn is_open(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !sensitive::has_text(name)
}

/// Whether a target is a directory, as far as its name and the world tell; what has an ending is
/// a file.
fn is_directory(written: &str, path: &str, scene: &Scene<'_>) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    written.ends_with(['/', '.']) || !has_ending(name) || scene.world.names(path).is_some()
}
