//! Removals: which of them could not be undone.

use std::borrow::Cow;

use super::{Findings, Scene};
use crate::act::Act;
use crate::effect::{Effect, Target};
use crate::lists;
use crate::place::{Ground, Touched, is_within};
use crate::sensitive;
use crate::verdict::Tier;

/// Whether a path lies in a tree that belongs to the system; letter case does not matter.
pub(crate) fn is_system(path: &str) -> bool {
    let path = if path.is_ascii() { Cow::Borrowed(path) } else { path.to_lowercase().into() };
    let is_in = |tree: &&str| {
        let head = path.get(..tree.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(tree))
            && matches!(path.as_bytes().get(tree.len()), None | Some(b'/'))
    };
    lists::SYSTEM_TREES.iter().any(&is_in) && !lists::COMMON_DIRECTORIES.iter().any(is_in)
}

pub(super) fn inspect(act: &Act, touched: &[Touched], scene: &Scene<'_>, found: &mut Findings<'_>) {
    let base = found.base;
    let is_rm = matches!(base, Some("rm" | "grm" | "unlink" | "rmdir" | "srm"));
    let is_remover = is_rm || base == Some("find");
    if !found.effects.has(Effect::Delete) && !is_rm {
        return;
    }
    let removed: Vec<&Touched> =
        touched.iter().filter(|touched| touched.effect == Effect::Delete).collect();
    if removed.is_empty() && !is_rm {
        return;
    }
    for target in &removed {
        if let Some(why) = critical(target, act, scene.ground, is_remover) {
            found.about("critical_removal", &format!("removes {why}"));
        }
    }
    let has = |names: &[&str]| act.options.iter().any(|option| names.contains(option));
    let is_recursive = has(&["-r", "-R", "--recursive"]);
    // An expression that chooses by names removes those, and not everything.
    let chooses = act.base_name() == Some("find") && removed.iter().any(|one| one.is_pattern);
    for target in removed.iter().filter(|_| !chooses) {
        let is_whole = is_recursive || target.is_deep || !is_remover;
        let path = target.place.as_ref().map(|place| place.normalised.as_str());
        let home = scene.ground.home.as_deref();
        if let (true, Some(path), Some(home)) = (is_whole, path, home)
            && let Some(pattern) = sensitive::own_below(path, home)
        {
            let message =
                format!("removes a directory with Portcullis itself in it: {}", pattern.why);
            found.about("self_protection", &message);
        }
    }
    let is_forced = has(&["-f", "--force"]);
    let is_escalated = act.via.iter().any(|program| matches!(*program, "sudo" | "doas"));
    let is_wide = act.effects.iter().any(|on| {
        on.effect == Effect::Delete
            && match &on.target {
                Target::Path(written) | Target::Pattern(written) => is_wide(written),
                Target::Unknown(_) => true,
                Target::Host(_) | Target::Named(_) | Target::None => false,
            }
    }) || removed.iter().any(|touched| {
        touched.place.as_ref().is_some_and(|place| is_home(&place.normalised, scene.ground))
    });
    if is_rm && is_recursive && is_forced {
        found.about("forced_removal", "deletes a tree without asking back");
    } else if is_escalated {
        found.about("forced_removal", "deletes with another user's rights");
    } else if is_rm && is_recursive && is_wide {
        found.add("wide_removal", act.span, None);
    }
    if is_wide {
        found.raise("forced_removal", Tier::Destructive);
    }
}

/// Whether a target, as written, is more than a plain part of the workspace.
fn is_wide(written: &str) -> bool {
    let written = written.strip_prefix("./").unwrap_or(written);
    let bare = written.trim_end_matches('/');
    written.starts_with(['/', '~'])
        || matches!(bare, "" | "." | ".." | "*" | ".*" | "**")
        || bare.split('/').all(|part| matches!(part, "." | ".." | "*" | ".*" | "**"))
}

/// What a removal takes away that nobody gets back.
fn critical(
    touched: &Touched,
    act: &Act,
    ground: &Ground,
    is_remover: bool,
) -> Option<&'static str> {
    let Some(place) = &touched.place else {
        // Nobody said where the home is, but a home it is.
        return is_whole_home(touched, ground).then_some("a home directory");
    };
    for path in [Some(&place.normalised), place.resolved.as_ref()].into_iter().flatten() {
        let (path, is_all) = match path.rsplit_once('/') {
            // `*` directly in a directory is all that is in it.
            Some((above, "*" | ".*" | "**")) if touched.is_pattern => {
                (if above.is_empty() { "/" } else { above }, true)
            }
            _ => (path.as_str(), false),
        };
        if path == "/" {
            return Some("the root of the file system");
        }
        if is_home(path, ground) || is_above_home(path, ground) {
            return Some("a home directory");
        }
        // Whoever moves a tree of the system away takes it from everybody.
        if act.base_name() == Some("mv") && lists::SYSTEM_TREES.contains(&path) {
            return Some("a part of the system");
        }
        if !is_remover {
            continue;
        }
        let is_common = lists::COMMON_DIRECTORIES
            .iter()
            .any(|common| is_within(path, common) && path != *common);
        if !is_common && lists::SYSTEM_TREES.iter().any(|tree| is_within(path, tree)) {
            return Some("a part of the system");
        }
        if path.matches('/').count() == 1 && !is_all {
            return Some("a directory at the root of the file system");
        }
        let is_root = ground.workspace.iter().any(|root| is_within(root, path));
        if is_root && (act.base_name() != Some("find") || takes_all(act)) {
            return Some("the whole workspace");
        }
    }
    None
}

/// Whether an expression of `find` chooses nothing: it takes all that is there, or all files.
fn takes_all(act: &Act) -> bool {
    act.args.iter().skip(1).all(|arg| {
        arg.as_known().is_some_and(|word| {
            !word.starts_with(['-', '!', '(']) || lists::FIND_ANYTHING.contains(&word)
        })
    })
}

/// Whether what an act touches is somebody's home, or everything directly in it.
pub(crate) fn is_whole_home(touched: &Touched, ground: &Ground) -> bool {
    let whole = |path: &str| {
        let path = path.strip_suffix("/*").unwrap_or(path);
        path.trim_end_matches('/').to_owned()
    };
    if let Some(place) = &touched.place {
        return is_home(&whole(&place.normalised), ground);
    }
    let written = whole(&touched.written);
    written.starts_with('~') && !written.contains('/')
}

/// Whether a path is somebody's home.
pub(super) fn is_home(path: &str, ground: &Ground) -> bool {
    if ground.home.as_deref() == Some(path) || path == "/root" {
        return true;
    }
    let below = ["/home/", "/Users/", "/users/", "/export/home/"]
        .iter()
        .find_map(|tree| path.strip_prefix(tree));
    below.is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

/// Whether homes lie below a path.
pub(super) fn is_above_home(path: &str, ground: &Ground) -> bool {
    matches!(path, "/" | "/home" | "/Users" | "/export/home" | "/export")
        || ground.home.as_deref().is_some_and(|home| home != path && is_within(home, path))
}
