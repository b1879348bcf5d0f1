//! `cargo xtask schemathesis`: requests made from the description of the API, good and bad, with a
//! key of each role; no answer may be a failure of the server.
//!
//! Schemathesis comes from the Python package index into an environment of its own under `target`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::checkout;
use crate::kill::built;
use crate::kill::daemon::Daemon;

/// The version that is installed.
const VERSION: &str = "schemathesis==4.32.5";

/// Streams that do not end by themselves; conversations test them.
const ENDLESS: [&str; 2] = ["/v1/events", "/v1/ws"];

/// What `cargo xtask schemathesis` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many requests of each kind are made for each route, at most.
    #[arg(long, default_value_t = 100)]
    examples: u32,
    /// What chance begins with.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs it once for each role.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    let program = install(&checkout::root(), &mut out)?;
    let home = std::env::temp_dir().join(format!("portcullis-schema-{}", std::process::id()));
    let config = home.join(".config/portcullis");
    std::fs::create_dir_all(&config)?;
    // Whoever asks too often learns nothing about the rest.
    let limits =
        "[limits]\npending_asks_per_agent = 1000000\nasks_per_minute_per_agent = 1000000\n";
    std::fs::write(config.join("config.toml"), limits)?;
    let binary = built()?;
    let daemon = Daemon::start(&binary, &home)?;
    let done = ask(arguments, &program, &binary, &home, &daemon, &mut out);
    drop(daemon);
    std::fs::remove_dir_all(&home)?;
    done
}

fn ask(
    arguments: &Arguments,
    program: &Path,
    binary: &Path,
    home: &Path,
    daemon: &Daemon,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut requests = 0;
    for role in ["agent", "approver", "admin"] {
        let made = Command::new(binary)
            .args(["keys", "create", "--role", role, "--name", &format!("schema-{role}")])
            .env_clear()
            .env("HOME", home)
            .output()
            .context("cannot make a key")?;
        let key = String::from_utf8_lossy(&made.stdout).trim_end().to_owned();
        ensure!(!key.is_empty(), "no key: {}", String::from_utf8_lossy(&made.stderr));
        let mut command = Command::new(program);
        command
            .args(["run", &format!("http://{}/openapi.json", daemon.address)])
            .args(["--header", &format!("Authorization: Bearer {key}")])
            .args(["--checks", "not_a_server_error", "--phases", "coverage,fuzzing"])
            .args(["--max-examples", &arguments.examples.to_string()])
            .args(["--seed", &arguments.seed.to_string(), "--workers", "1"])
            .args(["--suppress-health-check", "all", "--request-timeout", "60"])
            .args(["--warnings", "off", "--no-color"])
            .args(ENDLESS.iter().flat_map(|path| ["--exclude-path", path]))
            .current_dir(home);
        let asked = command.output().context("cannot start Schemathesis")?;
        let said = String::from_utf8_lossy(&asked.stdout);
        ensure!(asked.status.success(), "with a key of an {role}\n{said}");
        let count = generated(&said).with_context(|| format!("it made no requests\n{said}"))?;
        requests += count;
    }
    writeln!(out, "schemathesis: {requests} requests in three roles, no failure of the server")?;
    Ok(())
}

/// How many requests it says it made.
fn generated(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains(" generated"))?;
    line.trim().split(' ').next()?.replace(',', "").parse().ok()
}

/// Schemathesis, installed where it is missing.
fn install(root: &Path, out: &mut impl Write) -> anyhow::Result<PathBuf> {
    let place = root.join("target/tools/schemathesis");
    let program = place.join("bin/schemathesis");
    if program.exists() {
        return Ok(program);
    }
    writeln!(out, "installing {VERSION} with pip into target/tools")?;
    out.flush()?;
    let steps: [(&Path, Vec<&str>); 2] = [
        (Path::new("python3"), vec!["-m", "venv", place.to_str().context("the path is no text")?]),
        (&place.join("bin/pip"), vec!["install", "--quiet", VERSION]),
    ];
    for (command, arguments) in steps {
        let done = Command::new(command).args(&arguments).output();
        let done = done.with_context(|| format!("cannot start `{}`", command.display()))?;
        ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::generated;

    #[test]
    fn the_count_is_read() {
        assert_eq!(generated("Test cases:\n  1743 generated, 1743 passed\n"), Some(1743));
        assert_eq!(generated("Test cases:\n  none\n"), None);
    }
}
