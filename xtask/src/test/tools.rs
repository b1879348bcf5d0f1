//! The tools the steps need: what is there is used, what is missing is installed.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::ensure;

use super::process::run;

/// Something a step needs and a fresh machine may lack.
// INVARIANT: `Ord` is only used to list each tool once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    /// The shell whose reading counts.
    Bash,
    /// The shell that reads the `sh` dialect.
    Dash,
    /// The shell that reads the `zsh` dialect.
    Zsh,
    /// Watches what a command does.
    Strace,
    /// Keeps a command apart; `setpriv` comes with it.
    Unshare,
    /// A terminal that can be read.
    Tmux,
    /// Builds the fuzzing engine.
    CppCompiler,
    /// Holds the store of several nodes; its programs are not on the path.
    Postgres,
    /// Runs the real clients of other systems.
    Node,
    /// Installs what they are made of.
    Npm,
    /// Plays the dashboard.
    Chromium,
    /// Makes environments for what comes from the Python package index.
    Python,
    /// Checks licences, bans, sources and advisories.
    CargoDeny,
}

impl Tool {
    /// The program that shows it is there.
    const fn program(self) -> &'static str {
        match self {
            Tool::Bash => "bash",
            Tool::Dash => "dash",
            Tool::Zsh => "zsh",
            Tool::Strace => "strace",
            Tool::Unshare => "unshare",
            Tool::Tmux => "tmux",
            Tool::CppCompiler => "c++",
            Tool::Postgres => "postgres",
            Tool::Node => "node",
            Tool::Npm => "npm",
            Tool::Chromium => "chromium",
            Tool::Python => "python3",
            Tool::CargoDeny => "cargo-deny",
        }
    }

    /// Its Debian package; cargo-deny has none.
    const fn package(self) -> Option<&'static str> {
        match self {
            Tool::Bash => Some("bash"),
            Tool::Dash => Some("dash"),
            Tool::Zsh => Some("zsh"),
            Tool::Strace => Some("strace"),
            Tool::Unshare => Some("util-linux"),
            Tool::Tmux => Some("tmux"),
            Tool::CppCompiler => Some("g++"),
            Tool::Postgres => Some("postgresql"),
            Tool::Node => Some("nodejs"),
            Tool::Npm => Some("npm"),
            Tool::Chromium => Some("chromium"),
            Tool::Python => Some("python3-venv"),
            Tool::CargoDeny => None,
        }
    }
}

/// Installs those of `tools` that are missing and says which.
pub fn provide(tools: &[Tool], root: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let missing: Vec<_> = tools.iter().filter(|tool| !is_there(**tool, root)).collect();
    let packages: Vec<_> = missing.iter().filter_map(|tool| tool.package()).collect();
    if !packages.is_empty() {
        writeln!(out, "installing {} with apt-get: the tests run them", packages.join(", "))?;
        out.flush()?;
        install_packages(&packages)?;
    }
    if missing.contains(&&Tool::CargoDeny) {
        writeln!(out, "installing cargo-deny with cargo into target/tools: the licences need it")?;
        out.flush()?;
        install_cargo_deny(root)?;
    }
    Ok(())
}

/// Whether `program --version` can be started.
pub fn answers(program: &str) -> bool {
    run(Command::new(program).arg("--version")).is_ok()
}

/// cargo-deny for the workspace at `root`, the machine's own if it has one.
pub fn cargo_deny(root: &Path) -> Command {
    let ours = root.join(OUR_CARGO_DENY);
    let mut command =
        if answers("cargo-deny") { Command::new("cargo-deny") } else { Command::new(ours) };
    command.current_dir(root).args(["--color", "never"]);
    command
}

/// Where cargo-deny is installed if the machine has none: away from the user's own programs,
/// because it is built in a hurry.
const OUR_CARGO_DENY: &str = "target/tools/bin/cargo-deny";

fn is_there(tool: Tool, root: &Path) -> bool {
    if tool == Tool::Postgres {
        return portcullis_database::is_installed();
    }
    if tool == Tool::Python {
        // There may be a Python that cannot make environments.
        let mut imports = Command::new(tool.program());
        imports.args(["-c", "import ensurepip, venv"]);
        return run(&mut imports).is_ok_and(|(succeeded, _)| succeeded);
    }
    answers(tool.program()) || (tool == Tool::CargoDeny && root.join(OUR_CARGO_DENY).exists())
}

fn install_packages(packages: &[&str]) -> anyhow::Result<()> {
    let by_hand = format!("install {} by hand and run this again", packages.join(", "));
    ensure!(answers("apt-get"), "there is no apt-get here; {by_hand}");
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(packages);
    for arguments in [vec!["update"], install] {
        let mut command = apt_get()?;
        let (succeeded, output) = run(command.args(&arguments))?;
        ensure!(succeeded, "`apt-get {}` failed; {by_hand}\n{output}", arguments.join(" "));
    }
    Ok(())
}

/// apt-get with the rights to install.
fn apt_get() -> anyhow::Result<Command> {
    let (_, user) = run(Command::new("id").arg("-u"))?;
    let mut command = Command::new("env");
    if user.trim() != "0" {
        ensure!(answers("sudo"), "only root can install packages, and there is no sudo here");
        command = Command::new("sudo");
        command.arg("env");
    }
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    Ok(command)
}

fn install_cargo_deny(root: &Path) -> anyhow::Result<()> {
    let tools = root.join("target/tools");
    // It reads a few files once: the time is in building it, so it is built without optimising.
    let (succeeded, output) = run(Command::new("cargo")
        .args(["install", "cargo-deny", "--locked", "--debug", "--root"])
        .arg(&tools)
        .arg("--target-dir")
        .arg(tools.join("build"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    ensure!(succeeded, "cargo-deny could not be installed\n{output}");
    // What is left of the build is larger than everything else under `target`.
    std::fs::remove_dir_all(tools.join("build")).ok();
    Ok(())
}
