//! The places and entries of every host: where its configuration lies and what is written there.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use serde_json::{Value, json};

use super::jsonc;

/// How far an installation reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// Everything of this user.
    User,
    /// This project.
    Project,
    /// Everybody on this machine.
    System,
}

impl Scope {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::System => "system",
        }
    }
}

/// How a host reads its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `hooks.<event>`: a list of groups with a matcher and a list of commands.
    Groups,
    /// `hooks.<event>`: a list of commands.
    Flat,
    /// `amp.permissions`: the first rule that fits counts.
    First,
    /// A file of our own.
    Whole,
}

/// One host.
pub struct Host {
    /// The name.
    pub name: &'static str,
    /// The program of the host, to ask its version.
    pub program: &'static str,
    pub(super) shape: Shape,
    /// Its events: the gate, prompts and results.
    pub events: &'static [&'static str],
    /// How many of the host's units are a second.
    pub per_second: u64,
    /// Whether it was only read about.
    pub is_unverified: bool,
    /// What is not covered, for people.
    pub limits: &'static str,
    /// The one manual edit that takes the entry out.
    pub recovery: &'static str,
}

/// Every host.
#[rustfmt::skip]
pub const HOSTS: &[Host] = &[
    Host { name: "claude", program: "claude", shape: Shape::Groups, events: &["PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"], per_second: 1, is_unverified: false,
        limits: "runs started with `--bare`, `--safe-mode` or `disableAllHooks` skip every hook",
        recovery: "remove the entries with `portcullis` from `hooks`" },
    Host { name: "codex", program: "codex", shape: Shape::Groups, events: &["PreToolUse", "PermissionRequest", "PostToolUse"], per_second: 1, is_unverified: false,
        limits: "text fed to a running shell and code mode reach no hook; a hook that is killed, cannot be loaded or is not trusted lets the tool run",
        recovery: "remove the entries with `portcullis` from `hooks`" },
    Host { name: "gemini", program: "gemini", shape: Shape::Groups, events: &["BeforeTool", "AfterTool"], per_second: 1000, is_unverified: false,
        limits: "a hook that is killed or cannot be loaded lets the tool run; sub-agents are not proven",
        recovery: "remove the entries named `portcullis` from `hooks`" },
    Host { name: "qwen", program: "qwen", shape: Shape::Groups, events: &["PreToolUse", "PostToolUse"], per_second: 1000, is_unverified: false,
        limits: "a hook that is killed or cannot be loaded lets the tool run; edited input is refused",
        recovery: "remove the entries with `portcullis` from `hooks`" },
    Host { name: "copilot", program: "copilot", shape: Shape::Whole, events: &["preToolUse", "postToolUse"], per_second: 1, is_unverified: false,
        limits: "a timeout lets the tool run; older builds do not gate sub-agents",
        recovery: "remove the file" },
    Host { name: "opencode", program: "opencode", shape: Shape::Whole, events: &["tool.execute.before", "tool.execute.after"], per_second: 1, is_unverified: false,
        limits: "a plugin that is not loaded gates nothing; MCP and sub-agent calls are not proven",
        recovery: "remove the file" },
    Host { name: "cursor", program: "cursor", shape: Shape::Flat, events: &["beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"], per_second: 1, is_unverified: false,
        limits: "known from its documentation only; the unit of its timeout is not proven",
        recovery: "remove the entries with `portcullis` from `hooks`" },
    Host { name: "agentbot", program: "docker-agent", shape: Shape::Whole, events: &["pre_tool_use", "permission_request"], per_second: 1, is_unverified: false,
        limits: "known from its documentation only; a malformed drop-in is skipped with a warning",
        recovery: "remove the file" },
    Host { name: "amp", program: "amp", shape: Shape::First, events: &["delegate"], per_second: 1, is_unverified: true,
        limits: "known from its documentation only; newer releases honour these rules only through a plugin",
        recovery: "remove the first rule of `amp.permissions`" },
    Host { name: "windsurf", program: "windsurf", shape: Shape::Flat, events: &["pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"], per_second: 1, is_unverified: true,
        limits: "known from its documentation only",
        recovery: "remove the entries with `portcullis` from `hooks`" },
    Host { name: "kiro", program: "kiro", shape: Shape::Whole, events: &["PreToolUse"], per_second: 1, is_unverified: true,
        limits: "known from its documentation only",
        recovery: "remove the file" },
    Host { name: "droid", program: "droid", shape: Shape::Groups, events: &["PreToolUse"], per_second: 1, is_unverified: true,
        limits: "known from its documentation only; a failing hook lets the tool run",
        recovery: "remove the entries with `portcullis` from `hooks`" },
    Host { name: "cline", program: "cline", shape: Shape::Whole, events: &["PreToolUse"], per_second: 1, is_unverified: true,
        limits: "known from its documentation only; a failing hook lets the tool run",
        recovery: "remove the file" },
];

/// What an installation is made from.
pub struct Ground {
    /// The user's home.
    pub home: PathBuf,
    /// The project.
    pub project: PathBuf,
    /// This program.
    pub program: PathBuf,
    /// The data directory.
    pub data: PathBuf,
    /// How long a hook waits.
    pub wait_s: u64,
    /// Whether the daemon is asked: `auto`, `required` or `off`.
    pub daemon: String,
    /// The address of Claude's HTTP hooks, where they are wanted.
    pub http: Option<String>,
    /// The environment.
    pub variable: fn(&str) -> Option<PathBuf>,
}

/// The host of this name.
pub fn find(name: &str) -> anyhow::Result<&'static Host> {
    let known = || HOSTS.iter().map(|host| host.name).collect::<Vec<_>>().join(", ");
    match HOSTS.iter().find(|host| host.name == name) {
        Some(host) => Ok(host),
        None => bail!("no host `{name}`; use one of {}", known()),
    }
}

impl Host {
    /// The file that is changed or written.
    pub fn file(&self, scope: Scope, ground: &Ground) -> anyhow::Result<PathBuf> {
        if let Some(file) = self.place(scope, ground) {
            return Ok(file);
        }
        let all = [Scope::User, Scope::Project, Scope::System].into_iter();
        let known: Vec<&str> =
            all.filter(|scope| self.place(*scope, ground).is_some()).map(Scope::name).collect();
        bail!(
            "`{}` has no {} scope here; use `--scope {}`",
            self.name,
            scope.name(),
            known.join("` or `--scope ")
        )
    }

    fn place(&self, scope: Scope, ground: &Ground) -> Option<PathBuf> {
        let Ground { home, project, .. } = ground;
        let own = |variable: &str, default: &str| {
            (ground.variable)(variable).unwrap_or_else(|| home.join(default))
        };
        let config = || own("XDG_CONFIG_HOME", ".config");
        Some(match (self.name, scope) {
            ("claude", Scope::User) => own("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"),
            ("claude", Scope::Project) => project.join(".claude/settings.json"),
            ("claude", Scope::System) => "/etc/claude-code/managed-settings.json".into(),
            ("codex", Scope::User) => own("CODEX_HOME", ".codex").join("hooks.json"),
            ("codex", Scope::Project) => project.join(".codex/hooks.json"),
            ("gemini", Scope::User) => home.join(".gemini/settings.json"),
            ("gemini", Scope::Project) => project.join(".gemini/settings.json"),
            ("gemini", Scope::System) => "/etc/gemini-cli/settings.json".into(),
            ("qwen", Scope::User) => home.join(".qwen/settings.json"),
            ("qwen", Scope::Project) => project.join(".qwen/settings.json"),
            ("copilot", Scope::User) => {
                own("COPILOT_HOME", ".copilot").join("hooks/portcullis.json")
            }
            ("copilot", Scope::Project) => project.join(".github/hooks/portcullis.json"),
            ("copilot", Scope::System) => "/etc/github-copilot/policy.d/portcullis.json".into(),
            ("opencode", Scope::User) => config().join("opencode/plugins/portcullis.js"),
            ("opencode", Scope::Project) => project.join(".opencode/plugins/portcullis.js"),
            ("cursor", Scope::User) => home.join(".cursor/hooks.json"),
            ("cursor", Scope::Project) => project.join(".cursor/hooks.json"),
            ("cursor", Scope::System) => "/etc/cursor/hooks.json".into(),
            ("agentbot", Scope::User) => {
                let directory = (ground.variable)("DOCKER_AGENT_CONFIG_DIR");
                directory
                    .unwrap_or_else(|| config().join("cagent"))
                    .join("hooks.d/50-portcullis.yaml")
            }
            ("amp", Scope::User) => config().join("amp/settings.json"),
            ("windsurf", Scope::User) => home.join(".codeium/windsurf/hooks.json"),
            ("windsurf", Scope::Project) => project.join(".windsurf/hooks.json"),
            ("windsurf", Scope::System) => "/etc/windsurf/hooks.json".into(),
            ("kiro", Scope::Project) => project.join(".kiro/hooks/portcullis.json"),
            ("droid", Scope::User) => home.join(".factory/hooks.json"),
            ("droid", Scope::Project) => project.join(".factory/hooks.json"),
            ("cline", Scope::User) => home.join("Documents/Cline/Hooks/PreToolUse"),
            ("cline", Scope::Project) => project.join(".clinerules/hooks/PreToolUse"),
            _ => return None,
        })
    }

    /// The text of the file with our entries in it.
    pub fn written(&self, before: Option<&str>, ground: &Ground) -> anyhow::Result<String> {
        if self.shape == Shape::Whole {
            let is_foreign = |text: &&str| !text.trim().is_empty() && !self.is_own_file(text);
            if before.as_ref().is_some_and(is_foreign) {
                bail!("somebody else's hook stands there; move it away and install again");
            }
            return Ok(self.whole(ground));
        }
        let before = before.unwrap_or_default();
        let wanted: Vec<(&str, Value)> =
            self.events.iter().map(|event| (*event, self.item(event, ground))).collect();
        if self.holds(before, &wanted)? {
            return Ok(before.to_owned());
        }
        let mut text = self.without(before, None)?;
        for (event, item) in wanted {
            text = match self.shape {
                Shape::First => {
                    jsonc::insert(&text, &["amp.permissions"], &item.to_string(), true)?
                }
                Shape::Groups | Shape::Flat | Shape::Whole => {
                    jsonc::insert(&text, &["hooks", event], &item.to_string(), false)?
                }
            };
        }
        if self.name == "cursor" {
            text = jsonc::ensure(&text, "version", "1")?;
        }
        Ok(text)
    }

    /// The text of the file without our entries; empty for a file of our own.
    /// Empty lists and objects that stood there before us stay.
    pub fn without(&self, text: &str, before: Option<&str>) -> anyhow::Result<String> {
        if text.trim().is_empty() {
            return Ok(String::new());
        }
        if self.shape == Shape::Whole {
            return Ok(if self.is_own_file(text) { String::new() } else { text.to_owned() });
        }
        jsonc::remove(text, before, &|value| self.is_ours(value))
    }

    /// How long the host waits, in its own unit.
    pub fn timeout(&self, ground: &Ground) -> u64 {
        (ground.wait_s + 30) * self.per_second
    }

    /// The words behind the program for an event.
    pub fn words(&self, event: &str, ground: &Ground) -> Vec<String> {
        let mut words = vec!["hook".to_owned(), self.name.to_owned(), event.to_owned()];
        words.extend(["--deadline-ms".to_owned(), (ground.wait_s * 1000).to_string()]);
        words.extend(["--data-dir".to_owned(), ground.data.display().to_string()]);
        if ground.daemon != "auto" {
            words.extend(["--daemon".to_owned(), ground.daemon.clone()]);
        }
        words
    }

    /// The command line for an event, for a host that starts a shell.
    pub fn command(&self, event: &str, ground: &Ground) -> String {
        let words = self.words(event, ground).into_iter().map(|word| shell_word(&word));
        let program = format!("'{}'", ground.program.display());
        std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
    }

    fn item(&self, event: &str, ground: &Ground) -> Value {
        let timeout = self.timeout(ground);
        let command = self.command(event, ground);
        let is_gate = self.events.first() == Some(&event);
        match self.name {
            "claude" => {
                let mut hook = match &ground.http {
                    Some(url) => json!({
                        "type": "http", "url": url, "timeout": timeout,
                        "headers": { "Authorization": "Bearer $PORTCULLIS_AGENT_KEY" },
                        "allowedEnvVars": ["PORTCULLIS_AGENT_KEY"],
                    }),
                    None => json!({
                        "type": "command", "command": ground.program,
                        "args": self.words(event, ground), "timeout": timeout,
                    }),
                };
                if let Value::Object(hook) = &mut hook {
                    if is_gate {
                        hook.insert("onFailure".to_owned(), "block".into());
                    }
                    if event.starts_with("Post") {
                        hook.insert("async".to_owned(), true.into());
                    }
                }
                json!({ "matcher": "*", "hooks": [hook] })
            }
            "gemini" => json!({ "matcher": "*", "hooks": [{
                "name": "portcullis", "type": "command", "command": command, "timeout": timeout,
            }] }),
            "codex" | "qwen" | "droid" => json!({ "matcher": "*", "hooks": [{
                "type": "command", "command": command, "timeout": timeout,
            }] }),
            "cursor" if event == "preToolUse" => json!({
                "command": command, "timeout": timeout, "failClosed": true,
                "matcher": "Write|Edit|StrReplace",
            }),
            "cursor" => json!({ "command": command, "timeout": timeout, "failClosed": true }),
            "amp" => {
                let to = ground.data.join("portcullis-hook-amp");
                json!({ "tool": "*", "action": "delegate", "to": to })
            }
            _ => json!({ "command": command }),
        }
    }

    /// A file of our own.
    fn whole(&self, ground: &Ground) -> String {
        let timeout = self.timeout(ground);
        match self.name {
            "copilot" => {
                let entry = |event: &str| {
                    json!([{ "type": "command", "bash": self.command(event, ground),
                             "timeoutSec": timeout }])
                };
                let hooks = json!({ "preToolUse": entry("preToolUse"), "postToolUse": entry("postToolUse") });
                format!("{:#}\n", json!({ "version": 1, "hooks": hooks }))
            }
            "agentbot" => {
                let entry = |event: &str, lane: &str| {
                    let command = Value::from(self.command(event, ground)).to_string();
                    format!(
                        "{event}:\n  - matcher: \"*\"\n{lane}    hooks:\n      - type: command\n        \
                         command: {command}\n        timeout: {timeout}\n"
                    )
                };
                let gate = entry("pre_tool_use", "    preempt_yolo: true\n");
                format!("{gate}{}", entry("permission_request", ""))
            }
            "kiro" => format!(
                "{:#}\n",
                json!({
                    "version": "v1", "name": "portcullis", "trigger": "PreToolUse", "timeout": timeout,
                    "action": { "type": "command", "command": self.command("PreToolUse", ground) },
                })
            ),
            "opencode" => PLUGIN
                .replace("@PROGRAM@", &json!(ground.program).to_string())
                .replace("@WORDS@", &json!(self.words("EVENT", ground)).to_string())
                .replace("@LIMIT@", &((ground.wait_s + 10) * 1000).to_string()),
            _ => format!("#!/bin/sh\nexec {}\n", self.command("PreToolUse", ground)),
        }
    }

    /// Whether the file must be executable.
    pub fn is_program(&self) -> bool {
        self.name == "cline"
    }
}

/// A word as a shell reads it back.
fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    if word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Whether a path can stand in single quotes and in every file format here.
pub fn is_plain_path(path: &Path) -> bool {
    path.to_str().is_some_and(|text| !text.contains(['\'', '"', '\\', '\n', '\r', '\0', '`', '$']))
}

/// The bridge for `OpenCode`: it throws unless the hook allows.
const PLUGIN: &str = include_str!("../../data/opencode_plugin.js");
