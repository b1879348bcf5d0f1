//! What is looked up for a daemon that cannot look itself.

use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value, json};

/// Where the folder of a run and a path in it lead, in the shape of a call's `world`.
pub(crate) fn seen(folder: &Path, resource: &str) -> Value {
    let mut world = Map::new();
    let whole = folder.join(resource);
    for path in [folder.to_owned(), whole.clone(), normalised(&whole)] {
        let (Some(name), Some(real)) = (path.to_str(), real(&path)) else { continue };
        let Some(real_name) = real.to_str() else { continue };
        let metadata = std::fs::metadata(&real).ok();
        let is_shared = metadata.is_some_and(|metadata| metadata.is_file() && metadata.nlink() > 1);
        world.insert(name.to_owned(), json!({ "real": real_name, "shared": is_shared }));
    }
    Value::Object(world)
}

/// The physical path: links are followed for as much of it as is there.
fn real(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut known = path.to_owned();
    loop {
        if let Ok(real) = known.canonicalize() {
            missing.reverse();
            return Some(missing.into_iter().fold(real, |path, name| path.join(name)));
        }
        // A link that leads nowhere may lead somewhere once it is written.
        if known.symlink_metadata().is_ok() {
            return None;
        }
        missing.push(known.file_name()?.to_owned());
        known = known.parent()?.to_owned();
    }
}

/// The path without `.` and `..`, as its text says.
fn normalised(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                out.push(component);
            }
        }
    }
    out
}
