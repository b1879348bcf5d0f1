//! `cargo xtask web`: the dashboard, from its lock file to a real browser.
//!
//! The packages are installed, types and components checked, the build compared with the committed
//! `web/dist` byte by byte, its weight held against its budget, and the conversations under
//! `web/tests/browser/` played by Chromium against the real daemon.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout;
use crate::kill::built;
use crate::packages;

/// The first load in all, compressed.
const MOST_BYTES: u64 = 60_000;

/// What `cargo xtask web` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The conversations to play, by their names; all of them if none is named.
    #[arg(value_name = "CONVERSATION")]
    conversations: Vec<String>,
    /// Where pictures of every page are put.
    #[arg(long, value_name = "DIRECTORY")]
    shots: Option<PathBuf>,
    /// The binary to talk to; built from the checkout where none is named.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Plays the conversations only.
    #[arg(long)]
    browser: bool,
}

/// Runs it all, and ends with the count.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let directory = checkout::root().join("web");
    let mut out = std::io::stdout();
    packages::install(&directory, &mut out)?;
    if !arguments.browser {
        node(&directory, "typescript/bin/tsc", &["--noEmit"], "the types do not hold")?;
        let tested = node(&directory, "vitest/vitest.mjs", &["run"], "a component fails")?;
        let count = tested.lines().find(|line| line.contains("Tests")).unwrap_or_default();
        writeln!(out, "components: {}", count.trim())?;
        compare(&directory)?;
        writeln!(out, "web/dist is what the source says, {} bytes in all", weigh(&directory)?)?;
    }
    let binary = match &arguments.binary {
        Some(binary) => std::path::absolute(binary)?,
        None => built()?,
    };
    let mut command = Command::new("node");
    command.arg("tests/browser/conversations.mjs").arg(&binary).current_dir(&directory);
    if let Some(shots) = &arguments.shots {
        command.arg("--shots").arg(std::path::absolute(shots)?);
    }
    let played = command.args(&arguments.conversations).output().context("cannot start `node`")?;
    out.write_all(&played.stdout)?;
    out.write_all(&played.stderr)?;
    ensure!(played.status.success(), "a conversation failed");
    Ok(())
}

/// Runs a script of an installed package; gives what it said.
fn node(directory: &Path, script: &str, arguments: &[&str], fault: &str) -> anyhow::Result<String> {
    let done = Command::new("node")
        .arg(directory.join("node_modules").join(script))
        .args(arguments)
        .env("NO_COLOR", "1")
        .current_dir(directory)
        .output()
        .context("cannot start `node`")?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let more = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{fault}\n{said}{more}");
    Ok(said)
}

/// Builds anew beside the committed files, and looks for a difference. Compressed files may differ
/// between versions of the compressor; what is in them may not.
fn compare(directory: &Path) -> anyhow::Result<()> {
    let fresh = std::env::temp_dir().join(format!("portcullis-web-{}", std::process::id()));
    let place = fresh.to_str().context("the path is no text")?;
    node(
        directory,
        "vite/bin/vite.js",
        &["build", "--outDir", place, "--emptyOutDir"],
        "it cannot be built",
    )?;
    let dist = directory.join("dist");
    let differs = difference(&dist, &fresh);
    std::fs::remove_dir_all(&fresh)?;
    if let Some(name) = differs? {
        anyhow::bail!("web/dist/{name} is not what the source says; run `npm run build` in web");
    }
    let script = "import{readdirSync as d,readFileSync as r}from'fs';import{gunzipSync as u}from'zlib';\
        for(const n of d('dist').filter(n=>!n.endsWith('.gz')))\
        if(!u(r(`dist/${n}.gz`)).equals(r(`dist/${n}`)))throw new Error(n)";
    let unpacked = Command::new("node")
        .args(["--input-type=module", "-e", script])
        .current_dir(directory)
        .output()?;
    ensure!(
        unpacked.status.success(),
        "a compressed file is another one\n{}",
        String::from_utf8_lossy(&unpacked.stderr)
    );
    Ok(())
}

/// The first file that only one of the directories has, or that differs.
fn difference(committed: &Path, fresh: &Path) -> anyhow::Result<Option<String>> {
    let names = |directory: &Path| -> anyhow::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(directory)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    };
    let (ours, theirs) = (names(committed)?, names(fresh)?);
    if let Some(name) = ours.iter().find(|name| !theirs.contains(name)) {
        return Ok(Some(name.clone()));
    }
    for name in theirs {
        let is_packed = Path::new(&name).extension().is_some_and(|extension| extension == "gz");
        let ours = std::fs::read(committed.join(&name)).unwrap_or_default();
        if ours.is_empty() || (!is_packed && ours != std::fs::read(fresh.join(&name))?) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// How many bytes a browser loads in all.
fn weigh(directory: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory.join("dist"))? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "gz") {
            bytes += entry.metadata()?.len();
        }
    }
    ensure!(bytes <= MOST_BYTES, "the dashboard weighs {bytes} bytes, and {MOST_BYTES} is the end");
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_difference_is_named_whichever_side_has_it() {
        let base = std::env::temp_dir().join(format!("xtask-web-{}", std::process::id()));
        let (ours, theirs) = (base.join("ours"), base.join("theirs"));
        for directory in [&ours, &theirs] {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::write(directory.join("app.js"), "1").unwrap();
            std::fs::write(directory.join("app.js.gz"), "1").unwrap();
        }
        assert_eq!(difference(&ours, &theirs).unwrap(), None);
        std::fs::write(theirs.join("app.js.gz"), "2").unwrap();
        assert_eq!(difference(&ours, &theirs).unwrap(), None, "the compressor may be another");
        std::fs::write(theirs.join("app.js"), "2").unwrap();
        assert_eq!(difference(&ours, &theirs).unwrap().as_deref(), Some("app.js"));
        std::fs::write(ours.join("old.js"), "1").unwrap();
        assert_eq!(difference(&ours, &theirs).unwrap().as_deref(), Some("old.js"));
        std::fs::remove_dir_all(&base).unwrap();
    }
}
