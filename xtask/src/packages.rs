//! What the work needs from registries: programs from cargo's, and the packages that JavaScript of
//! this checkout needs, as its lock files name them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout;

/// Installs the packages the lock file of a directory names, unless they are there.
pub fn install(directory: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let mark = directory.join("node_modules/.package-lock.json");
    let modified = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    if modified(&mark).is_some_and(|at| Some(at) >= modified(&directory.join("package-lock.json")))
    {
        return Ok(());
    }
    let name = directory.strip_prefix(checkout::root()).unwrap_or(directory);
    writeln!(out, "installing the packages of {} with npm", name.display())?;
    out.flush()?;
    // Nothing but what the lock file names, by its sums; a lock file that lacks a part is refused.
    let installed = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
        .current_dir(directory)
        .output()
        .context("cannot start `npm`")?;
    ensure!(
        installed.status.success(),
        "npm could not install the packages\n{}",
        String::from_utf8_lossy(&installed.stderr)
    );
    Ok(())
}

/// A program of cargo's registry in this version, installed under `target/tools` if it is missing.
pub fn program(name: &str, version: &str, out: &mut impl Write) -> anyhow::Result<PathBuf> {
    let tools = checkout::root().join("target/tools");
    let program = tools.join("bin").join(name);
    if program.exists() {
        return Ok(program);
    }
    writeln!(out, "installing {name} {version} with cargo into target/tools")?;
    out.flush()?;
    let installed = Command::new("cargo")
        .args(["install", name, "--locked", "--debug", "--version", version, "--root"])
        .arg(&tools)
        .arg("--target-dir")
        .arg(tools.join("build"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .output()
        .context("cannot start cargo")?;
    ensure!(
        installed.status.success(),
        "{name} could not be installed\n{}",
        String::from_utf8_lossy(&installed.stderr)
    );
    // What is left of the build is larger than everything else under `target`.
    std::fs::remove_dir_all(tools.join("build")).ok();
    Ok(program)
}
