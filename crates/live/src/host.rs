//! How each client is started headless, in a home of its own or the user's, with a model on
//! loopback.
//!
//! Each starts from a state in which the call would run without a hook; otherwise a call that did
//! not run would prove nothing.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::model::Script;

/// One client.
pub struct Host {
    /// Our name for it.
    pub name: &'static str,
    /// Its package in the npm registry, with the version that was read about.
    pub package: &'static str,
    /// Its program.
    pub program: &'static str,
    /// Its name for a shell.
    pub tool: &'static str,
    /// How many seconds it waits for a hook unless it is told otherwise.
    pub patience_s: Option<u64>,
}

/// Every client that can be driven without an account.
#[rustfmt::skip]
pub const HOSTS: &[Host] = &[
    Host { name: "claude",   package: "@anthropic-ai/claude-code@2.1.327", program: "claude",   tool: "Bash", patience_s: Some(600) },
    Host { name: "codex",    package: "@openai/codex@0.169.0",             program: "codex",    tool: "exec_command", patience_s: Some(600) },
    Host { name: "gemini",   package: "@google/gemini-cli@0.61.0",         program: "gemini",   tool: "run_shell_command", patience_s: Some(60) },
    Host { name: "copilot",  package: "@github/copilot@1.0.102",           program: "copilot",  tool: "bash", patience_s: Some(30) },
    Host { name: "qwen",     package: "@qwen-code/qwen-code@0.24.4",       program: "qwen",     tool: "run_shell_command", patience_s: Some(60) },
    Host { name: "opencode", package: "opencode-ai@1.18.33",               program: "opencode", tool: "bash", patience_s: None },
];

/// How long a client may take for one prompt.
pub const LIMIT: Duration = Duration::from_mins(4);

/// What the user of a run says.
const PROMPT: &str = "Run the command.";

/// The client of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|host| host.name == name)
}

impl Host {
    /// The script of a model that asks for this command.
    #[must_use]
    pub fn script(&self, command: &str) -> Script {
        let input = match self.name {
            "codex" => json!({ "cmd": command }),
            "copilot" => json!({ "command": command, "description": "as asked", "mode": "sync" }),
            "gemini" | "qwen" => {
                json!({ "command": command, "description": "as asked", "is_background": false })
            }
            _ => json!({ "command": command, "description": "as asked" }),
        };
        Script { tool: self.tool, input }
    }

    /// The member of the input that holds the command when a hook sees it.
    #[must_use]
    pub fn edited(&self, command: &str) -> Value {
        let mut input = match self.name {
            "codex" => json!({ "command": command }),
            _ => self.script(command).input,
        };
        if self.name != "codex"
            && let Some(members) = input.as_object_mut()
        {
            members.insert("command".to_owned(), command.into());
        }
        input
    }

    /// Writes into the project what the client must be told in a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn prepare(&self, project: &Path) -> anyhow::Result<()> {
        let (directory, auth) = match self.name {
            "gemini" => (".gemini", "gemini-api-key"),
            "qwen" => (".qwen", "openai"),
            _ => return Ok(()),
        };
        let settings = json!({
            "security": { "auth": { "selectedType": auth }, "folderTrust": { "enabled": false } },
            "privacy": { "usageStatisticsEnabled": false },
            "general": { "disableAutoUpdate": true, "disableUpdateNag": true },
        });
        let directory = project.join(directory);
        fs::create_dir_all(&directory)?;
        Ok(fs::write(directory.join("settings.json"), settings.to_string())?)
    }

    /// The client with one prompt, not started yet.
    #[must_use]
    pub fn command(&self, program: &Path, home: &Path, project: &Path, port: u16) -> Command {
        let mut command = Command::new(program);
        let base = format!("http://127.0.0.1:{port}");
        let words: &[&str] = match self.name {
            "claude" => &[
                "-p",
                PROMPT,
                "--output-format",
                "stream-json",
                "--verbose",
                "--max-turns",
                "6",
                "--allowedTools",
                "Bash",
                "--model",
                "scripted",
            ],
            "codex" => &[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--sandbox",
                "danger-full-access",
                PROMPT,
            ],
            "gemini" => &[
                "-p",
                PROMPT,
                "--approval-mode",
                "yolo",
                "--output-format",
                "stream-json",
                "--model",
                "gemini-2.5-flash",
            ],
            "qwen" => &["-p", PROMPT, "--approval-mode", "yolo", "--output-format", "stream-json"],
            "copilot" => &["-p", PROMPT, "--allow-all-tools"],
            _ => &["run", "--format", "json", PROMPT],
        };
        command.args(words).current_dir(project).env_clear();
        if self.name == "codex" {
            let provider = codex(&base);
            for setting in ["model=\"scripted\"", "model_provider=\"scripted\"", &provider] {
                command.args(["-c", setting]);
            }
        }
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", path).env("HOME", home).env("USER", "dev").env("TERM", "dumb");
        command
            .env("TMPDIR", project.parent().unwrap_or(project))
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .env("CI", "1");
        let v1 = format!("{base}/v1");
        let scripted = opencode(&v1);
        let variables: &[(&str, &str)] = match self.name {
            "claude" => &[
                ("ANTHROPIC_BASE_URL", &base),
                ("ANTHROPIC_API_KEY", "sk-none"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_TELEMETRY", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
                ("IS_SANDBOX", "1"),
            ],
            "gemini" => &[
                ("GOOGLE_GEMINI_BASE_URL", &base),
                ("GEMINI_API_KEY", "none"),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
                ("GEMINI_TELEMETRY_ENABLED", "false"),
            ],
            "qwen" => &[
                ("OPENAI_BASE_URL", &v1),
                ("OPENAI_API_KEY", "none"),
                ("OPENAI_MODEL", "scripted"),
                ("QWEN_TELEMETRY_ENABLED", "false"),
            ],
            "copilot" => &[
                ("COPILOT_OFFLINE", "true"),
                ("COPILOT_PROVIDER_BASE_URL", &v1),
                ("COPILOT_PROVIDER_TYPE", "openai"),
                ("COPILOT_PROVIDER_API_KEY", "none"),
                ("COPILOT_MODEL", "scripted"),
                ("COPILOT_AUTO_UPDATE", "false"),
            ],
            "opencode" => &[
                ("OPENCODE_CONFIG_CONTENT", &scripted),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
            ],
            _ => &[("OPENAI_API_KEY", "none")],
        };
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// Waits for a client, and ends it when its time is over; what it said, and whether it ended.
///
/// # Errors
/// It cannot be waited for.
pub fn wait(mut child: Child, limit: Duration) -> anyhow::Result<(String, bool)> {
    let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let error = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let end = Instant::now() + limit;
    let ended = loop {
        if child.try_wait()?.is_some() {
            break true;
        }
        if Instant::now() >= end {
            child.kill()?;
            child.wait()?;
            break false;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    // A child of it may hold the pipes; then what it said so far is not waited for.
    let said = |thread: std::thread::JoinHandle<String>| {
        let patience = Instant::now() + Duration::from_secs(2);
        while !thread.is_finished() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        if thread.is_finished() { thread.join().unwrap_or_default() } else { String::new() }
    };
    Ok((format!("{}\n{}", said(out), said(error)), ended))
}

/// The setting of Codex that names the model.
fn codex(base: &str) -> String {
    format!(
        "model_providers.scripted={{ name = \"scripted\", base_url = \"{base}/v1\", \
         wire_api = \"responses\", request_max_retries = 0, stream_max_retries = 0 }}"
    )
}

/// The configuration of `opencode` that names the model.
fn opencode(base: &str) -> String {
    json!({
        "autoupdate": false, "share": "disabled",
        "model": "scripted/scripted", "small_model": "scripted/scripted",
        "permission": { "bash": "allow", "edit": "allow" },
        "provider": { "scripted": {
            "npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": { "baseURL": base, "apiKey": "none" },
            "models": { "scripted": { "name": "scripted", "tool_call": true } },
        } },
    })
    .to_string()
}
