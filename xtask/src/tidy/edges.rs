//! Which crate may depend on which, and what every member's manifest says.

use std::path::Path;

use super::Fault;
use crate::checkout::{Metadata, Package};

/// The rooms with the rooms each may depend on: dependencies point left, never back.
/// A room stands here before it is built, so that its place is settled before its code is.
#[rustfmt::skip]
const EDGES: &[(&str, &[&str])] = &[
    ("shell",       &[]),
    ("engine",      &["shell"]),
    ("approval",    &["engine"]),
    ("wire",        &["approval", "engine"]),
    ("layers",      &["engine"]),
    ("database",    &[]),
    ("law",         &[]),
    ("store",       &["approval", "engine", "database"]),
    ("converse",    &[]),
    ("live",        &[]),
    ("hook",        &[]),
    ("daemon",      &["store", "wire", "layers", "hook", "approval", "engine", "converse", "database"]),
    ("client",      &["wire"]),
    ("guard",       &["client"]),
    ("proxy",       &["client", "hook", "wire"]),
    ("hook-static", &["hook", "layers", "wire", "approval", "engine"]),
    ("cli",         &["daemon", "store", "wire", "layers", "client", "guard", "proxy", "hook", "hook-static", "live", "approval", "engine", "shell", "database"]),
    ("xtask",       &["shell", "engine", "approval", "converse", "database", "live"]),
];

/// Rooms that only tests may use, those of every room.
const TESTS: &[&str] = &["law"];

/// What a pure crate may take from outside, beside its tests: the engine reads policies in TOML
/// and tool input in JSON, approvals are hashed, signed, numbered and dated.
#[rustfmt::skip]
pub const PURE: &[(&str, &[&str])] = &[
    ("shell",    &[]),
    ("engine",   &["serde_json", "toml"]),
    ("approval", &["base64", "ed25519-dalek", "jiff", "serde_json", "sha2", "thiserror", "uuid"]),
];

/// The faults of all manifests.
pub fn check(metadata: &Metadata) -> Vec<Fault> {
    metadata.packages.iter().flat_map(check_package).collect()
}

fn check_package(package: &Package) -> Vec<Fault> {
    let room = room(&package.manifest_path);
    let manifest = match room {
        "xtask" => "xtask/Cargo.toml".to_owned(),
        _ => format!("crates/{room}/Cargo.toml"),
    };
    let mut faults = Vec::new();
    let mut fault = |message: String| faults.push(Fault::new(&manifest, 1, message));

    let name = if room == "xtask" { room.to_owned() } else { format!("portcullis-{room}") };
    if package.name != name {
        fault(format!("the package is called `{}`; call it `{name}`", package.name));
    }
    let Some((_, allowed)) = EDGES.iter().find(|(known, _)| *known == room) else {
        fault(format!("no room `{room}` is known; add a row to the table in tidy/edges.rs"));
        return faults;
    };
    let outside = PURE.iter().find(|(pure, _)| *pure == room).map(|(_, outside)| *outside);
    for dependency in &package.dependencies {
        // What only tests need may look anywhere outside, and at our rooms as the code may.
        match (&dependency.path, outside) {
            (Some(path), _) => {
                let other = room_of_directory(path);
                let by_tests = dependency.kind.as_deref() == Some("dev") && TESTS.contains(&other);
                if !allowed.contains(&other) && !by_tests {
                    fault(format!(
                        "`{room}` depends on `{other}`, which the table in tidy/edges.rs does not \
                         allow; move the code or turn the dependency round"
                    ));
                }
            }
            (None, Some(outside)) if dependency.kind.as_deref() != Some("dev") => {
                if !outside.contains(&dependency.name.as_str()) {
                    fault(format!(
                        "`{room}` is pure and depends on `{}`; do without it, or list it in \
                         tidy/edges.rs and say why in the commit",
                        dependency.name
                    ));
                }
            }
            (None, _) => {}
        }
    }
    faults
}

/// The room of a manifest: the name of its directory.
fn room(manifest: &Path) -> &str {
    manifest.parent().map_or("", room_of_directory)
}

fn room_of_directory(directory: &Path) -> &str {
    directory.file_name().and_then(|name| name.to_str()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout::Dependency;

    fn package(room: &str, dependencies: &[(&str, Option<&str>, Option<&str>)]) -> Package {
        Package {
            name: if room == "xtask" { room.into() } else { format!("portcullis-{room}") },
            manifest_path: format!("/p/crates/{room}/Cargo.toml").into(),
            dependencies: dependencies
                .iter()
                .map(|(name, path, kind)| Dependency {
                    name: (*name).into(),
                    path: path.map(|path| format!("/p/crates/{path}").into()),
                    kind: kind.map(str::to_owned),
                })
                .collect(),
            targets: Vec::new(),
        }
    }

    #[test]
    fn dependencies_point_left() {
        #[rustfmt::skip]
        let cases = [
            (package("engine", &[("portcullis-shell", Some("shell"), None)]),       0, "the drawn edge"),
            (package("shell", &[("portcullis-engine", Some("engine"), None)]),      1, "an edge back"),
            (package("shell", &[("portcullis-cli", Some("cli"), Some("dev"))]),     1, "an edge back, in tests"),
            (package("shell", &[("memchr", None, None)]),                           1, "a pure crate takes nothing"),
            (package("shell", &[("proptest", None, Some("dev"))]),                  0, "tests may take what they need"),
            (package("shell", &[("cc", None, Some("build"))]),                      1, "a build script is not a test"),
            (package("cli", &[("clap", None, None)]),                               0, "the binary takes what it needs"),
            (package("attic", &[]),                                                 1, "an unknown room"),
        ];
        for (package, want, why) in cases {
            let faults = check_package(&package);
            assert_eq!(faults.len(), want, "{why}: {faults:?}");
        }
    }

    #[test]
    fn the_package_carries_the_name_of_its_room() {
        let package = Package { name: "shell".into(), ..package("shell", &[]) };
        let faults = check_package(&package);
        assert_eq!(
            faults.first().map(ToString::to_string).as_deref(),
            Some(
                "crates/shell/Cargo.toml:1: the package is called `shell`; call it `portcullis-shell`"
            )
        );
    }

    #[test]
    fn the_table_has_no_way_back() {
        for (index, (room, allowed)) in EDGES.iter().enumerate() {
            for other in *allowed {
                let place = EDGES.iter().position(|(known, _)| known == other);
                assert!(place.is_some_and(|place| place < index), "`{room}` before `{other}`");
            }
        }
    }
}
