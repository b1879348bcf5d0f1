//! Installing hooks, proving them and taking them out again: the real binary in a home of its own.

#![cfg(test)]

#[path = "installing/entries.rs"]
mod entries;
#[path = "installing/gaps.rs"]
mod gaps;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A home, gone when the test is over.
struct Home(PathBuf);

/// What a command said.
#[derive(Debug)]
struct Said {
    out: String,
    error: String,
    code: i32,
}

impl Home {
    fn new() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().canonicalize().unwrap();
        let root = root.join(format!("pcli-{}-{count}", std::process::id()));
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
        Home(root)
    }

    fn says(&self, arguments: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
        for (name, _) in std::env::vars() {
            let ours = ["PORTCULLIS_", "XDG_", "CLAUDE", "CODEX", "COPILOT", "DOCKER_AGENT"];
            if ours.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        let path = format!("{}:/usr/bin:/bin", self.0.join("bin").display());
        command.env("HOME", &self.0).env("PATH", path).current_dir(&self.0).args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        Said {
            out: String::from_utf8(output.stdout).unwrap(),
            error: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap(),
        }
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.0.join(file)).ok()
    }

    /// Every file and directory, but those of Portcullis itself.
    fn tree(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.0.clone()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.ends_with("portcullis") {
                    open.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }

    /// A program in the path.
    fn program(&self, name: &str, text: &str) {
        self.write(&format!("bin/{name}"), text);
        let path = self.0.join("bin").join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FOREIGN: &str = "// mine, and it stays\n{\n\t\"theme\": \"dark\", // why not\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{ \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"echo mine\" } ] }, /* first */\n\t\t],\n\t},\n\t\"version\": 1\n}\n";

/// Every host, its file, whether it is a file of ours, and its timeout for a wait of 600 s.
#[rustfmt::skip]
const HOSTS: &[(&str, &str, bool, &str)] = &[
    ("claude",   ".claude/settings.json",                      false, "\"timeout\":630,"),
    ("gemini",   ".gemini/settings.json",                      false, "\"timeout\":630000"),
    ("qwen",     ".qwen/settings.json",                        false, "\"timeout\":630000"),
    ("copilot",  ".copilot/hooks/portcullis.json",             true,  "\"timeoutSec\": 630"),
    ("opencode", ".config/opencode/plugins/portcullis.js",     true,  "LIMIT_MS = 610000"),
    ("cursor",   ".cursor/hooks.json",                         false, "\"timeout\":630"),
    ("agentbot", ".config/cagent/hooks.d/50-portcullis.yaml",  true,  "timeout: 630"),
    ("amp",      ".config/amp/settings.json",                  false, "portcullis-hook-amp"),
    ("windsurf", ".codeium/windsurf/hooks.json",               false, "--deadline-ms 600000"),
    ("droid",    ".factory/hooks.json",                        false, "\"timeout\":630"),
    ("cline",    "Documents/Cline/Hooks/PreToolUse",           true,  "--deadline-ms 600000"),
];

#[test]
fn what_is_installed_holds_and_what_is_taken_out_leaves_no_trace() {
    for (host, file, is_own, timeout) in HOSTS {
        let home = Home::new();
        if !is_own {
            home.write(file, FOREIGN);
        }
        let before = home.tree();
        let dry = home.says(&["install", host, "--unverified", "--dry-run"]);
        assert_eq!(dry.code, 0, "{host}: {dry:?}");
        assert!(dry.out.contains("+++ ") && dry.out.contains("\n+"), "{host}: {}", dry.out);
        assert_eq!(home.read(file), (!is_own).then(|| FOREIGN.to_owned()), "{host}: nothing yet");
        assert_eq!(home.tree(), before, "{host}: nothing is made either");
        // What Portcullis keeps for itself stays.
        fs::create_dir_all(home.0.join(".local/share")).unwrap();
        fs::create_dir_all(home.0.join(".config/portcullis")).unwrap();
        fs::set_permissions(home.0.join(".local"), fs::Permissions::from_mode(0o700)).unwrap();
        let before = home.tree();

        let installed = home.says(&["install", host, "--unverified"]);
        assert_eq!(installed.code, 0, "{host}: {installed:?}");
        let last = installed.out.lines().last().unwrap();
        assert!(last.starts_with("protected: every tool call of"), "{host}: {last}");
        let text = home.read(file).unwrap();
        assert!(text.contains(timeout), "{host}: {text}");
        assert!(text.contains("--data-dir") || *host == "amp", "{host}: {text}");
        for line in FOREIGN.lines().filter(|_| !is_own) {
            let line = line.trim().trim_end_matches(',');
            assert!(text.contains(line), "{host}: `{line}` is kept: {text}");
        }
        let again = home.says(&["install", host, "--unverified"]);
        assert_eq!(again.code, 0, "{host}: {again:?}");
        assert_eq!(home.read(file).unwrap(), text, "{host}: twice is once");

        let doctor = home.says(&["doctor", host, "--json"]);
        assert_eq!(doctor.code, 0, "{host}: {}\n{}", doctor.out, doctor.error);
        let json: Value = serde_json::from_str(&doctor.out).unwrap();
        assert_eq!(json["hosts"][0]["state"], "holds", "{host}: {json}");

        let gone = home.says(&["uninstall", host]);
        assert_eq!(gone.code, 0, "{host}: {gone:?}");
        assert_eq!(home.read(file), (!is_own).then(|| FOREIGN.to_owned()), "{host}: as it was");
        let own = [home.0.join(".local/share/portcullis")];
        let after = home.tree().into_iter().filter(|path| !own.contains(path));
        assert_eq!(after.collect::<Vec<_>>(), before, "{host}: no directory is left either");
        let none = home.says(&["doctor", host]);
        assert_eq!(none.code, 2, "{host}: nothing is left to test: {}", none.out);
    }
}

#[test]
fn other_peoples_changes_survive_an_uninstall() {
    for (host, file, is_own, _) in HOSTS.iter().filter(|(_, _, is_own, _)| !is_own) {
        assert!(!is_own);
        let home = Home::new();
        home.write(file, FOREIGN);
        assert_eq!(home.says(&["install", host, "--unverified"]).code, 0);
        let text = home.read(file).unwrap().replace("\"dark\"", "\"light\"");
        home.write(file, &text);
        let gone = home.says(&["uninstall", host]);
        assert_eq!(gone.code, 0, "{gone:?}");
        let left = home.read(file).unwrap();
        assert!(!left.contains("portcullis"), "{host}: {left}");
        for kept in ["// mine, and it stays", "\"light\"", "// why not", "echo mine", "/* first */"]
        {
            assert!(left.contains(kept), "{host}: {kept} in {left}");
        }
    }
}

#[test]
fn what_fails_closed_is_said_explicitly() {
    let home = Home::new();
    home.says(&["install", "claude", "--wait-s", "90", "--daemon", "required"]);
    let settings: Value =
        serde_json::from_str(&home.read(".claude/settings.json").unwrap()).unwrap();
    let hook = |event: &str| settings["hooks"][event][0]["hooks"][0].clone();
    let gate = hook("PreToolUse");
    assert_eq!((&gate["timeout"], &gate["onFailure"]), (&120.into(), &"block".into()), "{gate}");
    assert_eq!(settings["hooks"]["PreToolUse"][0]["matcher"], "*");
    let words: Vec<&str> =
        gate["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(&words[..5], ["hook", "claude", "PreToolUse", "--deadline-ms", "90000"]);
    assert!(words.ends_with(&["--daemon", "required"]), "{words:?}");
    assert!(gate["command"].as_str().unwrap().starts_with('/'), "{gate}");
    assert_eq!(hook("PermissionRequest").get("onFailure"), None, "its failure leaves the prompt");
    assert_eq!(hook("PostToolUse")["async"], true);
    let home = Home::new();
    home.says(&["install", "agentbot"]);
    assert!(
        home.read(".config/cagent/hooks.d/50-portcullis.yaml")
            .unwrap()
            .contains("preempt_yolo: true")
    );
    home.says(&["install", "cursor", "--unverified"]);
    assert_eq!(home.read(".cursor/hooks.json").unwrap().matches("\"failClosed\":true").count(), 4);
}

#[test]
fn a_real_client_is_driven_only_where_nobody_else_can_be_reached() {
    let home = Home::new();
    assert_eq!(home.says(&["install", "claude"]).code, 0);
    home.program("claude", "#!/bin/sh\ntouch \"$HOME/was-started\"\necho 9.9.9\n");
    let said = home.says(&["doctor", "claude", "--live", "--inside"]);
    assert!(said.out.contains("more than loopback can be reached from here"), "{}", said.out);
    assert!(said.out.contains("not proven: live: "), "it is not called proven: {}", said.out);
    assert_eq!(said.code, 2, "{}", said.out);
    let slow = home.says(&["doctor", "claude", "--slow"]);
    assert_eq!(slow.code, 2, "{}", slow.error);
}

#[test]
fn doctor_sees_what_was_opened() {
    let home = Home::new();
    home.says(&["install", "claude"]);
    assert_eq!(home.says(&["doctor"]).code, 0);
    let text = home.read(".claude/settings.json").unwrap();
    let cases = [
        ("a switch", text.replacen('{', "{\"disableAllHooks\": true,", 1)),
        ("another timeout", text.replace("\"timeout\":630", "\"timeout\":5")),
        ("no entry", "{}".to_owned()),
        ("another program", text.replace("/portcullis\"", "/true\"")),
        (
            "silence for everything",
            text.replace("PreToolUse\",\"--deadline-ms", "PostToolUse\",\"--deadline-ms"),
        ),
        ("no JSON", "{".to_owned()),
    ];
    for (what, changed) in cases {
        assert_ne!(changed, text, "{what}");
        home.write(".claude/settings.json", &changed);
        let said = home.says(&["doctor"]);
        assert_eq!(said.code, 1, "{what}: {}", said.out);
        assert!(said.out.contains("open"), "{what}: {}", said.out);
    }
    home.write(".claude/settings.json", &text);
    assert_eq!(home.says(&["doctor"]).code, 0);
    // Another file that the host reads here.
    home.write(".claude/settings.local.json", "{ \"disableAllHooks\": true }");
    let said = home.says(&["doctor"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("settings.local.json"), "{}", said.out);
}

#[test]
fn what_is_not_safe_is_refused_and_changes_nothing() {
    let home = Home::new();
    home.write(".claude/settings.json", "{ not json");
    let broken = home.says(&["install", "claude"]);
    assert_eq!(broken.code, 2, "{broken:?}");
    assert_eq!(home.read(".claude/settings.json").unwrap(), "{ not json");
    home.write(".gemini/settings.json", "{}");
    let path = home.0.join(".gemini/settings.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    let open = home.says(&["install", "gemini"]);
    assert!(open.code == 2 && open.error.contains("chmod go-w"), "{open:?}");
    fs::create_dir_all(home.0.join(".qwen")).unwrap();
    home.write("elsewhere.json", "{}");
    std::os::unix::fs::symlink(home.0.join("elsewhere.json"), home.0.join(".qwen/settings.json"))
        .unwrap();
    let link = home.says(&["install", "qwen"]);
    assert!(link.code == 2 && link.error.contains("link out of its directory"), "{link:?}");
    let unverified = home.says(&["install", "windsurf"]);
    assert!(unverified.code == 2 && unverified.error.contains("--unverified"), "{unverified:?}");
    let elsewhere = home.says(&["install", "kiro", "--unverified"]);
    assert!(elsewhere.code == 2 && elsewhere.error.contains("--scope project"), "{elsewhere:?}");
    home.write(".cursor/hooks.json", "[]");
    let list = home.says(&["install", "cursor"]);
    assert!(list.code == 2 && list.error.contains("is no object"), "{list:?}");
    assert!(!list.error.contains("``"), "{list:?}");
    let unknown = home.says(&["install", "nobody"]);
    assert!(unknown.code == 2 && unknown.error.contains("use one of claude"), "{unknown:?}");
}

#[test]
fn kiro_is_heard_as_its_documentation_spells_the_event() {
    let home = Home::new();
    let installed = home.says(&["install", "kiro", "--unverified", "--scope", "project"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let proven = home.says(&["doctor", "kiro"]);
    assert!(proven.out.contains("a call that only reads is let through"), "{proven:?}");
    assert_eq!(proven.code, 0, "{proven:?}");
}

#[test]
fn it_says_where_it_protects_and_what_else_is_needed() {
    let home = Home::new();
    let here = home.says(&["install", "claude", "--scope", "project"]);
    let place = format!("every tool call of claude in `{}` asks", home.0.display());
    assert!(here.code == 0 && here.out.contains(&place), "{here:?}");
    let home = Home::new();
    let everywhere = home.says(&["install", "claude"]);
    assert!(everywhere.out.contains("every tool call of claude asks"), "{everywhere:?}");
    let http = home.says(&["install", "claude", "--transport", "http"]);
    assert!(http.out.contains("PORTCULLIS_AGENT_KEY"), "{http:?}");
    assert!(http.out.contains("portcullis keys create --role agent"), "{http:?}");
}

#[test]
fn what_stood_empty_stays_empty_also_if_somebody_changes_the_file() {
    let home = Home::new();
    let file = ".claude/settings.json";
    let text =
        "{\n  \"theme\": \"dark\",\n  \"hooks\": {\n    \"PreToolUse\": [ /* none */ ]\n  }\n}\n";
    home.write(file, text);
    home.says(&["install", "claude"]);
    let changed = home.read(file).unwrap().replace("dark", "light");
    home.write(file, &changed);
    home.says(&["uninstall", "claude"]);
    let left = home.read(file).unwrap();
    assert!(left.contains("\"PreToolUse\"") && left.contains("/* none */"), "{left}");
    assert!(left.contains("light") && !left.contains("PostToolUse"), "{left}");

    let home = Home::new();
    home.says(&["install", "claude"]);
    let changed = format!("{}\n", home.read(file).unwrap());
    home.write(file, &changed);
    home.says(&["uninstall", "claude"]);
    assert_eq!(home.read(file), None, "where no file was, none is left");
}

/// A server that lists the hooks of `hooks.json` as Codex does.
const CODEX: &str = r#"#!/bin/sh
case "$1" in --version) echo "codex-cli 0.166.0"; exit 0;; esac
hooks="$HOME/.codex/hooks.json"; config="$HOME/.codex/config.toml"
while read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{"id":1,"result":{}}';;
    *'hooks/list'*)
      n=0; list=""
      grep -o '"command":"[^"]*"' "$hooks" | sort > "$HOME/commands"
      while read -r command; do
        key="$hooks:event:0:$n"
        if grep -qF "[hooks.state.\"$key\"]" "$config" 2>/dev/null; then trust=trusted; else trust=untrusted; fi
        list="$list${list:+,}{\"key\":\"$key\",$command,\"enabled\":true,\"currentHash\":\"sha256:$n\",\"trustStatus\":\"$trust\"}"
        n=$((n + 1))
      done < "$HOME/commands"
      echo "{\"id\":2,\"result\":{\"data\":[{\"hooks\":[$list]}]}}";;
  esac
done
"#;

#[test]
fn codex_is_told_to_trust_our_entries_alone() {
    let home = Home::new();
    let config = "# mine\nmodel = \"x\" # why\n";
    home.write(".codex/config.toml", config);
    let skipped = home.says(&["install", "codex"]);
    assert_eq!(skipped.code, 1, "without codex nothing is trusted: {skipped:?}");
    assert!(skipped.out.contains("will skip it"), "{}", skipped.out);
    home.program("codex", CODEX);
    let installed = home.says(&["install", "codex"]);
    assert_eq!(installed.code, 0, "{installed:?}");
    let trusted = home.read(".codex/config.toml").unwrap();
    assert!(trusted.starts_with(config), "{trusted}");
    assert_eq!(trusted.matches("trusted_hash = \"sha256:").count(), 3, "{trusted}");
    let doctor = home.says(&["doctor", "codex"]);
    assert_eq!(doctor.code, 0, "{}", doctor.out);
    home.write(".codex/config.toml", config);
    let open = home.says(&["doctor", "codex"]);
    assert!(open.code == 1 && open.out.contains("does not trust"), "{}", open.out);
    home.says(&["install", "codex"]);
    assert_eq!(home.says(&["uninstall", "codex"]).code, 0);
    assert_eq!(home.read(".codex/config.toml").unwrap(), config, "as it was");
    assert_eq!(home.read(".codex/hooks.json"), None);
    assert!(Path::new(&home.0).exists());
}
