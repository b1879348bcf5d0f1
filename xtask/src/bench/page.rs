//! `docs/figures.md`: what every benchmark printed in one run on one commit.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::Command;

use anyhow::Context;

use crate::checkout;

/// Writes the page anew.
pub fn write(told: &[(&str, String)], arguments: &[OsString]) -> anyhow::Result<()> {
    let shown: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let call = if shown.is_empty() { String::new() } else { format!(" -- {}", shown.join(" ")) };
    let commit = said("git", &["rev-parse", "--short", "HEAD"])?;
    let is_clean = said("git", &["status", "--porcelain", "--", "crates", "benches"])?.is_empty();
    let changed = if is_clean { "" } else { ", with changes" };
    let date = said("date", &["--utc", "+%Y-%m-%d %H:%M"])?;
    let cores = std::thread::available_parallelism()?;
    let mut page = format!(
        "# Every figure in one run\n\n\
         What `cargo xtask bench --page{call}` printed at {commit}{changed}, on {date} UTC, on \
         {cores} cores.\n\
         [performance.md](performance.md) says what they mean, how they are taken and what is \
         missing where a goal is missed.\n"
    );
    for (name, lines) in told {
        write!(page, "\n## {name}\n\n```text\n{}\n```\n", lines.trim())?;
    }
    let place = checkout::root().join("docs/figures.md");
    std::fs::write(&place, page).context("cannot write the page")
}

fn said(program: &str, words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program).args(words).current_dir(checkout::root()).output();
    let output = output.with_context(|| format!("cannot start `{program}`"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
