//! D1 to D3: the program, the entry, and whether something switches it off.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use portcullis_approval::Moment;
use portcullis_hook_static::cached;
use portcullis_hook_static::installed::{Entry, Installed};
use serde_json::Value;

use super::{Check, State};
use crate::install::hosts::Host;
use crate::install::{codex, files, jsonc};

/// The checks of every installation of a host.
pub fn statics(host: &Host, installed: &Installed, data: &Path) -> Vec<Check> {
    let entries: Vec<&Entry> =
        installed.entries.iter().filter(|entry| entry.host == host.name).collect();
    if entries.is_empty() {
        return vec![Check::new("entry", State::Untested, "not installed")];
    }
    let mut checks = Vec::new();
    for entry in entries {
        checks.push(program(entry, data));
        checks.push(written(host, entry));
        checks.push(switches(host, entry, installed.home.as_deref()));
        if host.name == "codex" {
            checks.push(trust(entry));
        }
    }
    let is_private = fs::metadata(data).is_ok_and(|metadata| metadata.mode().trailing_zeros() >= 6);
    checks.push(Check::of("data", is_private, "the data directory is for this user alone"));
    checks.extend(installed.url.as_ref().map(|_| cache(installed, data)));
    checks
}

/// What is kept of the policy of a daemon on another machine. Without it calls are denied while
/// that daemon is away, so that none is no open gate; one that somebody changed is told.
fn cache(installed: &Installed, data: &Path) -> Check {
    let key = installed.key.as_deref().unwrap_or_default();
    let held = cached::read(data, key)
        .and_then(|cache| Ok((cache.as_ref().map(cached::understood).transpose()?, cache)));
    match held {
        Ok((Some(policy), Some(cache))) => {
            let since = fs::metadata(data.join(cached::FILE)).and_then(|file| file.modified());
            let since = since.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let since = since
                .and_then(|at| i64::try_from(at.as_millis()).ok())
                .map_or_else(|| "an unknown time".to_owned(), |ms| Moment::from_ms(ms).to_string());
            let told = format!(
                "`{}`: version {} with {} deny and ask rules, of {since}",
                cached::FILE,
                cache.version,
                policy.rule_count()
            );
            Check::of("cache", true, told)
        }
        Ok(_) => {
            let told = format!(
                "there is no `{}` yet: until a first call through the daemon, all are denied \
                 while it is away",
                cached::FILE
            );
            Check::new("cache", State::Untested, told)
        }
        Err(error) => {
            let told = format!(
                "`{}` does not count, and all calls are denied while the daemon is away: {error:#}",
                cached::FILE
            );
            Check::of("cache", false, told)
        }
    }
}

fn program(entry: &Entry, data: &Path) -> Check {
    let shown = entry.program.display();
    let Ok(metadata) = fs::metadata(&entry.program) else {
        return Check::of("binary", false, format!("`{shown}` is not there"));
    };
    if metadata.mode() & 0o022 != 0 {
        return Check::of("binary", false, format!("others may write `{shown}`"));
    }
    // Whoever owns it can make it something else: the user, whose data it judges, or root.
    let user = fs::metadata(data).map_or(0, |metadata| metadata.uid());
    if ![0, user].contains(&metadata.uid()) {
        return Check::of("binary", false, format!("`{shown}` belongs to another user"));
    }
    match files::hash_file(&entry.program) {
        Ok(hash) if hash == entry.program_sha256 => {
            Check::of("binary", true, format!("`{shown}` is the one that was installed"))
        }
        Ok(_) => Check::of(
            "binary",
            false,
            format!("`{shown}` is another one than was installed; run `portcullis install` again"),
        ),
        Err(error) => Check::of("binary", false, format!("{error:#}")),
    }
}

fn written(host: &Host, entry: &Entry) -> Check {
    let shown = entry.file.display();
    let text = match files::read(&entry.file) {
        Ok(Some(text)) => text,
        Ok(None) => return Check::of("entry", false, format!("`{shown}` is not there")),
        Err(error) => return Check::of("entry", false, format!("{error:#}")),
    };
    let ours = match host.heeded(&text) {
        Ok(ours) if !ours.is_empty() => ours,
        Ok(_) => {
            let told = format!("`{shown}` has no entry of ours where the host heeds it");
            return Check::of("entry", false, told);
        }
        Err(error) => return Check::of("entry", false, format!("`{shown}`: {error:#}")),
    };
    // Copies that stand elsewhere are of another time, and nobody sees to them.
    let is_alone = host.entries(&text).is_ok_and(|all| all.len() == ours.len());
    let is_same = is_alone
        && serde_json::to_string(&ours).is_ok_and(|text| files::hash(&text) == entry.ours_sha256);
    if !is_same {
        let told = format!("the entry in `{shown}` was changed; run `portcullis install` again");
        return Check::of("entry", false, told);
    }
    let told = format!(
        "`{shown}`: as installed; waits {} s, the host {} of its units",
        entry.wait_s, entry.host_timeout
    );
    Check::of("entry", entry.host_timeout >= (entry.wait_s + 30) * host.per_second, told)
}

/// Whether a switch turns hooks off: in the same file, or in another that the host reads too.
fn switches(host: &Host, entry: &Entry, home: Option<&Path>) -> Check {
    let (off, directory, managed): (&[(&str, bool)], _, _) = match host.name {
        "claude" => (
            &[("/disableAllHooks", true), (MANAGED_ONLY, true)],
            ".claude",
            "/etc/claude-code/managed-settings.json",
        ),
        "gemini" => (OFF_OF_GEMINI, ".gemini", "/etc/gemini-cli/settings.json"),
        "qwen" => (OFF_OF_GEMINI, ".qwen", "/etc/qwen-code/settings.json"),
        "cursor" => return version(&entry.file),
        _ => return Check::of("switches", true, "nothing in the file turns hooks off"),
    };
    let project = std::env::current_dir().ok();
    let mut others = vec![entry.file.clone(), PathBuf::from(managed)];
    for root in home.into_iter().chain(project.as_deref()) {
        let directory = root.join(directory);
        others.extend(["settings.json", "settings.local.json"].map(|name| directory.join(name)));
    }
    for file in others {
        let text = files::read(&file).ok().flatten().unwrap_or_default();
        let Ok(node) = jsonc::read(&text) else { continue };
        let all = jsonc::value(&text, &node);
        // What only managed files may say counts in these and where we stand, and does not count
        // against a managed file.
        let counts = |path: &str| {
            let may_say = file == Path::new(managed) || file == entry.file;
            path != MANAGED_ONLY || (may_say && entry.scope != "system")
        };
        let is_on = |(path, value): &&(&str, bool)| {
            all.pointer(path) == Some(&Value::Bool(*value)) && counts(path)
        };
        if let Some((path, _)) = off.iter().find(is_on) {
            let name = path.trim_start_matches('/');
            let told = format!("`{name}` in `{}` turns hooks off", file.display());
            return Check::of("switches", false, told);
        }
        let listed = |path: &&str| all.pointer(path)?.as_array().cloned();
        let mut named = DISABLED.iter().filter_map(listed).flatten();
        if named.any(|name| name.as_str().is_some_and(|it| it.contains("portcullis"))) {
            let told = format!("`{}` names this hook among those turned off", file.display());
            return Check::of("switches", false, told);
        }
    }
    Check::of("switches", true, "nothing in the files that the host reads here turns hooks off")
}

/// Whether Cursor's file says the version whose entries are known: what another one makes of them
/// nobody has written down.
fn version(file: &Path) -> Check {
    let text = files::read(file).ok().flatten().unwrap_or_default();
    let said = jsonc::read(&text).ok().map(|node| jsonc::value(&text, &node));
    let said = said.and_then(|all| all.get("version").cloned());
    let shown = file.display();
    match said {
        Some(version) if version == 1 => Check::of("switches", true, "its version is 1"),
        Some(other) => {
            let told =
                format!("`{shown}` says version {other}, and entries of version 1 are known");
            Check::of("switches", false, told)
        }
        None => Check::of("switches", false, format!("`{shown}` says no version")),
    }
}

/// Where Gemini CLI and Qwen Code are told by name which hooks to leave out, now and before.
const DISABLED: &[&str] = &["/hooksConfig/disabled", "/hooks/disabled"];

/// Claude Code heeds hooks of managed files alone.
const MANAGED_ONLY: &str = "/allowManagedHooksOnly";

/// What turns hooks off in Gemini CLI and in Qwen Code, which comes from it.
const OFF_OF_GEMINI: &[(&str, bool)] =
    &[("/hooksConfig/enabled", false), ("/disableAllHooks", true)];

fn trust(entry: &Entry) -> Check {
    if entry.trusted.is_empty() {
        return Check::of("trust", false, "codex was never told to trust the entry and skips it");
    }
    let cwd = std::env::current_dir().unwrap_or_default();
    match codex::hooks("codex", &cwd) {
        Ok(seen) => {
            let is_trusted =
                |key: &String| seen.iter().any(|hook| hook.key == *key && hook.is_trusted);
            let holds = entry.trusted.iter().all(is_trusted);
            let told = if holds {
                "codex trusts the entry"
            } else {
                "codex does not trust the entry and skips it"
            };
            Check::of("trust", holds, told)
        }
        Err(error) => Check::new("trust", State::Untested, format!("{error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_user_is_no_gate() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("hook");
        fs::write(&program, "x").unwrap();
        let text = serde_json::json!({
            "host": "claude", "scope": "user", "file": "/f", "ours_sha256": "",
            "program": program, "program_sha256": files::hash("x"), "wait_s": 1,
            "host_timeout": 31, "at": "", "file_sha256": "",
        });
        let entry: Entry = serde_json::from_value(text).unwrap();
        assert_eq!(self::program(&entry, directory.path()).state, State::Holds);
        // Only root can give a file away.
        if std::os::unix::fs::chown(&program, Some(65_534), None).is_ok() {
            let check = self::program(&entry, directory.path());
            assert_eq!(check.state, State::Open);
            assert!(check.told.contains("another user"), "{}", check.told);
        }
    }
}
