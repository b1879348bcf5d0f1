//! D1 to D3: the program, the entry, and whether something switches it off.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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
        checks.push(program(entry));
        checks.push(written(host, entry));
        checks.push(switches(host, entry));
        if host.name == "codex" {
            checks.push(trust(entry));
        }
    }
    let is_private = fs::metadata(data).is_ok_and(|metadata| metadata.mode().trailing_zeros() >= 6);
    checks.push(Check::of("data", is_private, "the data directory is for this user alone"));
    checks
}

fn program(entry: &Entry) -> Check {
    let shown = entry.program.display();
    let Ok(metadata) = fs::metadata(&entry.program) else {
        return Check::of("binary", false, format!("`{shown}` is not there"));
    };
    if metadata.mode() & 0o022 != 0 {
        return Check::of("binary", false, format!("others may write `{shown}`"));
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
    let ours = match host.entries(&text) {
        Ok(ours) if !ours.is_empty() => ours,
        Ok(_) => return Check::of("entry", false, format!("`{shown}` has no entry of ours")),
        Err(error) => return Check::of("entry", false, format!("`{shown}`: {error:#}")),
    };
    let is_same =
        serde_json::to_string(&ours).is_ok_and(|text| files::hash(&text) == entry.ours_sha256);
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

/// Whether a switch in the same file turns hooks off.
fn switches(host: &Host, entry: &Entry) -> Check {
    let off: &[(&str, Value)] = match host.name {
        "claude" => &[
            ("/disableAllHooks", Value::Bool(true)),
            ("/allowManagedHooksOnly", Value::Bool(true)),
        ],
        "gemini" | "qwen" => {
            &[("/hooksConfig/enabled", Value::Bool(false)), ("/disableAllHooks", Value::Bool(true))]
        }
        _ => &[],
    };
    let text = files::read(&entry.file).ok().flatten().unwrap_or_default();
    let value = jsonc::read(&text).ok().map(|node| jsonc::value(&text, &node));
    let is_on = |(path, value): &&(&str, Value), all: &Value| all.pointer(path) == Some(value);
    let found = value.and_then(|all| {
        let found = off.iter().find(|switch| is_on(switch, &all))?;
        // What only managed files may say does not count against a managed file.
        let is_managed = found.0 == "/allowManagedHooksOnly" && entry.scope == "system";
        (!is_managed).then_some(found.0)
    });
    match found {
        Some(path) => Check::of(
            "switches",
            false,
            format!("`{}` turns hooks off", path.trim_start_matches('/')),
        ),
        None => Check::of("switches", true, "nothing in the file turns hooks off"),
    }
}

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
