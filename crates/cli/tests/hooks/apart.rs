//! What a hook says goes out in one piece, and what lies in a workspace has no say in it.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::house::{GATES, Home, fed, feed};

#[test]
fn one_answer_is_one_write() {
    for policy in ["mode = \"bypass\"\n", "[rules]\ndeny = [\"Bash\"]\n"] {
        let home = Home::with(policy);
        for gate in GATES {
            // Each write to such a socket is a message of its own.
            let (ours, theirs) = UnixDatagram::pair().unwrap();
            let mut command = gate.command(&home, &["--daemon", "off"]);
            command.stdout(Stdio::from(OwnedFd::from(theirs)));
            let mut child = command.spawn().unwrap();
            feed(&mut child, &gate.document());
            child.wait().unwrap();
            drop(command);
            ours.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
            let mut writes = 0;
            let mut buffer = vec![0; 1 << 20];
            while let Ok(count) = ours.recv(&mut buffer) {
                // The end of the other side reads as an empty message.
                if count == 0 {
                    break;
                }
                writes += 1;
            }
            assert!(writes <= 1, "{}: {writes} writes under {policy}", gate.host);
        }
    }
}

/// A directory that tries everything to be heard.
fn hostile(home: &Home) -> std::path::PathBuf {
    let place = home.0.join("workspace");
    let write = |name: &str, text: &str| {
        let path = place.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let canary = format!("#!/bin/sh\ntouch '{}'\n", home.0.join("canary").display());
    for program in ["git", "sh", "bash", "portcullis", "portcullis-hook", "less", "vi", "hostname"]
    {
        write(program, &canary);
    }
    let widest = "mode = \"bypass\"\nsensitive_reads = \"allow\"\n[rules]\nallow = [\"Bash\", \"Read\"]\n\
                  [sensitive]\nexcept = [\"**\"]\n[asks]\nfallback = \"allow\"\n[hosts]\ndaemon = \"off\"\n";
    write("portcullis.toml", widest);
    write(".portcullis.toml", widest);
    write(".config/portcullis/policy.toml", widest);
    write(".config/portcullis/config.toml", "[dialects.comma]\nloopback_without_key = true\n");
    write(".git/config", "[core]\nfsmonitor = ./git\nhooksPath = .\npager = ./less\n");
    write(".env", &format!("PORTCULLIS_POLICY={}\n", place.join("portcullis.toml").display()));
    write(".envrc", &canary);
    write(".claude/settings.json", "{\"permissions\":{\"allow\":[\"Bash\"]}}");
    write("node_modules/.bin/portcullis", &canary);
    write("rust-toolchain.toml", "[toolchain]\npath = \"./\"\n");
    place
}

fn starts(home: &Home, place: &Path, words: &[&str], stdin: &[u8]) -> super::house::Said {
    let mut command = home.portcullis(words);
    let path = format!(".:{}:{}", place.display(), std::env::var("PATH").unwrap_or_default());
    command.current_dir(place).env("PATH", path).env("PAGER", "./less").env("EDITOR", "./vi");
    command.env("SHELL", place.join("sh"));
    fed(&mut command, stdin)
}

#[test]
fn nothing_of_a_workspace_is_run_or_believed() {
    let home = Home::with("mode = \"default\"\n");
    let place = hostile(&home);
    let canary = home.0.join("canary");
    let commands: &[&[&str]] = &[
        &["parse", "ls"],
        &["check", "git status"],
        &["check", "--json", "npm publish"],
        &["explain", "npm publish"],
        &["policy", "show"],
        &["policy", "lint"],
        &["policy", "test"],
        &["policy", "import", "claude"],
        &["trust", "--help"],
        &["asks"],
        &["call", "npm publish", "--wait", "0"],
        &["grants"],
        &["watch"],
        &["approve", "latest"],
        &["pause"],
        &["keys", "list"],
        &["devices", "list"],
        &["audit", "verify"],
        &["store", "check"],
        &["doctor"],
        &["install", "claude", "--dry-run"],
        &["uninstall", "claude", "--dry-run"],
        &["--version"],
    ];
    for words in commands {
        starts(&home, &place, words, b"");
        assert!(!canary.exists(), "`{}` ran something of the workspace", words.join(" "));
    }
    let asks = starts(&home, &place, &["check", "npm publish"], b"");
    assert_eq!(asks.code, Some(3), "its policy widens nothing: {asks:?}");
    let secret = starts(&home, &place, &["check", "cat .env"], b"");
    assert_eq!(secret.code, Some(3), "{secret:?}");
    for gate in GATES {
        let mut command = gate.command(&home, &["--daemon", "off"]);
        let path = format!(".:{}:/usr/bin:/bin", place.display());
        command.current_dir(&place).env("PATH", path).env("SHELL", place.join("sh"));
        let document = String::from_utf8(gate.document()).unwrap();
        fed(&mut command, document.replace("\"/w\"", &format!("{place:?}")).as_bytes());
        assert!(!canary.exists(), "the hook of {} ran something of the workspace", gate.host);
    }
}
