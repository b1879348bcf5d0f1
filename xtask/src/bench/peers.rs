//! What others made, from the package registries, beside which hook and verdicts are measured.
//!
//! They are installed into a directory of the run and go with it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// A guard of somebody else.
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// What starts it for one call.
    pub words: Vec<String>,
}

/// Installs what can be installed here, and says what cannot.
pub fn install(root: &Path, out: &mut impl Write) -> anyhow::Result<Vec<Peer>> {
    let place = root.join("peers");
    std::fs::create_dir_all(&place)?;
    let at = |path: &str| place.join(path).display().to_string();
    let python = at("python/bin/pip");
    let ways = [
        (
            "cc-safety-net",
            vec![words(&[
                "npm",
                "install",
                "--no-audit",
                "--no-fund",
                "--prefix",
                &at("npm"),
                "cc-safety-net",
            ])],
            words(&[&at("npm/node_modules/.bin/cc-safety-net"), "hook", "--claude-code"]),
        ),
        (
            "nah",
            vec![
                words(&["python3", "-m", "venv", &at("python")]),
                words(&[&python, "install", "-q", "nah"]),
            ],
            words(&[&at("python/bin/nah"), "_claude-hook"]),
        ),
        (
            "vectimus",
            vec![words(&[&python, "install", "-q", "vectimus"])],
            words(&[&at("python/bin/vectimus"), "hook", "--source", "claude-code"]),
        ),
        (
            "shellfirm",
            vec![words(&["cargo", "install", "--quiet", "--root", &at("cargo"), "shellfirm"])],
            words(&[&at("cargo/bin/shellfirm"), "pre-command", "--test", "--command", "echo hi"]),
        ),
    ];
    let mut peers = Vec::new();
    for (name, steps, words) in ways {
        writeln!(out, "installing {name}")?;
        match steps.iter().try_for_each(|step| done(step)) {
            Ok(()) => peers.push(Peer { name, words }),
            Err(error) => writeln!(out, "{name} is left out: {error:#}")?,
        }
    }
    Ok(peers)
}

/// Installs `AgentScope` and gives the Python that has it.
pub fn agentscope(place: &Path) -> anyhow::Result<PathBuf> {
    let at = |path: &str| place.join(path).display().to_string();
    done(&words(&["python3", "-m", "venv", &at("python")]))?;
    done(&words(&[&at("python/bin/pip"), "install", "-q", "agentscope"]))?;
    Ok(place.join("python/bin/python"))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn done(step: &[String]) -> anyhow::Result<()> {
    let (program, words) = step.split_first().context("no words")?;
    let ran = Command::new(program).args(words).output();
    let ran = ran.with_context(|| format!("cannot start `{program}`"))?;
    let error = String::from_utf8_lossy(&ran.stderr);
    let last = error.trim().lines().last().unwrap_or_default();
    ensure!(ran.status.success(), "`{program}` could not install it: {last}");
    Ok(())
}
