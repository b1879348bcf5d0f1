//! The checkout: where it is, the texts in it, and what cargo knows about its packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

/// One text file of the checkout.
#[derive(Debug)]
pub struct File {
    /// Relative to the root, with `/` between its parts.
    pub path: String,
    /// The content, with bytes that are not UTF-8 replaced.
    pub text: String,
}

impl File {
    /// What stands behind the last dot.
    pub fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or("")
    }
}

/// What cargo says about the packages of the workspace.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// The packages, members only.
    pub packages: Vec<Package>,
}

/// One package.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Its name in its manifest.
    pub name: String,
    /// The path of its manifest.
    pub manifest_path: PathBuf,
    /// What it says it depends on.
    pub dependencies: Vec<Dependency>,
    /// What is built from it.
    pub targets: Vec<Target>,
}

/// One dependency of a package.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// The package it names.
    pub name: String,
    /// Where that package lies, if it is one of ours.
    pub path: Option<PathBuf>,
    /// `dev` or `build`; absent for an ordinary one.
    pub kind: Option<String>,
}

/// One target of a package.
#[derive(Debug, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// `bin`, `lib`, `test` and the like.
    pub kind: Vec<String>,
}

/// The root of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// What the cargo that runs this says about it in the environment begins with one of these.
const OWN: [&str; 3] = ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_CRATE_"];

/// Cargo, for work of its own: what is said about xtask is not handed on. Build scripts that heed
/// it would run again, with everything behind them, whenever somebody else had built in between.
pub fn cargo() -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| OWN.iter().any(|own| name.starts_with(own))) {
            command.env_remove(name);
        }
    }
    command
}

/// What `cargo metadata` says about the workspace at `root`.
pub fn metadata(root: &Path) -> anyhow::Result<Metadata> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version=1"])
        .current_dir(root)
        .output()
        .context("cannot start cargo")?;
    ensure!(
        output.status.success(),
        "`cargo metadata` failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    serde_json::from_slice(&output.stdout).context("cannot read what `cargo metadata` says")
}

/// Every file under `root` that is not ignored, sorted by path.
pub fn files(root: &Path) -> anyhow::Result<Vec<File>> {
    let ignored = ignored(&fs::read_to_string(root.join(".gitignore")).unwrap_or_default());
    let mut files = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(&directory)
            .with_context(|| format!("cannot list `{}`", directory.display()))?;
        for entry in entries {
            let entry = entry?;
            let place = entry.path();
            let path = relative(root, &place);
            if path == ".git" || ignored.contains(&path) {
                continue;
            }
            // Links are not followed: what they name is either listed anyway or not ours.
            let kind = entry.file_type()?;
            if kind.is_dir() {
                directories.push(place);
            } else if kind.is_file() {
                let bytes = fs::read(&place).with_context(|| format!("cannot read `{path}`"))?;
                files.push(File { path, text: String::from_utf8_lossy(&bytes).into_owned() });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The paths a `.gitignore` names; ours holds anchored paths and nothing cleverer.
fn ignored(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.trim().strip_prefix('/')).map(str::to_owned).collect()
}

fn relative(root: &Path, place: &Path) -> String {
    let inside = place.strip_prefix(root).unwrap_or(place);
    let parts: Vec<_> =
        inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchored_paths_are_ignored() {
        assert_eq!(ignored("/target\n/fuzz/corpus\n# a note\n"), ["target", "fuzz/corpus"]);
    }

    #[test]
    fn the_checkout_lists_its_own_sources_and_not_what_was_built() {
        let files = files(&root()).unwrap();
        assert!(files.iter().any(|file| file.path == "xtask/src/checkout.rs"));
        assert!(!files.iter().any(|file| file.path.starts_with("target/")));
    }
}
