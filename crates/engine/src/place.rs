//! Places: where the paths of an act really lead.

mod links;

use std::sync::Arc;

use crate::act::Act;
use crate::effect::{Below, Effect, EffectOn, Target};
use crate::world::{World, WorldKind};

pub(crate) use links::follows;

/// Where a call runs that does not say where: a directory like no other, so that relative paths
/// mean neither the system's nor each other's.
pub const NOWHERE: &str = "/-/-";

/// Where relative paths, `~` and the workspace lie for one call.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The working directory the call began in, absolute and normalised.
    pub cwd: Arc<str>,
    /// The directory the session began in, absolute and normalised.
    pub root: Arc<str>,
    /// The home of the user, absolute and normalised.
    pub home: Option<String>,
    /// The workspace by physical path; the first is the root of relative patterns.
    pub workspace: Vec<String>,
    /// Whether programs and sub-commands are known by their names in any letter case.
    pub folds_names: bool,
}

/// One path in both its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Absolute, with `.`, `..` and doubled separators removed.
    pub normalised: String,
    /// The same with links followed; none where that cannot be told.
    pub resolved: Option<String>,
}

/// A file that an act touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// What is done to it.
    pub effect: Effect,
    /// Where it is; none where that is not known before the act runs.
    pub place: Option<Place>,
    /// What the act writes for it.
    pub written: String,
    /// Whether the place is a pattern for several files.
    pub is_pattern: bool,
    /// Whether everything below it is meant too.
    pub is_deep: bool,
    /// Whether only names and attributes are looked at.
    pub is_listing: bool,
    /// What is done below it, if it is a directory.
    pub below: Below,
}

impl Ground {
    /// The ground of a call: its own directory is the first of the workspace.
    pub fn new(cwd: &str, home: Option<&str>, workspace: &[String], world: &dyn World) -> Ground {
        Ground::of_session(cwd, cwd, home, workspace, world)
    }

    /// The ground of a call in a session that began in `root`, the first of the workspace.
    pub fn of_session(
        root: &str,
        cwd: &str,
        home: Option<&str>,
        workspace: &[String],
        world: &dyn World,
    ) -> Ground {
        let is_here = root == cwd;
        let shared = |path: &str| -> Arc<str> {
            if is_normal(path) { path.into() } else { normalise(path, "/").into() }
        };
        let cwd = shared(cwd);
        let root = if is_here { Arc::clone(&cwd) } else { shared(root) };
        let home = home.map(|home| normalise(home, "/"));
        let physical = if is_lexical(world) { None } else { world.resolve(&root) };
        let mut roots = vec![physical.unwrap_or_else(|| (*root).to_owned())];
        for root in workspace {
            let root = absolute(root, &cwd, home.as_deref()).unwrap_or_else(|| root.clone());
            roots.push(world.resolve(&root).unwrap_or(root));
        }
        Ground { cwd, root, home, workspace: roots, folds_names: false }
    }

    /// Where a path leads that is written in a directory; none where that is not known.
    pub fn place(&self, written: &str, directory: &str, world: &dyn World) -> Option<Place> {
        let joined = join(written, directory, self.home.as_deref())?;
        if let Some(meant) = through_process(&joined, directory) {
            let normalised = normalise(&joined, "/");
            let followed = if is_lexical(world) { None } else { Some(world.resolve(&meant)) };
            let resolved = followed.unwrap_or_else(|| Some(normalise(&meant, "/")));
            return Some(Place { normalised, resolved });
        }
        // `..` behind a link leads to the parent of what the link names, so the world sees it.
        let followed = if is_lexical(world) { None } else { Some(world.resolve(&joined)) };
        let normalised = if is_normal(&joined) { joined } else { normalise(&joined, "/") };
        let resolved = followed.unwrap_or_else(|| Some(normalised.clone()));
        Some(Place { normalised, resolved })
    }

    /// Whether a place lies inside the workspace by its physical path.
    #[must_use]
    pub fn holds(&self, place: &Place) -> bool {
        place.resolved.as_deref().is_some_and(|path| self.holds_path(path))
    }

    /// Whether a physical path lies inside the workspace.
    #[must_use]
    pub fn holds_path(&self, path: &str) -> bool {
        self.workspace.iter().any(|root| is_within(path, root))
    }

    /// Whether a directory lies above the one the session began in.
    #[must_use]
    pub fn is_above(&self, directory: &str) -> bool {
        is_within(&self.root, directory)
    }

    /// The files an act touches, those among them that its patterns find by a link.
    pub fn touched(&self, act: &Act, world: &dyn World) -> Vec<Touched> {
        self.touched_by(act, &act.effects, world)
    }

    /// The files of these effects of an act.
    pub fn touched_by(&self, act: &Act, effects: &[EffectOn], world: &dyn World) -> Vec<Touched> {
        let mut touched = Vec::new();
        for on in effects {
            let (written, is_pattern) = match &on.target {
                Target::Path(written) => (Some(written.as_str()), false),
                Target::Pattern(written) => (Some(written.as_str()), true),
                Target::Unknown(_) => (None, false),
                Target::Host(_) | Target::Named(_) | Target::None => continue,
            };
            let place = written
                .zip(act.directory.as_deref().or(written.filter(|path| is_rooted(path))))
                .and_then(|(written, directory)| self.place(written, directory, world));
            touched.push(Touched {
                effect: on.effect,
                place,
                written: written.unwrap_or_default().to_owned(),
                is_pattern,
                is_deep: on.is_deep,
                is_listing: on.is_listing,
                below: on.below,
            });
        }
        if !is_lexical(world) {
            links::add(self, act, world, &mut touched);
        }
        touched
    }
}

impl Ground {
    /// Where the files of an act may be whose directory is not known, everywhere the script has
    /// been, or where it may be because a change of directory failed. Only what is stricter than
    /// the mode may look at this.
    pub fn perhaps<'a>(
        &'a self,
        act: &'a Act,
        touched: &'a [Touched],
        world: &'a dyn World,
    ) -> impl Iterator<Item = Touched> + 'a {
        let is_lost = |one: &Touched| match act.directory {
            None => one.place.is_none(),
            // A change of directory may have failed.
            Some(_) => !is_rooted(&one.written) || one.written.starts_with("~+"),
        };
        let lost = touched.iter().filter(move |one| !one.written.is_empty() && is_lost(one));
        lost.flat_map(move |one| {
            let places =
                act.perhaps_in.iter().map(|directory| self.place(&one.written, directory, world));
            places.flatten().flat_map(|place| {
                let found = if one.is_pattern && !is_lexical(world) {
                    links::found(&place.normalised, one, self, world)
                } else {
                    Vec::new()
                };
                let there = Touched { place: Some(place), ..one.clone() };
                std::iter::once(there).chain(found)
            })
        })
    }
}

/// What a path names by the directories that a process shows of itself: its own working directory
/// is that of the command, and its root is that of the machine.
fn through_process(joined: &str, directory: &str) -> Option<String> {
    // Few paths lead there.
    if !joined.contains("/proc/") && !joined.starts_with("/dev/fd/") {
        return None;
    }
    let path = match joined.strip_prefix("/dev/fd/") {
        Some(below) => normalise(&format!("/proc/self/fd/{below}"), "/"),
        None => normalise(joined, "/"),
    };
    let (process, mut rest) = path.strip_prefix("/proc/")?.split_once('/')?;
    let is_own = matches!(process, "self" | "thread-self");
    if !is_own && !process.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some(behind) = rest.strip_prefix("task/") {
        rest = behind.split_once('/')?.1;
    }
    let (link, below) = rest.split_once('/').unwrap_or((rest, ""));
    match link {
        "root" => Some(format!("/{below}")),
        "cwd" if is_own => Some(format!("{directory}/{below}")),
        _ => None,
    }
}

/// Whether nothing is known of the disk, so that a path is the file it names.
fn is_lexical(world: &dyn World) -> bool {
    world.kind() == WorldKind::Lexical
}

/// A path for people: as it was written where nobody knows what it hangs on.
#[must_use]
pub fn shown(path: &str) -> &str {
    let below = path.strip_prefix(NOWHERE).and_then(|rest| rest.strip_prefix('/'));
    below.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// Whether a path does not depend on the working directory.
fn is_rooted(path: &str) -> bool {
    path.starts_with('/') || path.starts_with('~')
}

/// Whether a path is a root or lies below it, by whole components.
#[must_use]
pub fn is_within(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The absolute form of a written path; none where it depends on what is not known.
#[must_use]
pub fn absolute(written: &str, directory: &str, home: Option<&str>) -> Option<String> {
    let joined = join(written, directory, home)?;
    Some(if is_normal(&joined) { joined } else { normalise(&joined, "/") })
}

/// The same with `.` and `..` left in it.
fn join(written: &str, directory: &str, home: Option<&str>) -> Option<String> {
    if let Some(rest) = written.strip_prefix('~') {
        let home = home?;
        let (user, below) = rest.split_once('/').unwrap_or((rest, ""));
        return match user {
            "" => Some(format!("{home}/{below}")),
            "+" => Some(format!("{directory}/{below}")),
            "-" => None,
            "root" => Some(format!("/root/{below}")),
            // Homes stand side by side.
            _ => Some(format!("{}/{below}", normalise(&format!("../{user}"), home))),
        };
    }
    if written.starts_with('/') {
        return Some(written.to_owned());
    }
    let mut joined = String::with_capacity(directory.len() + written.len() + 1);
    joined.push_str(directory);
    joined.push('/');
    joined.push_str(written);
    Some(joined)
}

/// The path without `.`, `..` and doubled separators, absolute in `directory`.
#[must_use]
pub fn normalise(path: &str, directory: &str) -> String {
    if is_normal(path) {
        return path.to_owned();
    }
    let base = if path.starts_with('/') { "" } else { directory };
    let mut out = String::with_capacity(base.len() + path.len() + 1);
    // Parts are short: looking at each byte is the quickest.
    for part in base.split(['/']).chain(path.split(['/'])) {
        match part {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            _ => {
                out.push('/');
                out.push_str(part);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Whether a path is absolute already and holds nothing that means nothing.
fn is_normal(path: &str) -> bool {
    let bytes = path.as_bytes();
    let Some((b'/', behind)) = bytes.split_first() else { return false };
    // A separator, or a part that begins with a dot, may have to go; all pairs are looked at at
    // once.
    let pairs = bytes.iter().zip(behind);
    let is = |byte: u8, wanted: u8| u8::from(byte == wanted);
    let odd = pairs.fold(0, |odd, (before, byte)| {
        odd | is(*before, b'/') & (is(*byte, b'/') | is(*byte, b'.'))
    });
    odd == 0 && behind.last() != Some(&b'/')
}

#[cfg(test)]
mod tests {
    use super::{absolute, is_within, normalise, through_process};

    #[test]
    fn paths_lose_what_means_nothing() {
        #[rustfmt::skip]
        let cases = [
            ("a/./b//c", "/w", "/w/a/b/c"), ("/a/../..", "/w", "/"), ("", "/w", "/w"),
            ("../x", "/w/d", "/w/x"),       ("//etc/passwd", "/w", "/etc/passwd"),
        ];
        for (path, directory, want) in cases {
            assert_eq!(normalise(path, directory), want, "`{path}` in `{directory}`");
        }
        assert_eq!(absolute("~/x", "/w", Some("/home/dev")).as_deref(), Some("/home/dev/x"));
        assert_eq!(absolute("~root/x", "/w", Some("/home/dev")).as_deref(), Some("/root/x"));
        assert_eq!(absolute("~eva/x", "/w", Some("/home/dev")).as_deref(), Some("/home/eva/x"));
        assert_eq!(absolute("~-/x", "/w", Some("/home/dev")), None);
        #[rustfmt::skip]
        let shown = [
            ("/proc/self/cwd/x", Some("/w/x")), ("/proc/1/root/etc/x", Some("/etc/x")), ("/proc/1/cwd/x", None),
            ("/proc/self/task/7/cwd", Some("/w/")), ("/proc/self/fd/../cwd/x", Some("/w/x")), ("/proc/self/environ", None),
            ("/dev/fd/../cwd/x", Some("/w/x")), ("/dev/fd/3", None), ("/srv/proc/x", None),
        ];
        for (path, want) in shown {
            assert_eq!(through_process(path, "/w").as_deref(), want, "`{path}`");
        }
        assert!(is_within("/a/b", "/a") && !is_within("/ab", "/a") && is_within("/a", "/"));
    }
}
